"""Where claims come from, and the formats of their files."""

from pathlib import Path

from ragrelay.claims.claims import Records
from ragrelay.kinds import Kind, Kinds


class ClaimSource(Kind):
    """Claims with evidence."""

    def records(self) -> Records:
        """Their rows. Raises InputError for what can't be read."""
        raise NotImplementedError

    def origin(self) -> str:
        """What messages about all of them name."""
        raise NotImplementedError

    def files(self) -> list[str]:
        """Paths of files of the user's own."""
        return []


class ClaimFormat(Kind):
    """A format of a file of claims; it has no keys."""

    def records(self, path: Path) -> Records:
        """The rows of ``path``. Raises InputError for a file that has another format."""
        raise NotImplementedError

    def check_path(self, place: str, path: Path) -> None:
        """Raise InputError where ``path``, which exists, can't have the format by its name."""


CLAIM_KINDS = Kinds(ClaimSource, "ragrelay.claims.sources", "source")
CLAIM_FORMATS = Kinds(ClaimFormat, "ragrelay.claims.formats", "format")
