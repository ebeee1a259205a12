"""A process of its own per engine: started once, kept, and given tasks in turn with the others."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

_kept: Any = None


class Worker:
    """A fresh process that keeps what ``start(*arguments)`` returned there."""

    def __init__(self, start: Callable[..., Any], *arguments: Any) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        self._pool.submit(_start, start, arguments).result()

    def run(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """``task(kept, *arguments)`` in that process."""
        return self._pool.submit(_run, task, arguments).result()

    def stop(self) -> None:
        """End the process."""
        self._pool.shutdown()


def _start(start: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    global _kept
    _kept = start(*arguments)


def _run(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return task(_kept, *arguments)
