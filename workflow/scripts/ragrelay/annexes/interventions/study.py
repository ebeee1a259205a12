"""Hold what the report shows about interventions: the effects of one dataset, generator and scorer."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.interventions.effects import COLUMNS, OVERALL
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.base.vocabulary.names import UNSEEN

TABLE = "intervention_effects"


@dataclass(frozen=True)
class EffectStudy:
    """The effects of a study's interventions in one section; ``effects`` has effects.COLUMNS."""

    keys: Mapping[str, str]
    effects: pl.DataFrame

    @property
    def title(self) -> str:
        return " · ".join(self.keys.values())

    @property
    def overall(self) -> pl.DataFrame:
        """Return the rows over places."""
        return self.effects.filter(part=OVERALL)

    @property
    def references(self) -> str | None:
        """Return the set of references of the first sentences: the first that is not unseen."""
        seen = self.effects.filter(~pl.col("references").str.ends_with(UNSEEN))["references"]
        return seen[0] if len(seen) else None


def read_effects(files: Mapping[str, KeyedFiles]) -> list[EffectStudy]:
    """Read the study of every section among ``files``, in their order; none without interventions."""
    if TABLE not in files:
        return []
    return [read_study({TABLE: path}, keys) for keys, path in files[TABLE].keyed]


def read_study(paths: Mapping[str, str | Path] | Any, keys: Mapping[str, str]) -> EffectStudy:
    """Read the study of one section."""
    return EffectStudy(keys, read_table(paths[TABLE], COLUMNS))
