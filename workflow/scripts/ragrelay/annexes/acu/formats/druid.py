"""Read claims from files with DRUID's columns."""

from pathlib import Path

from ragrelay.annexes.acu.claims import ENDINGS, Records, file_records
from ragrelay.annexes.acu.source import ClaimFormat
from ragrelay.base.errors import InputError, one_of


class Druid(ClaimFormat):
    """for files with DRUID's columns, as `.csv`, `.tsv` or `.jsonl`."""

    def records(self, path: Path) -> Records:
        """Return the rows of the file, unchanged."""
        return file_records(path)

    def check_path(self, place: str, path: Path) -> None:
        """Check that the file has an extension that this format supports."""
        if path.suffix not in ENDINGS:
            raise InputError(place, f"the file extension {path.suffix!r}", one_of(ENDINGS))
