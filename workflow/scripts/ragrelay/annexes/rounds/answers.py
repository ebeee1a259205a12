"""Read a round's answers from the answer store."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.rounds.queries import STATE
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import QID
from ragrelay.generation.answer_files import COLUMNS as OF_CELLS
from ragrelay.generation.answer_files import missing_of, refused_prompts
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS

COLUMNS = {
    "qid": QID,
    **{name: OF_CELLS[name] for name in ("seed", "answer", "finish_reason", "prompt_tokens", "answer_tokens",
                                         "prompt_id")},
    "docnos": PROMPT_COLUMNS["docnos"],
}  # fmt: skip
OVER_WINDOW = "contexts over the window"


def view_round_answers(
    prompts: pl.DataFrame, store: AnswerStore, thinking: Sequence[str] | None = None, receipts: Sequence[Path] = ()
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Look up the answers to ``prompts`` (columns prompts.COLUMNS); returns columns COLUMNS, in the same order.

    Also returns counts of missing answers. The answer to a prompt that exceeds the window is null. Raises InputError
    if any other answer is missing. For ``thinking`` and ``receipts``, see answer_files.view_answers.
    """
    keys = prompts.select(KEY).unique(maintain_order=True)
    stored = store.answers(keys, thinking)
    over = pl.col("prompt_id").is_in(list(refused_prompts(receipts)))
    lacking = keys.filter(~over).join(stored, on=KEY, how="anti")
    if len(lacking):
        found = f"no answers to {len(lacking)} of {len(keys)} prompts of a round"
        raise InputError(store.folder, found, "all answers; rerun with --forcerun generate_round_answers")
    viewed = prompts.select(*STATE, "docnos", "prompt_id").join(stored, on=KEY, how="left", maintain_order="left")
    count = viewed.filter(over).height
    left_out = [{"what": OVER_WINDOW, "count": count}] if count else []
    return viewed.select(*COLUMNS), [*left_out, *missing_of(viewed.filter(~over), thinking)]
