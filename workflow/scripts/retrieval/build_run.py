"""Build a retriever's TREC run for a dataset."""

from pathlib import Path

import polars as pl
from ragrelay.base.io.atomic_files import write_json
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.indexes import opened_index
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.retrieval.trec import count_doubts, header, read_ranks, write_run

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    collection, index = open_collection(params.dataset), None
    if files.get("index"):
        index = opened_index(files.index, collection, params.definition["kind"], params.cache_dir, snakemake.threads)
    queries = pl.read_parquet(files.queries)
    run = build_run(
        collection,
        queries,
        pl.read_parquet(files.qrels) if files.get("qrels") else pl.DataFrame(),
        params.definition,
        index=index,
        runs=[Path(path) for path in files.get("runs", [])],
        threads=snakemake.threads,
        answers=RETRIEVER_KINDS.of(params.definition).answers(snakemake.wildcards.dataset),
        name=snakemake.wildcards.retriever,
        drop_identical_ids=bool(params.drop_identical_ids),
        passages=[Path(path) for path in files.passages],
    )
    kind = RETRIEVER_KINDS.of(params.definition)
    of_files = [
        count
        for path in kind.files(snakemake.wildcards.dataset)
        for count in count_doubts(read_ranks(path), queries, params.definition)
    ]
    doubts = kind.doubts(queries) + of_files
    write_json(doubts, snakemake.output.doubts)
    comments = header(params.metadata, snakemake.wildcards.retriever) if params.metadata else []
    write_run(run, snakemake.output.run, snakemake.wildcards.retriever, comments)
