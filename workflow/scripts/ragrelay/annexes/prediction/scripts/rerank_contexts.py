"""Use a reranker's model to score the passages in a retriever's contexts."""

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.retrieval.retrievers.rerank import rerank_contexts

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    queries, contexts = pl.read_parquet(files.queries), pl.read_parquet(files.contexts)
    scored = rerank_contexts(queries, contexts, params.k, params.definition, snakemake.threads)
    write_parquet(scored, snakemake.output[0])
