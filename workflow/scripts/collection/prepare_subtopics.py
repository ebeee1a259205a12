"""Prepare a dataset's subtopic judgements."""

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection.subtopics import prepare_subtopics
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    subtopics = prepare_subtopics(
        snakemake.params.subtopics,
        snakemake.params.definition,
        pl.read_parquet(snakemake.input.queries, columns=["qid"]),
        pl.read_parquet(snakemake.input.qrels),
        f"subtopics of dataset {snakemake.wildcards.dataset}",
    )
    write_parquet(subtopics, snakemake.output[0])
