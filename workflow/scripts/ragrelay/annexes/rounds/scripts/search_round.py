"""Run a round's queries with a retriever, and build the prompts."""

import polars as pl
from ragrelay.annexes.rounds.prompts import round_prompts
from ragrelay.annexes.rounds.searches import Searching, search_round
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.templates import Template
from ragrelay.retrieval.indexes import opened_index

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    collection = open_collection(params.dataset)
    receipts = of_pattern(params.patterns["indexes"], inputs.get("indexes", [])).by("index")
    indexes = {
        name: opened_index(
            receipts[index], collection, params.definitions[name]["kind"], params.cache_dir, snakemake.threads
        )
        for name, index in params.indexed.items()
    }
    searching = Searching(collection, params.definitions, indexes, snakemake.threads, bool(params.drop_identical_ids))
    states = pl.read_parquet(inputs.queries)
    contexts, texts = search_round(
        searching,
        snakemake.wildcards.retriever,
        states,
        pl.read_parquet(inputs.qrels),
        **params.listing,
        lowest=params.lowest,
        near_copy=params.near_copy,
    )
    prompts = round_prompts(pl.read_parquet(inputs.questions), states, contexts, texts, Template(**params.template))
    write_parquet(contexts, snakemake.output.contexts)
    write_parquet(prompts, snakemake.output.prompts)
