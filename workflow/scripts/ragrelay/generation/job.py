"""A generation job: fill the store with what is asked and not held, and tell what was done in a receipt."""

import logging
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from tqdm import tqdm

from ragrelay.errors import InputError
from ragrelay.generation.layout import Layout
from ragrelay.generation.requests import Request, requests_of, window_of
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.hubs import check_cached

log = logging.getLogger(__name__)

MEMORY = (
    "memory for the weights and the cache: less by the generator's max_model_len, max_num_seqs, cpu_kvcache_gib or "
    "gpu_memory_utilization, more by the profile's mem_mb or gpu; the job's log has the engine's own words"
)


class Engine(Protocol):
    """What a job asks of an engine."""

    name: str
    version: str
    device: str

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
    started = time.monotonic()
    held = store.held(asked)
    missing = asked.join(held, on=KEY, how="anti", maintain_order="left")
    receipt: dict[str, Any] = {"asked": len(asked), "held": len(held), "made": 0, "fingerprint": store.folder.name}
    log.info("%d answers asked for, %d held, %d to make", len(asked), len(held), len(missing))
    if len(missing):
        if generator["engine"] == "vllm":
            check_cached(generator["model"], generator.get("revision"), f"generator model {generator['model']!r}")
        window = window_of(generator)
        requests = list(requests_of(missing, generator, window, layout))
        engine = _started(start_engine, generator, window)
        ready = time.monotonic()
        receipt |= _make(engine, requests, store, generator["flush_seconds"])
        receipt |= {"engine": engine.name, "version": engine.version, "device": engine.device, "window": window}
        receipt |= {"start_seconds": round(ready - started, 2), "peak_memory_mib": _peak_memory()}
    receipt["engines"] = _engines(store, asked)
    receipt["seconds"] = round(time.monotonic() - started, 2)
    return receipt


def _started(
    start_engine: Callable[[Mapping[str, Any], int | None], Engine], generator: Mapping[str, Any], window: int | None
) -> Engine:
    try:
        return start_engine(generator, window)
    except InputError:
        raise
    except (MemoryError, OSError, RuntimeError, ValueError) as error:
        if generator["engine"] != "vllm":
            raise
        log.exception("the engine did not start")
        raise InputError(f"engine of {generator['model']}", _reason(error), MEMORY) from error


def _make(engine: Engine, requests: list[Request], store: AnswerStore, flush_seconds: float) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    totals = {"made": 0, "prompt_tokens": 0, "cached_tokens": 0, "answer_tokens": 0, "dropped_passages": 0}
    began = flushed = time.monotonic()

    def flush() -> None:
        seconds = time.monotonic() - flushed
        described = {"engine": engine.name, "version": engine.version, "device": engine.device}
        store.append(rows, {**described, "seconds": f"{seconds:.2f}", "peak_memory_mib": str(_peak_memory())})
        log.info("%d of %d answers made", totals["made"], len(requests))
        rows.clear()

    try:
        for row in _progress(engine.answers(iter(requests)), len(requests)):
            rows.append(row)
            totals["made"] += 1
            for name in totals:
                totals[name] += row.get(name, 0)
            if time.monotonic() - flushed >= flush_seconds:
                flush()
                flushed = time.monotonic()
    finally:
        # Also when the engine dies or the job is interrupted: what is finished is kept.
        if rows:
            flush()
    return {**totals, "generate_seconds": round(time.monotonic() - began, 2)}


def _reason(error: BaseException) -> str:
    return f"no start ({type(error).__name__}: {' '.join(str(error).split())[:200]})"


def _progress(rows: Iterable[dict[str, Any]], total: int) -> Iterable[dict[str, Any]]:
    return tqdm(rows, total=total, unit="answer", desc="generate", disable=not sys.stderr.isatty())


def _engines(store: AnswerStore, asked: pl.DataFrame) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part, count in store.held(asked).group_by("part").len().sort("part").iter_rows():
        made_by = store.metadata(Path(part))
        name = f"{made_by.get('engine', 'unknown')} {made_by.get('version', '')} on {made_by.get('device', 'unknown')}"
        counts[name] = counts.get(name, 0) + count
    return counts


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
