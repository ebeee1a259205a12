"""Compute the cost of a study's answers from the answer store, including answers that another study generated."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from ragrelay.base.vocabulary.columns import ANSWERS_PART, integer, number, schema_of, text
from ragrelay.generation.store import KEY, AnswerStore

ALL = "all"
TABLE = {
    "retriever": text(
        "name of the retriever, `zeroshot`, or `all`, for which an answer shared by several retrievers counts once"
    ),
    "k": integer("number of passages in the context; empty in rows for all k together", "passages"),
    "answers": integer("number of distinct answers", "answers"),
    "prompt_tokens": integer(
        "total number of prompt tokens for the distinct answers; empty if an endpoint didn't report it", "tokens"
    ),
    "cached_tokens": integer("number of prompt tokens that came from the prefix cache", "tokens"),
    "answer_tokens": integer("total number of tokens in the distinct answers", "tokens"),
    "device_seconds": number(
        "device time for the distinct answers, excluding engine starts; an engine's time is divided equally among the "
        "engine's answers; empty in rows for a single k",
        "seconds",
    ),
    "made_by": text("engines and devices that generated the distinct answers"),
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**ANSWERS_PART, **TABLE}
"""Columns of cost.csv."""


def answer_cost(keys: pl.DataFrame, store: AnswerStore, devices: int) -> pl.DataFrame:
    """Compute tokens and device time for the distinct answers in ``keys`` (retriever, k, prompt_id, seed).

    There is one row (SCHEMA) per retriever and k, one row per retriever (with a null k), and one row for all retrievers
    together, in which an answer shared by several retrievers counts only once. If none of the answers is in the store,
    for example because all were imported, the table is empty. ``device_seconds`` is based on the seconds recorded for
    each part of the store, multiplied by ``devices`` (per engine) and by the job's number of engines (1 on a CPU). The
    seconds are divided equally among all answers from the same engine and device, because answers that finish early
    wait for the rest of the batch. Engine starts aren't included. For a single k, ``device_seconds`` is null, because
    long contexts take more than an equal share of the time. Token counts are null unless reported for every answer.
    """
    rows = store.look_up(keys.select(KEY)).select(*KEY, "prompt_tokens", "cached_tokens", "answer_tokens")
    if rows.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    held = store.held(keys.select(KEY))
    parts = pl.DataFrame(list(_parts(store, held["part"].unique().sort().to_list(), devices)), schema=PART)
    seconds = pl.when(pl.col("seconds").null_count() == 0).then(pl.col("seconds").sum() / pl.col("rows").sum())
    about = parts.with_columns(seconds_each=seconds.over("made_by"))
    priced = keys.unique().join(rows.join(held, on=KEY).join(about, on="part"), on=KEY)
    levels = [["retriever", "k"], ["retriever"], []]
    return pl.concat([_summed(priced, level) for level in levels]).select(*SCHEMA)


PART: dict[str, type[pl.DataType]] = {
    "part": pl.String, "seconds": pl.Float64, "rows": pl.Int64, "made_by": pl.String,
}  # fmt: skip


def _parts(store: AnswerStore, parts: list[str], devices: int) -> Iterator[dict[str, object]]:
    for part in parts:
        about = store.metadata(part)
        seconds, rows = about.get("seconds"), pq.read_metadata(Path(part)).num_rows
        engine = f"{about.get('engine', 'unknown')} {about.get('version', '')} on {about.get('device', 'unknown')}"
        engines = 1 if about.get("device") == "cpu" else int(about.get("engines", 1))
        spent = float(seconds) * devices * engines if seconds and rows else None
        yield {"part": part, "seconds": spent, "rows": rows, "made_by": engine}


def _summed(priced: pl.DataFrame, level: list[str]) -> pl.DataFrame:
    once = priced.unique([*level, *KEY]).sort(*level, *KEY)
    names = ("prompt_tokens", "cached_tokens", "answer_tokens")
    tokens = [pl.when(pl.col(n).null_count() == 0).then(pl.col(n).sum().cast(pl.Int64)).alias(n) for n in names]
    seconds = pl.col("seconds_each")
    sums = [
        pl.len().cast(pl.Int64).alias("answers"),
        *tokens,
        pl.when(seconds.null_count() == 0).then(seconds.sum().round(2)).alias("device_seconds"),
        pl.col("made_by").unique().sort().str.join("; "),
    ]
    frame = once.group_by(level, maintain_order=True).agg(sums) if level else once.select(sums)
    if "k" in level:
        return frame.with_columns(device_seconds=pl.lit(None, pl.Float64)).select(*SCHEMA)
    retriever = pl.col("retriever") if level else pl.lit(ALL)
    return frame.with_columns(retriever.alias("retriever"), pl.lit(None, pl.Int64).alias("k")).select(*SCHEMA)
