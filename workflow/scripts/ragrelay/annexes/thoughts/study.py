"""The report's data about a generator's thoughts, for a dataset."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from ragrelay.analysis.multiplicity import distinct
from ragrelay.annexes.thoughts.lengths import COLUMNS, DIFFERENCE_COLUMNS
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.thought_marks import CUT, ENDED, UNFINISHED
from ragrelay.report.display.palette import Look, looks
from ragrelay.report.display.sections import Grid
from ragrelay.report.display.shown_tables import ShownTables

CENSORED = pl.col(CUT) + pl.col(UNFINISHED)
"""The number of thoughts that may have been longer than counted, from rows of thoughts.csv or sums of rows."""
THOUGHTS = pl.col(ENDED) + CENSORED
"""The number of all thoughts, from rows of thoughts.csv or sums of rows."""
CENSORED_SHARE = pl.when(THOUGHTS > 0).then(CENSORED / THOUGHTS)


class ThoughtStudy(ShownTables):
    """A generator's thoughts about a dataset's queries. ``params``: values for the page (see rules.Thoughts.drawn)."""

    COLUMNS: ClassVar = {"thoughts": COLUMNS, "thought_differences": DIFFERENCE_COLUMNS}

    @cached_property
    def grid(self) -> Grid:
        return Grid.of(self.params["grid"])

    @property
    def primary(self) -> Mapping[str, Any] | None:
        """The primary comparison, or None if the study has only one retriever."""
        primary: Mapping[str, Any] | None = self.params["primary"][self.keys["dataset"]]
        return primary

    @property
    def lead(self) -> dict[str, object]:
        """The ordering and k of the cells shown first, taken from the primary comparison if there is one."""
        if self.primary is None:
            ordering = self.grid.orderings[0]
            return {"ordering": ordering, "k": max(k for name, k in self.grid.contexts if name == ordering)}
        return {name: self.primary[name] for name in ("ordering", "k")}

    @property
    def against(self) -> list[str]:
        """The baselines: the primary comparison's reference retriever, if there is one, and zero-shot."""
        return [*([self.primary["reference"]] if self.primary else []), ZEROSHOT]

    @property
    def looks(self) -> dict[str, Look]:
        """Each retriever's colour and shape, the same as in other figures about the dataset."""
        pair = (self.primary["reference"], self.primary["retriever"]) if self.primary else ()
        by_name = looks(list(dict.fromkeys([*pair, *self.grid.retrievers])))
        return {name: by_name[name] for name in self.grid.retrievers}

    @property
    def counts(self) -> pl.DataFrame:
        """The rows of thoughts.csv with distinct prompts: at k = 1, all orderings share a prompt."""
        return distinct(self["thoughts"], ("retriever", "ordering"))

    def censored(self, rows: pl.DataFrame) -> float | None:
        """Return the share of thoughts that were cut or didn't end. ``rows``: rows of thoughts.csv."""
        sums = rows.select(pl.col(ENDED, CUT, UNFINISHED).sum())
        return sums.select(CENSORED_SHARE).item()
