"""Answer files: one cell of the grid each, a view of the store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.errors import InputError
from ragrelay.files import write_parquet
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.thinking import without_thinking

COLUMNS = [
    "qid",
    "prompt_id",
    "seed",
    "answer",
    "finish_reason",
    "prompt_tokens",
    "answer_tokens",
    "logprob",
    "dropped_passages",
]


def write_views(
    prompts: Sequence[Path],
    seeds: Sequence[int],
    store: AnswerStore,
    outputs: Mapping[tuple[int, int], Path],
    thinking: tuple[str, str] | None = None,
) -> None:
    """Write the answers of each prompt file and seed to ``outputs[place of the prompt file, seed]``.

    Columns as in COLUMNS, one row per query of the prompt file, in its order. ``thinking``: marks of a block that is
    taken off the answers (see without_thinking). Raises InputError, before anything is written, where the store lacks
    an answer.
    """
    frames = [pl.read_parquet(path, columns=["qid", "prompt_id"]) for path in prompts]
    asked = pl.concat(frames).select("prompt_id").unique()
    keys = asked.join(pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64}), how="cross")
    found = store.look_up(keys)
    if len(found) < len(keys):
        lacking = f"no answer for {len(keys) - len(found)} of {len(keys)} keys"
        raise InputError(store.folder, lacking, "all of them; run again with --forcerun generate_answers")
    if thinking:
        found = without_thinking(found, thinking)
    for (place, seed), path in outputs.items():
        of_seed = found.filter(pl.col("seed") == seed)
        view = frames[place].join(of_seed, on="prompt_id", how="left", maintain_order="left")
        write_parquet(view.select(COLUMNS), path)
