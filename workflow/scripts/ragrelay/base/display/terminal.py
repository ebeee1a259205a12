"""Write text to the terminal, escaping control characters from file names, logs and server replies."""

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
    """Return ``text`` with Python escapes for all unprintable characters except line breaks and tabs."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


class Shown(logging.Formatter):
    """A log formatter that escapes another formatter's output, so that logs are safe to view on a terminal."""

    def __init__(self, formatter: logging.Formatter | None) -> None:
        super().__init__()
        self.formatter = formatter or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """Format the log record, with unprintable characters escaped."""
        return escaped(str(self.formatter.format(record)))


def say(*lines: object) -> None:
    """Write ``lines`` to standard output."""
    sys.stdout.write(escaped("\n".join(map(str, lines))) + "\n")


def tell(*lines: object) -> None:
    """Write ``lines`` to standard error in a single call, so that they don't mix with lines from parallel jobs."""
    sys.stderr.write(escaped("\n".join(map(str, lines))) + "\n")


def tell_warnings(place: str, counts: Iterable[Mapping[str, Any]]) -> None:
    """Write the warnings in ``counts`` to standard error, one per line, each preceded by ``place``."""
    for row in counts:
        if "warning" in row:
            number = of_total(row["count"], row.get("of", {}))
            tell(f"ragrelay: warning: {place}: {row['what']}: {number}; {row['warning']}")
        if "sentence" in row:
            tell(f"ragrelay: warning: {place}: {row['sentence']}")


def tell_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Write an uncaught exception's traceback, or a single line after Ctrl-C. Use as ``sys.excepthook``."""
    if issubclass(kind, KeyboardInterrupt):
        tell("", f"ragrelay: error: stopped by an interrupt: {KEPT}")
        return
    tell("".join(traceback.format_exception(kind, error, trace)).rstrip())
