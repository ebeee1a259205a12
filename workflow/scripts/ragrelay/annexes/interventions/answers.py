"""Read the answers to changed contexts from the store."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.interventions.columns import CHANGE, KEY
from ragrelay.base.errors import InputError
from ragrelay.generation.answer_files import COLUMNS as OF_CELLS
from ragrelay.generation.answer_files import check_refused
from ragrelay.generation.store import KEY as STORE_KEY
from ragrelay.generation.store import THOUGHT, AnswerStore
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS

COLUMNS = {
    **CHANGE,
    **{name: OF_CELLS[name] for name in ("prompt_id", "seed", "answer", "finish_reason", "prompt_tokens",
                                         "answer_tokens")},
    "docnos": PROMPT_COLUMNS["docnos"],
}  # fmt: skip


def view_changed_answers(
    prompts: pl.DataFrame,
    seeds: Sequence[int],
    store: AnswerStore,
    thinking: Sequence[str] | None = None,
    receipts: Sequence[Path] = (),
) -> pl.DataFrame:
    """Look up the answers to ``prompts`` (prompts.COLUMNS): COLUMNS, by row, then seed.

    ``thinking``, ``receipts``: see answer_files.view_answers. Raises InputError for an answer that the store lacks.
    """
    of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
    keys = prompts.select("prompt_id").unique(maintain_order=True).join(of_seeds, how="cross")
    stored = store.answers(keys, thinking).drop(THOUGHT)
    lacking = keys.join(stored, on=STORE_KEY, how="anti")
    if len(lacking):
        check_refused(lacking["prompt_id"], receipts)
        found = f"no answer to {len(lacking)} of {len(keys)} prompts of changed contexts"
        raise InputError(store.folder, found, "all of them; run again with --forcerun generate_changed_answers")
    rows = prompts.select(*KEY, "docnos", "prompt_id").join(of_seeds, how="cross", maintain_order="left_right")
    return rows.join(stored, on=STORE_KEY, how="left", maintain_order="left").select(*COLUMNS)
