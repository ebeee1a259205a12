"""Describe a file in a study's results: its path, the rule that creates it, and its columns."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

MISSING_KEYS = "missing"
"""The only key in a count file, and the name of the job input with that file (base.io.missing_counts)."""
GPU_NAMES = ("gpu", "gres")
"""Names of the resources with which a profile requests GPUs for a class of rules."""


class StudyFile(str):
    """The path pattern of a result file. The pattern begins with ``<results>/`` and may contain wildcards."""

    rule: str
    """The name of the rule that writes the file; several names are separated by commas."""
    about: str
    """What the file contains."""
    columns: str
    """Where the file's columns are declared, as ``module:name``; empty if they aren't declared."""
    part: bool
    """Whether the file's first columns are those in columns.STUDY_PART."""

    def __new__(cls, path: str, rule: str, about: str, columns: str = "", part: bool = False) -> "StudyFile":
        """Declare a result file.

        Args:
            path: The path relative to the results folder, with wildcards in braces.
            rule: The rule that writes the file.
            about: What the file contains.
            columns: Where the file's columns are declared, as ``module:name``; empty if they aren't declared.
            part: Whether the file's first columns are those in columns.STUDY_PART.
        """
        file = super().__new__(cls, f"<results>/{path}")
        file.rule, file.about, file.columns, file.part = rule, about, columns, part
        return file

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as a plain string, because scripts don't import this module."""
        return str, (str(self),)

    @property
    def path(self) -> str:
        """The path without ``<results>/``."""
        return self.removeprefix("<results>/")

    def at(self, **key: Any) -> "StudyFile":
        """Fill in wildcards.

        Args:
            **key: Values by wildcard. Other wildcards stay in the pattern.

        Returns:
            The file with these wildcards filled in.
        """
        path = re.sub(r"\{(\w+)\}", lambda match: str(key.get(match[1], match[0])), self.path)
        return StudyFile(path, self.rule, self.about, self.columns, self.part)

    def each(self, keys: Iterable[Mapping[str, object]]) -> "list[StudyFile]":
        """Fill in the wildcards for each set of values.

        Args:
            keys: Mappings from wildcards to values, one per file.

        Returns:
            One file per set of values, in the same order.
        """
        return [self.at(**key) for key in keys]


def count_file(receipt: StudyFile) -> StudyFile:
    """Return the file in ``.missing/`` that says how many results the job that writes ``receipt`` has to compute."""
    return StudyFile(f".missing/{receipt.path}", "", "how many keys the job would make; removed afterwards")
