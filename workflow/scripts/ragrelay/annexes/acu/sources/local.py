"""Read claims from a user's file."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from ragrelay.annexes.acu.claims import Records
from ragrelay.annexes.acu.source import CLAIM_FORMATS, ClaimSource, RivalStatements
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import File, OneOf


class Local(ClaimSource):
    """A file of claims with evidence."""

    path: File = Field(description="Path of the file.")
    format: Annotated[str, OneOf(CLAIM_FORMATS.names)] = Field(
        "druid", json_schema_extra=lambda schema: schema.update(CLAIM_FORMATS.choices("Format of the file: "))
    )
    rivals: bool = Field(
        False,
        description="Whether to use both rival statements in a record as claims (four rows) instead of only the "
        "statement used in the paper (two rows). For `counterfact`, the paper uses the false statement; for "
        "`conflictqa`, the remembered statement.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the file exists, and that the format supports the file's name and ``rivals``."""
        path = study.folder / self.path
        if not path.is_file():
            raise InputError(f"{place}.path'", f"no file {path}", "a file of claims with evidence")
        form = CLAIM_FORMATS[self.format]()
        form.check_path(f"{place}.path'", path)
        if self.rivals and not isinstance(form, RivalStatements):
            recasting = one_of(n for n in CLAIM_FORMATS.names() if issubclass(CLAIM_FORMATS[n], RivalStatements))
            raise InputError(f"{place}.rivals'", f"true with format {self.format}", f"format {recasting}")

    def records(self) -> Records:
        """Yield the file's records."""
        form = CLAIM_FORMATS[self.format]()
        if isinstance(form, RivalStatements) and self.rivals:
            return form.recast(Path(self.path), rivals=True)
        return form.records(Path(self.path))

    def origin(self) -> str:
        """Return the file's path."""
        return self.path

    def files(self) -> list[str]:
        """Return the path of the claims file."""
        return [self.path]
