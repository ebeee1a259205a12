"""The comparison of two studies for a dataset, generator and scorer, as shown on the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ragrelay.annexes.compare.studies import Finished, Pair
from ragrelay.report.display.palette import Look


@dataclass(frozen=True)
class Compared:
    """Each query's values in two studies, and paired tests, for a dataset, generator and scorer."""

    pair: Pair
    references: Sequence[str]
    looks: Mapping[str, Look]
    """How each retriever is drawn, keyed by its name on the page, in the order of the earlier study's grid."""
    queries: pl.DataFrame
    tests: pl.DataFrame
    left_out: Sequence[tuple[str, str]] = ()
    """Retrievers that only one study contains, each with the study's side (before or after)."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """Numbers of queries whose text, judgements or gold answers differ between studies; such queries have no rows."""
    clusters: int = 0
    """The number of clusters that the queries form; 0 if they are independent."""
    label: str = ""
    """The later study's label on the page."""


@dataclass(frozen=True)
class SideStudy:
    """A compared study. ``pairs`` and ``retrievers`` map names in the first study to names in this study."""

    study: Finished
    label: str
    pairs: Sequence[Pair]
    retrievers: Sequence[tuple[str, str]] = ()
