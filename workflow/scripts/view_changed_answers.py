"""Write the file of answers to a retriever's changed contexts, from the store."""

import polars as pl
from ragrelay.annexes.interventions.answers import view_changed_answers
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.generation.store import AnswerStore
from ragrelay.workflow.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    answers = view_changed_answers(
        pl.read_parquet(snakemake.input.prompts),
        params.seeds,
        AnswerStore(params.cache_dir, params.fingerprint),
        thinking=params.thinking,
        receipts=snakemake.input.receipts,
    )
    write_parquet(answers, snakemake.output[0])
