"""Look up the answers generated from single passages in the answer store."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import DOCNO, QID
from ragrelay.generation.answer_files import COLUMNS as OF_CELLS
from ragrelay.generation.answer_files import check_refused
from ragrelay.generation.store import KEY, THOUGHT, AnswerStore

PASSAGE = ["qid", "docno"]
COLUMNS = {
    "qid": QID,
    "docno": DOCNO,
    **{name: OF_CELLS[name] for name in (
        "prompt_id", "seed", "answer", "finish_reason", "prompt_tokens", "answer_tokens", "logprob", "dropped_passages",
    )},
}  # fmt: skip


def read_single_passages(prompts: Sequence[str | Path]) -> pl.DataFrame:
    """Read qid, docno and prompt_id from all retrievers' single-passage prompts, without duplicate passages."""
    frames = [pl.read_parquet(path, columns=["qid", "docnos", "prompt_id"], glob=False) for path in prompts]
    passages = pl.concat(frames).select("qid", pl.col("docnos").list.first().alias("docno"), "prompt_id")
    return passages.unique(PASSAGE, keep="first", maintain_order=True)


def view_single_answers(
    passages: pl.DataFrame,
    seeds: Sequence[int],
    store: AnswerStore,
    thinking: Sequence[str] | None = None,
    receipts: Sequence[Path] = (),
) -> pl.DataFrame:
    """Look up the answers (COLUMNS) to the prompts of ``passages`` (qid, docno, prompt_id) in the answer store.

    The number of cached tokens is left out, because it depends on which answers were generated earlier. Rows are sorted
    by passage, then by seed. Raises InputError if an answer is missing from the store. For ``thinking`` and
    ``receipts``, see answer_files.view_answers.
    """
    keys = passages.join(pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64}), how="cross")
    stored = store.answers(keys, thinking).drop(THOUGHT)
    answers = keys.join(stored, on=KEY, how="left", maintain_order="left")
    missing = keys.join(stored, on=KEY, how="anti")
    if len(missing):
        check_refused(missing["prompt_id"], receipts)
        found = f"no answers to {len(missing)} of {len(answers)} prompts with one passage"
        raise InputError(store.folder, found, "all answers; rerun with --forcerun generate_single_answers")
    return answers.sort(*PASSAGE, "seed").select(*COLUMNS)
