"""Labels of passages from a file of judgements."""

from pathlib import Path

import polars as pl
from ragrelay.collection.qrels_files import read_labels
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    labels = read_labels(Path(snakemake.input.labels))
    write_parquet(labels.select(pl.lit(None, pl.String).alias("references"), "*"), snakemake.output[0])
