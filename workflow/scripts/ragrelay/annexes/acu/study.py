"""Read what the report shows about claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.acu.correlations import COLUMNS as CORRELATIONS
from ragrelay.annexes.acu.datasets import COMPOSITION, MEANS
from ragrelay.annexes.acu.usage import COLUMNS as USAGE
from ragrelay.annexes.acu.usage import UNITS
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_table

TABLES = {"usage": USAGE, "correlations": CORRELATIONS, "composition": COMPOSITION, "means": MEANS}
"""Columns of the tables to read, by their names in ClaimsStudy."""


@dataclass(frozen=True)
class ClaimsStudy:
    """The tables that the page shows, and how they came about."""

    usage: pl.DataFrame
    correlations: pl.DataFrame
    composition: pl.DataFrame
    means: pl.DataFrame
    receipts: Mapping[tuple[str, str], Mapping[str, Any]]
    """How claims were scored, by claims and generator: the tokens of ``words``, ``engines`` and ``fingerprint``."""
    entities: Mapping[str, str]
    """Detectors of entities, by claims."""

    @property
    def keys(self) -> dict[str, str]:
        """Return the keys that distinguish its files: none, since a study has one claims study."""
        return {}

    @property
    def units(self) -> list[tuple[str, str, str]]:
        """Return (claims, generator, template) of each unit, in order."""
        return self.usage.select(UNITS).unique(maintain_order=True).rows()


def read_claims_study(files: Mapping[str, KeyedFiles]) -> ClaimsStudy | None:
    """Read a claims study from ``files``: acu_<name> of each of TABLES, acu_receipts, acu_entities. None without it."""
    if "acu_receipts" not in files:
        return None
    tables = {name: read_table(files[f"acu_{name}"].of({}), columns) for name, columns in TABLES.items()}
    return ClaimsStudy(
        **tables,
        receipts={key: _scored(path) for key, path in files["acu_receipts"].by("claims", "generator").items()},
        entities={name: read_json(path)["entities"] for name, path in files["acu_entities"].by("claims").items()},
    )


def _scored(path: Path) -> dict[str, Any]:
    """Read what a receipt of all templates says of the words and of the engines."""
    parts = [part for part in read_json(path)["parts"] if "prompts" in part]
    return {
        "words": {word: tokens for part in parts for word, tokens in part["words"].items()},
        "engines": list(dict.fromkeys(engine for part in parts for engine in part["prompts"]["engines"])),
        "fingerprint": parts[0]["prompts"]["fingerprint"],
    }
