"""Compute an answer's score from the judge's labels for the query's nuggets.

Source: Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer Framework
(arXiv 2411.09607), and The Great Nugget Recall (SIGIR 2025, arXiv 2504.15068).
"""

import polars as pl

WORDS = ("support", "partial", "none")
"""A judge's words for a nugget and an answer; TREC RAG calls them support, partial_support and not_support."""
CREDIT = {"strict": (1.0, 0.0, 0.0), "lenient": (1.0, 0.5, 0.0)}
"""The credit for each of WORDS, by name of the scoring."""
WEIGHTS = {"vital": (1.0, 0.0), "all": (1.0, 1.0), "weighted": (1.0, 0.5)}
"""The weights of a vital and an okay nugget, by name of the weighting."""
VALUES = tuple(f"{weights}_{credit}" for weights in WEIGHTS for credit in CREDIT)


def nugget_score(value: str, label: pl.Expr, vital: pl.Expr) -> pl.Expr:
    """Return an aggregation that computes the score ``value`` (one of VALUES) from an answer's rows, one per nugget.

    ``label``: the label's index in WORDS; ``vital``: whether the nugget is vital. With weights w and credits c, the
    score is Σ w c / Σ w. `strict` gives credit only for support; `lenient` also gives half credit for partial support.
    `vital` uses only vital nuggets, `all` weights all nuggets equally, and `weighted` gives okay nuggets half the
    weight. The score is null if all weights are 0 (nuggetizer would give 0 if there is no vital nugget).
    """
    weights, credit = value.rsplit("_", 1)
    of_vital, of_okay = WEIGHTS[weights]
    weight = pl.when(vital).then(of_vital).when(~vital).then(of_okay)
    credits = weight * label.replace_strict(dict(enumerate(CREDIT[credit])), return_dtype=pl.Float64)
    return pl.when(weight.sum() > 0).then(credits.sum() / weight.sum())
