"""Score the self-consistency of a retriever's answers over seeds."""

from ragrelay.annexes.prediction.self_consistency import score_agreement
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    answers = keyed_files(params.patterns, snakemake.input)["answers"]
    write_parquet(score_agreement(answers, params.scorer, snakemake.threads), snakemake.output[0])
