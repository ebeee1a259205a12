"""Run a generation job: generate missing answers, add them to the store, and return a receipt."""

import logging
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl

from ragrelay.base.display.progress import Progress
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.parquet_parts import WRITTEN, PartStore
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.engine_use import add_tokens
from ragrelay.generation.generator import ENDPOINT, GENERATOR_KINDS, SERVED, SEVERAL, SYSTEM, Engine, Maker
from ragrelay.generation.requests import TRUNCATE, longest_first, over_window, requests_of, window_of
from ragrelay.generation.store import KEY, ROUNDING, AnswerStore, known_sum
from ragrelay.generation.thought_marks import check_shown
from ragrelay.generation.token_progress import TokenProgress, token_progress
from ragrelay.prompting.layout import Layout

log = logging.getLogger(__name__)

SPENT = ("prompt_tokens", "answer_tokens")
"""The columns whose sum counts towards a token budget."""
TOTALS = ("prompt_tokens", "cached_tokens", "answer_tokens")
SETTINGS = ("model_runner", "attention_backend", "batch_invariant", SERVED, SYSTEM)
MOST_REFUSED = 100
"""The job ends if this many prompts are refused before any is answered."""
MEMORY = (
    "memory for the weights and the cache: lower the generator's max_model_len, max_num_seqs, cpu_kvcache_gib or "
    "gpu_memory_utilization, or raise the profile's mem_mb or gpu; the job's log has the engine's own words"
)

BEGUN = "%d answers needed, %d cached, %d to generate"
NO_MEMORY = re.compile(
    r"out of memory|not enough memory|allocate memory|(?:available|free) memory (?:for|on)|available KV cache memory",
    re.IGNORECASE,
)
"""Matches vLLM's and torch's errors about too little memory. Names of keys and weights may contain "memory" too."""
ACCEPTED = "a model and keys that the engine accepts; see the engine's messages in the job's log"
UNKNOWN_CAUSE = "a model and keys that the engine accepts, and memory; see the engine's messages in the job's log"
"""The expected value in the message if an engine in a separate process fails; the error arrives without its cause."""

Started = TypeVar("Started")


class Appendable(Protocol):
    """A store to which rows can be appended."""

    def append(self, rows: Sequence[Mapping[str, object]], metadata: Mapping[str, str], /) -> object:
        """Write ``rows`` as a new part."""


def generate_answers(
    asked: pl.DataFrame,
    store: AnswerStore,
    generator: GeneratorEntry,
    layout: Layout,
    start_engine: Callable[[GeneratorEntry, int | None], Engine],
    leaves_out: bool = False,
) -> dict[str, object]:
    """Generate the answers to ``asked`` (rows from requests.sharded_keys) that aren't in ``store`` yet.

    ``start_engine(generator, window)`` is called only if answers are missing. A prompt that exceeds the window is left
    out, so that other retrievers' answers are still generated. If every retriever has such a prompt, InputError is
    raised before the engine starts. With ``leaves_out`` and `over_window: truncate`, this error isn't raised, and
    prompts without an answer are counted by the jobs that read the answers. Returns the receipt: asked, cached, made,
    over_window (errors by prompt_id), seconds, engine, counts by engine (see count_makers), and tokens.
    """
    began = time.monotonic()
    held = store.held(asked)
    missing = asked.join(held, on=KEY, how="anti", maintain_order="left")
    receipt: dict[str, object] = {"asked": len(asked), "cached": len(held), "made": 0, "fingerprint": store.folder.name}
    log.info(BEGUN, len(asked), len(held), len(missing))
    if len(missing):
        check_writable(f"{len(missing)} of {len(asked)} answers are not in", store.folder)
        window = window_of(generator)
        missing, receipt["over_window"] = _within_window(
            asked, missing, generator, window, layout, leaves_out and generator["over_window"] == TRUNCATE
        )
    if len(missing):
        if not GENERATOR_KINDS[generator["engine"]].in_job:
            # This prompt is sent to an endpoint before all others: if the endpoint cuts prompts, nothing is stored.
            missing = longest_first(missing)
        requests = requests_of(missing, generator, window, layout)
        progress = token_progress(missing, generator, window, layout, store)
        log.info(progress.expected())
        engine = start_checked(start_engine, generator, window)
        ready = time.monotonic()
        expect_model(engine, store)
        rows, flush_seconds = accepted(engine.answers(requests), generator, len(held) > 0), generator["flush_seconds"]
        receipt |= keep(rows, len(missing), store, engine, TOTALS, "answers", flush_seconds, ready - began, progress)
        receipt |= {"engine": engine.name, "version": engine.version, "device": engine.device, "window": window}
        receipt |= {"start_seconds": round(ready - began, 2)} | {name: int(mib) for name, mib in memory().items()}
    receipt |= count_makers(store, asked)
    receipt["seconds"] = round(time.monotonic() - began, 2)
    return receipt


