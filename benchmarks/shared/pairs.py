"""Timing that a slow minute of the machine can't tilt: the candidates in turn, and a ratio per round."""

import statistics
import time
from collections.abc import Callable, Mapping

from benchmarks.shared.record import Figure, figure

Rounds = dict[str, list[float]]


def alternating(candidates: Mapping[str, Callable[[], float | None]], rounds: int) -> Rounds:
    """Seconds of each candidate in every round; every second round goes through them in reverse.

    A candidate that returns a number says itself how many seconds count.
    """
    seconds: Rounds = {name: [] for name in candidates}
    for turn in range(rounds):
        for name in list(candidates)[:: -1 if turn % 2 else 1]:
            started = time.perf_counter()
            said = candidates[name]()
            seconds[name].append(time.perf_counter() - started if said is None else said)
    return seconds


def ratios(seconds: Rounds, above: str, below: str) -> list[float]:
    """Per round, the seconds of ``above`` over those of ``below``."""
    return [one / other for one, other in zip(seconds[above], seconds[below], strict=True)]


def ratio(seconds: Rounds, above: str, below: str, goal: str = "") -> Figure:
    """The median of ``ratios`` as a figure, with its spread."""
    found = ratios(seconds, above, below)
    return figure(median(found), "x", goal=goal, spread=found)


def median(values: list[float]) -> float:
    """The middle value."""
    return statistics.median(values)
