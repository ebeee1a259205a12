"""Write each query's later rounds for the query explorer."""

import itertools

import polars as pl
from ragrelay.annexes.rounds.explored import explore_rounds, round_states
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    queries = files["queries"].by("round")
    tables = [files[name].by("round", "retriever") for name in ("contexts", "answers", "scores")]
    rounds = {
        (int(key[0]), key[1]): round_states(*map(pl.read_parquet, [queries[key[0]], *(table[key] for table in tables)]))
        for key in itertools.product(queries, params.retrievers)
    }
    docnos = pl.concat([states["docnos"] for states in rounds.values()]).explode(empty_as_null=False).unique().sort()
    texts = open_collection(params.dataset).texts(docnos)
    blocks = explore_rounds(rounds, pl.read_parquet(inputs.qrels), texts, params.retrievers[0], params.listing)
    write_parquet(blocks, snakemake.output[0])
