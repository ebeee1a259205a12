"""The comparison of one dataset x generator x scorer of two studies, as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ragrelay.compare.studies import Pair
from ragrelay.display.palette import Look


@dataclass(frozen=True)
class Compared:
    """One pair's queries and tests.

    ``looks``: by retriever as shown, in the order of the grid of the study before; ``left_out``:
    retrievers of either study without a partner; ``changed``: how many queries differ in their text, judgements or
    gold answers, of which no row is here.
    """

    pair: Pair
    references: Sequence[str]
    looks: Mapping[str, Look]
    queries: pl.DataFrame
    tests: pl.DataFrame
    left_out: Sequence[str] = ()
    changed: Mapping[str, int] = field(default_factory=dict)
