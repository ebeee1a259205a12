"""Analyse relevance transmission: compute all tables that are based on a Transmission.

params: tables (each table's module, by name), patterns, kinds (the retrievers' kinds), resamples, seed,
reference_retriever (may be None), equivalence_margin, primary (may be None), relevant (the lowest label that counts as
relevant in binary measures).
"""

import polars as pl
from ragrelay.analysis.panel_verdicts import bounded, read_parts
from ragrelay.analysis.transmission import (
    Comparisons,
    JudgedRankings,
    Rankings,
    ScoresOfAnswers,
    Transmission,
    analyse_transmission,
)
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import mean_lengths, read_answers

with job_log(snakemake.log[0], snakemake.input):
    files, primary = keyed_files(snakemake.params.patterns, snakemake.input), snakemake.params.primary
    judged = JudgedRankings(
        pl.concat(
            pl.read_parquet(path, columns=["qid", "rank", "docno"]).select(pl.lit(name).alias("retriever"), "*")
            for name, path in files["rankings"].by("retriever").items()
        ),
        pl.read_parquet(snakemake.input.qrels),
        snakemake.params.relevant,
    )
    contexts = read_answers(files["prompts"], ["qid", "docnos"])
    lengths = mean_lengths(files["answers"]) if files["answers"].paths else None
    transmission = Transmission(
        ScoresOfAnswers(snakemake.input.utility, files["scores"].by("retriever"), lengths),
        Rankings(files["retrieval"].by("retriever"), snakemake.params.kinds, contexts, judged),
        Comparisons(
            snakemake.params.reference_retriever,
            snakemake.params.equivalence_margin,
            primary and Primary(**primary),
        ),
        **snakemake.params.draws,
        clusters=numbered_clusters(*snakemake.input.clusters or [None]),
    )
    for name, table in analyse_transmission(transmission, snakemake.params.tables):
        parts = read_parts(files["parts"].matching(table=name).by("scorer"), table)
        write_csv(named(bounded(table, parts), snakemake.wildcards), snakemake.output[name])