def expect_model(engine: Maker, store: PartStore) -> None:
    """Require an endpoint's replies to name the same model as the latest rows in ``store``."""
    if engine.device == ENDPOINT:
        looks = (store.parts(latest=number) for number in (1, 0))  # read all parts only if the latest names none
        named = (store.metadata(part).get(SERVED) for parts in looks for part in reversed(parts))
        for model in islice(filter(None, named), 1):
            engine.settings[SERVED] = model


def accepted(rows: Iterator[dict[str, Any]], generator: GeneratorEntry, answered: bool) -> Iterator[dict[str, object]]:
    """Yield an engine's ``rows``, but hold back rows for refused prompts until another prompt is answered.

    ``answered``: whether the store already has answers; if so, nothing is held back. If all (or the first MOST_REFUSED)
    prompts are refused, raises the first error. Raises InputError for an answer that contains a thought.
    """
    refused: list[dict[str, Any]] = []
    with closing(rows):  # type: ignore[type-var]
        for row in rows:
            if "refusal" in row and not answered:
                refused.append(row)
                if len(refused) == MOST_REFUSED:
                    break
                continue
            place, about = f"generator of model {generator['model']!r}", f"the answer to prompt {row['prompt_id'][:16]}"
            check_shown(row["answer"], place, about, generator.get("thinking"))
            answered = True
            yield from refused
            refused.clear()
            yield row
    if refused:
        raise refused[0]["refusal"]


def _within_window(
    asked: pl.DataFrame,
    missing: pl.DataFrame,
    generator: GeneratorEntry,
    window: int | None,
    layout: Layout,
    leaves_out: bool,
) -> tuple[pl.DataFrame, dict[str, tuple[str, ...]]]:
    """Return the rows of ``missing`` that fit the window, and for all other prompts, parts of the error by prompt_id.

    If every retriever has such a prompt (or, with only zero-shot prompts, if they do), there could be no table: raises
    the first error, unless the job ``leaves_out`` such prompts.
    """
    errors = over_window(missing, generator, window, layout)
    if not errors:
        return missing, {}
    refused = missing.filter(pl.col("prompt_id").is_in(list(errors)))
    retrievers, of_refused = ({*table["retriever"].cast(pl.String)} for table in (asked, refused))
    if not leaves_out and of_refused >= (retrievers - {ZEROSHOT} or retrievers):
        raise errors[refused["prompt_id"][0]]
    first = next(iter(errors.values()))
    log.warning("left out prompts of %s: %d; the first error: %s", ", ".join(sorted(of_refused)), len(errors), first)
    rest = missing.join(refused, on=KEY, how="anti", maintain_order="left")
    return rest, {prompt_id: tuple(map(str, error.parts)) for prompt_id, error in errors.items()}


def start_checked(
    start_engine: Callable[[GeneratorEntry, int | None], Started], generator: GeneratorEntry, window: int | None
) -> Started:
    """Start the generator's engine; raise InputError if an engine in this job fails to start."""
    try:
        return start_engine(generator, window)
    except InputError:
        raise
    except Exception as error:  # whatever a library raises for weights or keys that it can't use
        if not GENERATOR_KINDS[generator["engine"]].in_job:
            raise
        log.exception("the engine didn't start")
        found = f"a failed start ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        if isinstance(error, MemoryError) or NO_MEMORY.search(str(error)):
            expected = MEMORY
        else:
            expected = UNKNOWN_CAUSE if "core initialization failed" in str(error) else ACCEPTED
        raise InputError(f"engine of {generator['model']}", found, expected) from error


