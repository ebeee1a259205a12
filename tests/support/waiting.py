"""Waiting for something to become true, instead of for some time to pass."""

import time
from collections.abc import Callable

LEAST = 240
"""Seconds before a wait is called a hang, on machines that do much else."""


def wait_for(what: str, ready: Callable[[], bool], seconds: float, explain: Callable[[], str] = str) -> None:
    """Return as soon as ``ready()``; AssertionError with ``explain()`` after ``seconds``, which only bound a hang."""
    seconds = max(seconds, LEAST)
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, f"waited {seconds} s for {what}\n{explain()}"
        time.sleep(0.05)
