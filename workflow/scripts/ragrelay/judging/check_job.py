"""The job that has some of all retrievers' answers judged again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.judging.asked import Judging
from ragrelay.judging.bias_checks import ANSWER_KEY, checked, sampled
from ragrelay.judging.job import with_answers
from ragrelay.likelihoods.word_questions import ask_words
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.near_copies import PassageTexts


def check_judge(
    answers: KeyedFiles,
    prompts: KeyedFiles,
    contexts: Mapping[str, str | Path],
    by: Judging,
    size: int,
    **judge: Any,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Fill the likelihood store with the changed questions about ``size`` of all retrievers' answers.

    ``answers`` and ``prompts`` of all retrievers; ``contexts``: their passages by retriever; ``judge``: generator,
    fingerprint, cache_dir and threads, as for likelihoods.word_questions.ask_words. Returns what was asked
    (judging.bias_checks.SCHEMA) and the receipt.
    """
    cells = {
        name: AnswerCells(
            answers.matching(retriever=name).by("ordering", "k", "seed"),
            prompts.matching(retriever=name).by("ordering", "k"),
            by.qids,
        )
        for name in contexts
    }
    keys = [one.keys.with_columns(retriever=pl.lit(name, pl.String)) for name, one in cells.items()]
    chosen = sampled(pl.concat(keys), ANSWER_KEY, size)
    found = [
        checked(with_answers(one, some.drop("retriever")), one.contexts, PassageTexts([contexts[name]]), by, name)
        for name, one in cells.items()
        if (some := chosen.filter(retriever=name)).height
    ]
    asked, questions = (pl.concat(some) for some in zip(*found, strict=True))
    distinct = questions.unique("prompt_id", keep="first", maintain_order=True)
    receipt = ask_words(distinct, by.scorer.words(), by.scorer.prefix, **judge)
    return asked, {**receipt, "answers": chosen.height}
