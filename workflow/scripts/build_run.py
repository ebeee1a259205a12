"""The TREC run of one retriever for one dataset."""

import json
from pathlib import Path

import polars as pl
from ragrelay.collection import open_collection
from ragrelay.jobs import job_log
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.trec import write_run

with job_log(snakemake.log[0]):
    files = snakemake.input
    queries = pl.read_parquet(files.queries)
    index = json.loads(Path(files.index).read_text())["path"] if files.get("index") else None
    run = build_run(
        open_collection(snakemake.params.dataset),
        queries,
        pl.read_parquet(files.qrels) if files.get("qrels") else pl.DataFrame(),
        snakemake.params.definition,
        index=Path(snakemake.params.cache_dir) / index if index else None,
        runs=[Path(path) for path in files.get("runs", [])],
        threads=snakemake.threads,
    )
    write_run(run, snakemake.output.run, tag=snakemake.wildcards.retriever)
