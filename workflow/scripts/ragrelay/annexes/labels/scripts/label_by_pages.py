"""Label passages by whether they come from the gold pages named in a file."""

from pathlib import Path

import polars as pl
from ragrelay.annexes.labels.gold_pages import label_by_pages
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs = snakemake.input
    labels, missing = label_by_pages(
        pl.concat([pl.read_parquet(path, columns=["qid", "docno"]) for path in inputs.contexts]),
        pl.read_parquet(inputs.queries),
        Path(inputs.pages),
        open_collection(snakemake.params.dataset),
    )
    write_parquet(labels, snakemake.output.labels)
    write_json(missing, snakemake.output.left_out)
