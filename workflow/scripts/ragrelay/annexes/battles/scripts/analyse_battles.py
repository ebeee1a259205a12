"""Estimate a battle's win rates, order bias, relay and agreement."""

import polars as pl
from ragrelay.annexes.battles.tables import analyse_battles
from ragrelay.annexes.battles.wins import Fight
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    inputs, given = snakemake.input, snakemake.params.fight
    files = keyed_files(snakemake.params.patterns, inputs)
    votes, utility = files["votes"].by("battle"), files["utility"].by("scorer")
    measures = pl.concat(
        pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*")
        for name, path in files["measures"].by("retriever").items()
    )
    fight = Fight(
        {name: pl.read_parquet(votes[name]) for name in given["members"]},
        [(retriever, against) for retriever, against in given["pairs"]],
        given["opponent"],
        (given["cell"]["ordering"], given["cell"]["k"]),
        numbered_clusters(*inputs.get("clusters") or [None]),
    )
    tables = analyse_battles(
        fight,
        measures.filter(measure=given["measure"]),
        read_answers(files["prompts"], ["qid", "docnos"]),
        given["measure"],
        {name: pl.read_parquet(path) for name, path in utility.items()},
        dict(snakemake.wildcards.items()),
    )
    for name, table in tables.items():
        write_csv(table, snakemake.output[name])
