"""A generation job: fill the store with what is asked and not held, and tell what was done in a receipt."""

import logging
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl

from ragrelay.display.progress import Progress
from ragrelay.errors import InputError
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.requests import Request, requests_of, window_of
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.io.parquet_parts import PartStore
from ragrelay.prompting.truncation import Layout

log = logging.getLogger(__name__)

TOTALS = ("prompt_tokens", "cached_tokens", "answer_tokens", "dropped_passages")
MEMORY = (
    "memory for the weights and the cache: less by the generator's max_model_len, max_num_seqs, cpu_kvcache_gib or "
    "gpu_memory_utilization, more by the profile's mem_mb or gpu; the job's log has the engine's own words"
)

Started = TypeVar("Started")


class Appendable(Protocol):
    """A store that rows can be added to."""

    def append(self, rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, str], /) -> Path:
        """Write ``rows`` as one more part."""


class Maker(Protocol):
    """What a part says of whatever made its rows."""

    name: str
    version: str
    device: str


class Engine(Maker, Protocol):
    """What a job asks of an engine."""

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Yield one store row per request, as they finish."""


def fill_store(
    asked: pl.DataFrame,
    store: AnswerStore,
    generator: Mapping[str, Any],
    layout: Layout,
    start_engine: Callable[[Mapping[str, Any], int | None], Engine],
) -> dict[str, Any]:
    """Make the answers of ``asked`` (prompt_id, seed, qid, docnos, prompt, system) that ``store`` lacks.

    ``start_engine(generator, window)`` is only called when something is missing and every prompt fits the window.
    Returns the receipt: asked, held, made, tokens, seconds, engine, and how many answers each engine version made.
    """
    began = time.monotonic()
    held = store.held(asked)
    missing = asked.join(held, on=KEY, how="anti", maintain_order="left")
    receipt: dict[str, Any] = {"asked": len(asked), "held": len(held), "made": 0, "fingerprint": store.folder.name}
    log.info("%d answers asked for, %d held, %d to make", len(asked), len(held), len(missing))
    if len(missing):
        window = window_of(generator)
        requests = list(requests_of(missing, generator, window, layout))
        engine = started(start_engine, generator, window)
        ready = time.monotonic()
        flush_seconds = generator["flush_seconds"]
        rows = engine.answers(iter(requests))
        receipt |= keep(rows, len(requests), store, engine, TOTALS, "answers", flush_seconds)
        receipt |= {"engine": engine.name, "version": engine.version, "device": engine.device, "window": window}
        receipt |= {"start_seconds": round(ready - began, 2), "peak_memory_mib": peak_memory()}
    receipt["engines"] = made_by(store, asked)
    receipt["seconds"] = round(time.monotonic() - began, 2)
    return receipt


def started(
    start_engine: Callable[[Mapping[str, Any], Any], Started], generator: Mapping[str, Any], window: int | None
) -> Started:
    """The generator's engine. Raises InputError where one in the job dies at its start, mostly of too little memory."""
    try:
        return start_engine(generator, window)
    except InputError:
        raise
    except (MemoryError, OSError, RuntimeError, ValueError) as error:
        if not GENERATOR_KINDS[generator["engine"]].in_job:
            raise
        log.exception("the engine did not start")
        found = f"no start ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        raise InputError(f"engine of {generator['model']}", found, MEMORY) from error


def keep(
    rows: Iterator[dict[str, Any]],
    number: int,
    store: Appendable,
    engine: Maker,
    totals: Sequence[str],
    unit: str,
    flush_seconds: float,
) -> dict[str, Any]:
    """Append ``number`` ``rows`` of an engine to ``store``, a part about every ``flush_seconds`` and one at the end.

    Returns how many were ``made``, the sums of the columns ``totals``, and generate_seconds; the progress counts
    ``unit``, a plural.
    """
    waiting: list[dict[str, Any]] = []
    sums = dict.fromkeys(("made", *totals), 0)
    began = flushed = time.monotonic()
    progress = Progress(number, unit)

    def flush() -> None:
        seconds = time.monotonic() - flushed
        described = {"engine": engine.name, "version": engine.version, "device": engine.device}
        store.append(waiting, {**described, "seconds": f"{seconds:.2f}", "peak_memory_mib": str(peak_memory())})
        log.info("%d of %d %s made", sums["made"], number, unit)
        waiting.clear()

    try:
        for row in rows:
            waiting.append(row)
            progress.add(1)
            sums["made"] += 1
            for name in totals:
                sums[name] += row[name]
            if time.monotonic() - flushed >= flush_seconds:
                flush()
                flushed = time.monotonic()
    finally:
        # Also when the engine dies or the job is interrupted: what is finished is kept.
        if waiting:
            flush()
    return {**sums, "generate_seconds": round(time.monotonic() - began, 2)}


def made_by(store: PartStore, asked: pl.DataFrame) -> dict[str, int]:
    """How many of the keys ``asked`` each engine, version and device made."""
    counts: dict[str, int] = {}
    for part, count in store.held(asked).group_by("part").len().sort("part").iter_rows():
        told = store.metadata(Path(part))
        name = f"{told.get('engine', 'unknown')} {told.get('version', '')} on {told.get('device', 'unknown')}"
        counts[name] = counts.get(name, 0) + count
    return counts


def peak_memory() -> int:
    """MiB that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
