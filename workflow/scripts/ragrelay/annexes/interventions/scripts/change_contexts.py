"""Change one passage at a time in a retriever's contexts, and count the queries left out."""

import polars as pl
from ragrelay.annexes.interventions.contexts import change_contexts
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    changed = change_contexts(
        params.definitions,
        pl.read_parquet(inputs.queries),
        pl.read_parquet(inputs.contexts),
        pl.read_parquet(inputs.qrels),
        open_collection(params.dataset),
        **params.of_grid,
        lowest=params.lowest,
        near_copy=params.near_copy,
        own_passages=not params.drop_identical_ids,
    )
    write_parquet(changed.contexts, snakemake.output.contexts)
    write_parquet(changed.texts, snakemake.output.texts)
    write_json(changed.left_out, snakemake.output.left_out)
