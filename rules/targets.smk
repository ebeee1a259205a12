"""Targets: what a user can ask for by name."""


rule prefetch:
    input:
        FETCHED,


rule all_runs:
    input:
        grid_paths("<results>/{dataset}/runs/{retriever}.run.gz"),
        grid_paths("<results>/{dataset}/retrieval/{retriever}.parquet"),


rule all_prompts:
    input:
        lambda wildcards: [
            path
            for generator in STUDY.grid["generators"]
            for pattern in cell_paths(PROMPTS, CONTEXTS) + [ZEROSHOT_PROMPTS]
            for path in grid_paths(pattern, template=[template_of(generator)])
        ],


rule all_answers:
    input:
        lambda wildcards: [
            path
            for pattern in cell_paths(ANSWERS, CELLS)
            + cell_paths(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS)
            for path in grid_paths(pattern)
        ],


rule all_scores:
    input:
        grid_paths(
            "<results>/{dataset}/scores/{scorer}/{generator}/{retriever}.parquet"
        ),
        grid_paths("<results>/{dataset}/scores/{scorer}/{generator}/zeroshot.parquet"),
