"""Write to the terminal so that no file name, log or server reply can move its cursor, hide a line or set its title."""

import logging
import sys
import traceback
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from ragrelay.base.errors import printable
from ragrelay.base.io.coverage import of_total

KEPT = "finished work is kept; run the same command again to continue"


def escaped(text: str) -> str:
    """Return ``text`` with its lines and tabs, and Python's escapes for all other characters that can't be printed."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


class Shown(logging.Formatter):
    """Makes the text of another formatter safe for a terminal, where people read logs too."""

    def __init__(self, formatter: logging.Formatter | None) -> None:
        super().__init__()
        self.formatter = formatter or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text in printable characters."""
        return escaped(str(self.formatter.format(record)))


def say(*lines: object) -> None:
    """Write ``lines`` to standard output."""
    sys.stdout.write(escaped("\n".join(map(str, lines))) + "\n")


def tell(*lines: object) -> None:
    """Write ``lines`` to standard error in one write, so that lines of parallel jobs don't mix."""
    sys.stderr.write(escaped("\n".join(map(str, lines))) + "\n")


def tell_warnings(place: str, counts: Iterable[Mapping[str, Any]]) -> None:
    """Write a line to standard error for each of ``counts`` (what, count) with a warning or a sentence."""
    for row in counts:
        if "warning" in row:
            number = of_total(row["count"], row.get("of", {}))
            tell(f"ragrelay: warning: {place}: {row['what']}: {number}; {row['warning']}")
        if "sentence" in row:
            tell(f"ragrelay: warning: {place}: {row['sentence']}")


def tell_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Write the traceback of an exception that ends this process, or one line for Ctrl-C; for ``sys.excepthook``."""
    if issubclass(kind, KeyboardInterrupt):
        tell("", f"ragrelay: error: stopped by an interrupt: {KEPT}")
        return
    tell("".join(traceback.format_exception(kind, error, trace)).rstrip())
