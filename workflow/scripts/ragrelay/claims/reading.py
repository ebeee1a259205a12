"""Reading the claims of a catalogue entry, wherever they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.claims.claims import claims_frame
from ragrelay.claims.hub import hub_records
from ragrelay.claims.recasts import FORMATS


def read_claims(definition: Mapping[str, Any]) -> pl.DataFrame:
    """The claims of an entry of the catalogue ``claims`` (see claims_frame)."""
    if definition["source"] == "huggingface":
        return claims_frame(hub_records(definition), definition["id"])
    return claims_frame(FORMATS[definition["format"]](Path(definition["path"])), definition["path"])
