"""From the answer store, read the answers to prompts with changed contexts."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.interventions.columns import CHANGE, KEY
from ragrelay.base.errors import InputError
from ragrelay.generation.answer_files import COLUMNS as OF_CELLS
from ragrelay.generation.answer_files import check_refused, missing_of, refused_prompts
from ragrelay.generation.store import KEY as STORE_KEY
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS

COLUMNS = {
    **CHANGE,
    **{name: OF_CELLS[name] for name in ("prompt_id", "seed", "answer", "finish_reason", "prompt_tokens",
                                         "answer_tokens")},
    "docnos": PROMPT_COLUMNS["docnos"],
}  # fmt: skip
OVER_WINDOW = "changed contexts over the window"


def view_changed_answers(
    prompts: pl.DataFrame,
    seeds: Sequence[int],
    store: AnswerStore,
    thinking: Sequence[str] | None = None,
    receipts: Sequence[Path] = (),
    leaves_out: bool = False,
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Look up the answers to ``prompts`` for all ``seeds`` (columns COLUMNS), and count missing answers.

    ``prompts`` has columns prompts.COLUMNS. For ``thinking`` and ``receipts``, see answer_files.view_answers. With
    ``leaves_out``, prompts longer than the generator's window are left out and counted, because dropping passages from
    a prompt would change the context a second time. Raises InputError if any other answer is missing from the store.
    """
    of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
    keys = prompts.select("prompt_id").unique(maintain_order=True).join(of_seeds, how="cross")
    stored = store.answers(keys, thinking)
    shortened = stored.filter(pl.col("dropped_passages") > 0)["prompt_id"]
    over = [*refused_prompts(receipts), *shortened] if leaves_out else []
    fits = ~pl.col("prompt_id").is_in(over)
    lacking = keys.filter(fits).join(stored, on=STORE_KEY, how="anti")
    if len(lacking):
        check_refused(lacking["prompt_id"], receipts)
        found = f"no answers to {len(lacking)} of {len(keys)} prompts with changed contexts"
        raise InputError(store.folder, found, "all answers; rerun with --forcerun generate_changed_answers")
    asked = prompts.filter(fits).select(*KEY, "docnos", "prompt_id")
    rows = asked.join(of_seeds, how="cross", maintain_order="left_right")
    viewed = rows.join(stored, on=STORE_KEY, how="left", maintain_order="left")
    cells = prompts.filter(~fits).group_by("intervention", "k").len().sort("intervention", "k").iter_rows()
    left_out = [{"what": f"{name}, k = {k}: {OVER_WINDOW}", "count": count} for name, k, count in cells]
    return viewed.select(*COLUMNS), [*left_out, *missing_of(viewed, thinking)]
