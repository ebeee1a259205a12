"""Read nugget lists from a user's file."""

from pathlib import Path

import polars as pl
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.nugget_lists import left_out, of_queries, read_nuggets

with job_log(snakemake.log[0], snakemake.input):
    inputs, made = snakemake.input, snakemake.output
    qids = pl.read_parquet(inputs.queries, columns=["qid"])["qid"].to_list()
    nuggets, others = of_queries(inputs.file, read_nuggets(Path(inputs.file)), qids)
    write_parquet(nuggets, made.nuggets)
    write_json(left_out(nuggets, qids, others), made.left_out)
