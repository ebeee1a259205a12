"""Waiting for something to become true, instead of for some time to pass."""

import time
from collections.abc import Callable


def wait_for(what: str, ready: Callable[[], bool], seconds: float, explain: Callable[[], str] = str) -> None:
    """Return as soon as ``ready()``; AssertionError with ``explain()`` after ``seconds``, which only bound a hang."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"waited {seconds} s for {what}\n{explain()}"
        time.sleep(0.05)
