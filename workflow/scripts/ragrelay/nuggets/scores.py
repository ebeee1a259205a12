"""The scores of an answer by its nuggets.

Source: Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer Framework
(arXiv 2411.09607), and The Great Nugget Recall (SIGIR 2025, arXiv 2504.15068).
"""

import polars as pl

WORDS = ("support", "partial", "none")
"""What a judge says of a nugget and an answer: TREC RAG's support, partial_support and not_support."""
CREDIT = {"strict": (1.0, 0.0, 0.0), "lenient": (1.0, 0.5, 0.0)}
"""Credit for each of WORDS, by the name of the scoring."""
WEIGHTS = {"vital": (1.0, 0.0), "all": (1.0, 1.0), "weighted": (1.0, 0.5)}
"""Weights of a vital and of an okay nugget, by the name of the weighting."""
VALUES = tuple(f"{weights}_{credit}" for weights in WEIGHTS for credit in CREDIT)


def nugget_score(value: str, label: pl.Expr, vital: pl.Expr) -> pl.Expr:
    """Return the score ``value`` (one of VALUES) of an answer, over a row per nugget of its query's list.

    ``label``: the word's place in WORDS; ``vital``: whether the nugget is. With weights w and credits c the score is
    Σ w c / Σ w. `strict` gives credit for support alone, `lenient` half of it for partial support; `vital` counts vital
    nuggets alone, `all` counts all alike, `weighted` counts okay ones half. Null where nothing counts: nuggetizer gives
    0 to every answer where a list has no vital nugget and only these count.
    """
    weights, credit = value.rsplit("_", 1)
    of_vital, of_okay = WEIGHTS[weights]
    weight = pl.when(vital).then(of_vital).when(~vital).then(of_okay)
    got = weight * label.replace_strict(dict(enumerate(CREDIT[credit])), return_dtype=pl.Float64)
    return pl.when(weight.sum() > 0).then(got.sum() / weight.sum())
