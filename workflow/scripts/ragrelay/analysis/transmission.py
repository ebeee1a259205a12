"""Analyse one generator's answers under one scorer, a retriever at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.analysis import correlation, dependent, gain, significance
from ragrelay.analysis.coupling import couplings
from ragrelay.analysis.equivalence import equivalences
from ragrelay.analysis.holes import JudgedRankings, holes
from ragrelay.analysis.relay import relay
from ragrelay.analysis.summary import utility_summary, with_unjudged
from ragrelay.analysis.systems import systems
from ragrelay.analysis.utility import scores_by_seed
from ragrelay.analysis.within import within_queries
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.primary import Primary


class Analysis(NamedTuple):
    """The tables, each made by the module of its name; ``utility`` by summary, ``differences`` by dependent."""

    utility: pl.DataFrame
    correlation: pl.DataFrame
    significance: pl.DataFrame
    differences: pl.DataFrame
    gain: pl.DataFrame
    within: pl.DataFrame
    relay: pl.DataFrame
    holes: pl.DataFrame
    systems: pl.DataFrame
    equivalence: pl.DataFrame
    coupling: pl.DataFrame


class ScoresOfAnswers(NamedTuple):
    """How good the answers are."""

    utility: str | Path
    """The utility file."""
    scores: Mapping[str, str | Path]
    """Each retriever's file of scores of single answers."""
    lengths: pl.DataFrame | None = None
    """See systems."""


class Rankings(NamedTuple):
    """What the retrievers found, and how good that is."""

    retrieval: Mapping[str, str | Path]
    """Each retriever's file of measures."""
    kinds: Mapping[str, str]
    """Each retriever's kind."""
    contexts: pl.DataFrame
    """retriever, ordering, k, qid, docnos in the order of the prompt."""
    judged: JudgedRankings
    """The rankings and judgements that the measures were computed from."""


class Comparisons(NamedTuple):
    """What is compared with what."""

    reference_retriever: str | None
    """† and equivalence compare with this retriever; there are none if it is None or not in the study."""
    equivalence_margin: float
    primary: Primary | None
    """The comparison that is tested alone."""


def analyse_transmission(
    answers: ScoresOfAnswers, rankings: Rankings, compared: Comparisons, resamples: int, seed: int
) -> Analysis:
    """Compute the tables; ``resamples`` and ``seed`` are for the bootstrap and the permutations."""
    retrieval, kinds, contexts, judged = rankings
    reference_retriever, margin, primary = compared
    rows = pl.scan_parquet(answers.utility)

    def of(retriever: str) -> pl.DataFrame:
        return rows.filter(pl.col("retriever") == retriever).collect()

    reference = None
    if reference_retriever is not None and reference_retriever in retrieval:
        reference = of(reference_retriever)
    summaries = [utility_summary(of(ZEROSHOT), None)]
    correlations, tests, gains, coupled = [], [], [], []
    for retriever, path in retrieval.items():
        table, measures = of(retriever), pl.read_parquet(path)
        summaries.append(utility_summary(table, measures))
        correlations.append(correlation.transmission(table, measures, resamples, seed))
        tests.append(significance.comparisons(table, reference, resamples, seed))
        gains.append(gain.gains(table, resamples, seed))
        coupled.append(couplings(table, measures))
    cells, measured = _all_cells(rows, retrieval)
    return Analysis(
        with_unjudged(pl.concat(summaries, how="diagonal"), contexts, judged.qrels),
        correlation.with_adjusted(pl.concat(correlations)),
        significance.with_adjusted(pl.concat(tests)),
        dependent.with_adjusted(dependent.differences(cells, measured, resamples, seed)),
        gain.with_adjusted(pl.concat(gains)),
        within_queries(cells, measured, kinds),
        relay(cells, measured, contexts, kinds, scores_by_seed(answers.scores)),
        holes(cells, measured, contexts, kinds, judged, primary),
        systems(cells, list(retrieval), reference_retriever, primary, margin, answers.lengths),
        equivalences(cells, reference_retriever, margin, primary),
        pl.concat(coupled),
    )


def _all_cells(rows: pl.LazyFrame, retrieval: Mapping[str, str | Path]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read utility and measures of all retrievers in their order, with the columns that comparing retrievers needs."""
    columns = ["retriever", "ordering", "k", "references", "qid", "p", "p0", "utility"]
    utility = rows.filter(pl.col("retriever") != ZEROSHOT).select(columns).collect()
    measures = [pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*") for name, path in retrieval.items()]
    return utility, pl.concat(measures)
