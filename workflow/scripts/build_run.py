"""The TREC run of one retriever for one dataset."""

from pathlib import Path

import polars as pl
from ragrelay.collection import open_collection
from ragrelay.jobs.scripts import job_log
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.indexes import index_path
from ragrelay.retrieval.trec import write_run

with job_log(snakemake.log[0]):
    files = snakemake.input
    queries = pl.read_parquet(files.queries)
    run = build_run(
        open_collection(snakemake.params.dataset),
        queries,
        pl.read_parquet(files.qrels) if files.get("qrels") else pl.DataFrame(),
        snakemake.params.definition,
        index=index_path(files.index, snakemake.params.cache_dir) if files.get("index") else None,
        runs=[Path(path) for path in files.get("runs", [])],
        threads=snakemake.threads,
    )
    write_run(run, snakemake.output.run, tag=snakemake.wildcards.retriever)
