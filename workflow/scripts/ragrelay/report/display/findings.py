"""Build sentences for a page's answers, warnings and findings, and remarks that qualify these sentences."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragrelay.analysis.standing import AGAINST
from ragrelay.analysis.verdicts import TOO_FEW
from ragrelay.report.display.numbers import listing, number

Row = dict[str, Any]
"""A table's row, or values that a template draws."""


class Conclusion(NamedTuple):
    """An answer at the top of a page: a question, a sentence in bold (``strong``), and supporting numbers."""

    topic: str
    question: str
    strong: str
    numbers: str = ""
    names: tuple[str, ...] = ()
    remark: str = ""
    """A sentence that qualifies the answer; may be empty."""
    facts: tuple[Any, ...] = ()
    """The rows behind its numbers and verdicts (report.facts: Fact, TableRow)."""

    @property
    def sentence(self) -> str:
        said = f"{self.strong}: {self.numbers}." if self.numbers else f"{self.strong}."
        return with_remark(said, self.remark)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Split ``strong`` at retriever names into pairs (text, name). For all other text, the name is empty."""
        names = "|".join(map(re.escape, self.names))
        pieces = re.split(f"(?<![\\w-])({names})(?![\\w-])", self.strong) if names else [self.strong]
        return [(piece, piece if piece in self.names else "") for piece in pieces if piece]


class Warned(NamedTuple):
    """A warning about how to read the answers: a line of text with a heading."""

    head: str
    text: str
    facts: tuple[Any, ...] = ()
    """The rows behind its numbers, as in Conclusion."""


@dataclass(frozen=True)
class Findings:
    """The findings and limitations for a part of a study. ``where``: the k, ordering and references, as text."""

    where: str
    sentences: list[str]
    limits: list[str]


def would_undo(what: str) -> str:
    """Return a sentence saying that one more query would overturn ``what``, such as `the verdict for bm25`."""
    query = f"A single further query with a difference of {number(AGAINST, 2)} in the other direction"
    return f"{query} would overturn {what}."


def undone(rows: Iterable[Mapping[str, Any]], named_by: str = "retriever") -> str:
    """Return a remark on verdicts that one more query would overturn or that Student's t alone would change."""
    rows = list(rows)
    fallen = [row[named_by] for row in rows if row["stands"] is False]
    undoing = [would_undo(f"the verdict{'s' if len(fallen) > 1 else ''} for {listing(fallen)}")] if fallen else []
    return " ".join([*undoing, *filter(None, (unlike_student(row, row[named_by]) for row in rows))])


def counts(row: Mapping[str, Any]) -> str:
    """Return the numbers of available and needed queries if a row has too few queries, or an empty string otherwise."""
    return row["remark"] or "" if row["verdict"] == TOO_FEW else ""


def unlike_student(row: Mapping[str, Any], name: str = "") -> str:
    """Return a row's remark (if any) as a sentence about ``name``, or an empty string if there are too few queries."""
    if row["verdict"] == TOO_FEW or not row["remark"]:
        return ""
    where = f"{'at' if name.startswith('k = ') else 'with'} {name}, " if name else ""
    said = f"{where}{row['remark']}."
    return f"{said[0].upper()}{said[1:]}"


def with_remark(text: str, remark: str) -> str:
    """Append a remark, which may be empty, to ``text``."""
    return f"{text} {remark}".rstrip()


def side_of_zero(row: Mapping[str, Any]) -> int | None:
    """Return the sign of a row's interval: 1, -1, 0 if the interval includes zero, or None if there is no interval."""
    if row["low"] is None or row["high"] is None:
        return None
    return 1 if row["low"] > 0 else -1 if row["high"] < 0 else 0
