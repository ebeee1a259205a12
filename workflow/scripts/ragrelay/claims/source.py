"""Base classes of places that claims come from, and of the formats of their files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.claims.claims import Records, claims_frame
from ragrelay.kinds import Kind, Kinds


class ClaimSource(Kind):
    """Claims with evidence."""

    def records(self) -> Records:
        """Return the rows. Raises InputError if they can't be read."""
        raise NotImplementedError

    def origin(self) -> str:
        """Return the name for all claims together in error messages."""
        raise NotImplementedError

    def files(self) -> list[str]:
        """Return the paths of the user's files."""
        return []


class ClaimFormat(Kind):
    """A format of a file of claims; it has no keys."""

    def records(self, path: Path) -> Records:
        """The rows of ``path``. Raises InputError for a file that has another format."""
        raise NotImplementedError

    def check_path(self, place: str, path: Path) -> None:
        """Raise InputError where ``path``, which exists, can't have the format by its name."""


class RivalStatements(ClaimFormat):
    """A format whose records have two rival statements, which are recast as claims."""

    def records(self, path: Path) -> Records:
        """The rows of the statement that is the claim in the paper."""
        return self.recast(path, rivals=False)

    def recast(self, path: Path, rivals: bool) -> Records:
        """The rows of one statement of each record, or with ``rivals`` of both."""
        raise NotImplementedError


CLAIM_KINDS = Kinds(ClaimSource, "ragrelay.claims.sources", "source")
CLAIM_FORMATS = Kinds(ClaimFormat, "ragrelay.claims.formats", "format")


def prepare_claims(definition: Mapping[str, Any]) -> pl.DataFrame:
    """The claims of an entry of the catalogue ``claims`` (see claims_frame)."""
    source = CLAIM_KINDS.of(definition)
    return claims_frame(source.records(), source.origin())
