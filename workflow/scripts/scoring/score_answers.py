"""Score a retriever's answers, reusing scores that are already in the score store."""

from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.answer_cells import ZEROSHOT_CONTEXT
from ragrelay.scoring.retriever_table import References, score_answers

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    zeroshot = {(*ZEROSHOT_CONTEXT, seed): path for seed, path in files["zeroshot"].by("seed").items()}
    score_answers(
        {**files["answers"].by("ordering", "k", "seed"), **zeroshot},
        files["prompts"].by("ordering", "k"),
        References(inputs.references, params.grades, params.near_copy),
        scorer=params.scorer,
        cache_dir=params.cache_dir,
        output=snakemake.output[0],
        threads=snakemake.threads,
        contexts=inputs.contexts,
    )
