"""Describe a file below a study's results: its path, the rule that makes it, and its columns."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

MISSING_KEYS = "missing"
"""The only key in a count's file, and the name of a job's input with this file (base.io.missing_counts)."""
GPU_NAMES = ("gpu", "gres")
"""Resources through which a profile gives a class of rules a GPU."""


class StudyFile(str):
    """The path pattern for a result file, which begins with ``<results>/`` and may have wildcards."""

    rule: str
    """The rule that writes the file, or several separated by commas."""
    about: str
    """The file's content."""
    columns: str
    """``module:name`` of the columns' declaration, or empty."""
    part: bool
    """Whether the columns in columns.STUDY_PART come first."""

    def __new__(cls, path: str, rule: str, about: str, columns: str = "", part: bool = False) -> "StudyFile":
        """Declare a result file.

        Args:
            path: The path below the results; wildcards are in braces.
            rule: The rule that writes the file.
            about: The file's content.
            columns: Where its columns are declared, as ``module:name``; empty if they aren't.
            part: Whether the columns in columns.STUDY_PART come first.
        """
        file = super().__new__(cls, f"<results>/{path}")
        file.rule, file.about, file.columns, file.part = rule, about, columns, part
        return file

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as plain text, because scripts don't import this module."""
        return str, (str(self),)

    @property
    def path(self) -> str:
        """The path below the results, without ``<results>/``."""
        return self.removeprefix("<results>/")

    def at(self, **key: Any) -> "StudyFile":
        """Fill in wildcards.

        Args:
            **key: Values by wildcard; wildcards that you don't name stay.

        Returns:
            The file with the filled-in path.
        """
        path = re.sub(r"\{(\w+)\}", lambda match: str(key.get(match[1], match[0])), self.path)
        return StudyFile(path, self.rule, self.about, self.columns, self.part)

    def each(self, keys: Iterable[Mapping[str, object]]) -> "list[StudyFile]":
        """Fill in wildcards once for each key.

        Args:
            keys: Mappings from wildcards to values.

        Returns:
            One file per key, in the same order.
        """
        return [self.at(**key) for key in keys]


def count_file(receipt: StudyFile) -> StudyFile:
    """Return the path of the count for the job that writes ``receipt``, in a folder whose name no dataset can have."""
    return StudyFile(f".missing/{receipt.path}", "", "how many keys the job would make; removed afterwards")
