"""What eRAG's labels cost beside end-to-end answers, the paper's Table 2: from the store's own records."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.analysis.cost import TABLE as ANSWERS
from ragrelay.analysis.cost import answer_cost
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.vocabulary.columns import ANSWERS_PART, schema_of, text, whole

EACH, END_TO_END = "each passage alone", "end to end"
TABLE = {
    "what": text(f"answers to `{EACH}` or `{END_TO_END}`"),
    "k": whole("passages in the context; empty for all k together", "passages"),
    "calls": whole("distinct answers, each a call of the LLM", "calls"),
    **{name: ANSWERS[name] for name in ("prompt_tokens", "cached_tokens", "answer_tokens", "device_seconds")},
    "peak_memory_mib": whole("highest resident memory of the processes that made them; on a GPU, of the host", "MiB"),
    "made_by": ANSWERS["made_by"],
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**ANSWERS_PART, **TABLE}
"""Those of the file of cost."""


def label_cost(keys: Mapping[str, pl.DataFrame], store: AnswerStore, devices: int) -> pl.DataFrame:
    """Columns SCHEMA, from the keys (k, prompt_id, seed) of each kind of answers, by name: EACH and END_TO_END.

    A row per name and k, and one with k null for all k where there are several; answers that several retrievers or
    seeds share count once. Tokens and device_seconds: see descriptive.cost.answer_cost. ``peak_memory_mib``: the
    highest resident memory of the processes that made them, on a GPU that of the host alone.
    """
    frames = [pl.DataFrame(schema=SCHEMA)]
    for name, asked in keys.items():
        cost = answer_cost(asked.select(pl.lit(name).alias("retriever"), "k", *KEY), store, devices)
        of_all = cost.filter(pl.col("retriever") == name, pl.col("k").is_null())
        by_k = cost.filter(pl.col("retriever") == name, pl.col("k").is_not_null())
        # With a single k its row is that of all, which knows the seconds.
        rows = of_all.with_columns(by_k["k"]) if by_k.height == 1 else pl.concat([by_k, of_all])
        memory = [_peak(store, asked if k is None else asked.filter(k=k)) for k in rows["k"]]
        renamed = rows.rename({"retriever": "what", "answers": "calls"})
        frames.append(renamed.with_columns(pl.Series("peak_memory_mib", memory, dtype=pl.Int64)).select(*SCHEMA))
    return pl.concat(frames)


def _peak(store: AnswerStore, keys: pl.DataFrame) -> int | None:
    parts = store.held(keys.select(KEY))["part"].unique().sort()
    found = [int(about["peak_memory_mib"]) for part in parts
             if (about := store.metadata(Path(part))).get("peak_memory_mib")]  # fmt: skip
    return max(found, default=None)
