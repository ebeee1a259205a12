"""Scores of the passages of a retriever's contexts by a reranker's model."""

import polars as pl
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    contexts = pl.read_parquet(files.contexts).filter(pl.col("rank") <= params.k)
    texts = dict(contexts.select("docno", "text").iter_rows())
    reranker = RETRIEVER_KINDS.of(params.definition)
    write_parquet(
        reranker.rescored(pl.read_parquet(files.queries), contexts, texts, snakemake.threads), snakemake.output[0]
    )
