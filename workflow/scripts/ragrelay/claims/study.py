"""What a report shows of a claims study."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.claims.correlations import COLUMNS as CORRELATIONS
from ragrelay.claims.usage import SCHEMA as USAGE
from ragrelay.claims.usage import UNITS
from ragrelay.vocabulary.columns import schema_of


@dataclass(frozen=True)
class ClaimsStudy:
    """The tables of usage and correlations; receipts of scoring and detectors of entities, by what they belong to."""

    usage: pl.DataFrame
    correlations: pl.DataFrame
    receipts: Mapping[tuple[str, str], Mapping[str, Any]]
    entities: Mapping[str, str]

    @property
    def keys(self) -> dict[str, str]:
        """What tells its files apart: a study has one."""
        return {}

    @property
    def units(self) -> list[tuple[str, str, str]]:
        """(claims, generator, template), in their order."""
        return self.usage.select(UNITS).unique(maintain_order=True).rows()


def read_claims_study(
    files: Mapping[str, Any], receipt_keys: Sequence[Mapping[str, str]], claims: Sequence[str]
) -> ClaimsStudy | None:
    """Read it from ``files`` acu_usage, acu_correlations, acu_receipts and acu_entities; None where nothing was scored.

    The receipts stand parallel to ``receipt_keys`` (claims, generator), the files acu_entities to ``claims``.
    """
    if not receipt_keys:
        return None
    receipts = zip(receipt_keys, files["acu_receipts"], strict=True)
    return ClaimsStudy(
        pl.read_csv(files["acu_usage"], schema_overrides=USAGE),
        pl.read_csv(files["acu_correlations"], schema_overrides=schema_of(CORRELATIONS)),
        {(key["claims"], key["generator"]): _json(path) for key, path in receipts},
        {name: _json(path)["entities"] for name, path in zip(claims, files["acu_entities"], strict=True)},
    )


def _json(path: str | Path) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))
