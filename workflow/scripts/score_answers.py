"""Score table of one retriever's answers; what the score store holds already is not computed again."""

from pathlib import Path

from ragrelay.jobs.scripts import job_log
from ragrelay.scoring.retriever_table import score_retriever

with job_log(snakemake.log[0], job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    given, params = snakemake.input, snakemake.params
    cells = [(cell["ordering"], cell["k"], cell["seed"]) for cell in params.cells]
    contexts = [(context["ordering"], context["k"]) for context in params.contexts]
    score_retriever(
        answers=dict(zip(cells, map(Path, given.answers), strict=True)),
        prompts=dict(zip(contexts, map(Path, given.prompts), strict=True)),
        zeroshot=dict(zip(params.seeds, map(Path, given.zeroshot), strict=True)),
        references=given.references,
        grades=params.grades,
        scorer=params.scorer,
        cache_dir=params.cache_dir,
        output=snakemake.output[0],
        threads=snakemake.threads,
        contexts=given.contexts,
        near_copy=params.near_copy,
    )
