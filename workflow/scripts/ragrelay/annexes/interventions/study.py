"""Hold the report's data on interventions: the effects for one dataset, generator and scorer."""

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from ragrelay.annexes.interventions.effects import COLUMNS, OVERALL
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.display.shown_tables import ShownTables


class EffectStudy(ShownTables):
    """The effects of a study's interventions in one section of the page."""

    COLUMNS: ClassVar = {"intervention_effects": COLUMNS}

    @property
    def asked(self) -> Mapping[str, Mapping[str, Any]]:
        """Each intervention's kind, retrievers and k, keyed by its name."""
        return self.params or {}

    @property
    def effects(self) -> pl.DataFrame:
        return self["intervention_effects"]

    @property
    def overall(self) -> pl.DataFrame:
        """Return the rows with mean effects over all positions."""
        return self.effects.filter(part=OVERALL)

    @property
    def references(self) -> str | None:
        """Return the first reference set that isn't unseen, which the page's first sentences use."""
        seen = self.effects.filter(~pl.col("references").str.ends_with(UNSEEN))["references"]
        return seen[0] if len(seen) else None
