"""Start the engine of a job that scores continuations."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.fingerprint import checked_start
from ragrelay.likelihoods.store import decisive


def one_engine(
    generator: Mapping[str, Any], fingerprint: str, cache_dir: str | Path, threads: int
) -> Callable[[Mapping[str, Any], int], VllmEngine]:
    """Return a function that starts the engine at its first call, and returns the same engine at every later call."""
    started: list[VllmEngine] = []

    def start(definition: Mapping[str, Any], window: int) -> VllmEngine:
        if not started:

            def load() -> VllmEngine:
                return VllmEngine(definition, window, threads)

            started.append(checked_start(decisive(generator), fingerprint, load, cache_dir))
        return started[0]

    return start
