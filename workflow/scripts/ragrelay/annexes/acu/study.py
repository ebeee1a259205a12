"""Read the claims study's tables for the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.acu.correlations import COLUMNS as CORRELATIONS
from ragrelay.annexes.acu.datasets import COMPOSITION, MEANS
from ragrelay.annexes.acu.judged_evidence import WORDS
from ragrelay.annexes.acu.usage import COLUMNS as USAGE
from ragrelay.annexes.acu.usage import UNITS
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.generation.likelihoods.mass import mass_counts

TABLES = {"usage": USAGE, "correlations": CORRELATIONS, "composition": COMPOSITION, "means": MEANS}
"""Columns of the tables to read, keyed by the table's attribute in ClaimsStudy."""


@dataclass(frozen=True)
class ClaimsStudy:
    """A claims study's tables for the page, with details of how they were computed."""

    usage: pl.DataFrame
    correlations: pl.DataFrame
    composition: pl.DataFrame
    means: pl.DataFrame
    receipts: Mapping[tuple[str, str], Mapping[str, Any]]
    """How each set of claims was scored, keyed by claims and generator: each word's tokens, engines and fingerprint."""
    entities: Mapping[str, str]
    """The name of the entity detector used for each set of claims, keyed by the set's name."""
    judged: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Counts for the evidence judge, if there is one, by set of claims (see likelihoods.mass.mass_counts)."""

    @property
    def keys(self) -> dict[str, str]:
        """The keys that tell claims studies apart; empty because a study has at most one claims study."""
        return {}

    @property
    def units(self) -> list[tuple[str, str, str]]:
        """Every combination of claim set, generator and template, in table order."""
        return self.usage.select(UNITS).unique(maintain_order=True).rows()


def read_claims_study(files: Mapping[str, KeyedFiles]) -> ClaimsStudy | None:
    """Read a claims study from ``files``, or return None if ``files`` has no claims study.

    ``files`` has the keys ``acu_<name>`` for each name in TABLES, acu_receipts, acu_entities and, if there is an
    evidence judge, acu_judged.
    """
    if "acu_receipts" not in files:
        return None
    tables = {name: read_table(files[f"acu_{name}"].of({}), columns) for name, columns in TABLES.items()}
    return ClaimsStudy(
        **tables,
        receipts={key: _scored(path) for key, path in files["acu_receipts"].by("claims", "generator").items()},
        entities={name: read_json(path)["entities"] for name, path in files["acu_entities"].by("claims").items()},
        judged={name: judged_counts(path) for name, path in files["acu_judged"].by("claims").items()}
        if "acu_judged" in files else {},
    )  # fmt: skip


def judged_counts(path: Path) -> list[dict[str, object]]:
    """Count the pieces of evidence for which the judge mostly replies with words other than `yes` and `no`."""
    return mass_counts(pl.read_parquet(path, columns=["mass"])["mass"], WORDS)


def _scored(path: Path) -> dict[str, object]:
    """Read the words and the engines from the receipt for all templates."""
    parts = [part for part in read_json(path)["parts"] if "prompts" in part]
    return {
        "words": {word: tokens for part in parts for word, tokens in part["words"].items()},
        "engines": list(dict.fromkeys(engine for part in parts for engine in part["prompts"]["engines"])),
        "fingerprint": parts[0]["prompts"]["fingerprint"],
    }
