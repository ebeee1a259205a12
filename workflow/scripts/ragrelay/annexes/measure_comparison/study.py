"""The report's two tables that compare measures, for a dataset, generator and scorer."""

import itertools
from typing import Any, ClassVar

import polars as pl

from ragrelay.analysis.verdicts import ABOVE, BELOW
from ragrelay.annexes.measure_comparison.closeness import FIT_COLUMNS, PAIR_COLUMNS
from ragrelay.report.display.shown_tables import ShownTables


class MeasuresShown(ShownTables):
    """The comparison of measures for a section of the page."""

    COLUMNS: ClassVar = {"measure_fit": FIT_COLUMNS, "measure_pairs": PAIR_COLUMNS}

    @property
    def cell(self) -> dict[str, Any]:
        """The primary cell: ordering, k and references."""
        cell: dict[str, Any] = self.params["cells"][f"{self.keys['dataset']} {self.keys['scorer']}"]
        return cell

    @property
    def declared(self) -> str | None:
        """The measure, chosen before the study, that all others are compared with; None if every pair is compared."""
        declared: str | None = self.params["declared"]
        return declared

    @property
    def fits(self) -> pl.DataFrame:
        """The primary cell's rows, one per measure, sorted by r from largest to smallest."""
        return self["measure_fit"].filter(**self.cell).sort("r", descending=True, nulls_last=True)

    @property
    def pairs(self) -> pl.DataFrame:
        """The comparisons in the primary cell."""
        return self["measure_pairs"].filter(**self.cell)

    @property
    def joined(self) -> list[list[str]]:
        """The longest stretches of measures by r without a significant difference; empty if a measure is declared."""
        names = self.fits["measure"].to_list()
        known = self.pairs.filter(pl.col("verdict").is_in([ABOVE, BELOW])).select("measure", "against_measure").rows()
        apart = {frozenset(pair) for pair in known}
        runs: list[list[str]] = []
        for first, last in itertools.combinations(range(len(names)), 2):
            run = names[first : last + 1]
            if not any(frozenset(pair) in apart for pair in itertools.combinations(run, 2)):
                runs.append(run)
        return [] if self.declared else [run for run in runs if not any({*run} < {*other} for other in runs)]
