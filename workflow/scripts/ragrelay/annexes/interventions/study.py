"""The report's data about interventions: the effects for a dataset, generator and scorer."""

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from ragrelay.annexes.interventions.effects import COLUMNS, OVERALL
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.display.shown_tables import ShownTables


class EffectStudy(ShownTables):
    """The effects of interventions for a section of the page."""

    COLUMNS: ClassVar = {"intervention_effects": COLUMNS}

    @property
    def asked(self) -> Mapping[str, Mapping[str, Any]]:
        """Each intervention's kind, retrievers and k, keyed by the intervention's name."""
        return self.params or {}

    @property
    def effects(self) -> pl.DataFrame:
        return self["intervention_effects"]

    @property
    def overall(self) -> pl.DataFrame:
        """The rows with mean effects over all positions."""
        return self.effects.filter(part=OVERALL)

    @property
    def references(self) -> str | None:
        """The first reference set that isn't an unseen set; the page's first sentences use this set."""
        seen = self.effects.filter(~pl.col("references").str.ends_with(UNSEEN))["references"]
        return seen[0] if len(seen) else None
