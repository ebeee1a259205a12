"""Lists of nuggets from a file."""

from pathlib import Path

import polars as pl
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.nuggets.lists import check_queries, left_out, read_nuggets

with job_log(snakemake.log[0], snakemake.input):
    given, made = snakemake.input, snakemake.output
    nuggets = read_nuggets(Path(given.file))
    qids = pl.read_parquet(given.queries, columns=["qid"])["qid"].to_list()
    check_queries(given.file, nuggets, qids)
    write_parquet(nuggets, made.nuggets)
    write_json(left_out(nuggets, qids), made.left_out)
