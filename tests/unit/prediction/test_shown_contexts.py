"""Predictors of answers that were made elsewhere look at the passages that those answers had, not at the ranking."""

from dataclasses import replace

import numpy as np
import pytest
from ragrelay.prediction.predictor import predictors
from ragrelay.prediction.table import predictions

from tests.unit.prediction.test_predictor_values import SCORES, TEXTS, VECTORS, query

CONTEXTS = [("descending", 2), ("ascending", 2)]
OWN = {"descending": ["d3", "d9"], "ascending": ["d4"]}
OTHER = "snow ice snow wind cold"


def values(name: str) -> dict[str | None, tuple[float | None, str | None]]:
    """Value and reason by ordering."""
    texts = dict(zip(VECTORS, TEXTS, strict=True)) | {"d9": OTHER}
    whole = query()
    shown = {
        (ordering, 2): whole.with_context(docnos, [texts[docno] for docno in docnos], {})
        for ordering, docnos in OWN.items()
        if name != "context_length" or ordering == "descending"
    }
    [one] = [one for one in predictors({}) if one.name == name]
    table = predictions([(replace(whole, shown=shown), {})], CONTEXTS, [one])
    return {row["ordering"]: (row["value"], row["reason"]) for row in table.iter_rows(named=True)}


def test_lengths_are_of_the_answers_own_passages() -> None:
    assert values("context_length") == {"descending": (8.0, None), "ascending": (None, "no answer")}


def test_scores_are_the_rankings_and_missing_ones_have_no_mean() -> None:
    unknown = (None, "a passage of the context that the ranking does not have")
    assert values("mean_score") == {"descending": unknown, "ascending": (SCORES[3], None)}


def test_vectors_are_of_the_answers_own_passages() -> None:
    both = query().with_context(["d1", "d2"], TEXTS[:2], {})
    [one] = [one for one in predictors({}) if one.name == "pairwise_cosine"]
    table = predictions([(replace(query(), shown={CONTEXTS[0]: both}), {})], CONTEXTS[:1], [one])
    first, second = (np.array(VECTORS[docno]) for docno in ("d1", "d2"))
    expected = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert table["value"].to_list() == pytest.approx([expected])


def test_what_looks_at_the_ranking_alone_has_one_value_for_all_orderings() -> None:
    assert values("max_score") == {None: (SCORES[0], None)}
