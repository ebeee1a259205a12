"""Score an answer by its nuggets.

Source: Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer Framework
(arXiv 2411.09607), and The Great Nugget Recall (SIGIR 2025, arXiv 2504.15068).
"""

import polars as pl

WORDS = ("support", "partial", "none")
"""A judge's words for a nugget and an answer: TREC RAG's support, partial_support and not_support."""
CREDIT = {"strict": (1.0, 0.0, 0.0), "lenient": (1.0, 0.5, 0.0)}
"""Credit for each of WORDS, by the name of the scoring."""
WEIGHTS = {"vital": (1.0, 0.0), "all": (1.0, 1.0), "weighted": (1.0, 0.5)}
"""Weights of a vital and of an okay nugget, by the name of the weighting."""
VALUES = tuple(f"{weights}_{credit}" for weights in WEIGHTS for credit in CREDIT)


def nugget_score(value: str, label: pl.Expr, vital: pl.Expr) -> pl.Expr:
    """Return the score ``value`` (one of VALUES) of an answer, over a row per nugget of its query's list.

    ``label``: index of the word in WORDS; ``vital``: whether the nugget is vital. With weights w and credits c the
    score is Σ w c / Σ w. `strict` gives credit only for support, `lenient` also half for partial support. `vital`
    counts only vital nuggets, `all` counts all equally, `weighted` counts okay ones half. Null if no nugget counts
    (nuggetizer gives 0 to every answer if only vital nuggets count and the list has none).
    """
    weights, credit = value.rsplit("_", 1)
    of_vital, of_okay = WEIGHTS[weights]
    weight = pl.when(vital).then(of_vital).when(~vital).then(of_okay)
    credits = weight * label.replace_strict(dict(enumerate(CREDIT[credit])), return_dtype=pl.Float64)
    return pl.when(weight.sum() > 0).then(credits.sum() / weight.sum())
