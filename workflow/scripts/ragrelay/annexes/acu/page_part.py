"""The claims section of a study's page."""

from collections.abc import Mapping

from ragrelay.annexes.acu.page import claims_section
from ragrelay.annexes.acu.study import ClaimsStudy, read_claims_study
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> ClaimsStudy | None:
    """Return the claims study, or None if there is none."""
    return read_claims_study(files)


def values(part: ClaimsStudy, page: Page, most_rows: int) -> dict[str, object]:
    """Return the variables for the template ``acu_section.html.j2``, and add the claims study's charts to ``page``."""
    return {"acu": claims_section(part, page)}
