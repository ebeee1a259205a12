"""The mass of the words that a judge is asked for: in its tables, counted, and warned of where it is little."""

import logging
import math

import polars as pl
import pytest
from ragrelay.base.io.coverage import data_warnings
from ragrelay.generation.likelihoods.mass import OTHERWISE, mass_counts
from ragrelay.generation.likelihoods.words import word_shares

WHAT = "questions in which yes or no have together less than half of the judge's probability"


def counted(masses: list[float | None]) -> list[dict[str, object]]:
    return mass_counts(pl.Series(masses, dtype=pl.Float64), ["yes", "no"], "j")


def test_the_mass_is_the_sum_over_the_tokens_of_all_words() -> None:
    probabilities = [("a", "yes", 0.2), ("a", "yes", 0.1), ("a", "no", 0.3), ("b", "yes", 0.0), ("b", "no", 1e-9)]
    rows = [(key, word, math.log(p) if p else -2000.0) for key, word, p in probabilities]
    found = word_shares(pl.DataFrame(rows, schema=["id", "word", "logprob"], orient="row"), ["yes", "no"], ["id"])
    assert found["shares"].to_list() == [pytest.approx([0.5, 0.5]), pytest.approx([0.0, 1.0])]
    assert found["mass"].to_list() == pytest.approx([0.6, 1e-9])


def test_rounding_makes_no_mass_above_one() -> None:
    rows = [("a", "yes", math.log(0.7) + 1e-7), ("a", "no", math.log(0.3) + 1e-7)]
    found = word_shares(pl.DataFrame(rows, schema=["id", "word", "logprob"], orient="row"), ["yes", "no"], ["id"])
    assert found["mass"].to_list() == [1.0]


@pytest.mark.parametrize(("masses", "count", "warned"), [
    ([0.9] * 9 + [0.4], 1, False), ([0.9] * 8 + [0.4] * 2, 2, True), ([0.9, 0.5], 0, False), ([0.49], 1, True),
    ([0.4] + [0.6] * 9, 1, False), ([None, 0.9], 0, False),
])  # fmt: skip
def test_more_than_a_tenth_or_the_mean_is_warned_of(
    masses: list[float | None], count: int, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        (found,) = counted(masses)
    known = [mass for mass in masses if mass is not None]
    assert (found["what"], found["count"], found.get("warning")) == (WHAT, count, OTHERWISE if warned else None)
    assert found["of"] == {
        "judge": "j", "questions": len(known), "mean_mass": pytest.approx(sum(known) / len(known), abs=1e-4)
    }  # fmt: skip
    assert [
        record.message.startswith(f"{WHAT}: {count} of {len(known)} (mean probability ") for record in caplog.records
    ] == ([True] if warned else [])


def test_nothing_known_is_no_count() -> None:
    """As of replies that were made to begin with a text."""
    assert counted([None, None]) == counted([]) == []


def test_the_page_names_the_judge() -> None:
    (found,) = counted([0.1, 0.9])
    row = {"stage": "scoring", "dataset": "d", **found, "detail": {"scorer": "s", "retriever": "bm25", "judge": "j"}}
    assert data_warnings([row]) == [f"d: {WHAT}: 1 (s, j, bm25); {OTHERWISE}."]
