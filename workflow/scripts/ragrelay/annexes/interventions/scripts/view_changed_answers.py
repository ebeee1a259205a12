"""From the answer store, read the answers to prompts with a retriever's changed contexts, and write them to a file."""

import polars as pl
from ragrelay.annexes.interventions.answers import view_changed_answers
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.store import AnswerStore

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    answers, left_out = view_changed_answers(
        pl.read_parquet(snakemake.input.prompts),
        params.seeds,
        AnswerStore(params.cache_dir, params.fingerprint),
        thinking=params.thinking,
        receipts=snakemake.input.receipts,
        leaves_out=params.leaves_out,
    )
    write_parquet(answers, snakemake.output.answers)
    write_json(left_out, snakemake.output.left_out)
