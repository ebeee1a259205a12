"""The mean of a panel's judges, over the answers that all of them scored."""

import numpy as np
import polars as pl
import pytest
from ragrelay.scoring.panel_scores import NOT_BY_ALL, score_panel
from ragrelay.scoring.retriever_table import SCHEMA


def scores(*f1: float | None, seed: int = 1) -> pl.DataFrame:
    """A score table with a query per value; the last row is a zero-shot answer that serves as a baseline."""
    rows = [
        {"qid": f"q{place}", "ordering": "descending", "k": 3, "seed": seed, "references": "lenient", "f1": value,
         "n_references": 2}
        for place, value in enumerate(f1)
    ]  # fmt: skip
    rows.append({**rows[0], "qid": "q0", "ordering": "none", "references": "lenient-unseen", "f1": 0.5})
    return pl.DataFrame(rows, schema=SCHEMA)


def test_the_mean_over_all_judges_and_over_all_but_one() -> None:
    tables = {"a": scores(0.0, 0.3, 1.0), "b": scores(1.0, 0.6, 1.0), "c": scores(0.5, 0.0, 0.25)}
    made, counts = score_panel(tables, ["a", "b", "c"])
    assert made["f1"].to_list() == pytest.approx([0.5, 0.3, 0.75, 0.5])
    assert made.schema == SCHEMA and made["n_references"].to_list() == [2, 2, 2, 2]
    assert counts == [{"what": NOT_BY_ALL, "count": 0}]
    assert score_panel(tables, ["a", "b"])[0]["f1"].to_list() == pytest.approx([0.5, 0.45, 1.0, 0.5])
    turned = {name: table.reverse() for name, table in tables.items() if name != "a"}
    assert score_panel({"a": tables["a"], **turned}, ["a", "b", "c"])[0].equals(made), "rows are joined by their keys"


def test_an_answer_that_one_judge_failed_on_is_left_out_for_all() -> None:
    """Also without this judge: a panel and its parts have the same answers. A row that lacks its score is no score."""
    tables = {"a": scores(0.0, 0.3, 1.0), "b": scores(1.0, None, 1.0), "c": scores(0.5, 0.0)}
    for judges in (["a", "b", "c"], ["a", "b"], ["a", "c"]):
        made, counts = score_panel(tables, judges)
        assert made.filter(ordering="descending")["qid"].to_list() == ["q0"]
        assert counts == [{"what": NOT_BY_ALL, "count": 2}]


def test_a_harsh_judge_that_fails_on_one_arm_makes_no_difference() -> None:
    """The mean over the judges there are would be .083 higher for the arm where the harsh judge is missing."""
    random, n = np.random.default_rng(1), 400
    missing = {"x": random.random(n) < 0.05, "y": random.random(n) < 0.35}
    quality = random.random(n) * 0.5 + 0.25
    means = {}
    for arm, lost in missing.items():
        harsh = [None if gone else float(value) - 0.25 for value, gone in zip(quality, lost, strict=True)]
        tables = {"a": scores(*quality), "b": scores(*quality), "harsh": scores(*harsh)}
        made = score_panel(tables, ["a", "b", "harsh"])[0].filter(ordering="descending")
        means[arm] = made.select("qid", "f1")
    both = means["x"].join(means["y"], on="qid")
    assert both.height > 200 and (both["f1"] - both["f1_right"]).abs().max() == 0.0
