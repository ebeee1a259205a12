"""The section of a page that compares a study with published tables."""

from collections.abc import Mapping
from typing import Any

from ragrelay.annexes.reproduction.page import reproduction_section
from ragrelay.annexes.reproduction.study import Reproduction, read_reproduction
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: Any, params: object) -> Reproduction | None:
    """Return the comparison with published tables, or None if the study has none."""
    return read_reproduction(inputs)


def values(part: Reproduction, page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``reproduction.html.j2``, and add the comparison's charts to ``page``."""
    return {"reproduction": reproduction_section(part, page)}
