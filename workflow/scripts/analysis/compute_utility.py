"""Compute each query's utility from all retrievers' scores. params: patterns, mode, counted."""

import polars as pl
from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    scores, uses = files["scores"].by("retriever"), files["uses"].by("retriever")
    contexts = files["contexts"].by("retriever").items()
    ranked = {name: pl.read_parquet(path, columns=["qid"])["qid"].unique().to_list() for name, path in contexts}
    write_utility(compute_utility(scores, params.mode, uses, params.counted, ranked), snakemake.output[0])
