"""A file below the results of a study: its path, the rule that makes it, its columns."""

import re
from collections.abc import Iterable, Mapping
from typing import Any


class StudyFile(str):
    """A path with wildcards, which begins with `<results>/`.

    ``rule``: the one that makes it, or several with commas between. ``columns``: ``module:name`` of their declaration,
    or empty. ``part``: whether the columns of vocabulary.columns.STUDY_PART come before them.
    """

    rule: str
    about: str
    columns: str
    part: bool

    def __new__(cls, path: str, rule: str, about: str, columns: str = "", part: bool = False) -> "StudyFile":
        """Prepend ``<results>/`` to ``path``, and keep the other arguments as attributes."""
        file = super().__new__(cls, f"<results>/{path}")
        file.rule, file.about, file.columns, file.part = rule, about, columns, part
        return file

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as a plain text, since a script doesn't import this module."""
        return str, (str(self),)

    @property
    def path(self) -> str:
        """The path below the results."""
        return self.removeprefix("<results>/")

    def at(self, **key: Any) -> "StudyFile":
        """The path with the wildcards that ``key`` names filled in, and all others left."""
        path = re.sub(r"\{(\w+)\}", lambda match: str(key.get(match[1], match[0])), self.path)
        return StudyFile(path, self.rule, self.about, self.columns, self.part)

    def each(self, keys: Iterable[Mapping[str, Any]]) -> "list[StudyFile]":
        """The path filled in from each of ``keys``, in their order."""
        return [self.at(**key) for key in keys]
