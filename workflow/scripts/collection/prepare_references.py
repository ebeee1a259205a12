"""Prepare a dataset's references, which are the passages judged at or above the lowest reference grade."""

import polars as pl
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare_references
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    definition = snakemake.params.definition
    references, left_out = prepare_references(
        open_collection(definition),
        pl.read_parquet(snakemake.input.queries),
        pl.read_parquet(snakemake.input.qrels),
        snakemake.params.grades,
        place=f"dataset {snakemake.wildcards.dataset} ({definition.get('path', definition.get('id'))})",
    )
    write_parquet(references, snakemake.output.references)
    write_json(left_out, snakemake.output.left_out)
