"""Compare the cost of eRAG labels with the cost of end-to-end answers, as in the eRAG paper's Table 2."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ragrelay.analysis.cost import TABLE as ANSWERS
from ragrelay.analysis.cost import answer_cost
from ragrelay.base.vocabulary.columns import ANSWERS_PART, integer, number, schema_of, text
from ragrelay.generation.store import KEY, AnswerStore, known_sum

if TYPE_CHECKING:
    from ragrelay.generation.past_jobs import Speed

EACH, END_TO_END = "each passage alone", "end to end"
MEMORY = ("peak_memory_mib", "gpu_memory_mib")
TABLE = {
    "what": text(f"answers that the row describes: `{EACH}` or `{END_TO_END}`"),
    "k": integer("number of passages in the context; empty in rows for all k together", "passages"),
    "calls": integer("number of distinct answers, each of which needs one LLM call", "calls"),
    **{name: ANSWERS[name] for name in ("prompt_tokens", "cached_tokens", "answer_tokens", "device_seconds")},
    "peak_memory_mib": integer("peak resident memory of the processes that generated the answers; if they ran on a "
        "GPU, the memory used on the host", "MiB"),
    "gpu_memory_mib": integer("peak GPU memory allocated; for vLLM, this is determined by `gpu_memory_utilization`; "
        "empty if no GPU was used", "MiB"),
    "made_by": ANSWERS["made_by"],
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**ANSWERS_PART, **TABLE}
"""Columns of the cost file."""

SIDES = {"label": "answers from single passages at ranks up to k", "answer": "end-to-end answers with k passages"}
BY_K = {
    "k": integer("number of passages per ranking", "passages"),
    **{f"{side}_calls": integer(f"number of LLM calls for {about}", "calls") for side, about in SIDES.items()},
    **{f"{side}_tokens": integer("number of prompt tokens (including tokens from the prefix cache) and answer "
                                 f"tokens for {about}",
                                 "tokens") for side, about in SIDES.items()},
    **{f"{side}_seconds": number(f"estimated time for {about}, at the speed of the latest parts in the answer store",
                                 "seconds") for side, about in SIDES.items()},
    "attention_ratio": number("ratio of attention costs: the sum of (prompt + answer length)² over end-to-end answers, "
        "divided by the sum over answers from single passages (Salemi and Zamani, section 2: k² against k)"),
}  # fmt: skip
BY_K_COLUMNS = {**ANSWERS_PART, **BY_K}
"""Columns of the file with cost by k."""


def cost_by_k(
    singles: pl.DataFrame, whole_contexts: pl.DataFrame, store: AnswerStore, speed: "Speed | None"
) -> pl.DataFrame:
    """Compare the cost of labels with the cost of end-to-end answers for each k.

    Returns the columns in BY_K. ``whole_contexts``: k, prompt_id and seed of the end-to-end answers; ``singles``:
    prompt_id and seed of answers to single passages, with the passage's best rank in any ranking; ``speed``: the speed
    of past jobs, if known. A call to the model is counted once even if several rankings share it.
    """
    rows = []
    for k in whole_contexts["k"].unique().sort():
        row: dict[str, object] = {"k": k}
        squares = {}
        for side, keys in (("label", singles.filter(pl.col("rank") <= k)), ("answer", whole_contexts.filter(k=k))):
            held = store.look_up(keys.select(KEY).unique(), ["prompt_tokens", "cached_tokens", "answer_tokens"])
            prompts, answers, squares[side] = (
                known_sum(tokens)
                for tokens in (
                    held["prompt_tokens"] - held["cached_tokens"],
                    held["answer_tokens"],
                    (held["prompt_tokens"] + held["answer_tokens"]) ** 2,
                )
            )
            row |= {f"{side}_calls": held.height, f"{side}_tokens": known_sum([prompts, answers])}
            row[f"{side}_seconds"] = None
            if speed and prompts is not None and answers is not None:
                row[f"{side}_seconds"] = round(speed.seconds(prompts, answers), 2)
        above, below = squares["answer"], squares["label"]
        rows.append(row | {"attention_ratio": above / below if above and below else None})
    return pl.DataFrame(rows, schema=schema_of(BY_K))


def describe_label_cost(keys: Mapping[str, pl.DataFrame], store: AnswerStore, devices: int) -> pl.DataFrame:
    """Compute the cost of the answers in ``keys``, which maps EACH and END_TO_END to tables (k, prompt_id, seed).

    Returns the columns in SCHEMA. Each table's cost is given per k and, if there are several k, for all k together (k
    is null). Answers shared by retrievers or seeds count once. For tokens and device_seconds, see
    analysis.cost.answer_cost. Memory is read from the metadata of the answer store's files.
    """
    frames = [pl.DataFrame(schema=SCHEMA)]
    for name, answers in keys.items():
        cost = answer_cost(answers.select(pl.lit(name).alias("retriever"), "k", *KEY), store, devices)
        of_all = cost.filter(pl.col("retriever") == name, pl.col("k").is_null())
        by_k = cost.filter(pl.col("retriever") == name, pl.col("k").is_not_null())
        # With a single k, the row for all k is also the row of that k, and only it has the seconds.
        rows = of_all.with_columns(by_k["k"]) if by_k.height == 1 else pl.concat([by_k, of_all])
        parts_by_k = [_metadata(store, answers if k is None else answers.filter(k=k)) for k in rows["k"]]
        memory = [pl.Series(name, [_most(parts, name) for parts in parts_by_k], dtype=pl.Int64) for name in MEMORY]
        frames.append(rows.rename({"retriever": "what", "answers": "calls"}).with_columns(memory).select(*SCHEMA))
    return pl.concat(frames)


def _metadata(store: AnswerStore, keys: pl.DataFrame) -> list[Mapping[str, str]]:
    """Read the metadata of the store's parts that contain the answers for ``keys``."""
    return [store.metadata(Path(part)) for part in store.held(keys.select(KEY))["part"].unique().sort()]


def _most(parts: Sequence[Mapping[str, str]], name: str) -> int | None:
    return max((int(part[name]) for part in parts if part.get(name)), default=None)
