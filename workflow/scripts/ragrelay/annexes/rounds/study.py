"""The report's data about search rounds: the tables for a dataset, generator and scorer."""

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from ragrelay.annexes.rounds.tables import SCORES, SLOPES
from ragrelay.report.display.shown_tables import ShownTables


class RoundsShown(ShownTables):
    """The tables about search rounds for a section of the page."""

    COLUMNS: ClassVar = {"round_slopes": SLOPES, "round_scores": SCORES}

    @property
    def asked(self) -> Mapping[str, Any]:
        """The settings under the key `rounds`, with the ordering, k and measure of each round."""
        return self.params or {}

    @property
    def references(self) -> str | None:
        """The reference set that the page shows by default."""
        names = self["round_scores"]["references"]
        return names[0] if len(names) else None

    def slopes(self, step: int | None) -> pl.DataFrame:
        """Return the unadjusted and adjusted slope for ``step``, or for all steps together if ``step`` is None."""
        of_set = self["round_slopes"].filter(references=self.references or "")
        return of_set.filter(pl.col("step").eq_missing(pl.lit(step, pl.Int64))).sort("adjusted")

    @property
    def later(self) -> bool:
        """Whether the study has rounds after the first."""
        return bool(self.by_round.height) and self.by_round["round"].max() != 1

    @property
    def by_round(self) -> pl.DataFrame:
        """The table of rounds, restricted to the first reference set."""
        return self["round_scores"].filter(references=self.references or "")
