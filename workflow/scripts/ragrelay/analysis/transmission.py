"""Hold the data for one generator and scorer, and compute the result tables from these data.

Each table has a module in this folder with ``COLUMNS`` and a function ``table`` that takes a Transmission.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.analysis.clusters import Clusters, untested
from ragrelay.analysis.utility import scores_by_seed
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.primary import Primary


class ScoresOfAnswers(NamedTuple):
    """Files with the scores and utility of answers."""

    utility: str | Path
    """The utility file."""
    scores: Mapping[str, str | Path]
    """Each retriever's file with scores of single answers."""
    lengths: pl.DataFrame | None = None
    """Answer lengths for the primary pair (see ``lengths`` in systems)."""


class JudgedRankings(NamedTuple):
    """The rankings and judgements from which the measures were computed."""

    rankings: pl.DataFrame
    """Columns retriever, qid, rank, docno."""
    qrels: pl.DataFrame
    """Columns qid, docno, label."""
    relevant: int
    """The lowest label that binary measures count as relevant, and the label of holes assumed relevant."""


class Rankings(NamedTuple):
    """The retrievers' measures, kinds and contexts."""

    retrieval: Mapping[str, str | Path]
    """Each retriever's file with measures."""
    kinds: Mapping[str, str]
    """Each retriever's kind."""
    contexts: pl.DataFrame
    """Columns retriever, ordering, k, qid, docnos in prompt order."""
    judged: JudgedRankings
    """The rankings and judgements that the measures were computed from."""


class Comparisons(NamedTuple):
    """The retrievers to compare, and the margin for equivalence."""

    reference_retriever: str | None
    """The retriever in † and equivalence tests; if None or not in the study, there are no such tests."""
    equivalence_margin: float | None
    primary: Primary | None
    """The comparison that is tested separately."""


@dataclass(frozen=True)
class Transmission:
    """The data from which the tables for one generator and scorer are computed.

    ``resamples`` and ``seed`` are used for bootstraps and permutations. ``clusters`` maps each qid to a cluster number,
    or is None if queries are independent. If queries form clusters, columns whose tests can't account for clusters are
    null, with the reason clusters.NOT_BY_CLUSTER.
    """

    answers: ScoresOfAnswers
    rankings: Rankings
    compared: Comparisons
    resamples: int
    seed: int
    clusters: Clusters | None = None

    def utility_of(self, retriever: str) -> pl.DataFrame:
        """Return one retriever's rows in the utility file; ``retriever`` can be `zeroshot`."""
        return pl.scan_parquet(self.answers.utility).filter(pl.col("retriever") == retriever).collect()

    def each_retriever(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield each retriever's utility and measures, with only one retriever's data in memory at a time."""
        for retriever, path in self.rankings.retrieval.items():
            yield self.utility_of(retriever), pl.read_parquet(path)

    @cached_property
    def reference(self) -> pl.DataFrame | None:
        """The reference retriever's utility, or None if the study doesn't have that retriever."""
        name = self.compared.reference_retriever
        return None if name is None or name not in self.rankings.retrieval else self.utility_of(name)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The utility of all answers except zero-shot answers, with the columns needed to compare retrievers."""
        columns = ["retriever", "ordering", "k", "references", "qid", "p", "p0", "utility"]
        rows = pl.scan_parquet(self.answers.utility)
        return rows.filter(pl.col("retriever") != ZEROSHOT).select(columns).collect()

    @cached_property
    def measured(self) -> pl.DataFrame:
        """All retrievers' measures, in the retrievers' order."""
        return pl.concat(
            pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*")
            for name, path in self.rankings.retrieval.items()
        )

    @cached_property
    def by_seed(self) -> pl.DataFrame:
        """Each answer's score, with one row per seed (see utility.scores_by_seed)."""
        return scores_by_seed(self.answers.scores)


def analyse_transmission(given: Transmission, modules: Mapping[str, str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each table's name and the table; ``modules`` maps the names to the modules that compute the tables.

    A module whose tests assume independent queries lists the affected columns in BY_QUERY.
    """
    for name, path in modules.items():
        module = import_module(path)
        by_query = getattr(module, "BY_QUERY", ()) if given.clusters is not None else ()
        yield name, untested(module.table(given), by_query) if by_query else module.table(given)
