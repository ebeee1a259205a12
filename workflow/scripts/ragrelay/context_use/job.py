"""The job that scores a retriever's answers with and without their contexts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.context_use.requests import AnswerScores
from ragrelay.context_use.table import use_table
from ragrelay.generation.answer_files import Cell, read_answers
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods
from ragrelay.likelihoods.store import LikelihoodStore

ANSWER = ["qid", "prompt_id", "seed", "answer", "dropped_passages"]
PROMPT = ["qid", "prompt_id", "prompt", "system"]


def context_use(
    answers: Sequence[str | Path],
    cells: Sequence[Cell],
    prompts: Sequence[str | Path],
    zeroshot_answers: Sequence[str | Path],
    zeroshot_prompts: str | Path,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table of context use (table.SCHEMA) of one retriever's answers, and the receipt of what had to be scored.

    ``answers`` stand parallel to ``cells`` (retriever, ordering, k). ``fingerprint``: the generator's for likelihoods.
    """
    made = read_answers(answers, cells, ANSWER)
    asked_for = pl.concat([pl.read_parquet(path, columns=PROMPT) for path in prompts])
    scores = AnswerScores(made, asked_for, pl.read_parquet(zeroshot_prompts, columns=PROMPT), generator)
    store = LikelihoodStore(cache_dir, fingerprint)
    receipt = fill_likelihoods(scores.asked(), store, generator, one_engine(generator, fingerprint, cache_dir, threads))
    without = pl.concat([pl.read_parquet(path, columns=["qid", "seed", "answer"]) for path in zeroshot_answers])
    return use_table(made, without, scores.rows, store), receipt | {"unscored": made.height - scores.rows.height}
