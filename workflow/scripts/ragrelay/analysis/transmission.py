"""What the tables of one generator's answers under one scorer are computed from.

A table is a module of this folder with its ``COLUMNS`` and a function ``table`` of a Transmission; report/outputs.py
lists it.
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
    """How good the answers are."""

    utility: str | Path
    """The utility file."""
    scores: Mapping[str, str | Path]
    """Each retriever's file of scores of single answers."""
    lengths: pl.DataFrame | None = None
    """See systems."""


class JudgedRankings(NamedTuple):
    """The data that the measures were computed from."""

    rankings: pl.DataFrame
    """retriever, qid, rank, docno."""
    qrels: pl.DataFrame
    """qid, docno, label."""
    relevant: int
    """The lowest label that binary measures count as relevant, and the label of holes assumed relevant."""


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
    equivalence_margin: float | None
    primary: Primary | None
    """The comparison that is tested alone."""


@dataclass(frozen=True)
class Transmission:
    """One generator's answers under one scorer; ``resamples`` and ``seed`` are for bootstrap and permutations.

    ``clusters`` has the number of each query's cluster, or is None where queries are independent. What a table can't
    test by cluster is null in it, with the reason clusters.NOT_BY_CLUSTER.
    """

    answers: ScoresOfAnswers
    rankings: Rankings
    compared: Comparisons
    resamples: int
    seed: int
    clusters: Clusters | None = None

    def utility_of(self, retriever: str) -> pl.DataFrame:
        """Return a retriever's rows of the utility file, or those of the answers without context."""
        return pl.scan_parquet(self.answers.utility).filter(pl.col("retriever") == retriever).collect()

    def each_retriever(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield utility and measures of one retriever after another, so that memory has those of one."""
        for retriever, path in self.rankings.retrieval.items():
            yield self.utility_of(retriever), pl.read_parquet(path)

    @cached_property
    def reference(self) -> pl.DataFrame | None:
        """Utility of the reference retriever, if the study has it."""
        name = self.compared.reference_retriever
        return None if name is None or name not in self.rankings.retrieval else self.utility_of(name)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Utility of all retrievers, with the columns that comparing retrievers needs."""
        columns = ["retriever", "ordering", "k", "references", "qid", "p", "p0", "utility"]
        rows = pl.scan_parquet(self.answers.utility)
        return rows.filter(pl.col("retriever") != ZEROSHOT).select(columns).collect()

    @cached_property
    def measured(self) -> pl.DataFrame:
        """Measures of all retrievers, in their order."""
        return pl.concat(
            pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*")
            for name, path in self.rankings.retrieval.items()
        )

    @cached_property
    def by_seed(self) -> pl.DataFrame:
        """See utility.scores_by_seed."""
        return scores_by_seed(self.answers.scores)


def analyse_transmission(given: Transmission, modules: Mapping[str, str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each table with its name; ``modules``: the module that computes it, by name.

    A module whose tests take queries as independent names their columns in BY_QUERY.
    """
    for name, path in modules.items():
        module = import_module(path)
        by_query = getattr(module, "BY_QUERY", ()) if given.clusters is not None else ()
        yield name, untested(module.table(given), by_query) if by_query else module.table(given)
