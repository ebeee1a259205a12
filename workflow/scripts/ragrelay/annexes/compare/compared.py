"""Hold the comparison of one dataset x generator x scorer of two studies, as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ragrelay.annexes.compare.studies import Finished, Pair
from ragrelay.report.display.palette import Look


@dataclass(frozen=True)
class Compared:
    """One pair's queries and tests."""

    pair: Pair
    references: Sequence[str]
    looks: Mapping[str, Look]
    """By retriever as shown, in the order of the grid of the study before."""
    queries: pl.DataFrame
    tests: pl.DataFrame
    left_out: Sequence[tuple[str, str]] = ()
    """Retrievers without a counterpart, each with the study that has it: before or after."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """Numbers of queries whose text, judgements or gold answers differ; no rows have these queries."""
    clusters: int = 0
    """The clusters that the queries come in; 0 where they are independent."""
    label: str = ""
    """The label of the study after."""


@dataclass(frozen=True)
class SideStudy:
    """A study as it is compared with the first; ``pairs`` and ``retrievers`` have the names in both."""

    study: Finished
    label: str
    pairs: Sequence[Pair]
    retrievers: Sequence[tuple[str, str]] = ()
