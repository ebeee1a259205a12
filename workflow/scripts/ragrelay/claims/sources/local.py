"""Claims in a file."""

from pathlib import Path

from pydantic import Field

from ragrelay.claims.claims import Records
from ragrelay.claims.source import CLAIM_FORMATS, ClaimSource
from ragrelay.errors import InputError
from ragrelay.kinds import Study, Text


class Local(ClaimSource):
    """A file of claims with evidence."""

    path: Text = Field(description="Path of the file.")
    format: str = Field(
        "druid", json_schema_extra=lambda schema: schema.update(CLAIM_FORMATS.choices("What it holds: "))
    )

    def check(self, place: str, study: Study) -> None:
        """There must be the file, with a name that its format allows."""
        path = study.folder / self.path
        if not path.is_file():
            raise InputError(f"{place}.path'", f"no file {path}", "a file of claims with evidence")
        CLAIM_FORMATS[self.format]().check_path(f"{place}.path'", path)

    def records(self) -> Records:
        """Those of the file."""
        return CLAIM_FORMATS[self.format]().records(Path(self.path))

    def origin(self) -> str:
        """The path."""
        return self.path

    def files(self) -> list[str]:
        """The one."""
        return [self.path]
