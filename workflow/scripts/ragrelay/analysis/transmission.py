"""The analysis of one generator's answers under one scorer, a retriever at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.analysis.correlation import transmission
from ragrelay.analysis.significance import comparisons, with_adjusted
from ragrelay.analysis.summary import utility_summary
from ragrelay.analysis.utility import ZEROSHOT


class Analysis(NamedTuple):
    """The three tables: summary's ``utility_summary``, correlation's ``transmission``, significance's tests."""

    utility: pl.DataFrame
    correlation: pl.DataFrame
    significance: pl.DataFrame


def analyse(
    utility: str | Path,
    retrieval: Mapping[str, str | Path],
    resamples: int,
    seed: int,
    reference_retriever: str | None,
) -> Analysis:
    """Make the tables of a utility file; ``retrieval`` maps each retriever to its file of measures.

    ``resamples`` and ``seed`` are those of the bootstrap. The † comparisons are against ``reference_retriever``; there
    are none if it is None or not in the study.
    """
    rows = pl.scan_parquet(utility)

    def of(retriever: str) -> pl.DataFrame:
        return rows.filter(pl.col("retriever") == retriever).collect()

    reference = None
    if reference_retriever is not None and reference_retriever in retrieval:
        reference = of(reference_retriever)
    summaries = [utility_summary(of(ZEROSHOT), None)]
    correlations, tests = [], []
    for retriever, path in retrieval.items():
        table, measures = of(retriever), pl.read_parquet(path)
        summaries.append(utility_summary(table, measures))
        correlations.append(transmission(table, measures, resamples, seed))
        tests.append(comparisons(table, reference))
    return Analysis(
        pl.concat(summaries, how="diagonal"),
        pl.concat(correlations),
        with_adjusted(pl.concat(tests)),
    )