def keep(
    rows: Iterator[dict[str, Any]],
    number: int,
    store: Appendable,
    engine: Maker,
    totals: Sequence[str],
    unit: str,
    flush_seconds: float,
    start_seconds: float,
    tokens: TokenProgress | None = None,
) -> dict[str, object]:
    """Append an engine's ``rows`` to ``store``, in a new part about every ``flush_seconds`` and at the end.

    Each part's metadata contains the sums of the columns ``totals``. The first part's metadata also contains
    ``start_seconds``, the time until the engine was ready, including imports and tokenisation. Progress is reported
    through ``tokens`` or, without it, as the number of rows so far out of ``number``. ``unit``: a plural noun for the
    rows. Returns the number of rows (``made``), all sums, and generate_seconds. A sum with an unknown term is None, and
    is left out of the metadata. Raises InputError for a row with a log-probability above 0, after storing earlier rows.
    """
    waiting: list[dict[str, Any]] = []
    made = 0
    sums: dict[str, int | None] = dict.fromkeys(totals, 0)
    began = flushed = time.monotonic()
    progress = Progress(number, unit)
    if tokens is not None:
        tokens.start()

    def flush() -> None:
        seconds = time.monotonic() - flushed
        described = {"engine": engine.name, "version": engine.version, "device": engine.device, **engine.settings}
        known = {name: known_sum(row[name] for row in waiting) for name in totals}
        counted = {name: str(number) for name, number in known.items() if number is not None}
        started_in = {"start_seconds": f"{start_seconds:.2f}"} if made == len(waiting) else {}
        store.append(waiting, {**described, "seconds": f"{seconds:.2f}", **counted, **started_in, **memory()})
        log.info("%d of %d %s made", made, number, unit)
        waiting.clear()

    try:
        for row in rows:
            if row["logprob"] is not None and not row["logprob"] <= ROUNDING:
                found = f"a log-probability of {row['logprob']} after prompt {row['prompt_id'][:16]}"
                raise InputError(f"{engine.name} {engine.version} on {engine.device}", found, "at most 0")
            waiting.append(row)
            progress.add(1) if tokens is None else tokens.add(row)
            made += 1
            sums = {name: known_sum([before, row[name]]) for name, before in sums.items()}
            add_tokens(sum(row[name] or 0 for name in SPENT if name in totals))
            if time.monotonic() - flushed >= flush_seconds:
                flush()
                flushed = time.monotonic()
    finally:
        # Store finished answers even if the engine dies or the job is interrupted.
        if waiting:
            flush()
    return {"made": made, **sums, "generate_seconds": round(time.monotonic() - began, 2)}


def count_makers(store: PartStore, asked: pl.DataFrame) -> dict[str, object]:
    """Count the stored rows for ``asked`` by engine (name, version, device) and by engine settings.

    ``settings`` contains a count for each setting and value. Parts that don't record a setting are ignored; if a part
    records several values, its rows are counted for each value. ``first_made`` is the time when the oldest part with
    any of these rows was written (UTC, ISO 8601).
    """
    written = []
    engines: Counter[str] = Counter()
    settings = {name: Counter[str]() for name in SETTINGS}
    for part, count in store.held(asked).group_by("part").len().sort("part").iter_rows():
        metadata = store.metadata(Path(part))
        engine, device = metadata.get("engine", "unknown"), metadata.get("device", "unknown")
        engines[f"{engine} {metadata.get('version', '')} on {device}"] += count
        written += [metadata["written"]] if "written" in metadata else []
        for setting, values in settings.items():
            if setting in metadata:
                values.update(dict.fromkeys(metadata[setting].split(SEVERAL), count))
    known = {"engines": dict(engines), "settings": {name: dict(values) for name, values in settings.items() if values}}
    if not written:
        return known
    first = datetime.strptime(min(written), WRITTEN).replace(tzinfo=UTC)
    return {**known, "first_made": first.isoformat("T", "seconds")}


def memory() -> dict[str, str]:
    """Return ``peak_memory_mib``, the total peak memory of this process and its running child processes.

    If the engine runs in this process on a GPU, also return ``gpu_memory_mib``: the memory that all processes use on
    the first GPU. vLLM reserves the share ``gpu_memory_utilization`` when it starts, even if the prompts need less.
    """
    peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, *_peaks_of_children("self")]
    sizes = {"peak_memory_mib": str(sum(peaks) // 1024)}
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        free, whole = torch.cuda.mem_get_info()
        sizes["gpu_memory_mib"] = str((whole - free) // 2**20)
    return sizes


def _peaks_of_children(process: str) -> Iterator[int]:
    """Yield each child process's peak memory in KiB; nothing if the kernel doesn't report it."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):  # the process has ended in the meantime
        return
    for thread in threads:
        for child in _of_kernel(thread / "children").split():
            lines = _of_kernel(Path(f"/proc/{child}/status")).splitlines()
            yield from (int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
            yield from _peaks_of_children(child)


def _of_kernel(file: Path) -> str:
    """Return the text of a file in /proc; empty if its thread or process has ended in the meantime."""
    try:
        return file.read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""
