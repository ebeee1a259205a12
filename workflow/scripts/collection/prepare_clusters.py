"""Read the clusters that a dataset's queries form."""

from pathlib import Path

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection.clusters import prepare_clusters
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    qids = pl.read_parquet(snakemake.input.queries, columns=["qid"])["qid"].to_list()
    write_parquet(prepare_clusters(Path(snakemake.input.clusters[0]), qids), snakemake.output[0])
