"""Score a retriever's answers. Scores in the score store are not computed again."""

from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.retriever_table import AnswerFiles, References, score_answers

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    given = AnswerFiles(
        answers=files["answers"].by("ordering", "k", "seed"),
        prompts=files["prompts"].by("ordering", "k"),
        zeroshot=files["zeroshot"].by("seed"),
        contexts=inputs.contexts,
    )
    score_answers(
        given,
        References(inputs.references, params.grades, params.near_copy),
        scorer=params.scorer,
        cache_dir=params.cache_dir,
        output=snakemake.output[0],
        threads=snakemake.threads,
    )
