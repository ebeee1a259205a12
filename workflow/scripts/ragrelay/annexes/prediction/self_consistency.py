"""Compute self-consistency: how similar the answers with different seeds are, according to a scorer."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, QID, number, schema_of
from ragrelay.generation.answer_files import read_answers
from ragrelay.scoring.scorer import Measure, Task, make_scorer

COLUMNS = {
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": CONTEXT_COLUMNS["k"],
    "qid": QID,
    "agreement": number("mean score over all pairs of answers that were generated from the same prompt with different "
        "seeds"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)
AT_ONCE = 2_000
"""Number of prompts whose answers are embedded together."""


def score_agreement(answers: KeyedFiles, definition: Mapping[str, object], threads: int) -> pl.DataFrame:
    """Score all pairs of a prompt's answers with the scorer in ``definition``, and return each prompt's mean (SCHEMA).

    Prompts with answers from fewer than two seeds are left out.
    """
    read = read_answers(answers, ["qid", "seed", "answer"]).drop_nulls("answer").sort("seed", maintain_order=True)
    keys = ["ordering", "k", "qid"]
    prompts = read.group_by(keys, maintain_order=True).agg("answer").filter(pl.col("answer").list.len() > 1)
    consistencies: list[float] = []
    for part in prompts.iter_slices(AT_ONCE):
        texts = part["answer"].list.eval(pl.element().str.normalize("NFC")).to_list()
        # Scorers keep their references in a folder, which nothing else needs here.
        with TemporaryDirectory() as folder:
            consistencies += _means(make_scorer(definition, Path(folder), threads), texts)
    return prompts.with_columns(agreement=pl.Series(consistencies, dtype=pl.Float64)).select(*SCHEMA)


def _means(measure: Measure, answers: Sequence[Sequence[str]]) -> list[float]:
    """Return the mean over the pairs in each group of answers; a pair's later answer is the reference."""
    measure.prepare(list(dict.fromkeys(text for group in answers for text in group)))
    scores = measure.score([Task(group, group) for group in answers])
    pairs = [list(combinations(range(len(group)), 2)) for group in answers]
    return [
        float(np.mean([float(scored.f1[one, other]) for one, other in chosen]))
        for scored, chosen in zip(scores, pairs, strict=True)
    ]
