"""Estimate the effect of one relevant passage on P, for all of a dataset's interventions."""

import polars as pl
from ragrelay.analysis.relay import COLUMNS as RELAY
from ragrelay.annexes.interventions.effects import intervention_effects, passage_effects
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named, read_table
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    tables = {
        name: {retriever: pl.read_parquet(path) for retriever, path in keyed.by("retriever").items()}
        for name, keyed in files.items()
    }
    effects = intervention_effects(
        tables["scores"],
        tables["changed"],
        params.definitions,
        read_table(inputs.relay, RELAY),
        pl.read_parquet(inputs.queries, columns=["qid"])["qid"].to_list(),
        list(params.references),
        params.orderings,
        params.measure,
        params.margin,
        numbered_clusters(*inputs.clusters or [None]),
    )
    passages = passage_effects(tables["scores"], tables["changed"], params.definitions, params.orderings)
    write_csv(named(effects, snakemake.wildcards), snakemake.output.intervention_effects)
    write_csv(named(passages, snakemake.wildcards), snakemake.output.passage_effects)
