"""Retrieval measures of the ranking that is prompted."""

import polars as pl
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.vocabulary.measures import measure_ranking

with job_log(snakemake.log[0]):
    values = measure_ranking(
        pl.read_parquet(snakemake.input.contexts),
        pl.read_parquet(snakemake.input.qrels),
        snakemake.params.measures,
        snakemake.params.ks,
    )
    write_parquet(values, snakemake.output.values)
