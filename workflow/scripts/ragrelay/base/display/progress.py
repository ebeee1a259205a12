"""Show progress on the terminal in complete lines, because parallel jobs and Snakemake share the terminal."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta

from ragrelay.base.display.terminal import tell

# Minimum seconds between two lines of one kind; later a tenth of the elapsed time (70 lines in three hours).
PAUSE, PAUSE_SHARE = 5.0, 0.1

_JOB: ContextVar[str] = ContextVar("job", default="")


@contextmanager
def prefixed(job: str) -> Iterator[None]:
    """Within the context, start all progress lines with ``job``, a label such as the job's dataset and retriever."""
    token = _JOB.set(job)
    try:
        yield
    finally:
        _JOB.reset(token)


class Lines:
    """A writer of progress lines to standard error, silent unless standard error is a terminal.

    Each line begins with the job's name. With ``later``, the first line is delayed. Instances are thread-safe.
    """

    def __init__(self, later: bool = False) -> None:
        # Read here because a pool's threads don't see the context of the thread that created the pool.
        job = _JOB.get()
        self._start = f"{job}: " if job else ""
        self.began = time.monotonic()
        self._next = self.began + (PAUSE if later else 0.0)
        self._lock = threading.Lock()

    def say(self, text: Callable[[], str]) -> None:
        """Call ``text`` and write the result as a line, unless another line was written moments ago."""
        with self._lock:
            now = time.monotonic()
            if now >= self._next and sys.stderr.isatty():
                self._next = now + max(PAUSE, PAUSE_SHARE * (now - self.began))
                tell(f"{self._start}{text()}")


class Progress:
    """A counter that shows how many of ``total`` items are finished. ``unit``: a plural noun for the items.

    The displayed rate excludes the first batch of finished items, because the engine is still warming up then.
    """

    def __init__(self, total: int, unit: str) -> None:
        self.total, self.unit, self.done = total, unit, 0
        self._first, self._since = 0, 0.0
        self._lines = Lines(later=True)
        self._lock = threading.Lock()

    def add(self, number: int) -> None:
        """Add ``number`` finished items and show the new count."""
        with self._lock:
            if not self.done:
                self._first, self._since = number, time.monotonic()
            self.done += number
        self._lines.say(self._text)

    def _text(self) -> str:
        text = f"{self.done:,} of {self.total:,} {self.unit} ({self.done / self.total:.0%})"
        seconds, later = time.monotonic() - self._since, self.done - self._first
        if not later or not seconds:
            return text
        left = timedelta(seconds=round((self.total - self.done) * seconds / later))
        return f"{text}, {later / seconds:.3g} per second, {left} left"
