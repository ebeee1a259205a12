"""Describe a file below a study's results: its path, the rule that makes it, its columns."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

MISSING_KEYS = "missing"
"""The only key in the file of a count, and the name of a job's input with this file (base.io.missing_counts)."""
GPU_NAMES = ("gpu", "gres")
"""Resources by which a profile gives a class of rules a GPU."""


class StudyFile(str):
    """A path with wildcards that begins with ``<results>/``."""

    rule: str
    """The rule that makes the file, or several separated by commas."""
    about: str
    columns: str
    """``module:name`` of the columns' declaration, or empty."""
    part: bool
    """Whether the columns of columns.STUDY_PART come first."""

    def __new__(cls, path: str, rule: str, about: str, columns: str = "", part: bool = False) -> "StudyFile":
        """Prepend ``<results>/`` to ``path`` and keep the other arguments as attributes."""
        file = super().__new__(cls, f"<results>/{path}")
        file.rule, file.about, file.columns, file.part = rule, about, columns, part
        return file

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as plain text, because scripts don't import this module."""
        return str, (str(self),)

    @property
    def path(self) -> str:
        """Return the path below the results."""
        return self.removeprefix("<results>/")

    def at(self, **key: Any) -> "StudyFile":
        """Fill in the wildcards that ``key`` names, and keep the others."""
        path = re.sub(r"\{(\w+)\}", lambda match: str(key.get(match[1], match[0])), self.path)
        return StudyFile(path, self.rule, self.about, self.columns, self.part)

    def each(self, keys: Iterable[Mapping[str, Any]]) -> "list[StudyFile]":
        """Fill in the path from each of ``keys``, in their order."""
        return [self.at(**key) for key in keys]


def count_file(receipt: StudyFile) -> StudyFile:
    """Return the path of the count for the job that writes ``receipt``, in a folder that no dataset can have."""
    return StudyFile(f".missing/{receipt.path}", "", "how many keys the job would make; removed after it")
