"""Select a retriever's context candidates, and list the passages skipped because they have no text."""

from pathlib import Path

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection import open_collection
from ragrelay.collection.brought_passages import read_brought, with_brought
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.trec import ranked, read_run

with job_log(snakemake.log[0], snakemake.input):
    queries = pl.read_parquet(snakemake.input.queries)
    contexts, skipped = build_contexts(
        ranked(read_run(snakemake.input.run), queries),
        pl.read_parquet(snakemake.input.qrels),
        with_brought(open_collection(snakemake.params.dataset), read_brought(map(Path, snakemake.input.passages))),
        snakemake.params.depth,
        place=f"run of retriever {snakemake.wildcards.retriever} for dataset {snakemake.wildcards.dataset}",
    )
    write_parquet(contexts, snakemake.output.contexts)
    write_parquet(skipped, snakemake.output.skipped)
