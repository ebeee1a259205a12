"""Scores by nuggets equal those computed by hand."""

import random
from collections.abc import Sequence

import polars as pl
import pytest
from nuggetizer.core.metrics import calculate_nugget_scores
from ragrelay.scoring.nugget_scores import VALUES, WORDS, nugget_score

SUPPORT, PARTIAL, NONE = range(len(WORDS))
# Three vital nuggets, of which one is supported and one in part; two okay ones, of which one is supported.
ANSWER = [SUPPORT, PARTIAL, NONE, NONE, SUPPORT]
VITAL = [True, True, True, False, False]


def score(value: str, labels: Sequence[int | None], vital: Sequence[bool | None]) -> float | None:
    table = pl.DataFrame({"label": labels, "vital": vital}, schema={"label": pl.Int64, "vital": pl.Boolean})
    found: float | None = table.select(nugget_score(value, pl.col("label"), pl.col("vital"))).item()
    return found


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        ("vital_strict", 1 / 3),
        ("vital_lenient", 1.5 / 3),
        ("all_strict", 2 / 5),
        ("all_lenient", 2.5 / 5),
        ("weighted_strict", (1 + 0.5) / (3 + 2 * 0.5)),
        ("weighted_lenient", (1.5 + 0.5) / (3 + 2 * 0.5)),
    ],
)
def test_scores_by_hand(value: str, by_hand: float) -> None:
    assert score(value, ANSWER, VITAL) == pytest.approx(by_hand)


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_nuggetizers(seed: int) -> None:
    """Equal assignments give equal scores; its names have `strict` in front, and nothing for `lenient`."""
    drawn = random.Random(seed)
    vital = [True, *(drawn.random() < 0.5 for _ in range(drawn.randrange(30)))]
    labels = [drawn.randrange(len(WORDS)) for _ in vital]
    words = ("support", "partial_support", "not_support")
    nuggets = [
        {"text": "", "importance": "vital" if one else "okay", "assignment": words[label]}
        for one, label in zip(vital, labels, strict=True)
    ]
    theirs = calculate_nugget_scores("q", nuggets)
    for value, found in (
        ("vital_strict", theirs.strict_vital_score), ("all_strict", theirs.strict_all_score),
        ("vital_lenient", theirs.vital_score), ("all_lenient", theirs.all_score),
    ):  # fmt: skip
        assert score(value, labels, vital) == pytest.approx(found)


def test_every_value_has_its_bounds() -> None:
    assert len(VALUES) == 6
    for value in VALUES:
        assert score(value, [SUPPORT] * 5, VITAL) == 1
        assert score(value, [NONE] * 5, VITAL) == 0


def test_a_list_without_vital_nuggets_has_no_vital_score() -> None:
    assert score("vital_strict", [SUPPORT, NONE], [False, False]) is None
    assert score("all_strict", [SUPPORT, NONE], [False, False]) == 0.5
    assert score("weighted_lenient", [PARTIAL, NONE], [False, False]) == 0.25


def test_a_query_without_nuggets_has_no_score() -> None:
    assert score("all_strict", [None], [None]) is None
