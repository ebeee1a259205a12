"""Reading the claims of a catalogue entry, wherever they are."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.claims.claims import claims_frame
from ragrelay.claims.source import CLAIM_KINDS


def read_claims(definition: Mapping[str, Any]) -> pl.DataFrame:
    """The claims of an entry of the catalogue ``claims`` (see claims_frame)."""
    source = CLAIM_KINDS.of(definition)
    return claims_frame(source.records(), source.origin())
