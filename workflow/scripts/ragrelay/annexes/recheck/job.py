"""Run a recheck job: regenerate some stored answers without writing to the store, and compare old and new answers."""

import logging
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.recheck.comparison import COLUMNS, TOKENS, WORDS, Split, compared
from ragrelay.annexes.recheck.drawing import draw
from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import ENDPOINT, GENERATOR_KINDS, SEVERAL, Engine
from ragrelay.generation.job import TOTALS, count_makers, keep, start_checked
from ragrelay.generation.requests import asked_keys, longest_first, requests_of, sends_texts, window_of
from ragrelay.generation.store import KEY, PER_ANSWER, SCHEMA, THOUGHT, AnswerStore
from ragrelay.generation.thought_marks import thought_marks
from ragrelay.generation.tokens import load_tokenizer, plain_ids
from ragrelay.prompting.layout import Layout

log = logging.getLogger(__name__)

CELLS = {"path": pl.String, "ordering": pl.String, "k": pl.Int64}


class _Made:
    """The regenerated answers, kept in memory instead of a store."""

    def __init__(self) -> None:
        self.rows: list[Mapping[str, object]] = []

    def append(self, rows: Sequence[Mapping[str, object]], metadata: Mapping[str, str]) -> Path:
        """Store ``rows`` in memory; ``metadata`` isn't stored."""
        self.rows += rows
        return Path()


def recheck_answers(
    prompts: KeyedFiles,
    seeds: Sequence[int],
    stored: AnswerStore,
    generator: GeneratorEntry,
    layout: Layout,
    number: int,
    start_engine: Callable[[GeneratorEntry, int | None], Engine],
) -> tuple[pl.DataFrame, dict[str, object]]:
    """Regenerate ``number`` of the ``stored`` answers; returns the comparison (columns COLUMNS) and a receipt.

    ``prompts``: prompt files, keyed by retriever, ordering and k, in processing order. If several cells share a prompt,
    the answer is assigned to the first cell. If any answer differs, this job generates all the drawn answers once more,
    in two halves, to see whether answers depend on the batch. Nothing is written to the answer store. The receipt
    contains the numbers of ``stored`` and ``drawn`` answers, how the stored answers were generated (``then``), and how
    this job generated answers (``now``, with the processor or endpoint addresses, the time in seconds and TOTALS).
    Raises InputError if the store has no answer to ``prompts``, and any error that ``start_engine`` raises.
    """
    began = time.monotonic()
    cells = [(str(path), key["ordering"], key["k"]) for key, path in prompts.keyed]
    asked = asked_keys(prompts.grouped("retriever"), seeds).with_columns(pl.col("path").cast(pl.String))
    asked = asked.join(pl.DataFrame(cells, schema=CELLS, orient="row"), on="path", maintain_order="left")
    keys = asked.join(stored.held(asked), on=KEY, how="semi", maintain_order="left")
    if keys.is_empty():
        raise InputError(stored.folder, "none of the study's answers", "at least one answer")
    drawn = draw(keys, number)
    log.info("drew %d of %d stored answers", len(drawn), len(keys))
    window, in_order = window_of(generator), drawn
    if not GENERATOR_KINDS[generator["engine"]].in_job:
        in_order = longest_first(
            drawn
        )  # as in generation: sent alone, the longest prompt shows whether the endpoint cuts prompts
    engine: Any = start_checked(start_engine, generator, window)
    ready = time.monotonic()

    def make(keys: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Any]]:
        made = _Made()
        answers = engine.answers(requests_of(keys, generator, window, layout))
        kept = keep(answers, len(keys), made, engine, TOTALS, "answers", generator["flush_seconds"], ready - began)
        return pl.DataFrame(made.rows, schema=SCHEMA), kept

    unit, split = _split(generator)

    def compare(then: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
        return compared(drawn, then, now, split, unit, thought_marks(generator))

    now, kept = make(in_order)
    table = compare(stored.look_up(drawn, (*PER_ANSWER, *THOUGHT)), now)
    same_here = pl.repeat(None, table.height, dtype=pl.Boolean, eager=True)
    if not table["equal"].all():
        log.info("some answers differ; regenerating all drawn answers once more, in two halves")
        middle = (len(in_order) + 1) // 2
        halves = [make(part)[0] for part in (in_order[middle:], in_order[:middle])]
        same_here = compare(now, pl.concat(halves))["equal"]
    table = table.with_columns(same_here.alias("equal_here")).select(*schema_of(COLUMNS))
    described = {
        "engines": {f"{engine.name} {engine.version} on {engine.device}": len(now)},
        "settings": {name: dict.fromkeys(value.split(SEVERAL), len(now)) for name, value in engine.settings.items()},
        "first_made": datetime.now(UTC).isoformat("T", "seconds"),
        **({"addresses": engine.replied()} if engine.device == ENDPOINT else {"processor": processor()}),
        "seconds": round(time.monotonic() - began, 2),
        **{name: kept[name] for name in TOTALS},
    }
    return table, {"stored": len(keys), "drawn": len(drawn), "then": count_makers(stored, drawn), "now": described}


def processor() -> str:
    """Return the name of the machine's processor from /proc/cpuinfo, or the architecture if there is no name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _split(generator: GeneratorEntry) -> tuple[str, Split]:
    """Return the unit in which texts are compared, and the function that cuts a text into such units."""
    if sends_texts(generator):
        return WORDS, str.split
    return TOKENS, partial(plain_ids, load_tokenizer(generator))
