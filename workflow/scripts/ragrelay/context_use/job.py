"""The job that scores a retriever's answers with and without their contexts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.context_use.requests import ANSWER, KEYS, AnswerScores
from ragrelay.generation.answer_files import read_answers
from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods
from ragrelay.likelihoods.store import LikelihoodStore

PROMPT = ["qid", "prompt_id", "prompt", "system"]


def score_context_use(
    answers: KeyedFiles,
    prompts: Sequence[str | Path],
    zeroshot_prompts: str | Path,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Fill the store with what context use of one retriever's answers needs; returns what was asked, and a receipt.

    ``fingerprint``: the generator's for likelihoods.
    What was asked: a row per answer with KEYS, prompt_id, prompt_id_without and continuation.
    """
    made = read_answers(answers, ANSWER)
    asked_for = pl.concat([pl.read_parquet(path, columns=PROMPT) for path in prompts])
    scores = AnswerScores(made, asked_for, pl.read_parquet(zeroshot_prompts, columns=PROMPT), generator)
    store = LikelihoodStore(cache_dir, fingerprint)
    receipt = fill_likelihoods(scores.asked(), store, generator, one_engine(generator, fingerprint, cache_dir, threads))
    asked = scores.rows.select(*KEYS, "prompt_id", "prompt_id_without", "continuation")
    return asked, receipt | {"unscored": made.height - asked.height}
