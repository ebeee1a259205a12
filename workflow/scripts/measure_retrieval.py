"""Compute retrieval measures of the prompted ranking, and count what its contexts left out at the grid's k.

params: measures, ks, relevant (the label from which binary measures count), zeros (whether queries without results get
0), identical_ids (whether to warn of queries whose own passage is in their context).
"""

import polars as pl
from ragrelay.base.display.terminal import tell_warnings
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.retrieval.contexts import count_left_out
from ragrelay.workflow.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    contexts, queries = pl.read_parquet(files.contexts), pl.read_parquet(files.queries)
    qids = queries["qid"].to_list() if params.zeros else ()
    values = measure_ranking(contexts, pl.read_parquet(files.qrels), params.measures, params.ks, params.relevant, qids)
    write_parquet(values, snakemake.output.values)
    left_out = count_left_out(contexts, pl.read_parquet(files.skipped), queries, params.ks, params.identical_ids)
    tell_warnings(f"dataset {snakemake.wildcards.dataset}, retriever {snakemake.wildcards.retriever}", left_out)
    write_json(left_out, snakemake.output.left_out)
