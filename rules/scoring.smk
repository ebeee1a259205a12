"""Scoring: references are encoded once per dataset and scorer, and distinct answers once, in one job per query shard.

Judges' scores and nugget lists that a generator writes are questions to a model (rules/asking.smk).
Input: answers, prompts, contexts (whose texts show near copies), references or gold answers; nugget files.
Output: encoded_references, scores, left_out_of_scores; scores in cache_dir; nuggets, left_out_of_nuggets.
"""

SCORED_FILES = {"answers": files.answers, "prompts": files.prompts, "zeroshot": files.answers}


ENCODED = {
    "fetched": downloads.receipts_of("scorer"),
    "references": of_job(scoring.references),
}
ENCODING = {
    "scorer": of_job(scoring.of_jobs),
    "cache_dir": study.cache_dir,
    "code": code_of("scoring/encode_references.py", of_job(scoring.module)),
}


rule count_references:
    """Check whether any references need encoding, so that `encode_references` requests a GPU only if needed."""
    input:
        **ENCODED,
    output:
        missing=temp(count_file(files.encoded_references)),
    log:
        "<logs>/count_references/{dataset}/{scorer}.log",
    conda:
        env("scoring")
    params:
        **ENCODING,
    script:
        "../workflow/scripts/scoring/encode_references.py"


rule encode_references:
    """Encode a dataset's references with a scorer's model, and store the embeddings in the cache."""
    input:
        **ENCODED,
        missing=count_if_gpu("scoring", files.encoded_references),
    output:
        files.encoded_references,
    log:
        "<logs>/encode_references/{dataset}/{scorer}.log",
    benchmark:
        "<benchmarks>/encode_references/{dataset}/{scorer}.tsv"
    priority: 8  # before engines occupy the cores
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **with_work(machine("scoring")),
    params:
        **ENCODING,
    script:
        "../workflow/scripts/scoring/encode_references.py"


FILLING = {
    **scoring.reference_files,
    "answers": generation.answers_with_context(study.retriever_cells),
    "prompts": generation.prompts_with_context(study.retriever_contexts),
    "zeroshot": files.zeroshot_answers.each(study.zeroshot_cells),
}
FILLED = {
    "scorer": of_job(scoring.of_jobs),
    "shards": of_job(generation.number_of_shards),
    "cache_dir": study.cache_dir,
    "patterns": SCORED_FILES,
}


rule count_scores:
    """Count the scores missing from the store, so that `fill_scores` requests a GPU only if there are any."""
    input:
        **FILLING,
    output:
        missing=temp(count_file(files.score_receipt)),
    log:
        "<logs>/count_scores/{dataset}/{scorer}/{generator}/shard{shard}.log",
    wildcard_constraints:
        scorer=any_of(filter(scoring.loads_model, scoring.computed)),
    conda:
        env("scoring")
    params:
        **FILLED,
    script:
        "../workflow/scripts/scoring/fill_scores.py"


rule fill_scores:
    """Score all retrievers' answers and the zero-shot answers with a scorer's model, and store the scores."""
    input:
        **FILLING,
        missing=count_if_gpu("scoring", files.score_receipt),
    output:
        files.score_receipt,
    log:
        "<logs>/fill_scores/{dataset}/{scorer}/{generator}/shard{shard}.log",
    benchmark:
        "<benchmarks>/fill_scores/{dataset}/{scorer}/{generator}/shard{shard}.tsv"
    wildcard_constraints:
        scorer=any_of(filter(scoring.loads_model, scoring.computed)),
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **with_work(machine("scoring")),
    params:
        **FILLED,
    script:
        "../workflow/scripts/scoring/fill_scores.py"


rule score_answers:
    """Write the scores of a retriever's answers against each reference set."""
    input:
        **scoring.reference_files,
        filled=following(of_job(scoring.receipts)),
        answers=generation.answers_with_context(study.cells),
        prompts=generation.prompts_with_context(study.contexts),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
        contexts=lambda wildcards: [generation.passages(wildcards.generator)],
    output:
        files.scores,
    log:
        "<logs>/score_answers/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    wildcard_constraints:
        scorer=any_of(scoring.computed),
    conda:
        env("scoring")
    params:
        **scoring.params,
        patterns=SCORED_FILES,
        code=code_of("scoring/score_answers.py", of_job(scoring.module)),
    script:
        "../workflow/scripts/scoring/score_answers.py"


use rule score_answers as score_zeroshot_answers with:
    """Write the scores of the zero-shot answers against each reference set."""
    input:
        **scoring.reference_files,
        filled=following(of_job(scoring.receipts)),
        answers=files.zeroshot_answers.each(study.zeroshot_cells),
        prompts=generation.prompts(files.zeroshot_prompts, study.zeroshot_cells[:1]),
        zeroshot=[],
        contexts=[],
    output:
        files.zeroshot_scores,
    log:
        "<logs>/score_answers/{dataset}/{scorer}/{generator}/zeroshot.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{scorer}/{generator}/zeroshot.tsv"


rule read_nuggets:
    """Read nugget lists from a file."""
    input:
        file=of_job(lambda scorer, dataset: scoring.nuggets[scorer].file(dataset)),
        queries=files.queries,
    output:
        nuggets=files.nuggets,
        left_out=files.left_out_of_nuggets,
    log:
        "<logs>/read_nuggets/{dataset}/{scorer}.log",
    wildcard_constraints:
        scorer=any_of(name for name, scorer in scoring.nuggets.items() if not scorer.written_by),
    conda:
        env("analysis")
    params:
        code=code_of("questions/read_nuggets.py"),
    script:
        "../workflow/scripts/questions/read_nuggets.py"


rule read_scores:
    """Read the scores of a generator's answers from a file."""
    input:
        file=of_job(lambda scorer, dataset: scoring.filed[scorer].file(dataset)),
        answers=generation.answers_with_context(study.retriever_cells),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
    output:
        scores=files.scores.each(study.retrievers_and_zeroshot),
        left_out=files.left_out_of_scores.each(study.retrievers_and_zeroshot[:1]),
    log:
        "<logs>/read_scores/{dataset}/{scorer}/{generator}.log",
    wildcard_constraints:
        scorer=any_of(scoring.filed),
    conda:
        env("analysis")
    params:
        patterns={"answers": files.answers, "scores": files.scores},
        scorer=of_job(scoring.of_jobs),
        cells=of_job(lambda scorer: scoring.filed[scorer].cells(study.grid)),
        code=code_of("scoring/read_scores.py"),
    script:
        "../workflow/scripts/scoring/read_scores.py"


rule score_panel:
    """Average the scores that a panel's judges gave to a retriever's answers."""
    input:
        scores=of_job(scoring.of_panel),
    output:
        scores=files.scores,
        left_out=files.left_out_of_scores,
    log:
        "<logs>/score_panel/{dataset}/{scorer}/{generator}/{retriever}.log",
    wildcard_constraints:
        scorer=any_of(scoring.averaged),
        retriever=any_of(one["retriever"] for one in study.retrievers_and_zeroshot),
    conda:
        env("analysis")
    params:
        patterns={"scores": files.scores},
        judges=of_job(lambda scorer: scoring.averaged[scorer]),
        code=code_of("scoring/score_panel.py"),
    script:
        "../workflow/scripts/scoring/score_panel.py"
