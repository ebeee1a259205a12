"""The page says which measure tracks answer quality most closely, or that it isn't known."""

from typing import Any

import pytest
from ragrelay.analysis import relay
from ragrelay.annexes.measure_comparison.closeness import compare_measures
from ragrelay.annexes.measure_comparison.figures import fit_of_measures
from ragrelay.annexes.measure_comparison.page_tables import fit_table, pair_table
from ragrelay.annexes.measure_comparison.sentences import heading, measure_sentences, measures_answer
from ragrelay.annexes.measure_comparison.study import MeasuresShown

from tests.annexes.measure_comparison.test_closeness import CELL, Cells, made, relayed

KEYS = {"dataset": "demo", "generator": "lm", "scorer": "f1"}
UNKNOWN = "We do not know which measure tracks answer quality most closely"


def shown(
    cells: Cells, declared: str | None = None, answers: dict[str, str] | None = None, **params: Any
) -> MeasuresShown:
    known = dict.fromkeys(cells, relay.IT_IS) | (answers or {})
    named = [({**CELL, "measure": name}, {5: one}) for name, one in cells.items()]
    fits, pairs = compare_measures(named, relayed(known), declared)
    given = {"declared": declared, "cells": {"demo f1": CELL}, "nuggets": [], "subtopics": [], **params}
    return MeasuresShown(KEYS, {"measure_fit": fits, "measure_pairs": pairs}, given)


def test_the_closest_measure_is_named_with_its_smallest_lead() -> None:
    study = shown(made(n=100))
    answer = measures_answer(study)
    assert answer.strong == "close tracks answer quality most closely"
    pair = study.pairs.filter(measure="close", against_measure="coarse").to_dicts()[0]
    assert f"its smallest lead in r² is {pair['difference']:.3f}, over coarse (p < 0.001)" in answer.numbers
    assert "it leads in each of 2 comparisons at the 95% level" in answer.numbers
    assert {row.row["measure"] for row in answer.facts} == {"close", "coarse", "apart"}
    assert "close tracks answer quality more closely than coarse and apart." in measure_sentences(study)
    turned = shown({name: made(n=100)[name] for name in ("apart", "coarse", "close")})
    assert f"its smallest lead in r² is {pair['difference']:.3f}, over coarse" in measures_answer(turned).numbers


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"answers": dict.fromkeys(("close", "coarse", "apart"), relay.NOT_KNOWN)},
         f"{UNKNOWN}: relay is not demonstrated for any measure."),
        ({"answers": {"close": relay.NOT_KNOWN}}, f"{UNKNOWN}: no measure is shown to be ahead of coarse."),
        ({"declared": "coarse"}, "close tracks answer quality more closely than coarse."),
        ({"declared": "apart", "answers": {"apart": relay.NOT_KNOWN}},
         "close and coarse track answer quality more closely than apart."),
        ({"declared": "close"}, "close tracks answer quality most closely: "),
        ({"declared": "coarse", "answers": {"close": relay.NOT_KNOWN}},
         "No measure is shown to track answer quality more closely than coarse."),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(options: dict[str, Any], said: str) -> None:
    assert measures_answer(shown(made(n=100), **options)).sentence.startswith(said)


def test_few_queries_and_no_rows() -> None:
    few = measures_answer(shown(made(n=15)))
    assert (
        few.sentence == "Too few queries to compare measures: 15 queries have contexts that differ, but 20 are needed."
    )
    empty = shown({})
    assert measures_answer(empty).strong == UNKNOWN and measure_sentences(empty) == []


def test_further_sentences() -> None:
    study = shown(made(n=100), answers={"apart": relay.IT_IS_NOT}, nuggets=["f1"], subtopics=["StRecall"])
    where, *told = measure_sentences(study)
    assert where == "descending order, k = 5, lenient references: 100 queries have contexts that differ."
    assert "Relay is not demonstrated for apart; the slopes for apart are below zero." in told
    tied = next(text for text in told if text.startswith("Share of pairs of"))
    assert (
        tied
        == "Share of pairs of different contexts with equal values of the measure: 0% with close and 49% with coarse."
    )
    assert "If f1 and StRecall count the same nuggets, that partly explains why they agree." in told
    assert not [text for text in measure_sentences(shown(made(n=100))) if "nuggets" in text]


def test_the_figure_joins_measures_without_a_known_difference() -> None:
    cells = made(n=100)
    cells["again"] = cells["close"]._replace(x=2 * cells["close"].x)
    study = shown(cells, answers={"apart": relay.NOT_KNOWN})
    assert [sorted(run) for run in study.joined] == [["again", "close"]]
    spec = fit_of_measures(study, "page")
    bars = [row for row in spec["data"]["values"] if "bar" in row]
    assert [{row["measure"], row["last"]} for row in bars] == [{"again", "close"}]
    drawn = [row["measure"] for row in spec["data"]["values"] if "r" in row]
    assert set(drawn[:2]) == {"again", "close"} and drawn[-1] == "apart"
    assert shown(cells, "close").joined == []


def test_the_heading_is_true_of_every_section() -> None:
    closest = measures_answer(shown(made(n=100)))
    unknown = measures_answer(shown(made(n=100), answers={"close": relay.NOT_KNOWN}))
    assert heading([closest, closest]) == closest.strong
    assert heading([closest, unknown]) == "The answer differs between datasets, generators or scorers"


def test_tables_have_a_row_per_measure_and_pair() -> None:
    study = shown(made())
    assert len(fit_table(study).rows) == len(pair_table(study).rows) == 3
    assert [row[3] for row in fit_table(study).rows] == study.fits["measure"].to_list()
