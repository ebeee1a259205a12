"""Estimate relay at each step of a search, and describe the search rounds."""

import polars as pl
from ragrelay.annexes.rounds.tables import Round, RoundStudy, analyse_rounds
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    listing, files = params.listing, keyed_files(params.patterns, inputs)
    of_first = (pl.col("ordering") == listing["ordering"]) & (pl.col("k") == listing["k"])
    shown = pl.col("retriever").is_in([*params.retrievers, ZEROSHOT])
    tables = {name: files[name].by("round", "retriever") for name in ("contexts", "answers", "scores")}
    measures = pl.concat(
        pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*")
        for name, path in files["measures"].by("retriever").items()
    )
    study = RoundStudy(
        params.retrievers,
        listing,
        pl.scan_parquet(inputs.utility).filter(of_first & shown).collect(),
        measures.filter(measure=listing["measure"], k=listing["k"]),
        read_answers(files["first_prompts"], ["qid", "docnos"]).select("retriever", "qid", "docnos"),
        read_answers(files["first_answers"], ["qid", "seed", "answer", "prompt_tokens"]),
        [
            Round(int(key[0]), key[1], *(pl.read_parquet(tables[name][key]) for name in tables))
            for key in sorted(tables["contexts"], key=lambda key: (int(key[0]), params.retrievers.index(key[1])))
        ],
        params.seeds,
        numbered_clusters(*inputs.get("clusters") or [None]),
        params.tested,
    )
    for name, table in analyse_rounds(study).items():
        write_csv(named(table, snakemake.wildcards), snakemake.output[name])
