"""Cost of eRAG's labels compared with end-to-end answers, the paper's Table 2, from the store's own records."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.analysis.cost import TABLE as ANSWERS
from ragrelay.analysis.cost import answer_cost
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.vocabulary.columns import ANSWERS_PART, schema_of, text, whole

EACH, END_TO_END = "each passage alone", "end to end"
MEMORY = ("peak_memory_mib", "gpu_memory_mib")
TABLE = {
    "what": text(f"answers to `{EACH}` or `{END_TO_END}`"),
    "k": whole("passages in the context; empty for all k together", "passages"),
    "calls": whole("distinct answers, each a call of the LLM", "calls"),
    **{name: ANSWERS[name] for name in ("prompt_tokens", "cached_tokens", "answer_tokens", "device_seconds")},
    "peak_memory_mib": whole("highest resident memory of the processes that made them; on a GPU, of the host", "MiB"),
    "gpu_memory_mib": whole("most of a GPU's memory that was taken, by vLLM gpu_memory_utilization of it; empty "
                            "without a GPU", "MiB"),
    "made_by": ANSWERS["made_by"],
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**ANSWERS_PART, **TABLE}
"""Those of the file of cost."""


def describe_label_cost(keys: Mapping[str, pl.DataFrame], store: AnswerStore, devices: int) -> pl.DataFrame:
    """Columns SCHEMA, from the keys (k, prompt_id, seed) of each kind of answers, by name: EACH and END_TO_END.

    A row per name and k, and one with k null for all k where there are several; answers that several retrievers or
    seeds share count once. Tokens and device_seconds: see analysis.cost.answer_cost. The memory is as
    the parts of the store say (generation.job.memory).
    """
    frames = [pl.DataFrame(schema=SCHEMA)]
    for name, asked in keys.items():
        cost = answer_cost(asked.select(pl.lit(name).alias("retriever"), "k", *KEY), store, devices)
        of_all = cost.filter(pl.col("retriever") == name, pl.col("k").is_null())
        by_k = cost.filter(pl.col("retriever") == name, pl.col("k").is_not_null())
        # With a single k its row is that of all, which knows the seconds.
        rows = of_all.with_columns(by_k["k"]) if by_k.height == 1 else pl.concat([by_k, of_all])
        told = [_told(store, asked if k is None else asked.filter(k=k)) for k in rows["k"]]
        memory = [pl.Series(name, [_most(parts, name) for parts in told], dtype=pl.Int64) for name in MEMORY]
        frames.append(rows.rename({"retriever": "what", "answers": "calls"}).with_columns(memory).select(*SCHEMA))
    return pl.concat(frames)


def _told(store: AnswerStore, keys: pl.DataFrame) -> list[Mapping[str, str]]:
    """What the parts with the answers of ``keys`` say of themselves."""
    return [store.metadata(Path(part)) for part in store.held(keys.select(KEY))["part"].unique().sort()]


def _most(told: Sequence[Mapping[str, str]], name: str) -> int | None:
    return max((int(part[name]) for part in told if part.get(name)), default=None)
