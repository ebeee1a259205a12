"""The word `worth using`: said of noise at most at the promised rate, and of a predictor that knows."""

import numpy as np
import pytest
from ragrelay.prediction.best import UNDECIDED, WORTH_USING, best_predictors
from scipy import stats

from benchmarks.shared.predicted_cells import cell


def test_noise_is_worth_using_in_at_most_a_twentieth_of_studies() -> None:
    """100 studies of three cells, 40 queries, 15 predictors without information; a word in any cell counts."""
    wrong = 0
    for study in range(100):
        cells = [cell(40, {"nqc": 0.0}, 3 * study + place, 14, k=place + 1) for place in range(3)]
        table = best_predictors(cells, ["bm25"], 199, study).filter(target="p")
        wrong += WORTH_USING in table["verdict"].to_list()
    # A rate of .05 gives 12 or more in one of 200 such tests.
    assert wrong <= 11


def test_a_predictor_that_knows_is_found() -> None:
    one = cell(60, {"nqc": 0.0, "mean_entropy": -0.7}, 3, 20)
    row = best_predictors([one], ["bm25"], 499, 0).filter(target="p").to_dicts()[0]
    assert (row["predictor"], row["verdict"], row["n_predictors"]) == ("mean_entropy", WORTH_USING, 22)
    expected = -stats.spearmanr(one.predictors["mean_entropy"], one.targets["p"]).statistic
    assert row["rho"] == pytest.approx(expected) and 0.1 < row["chance"] < row["chance_high"] < row["rho"]


def test_chance_is_that_of_so_many_predictors() -> None:
    """The mean of the largest of m normal numbers, over √(n − 1)."""
    row = best_predictors([cell(400, {"nqc": 0.0}, 5, 20)], ["bm25"], 999, 0).filter(target="p").to_dicts()[0]
    largest = np.random.default_rng(0).normal(size=(20_000, 21)).max(axis=1).mean() / np.sqrt(399)
    assert row["chance"] == pytest.approx(largest, rel=0.1)


def test_what_decides_nothing() -> None:
    """Few queries, a constant target, and retrievers that draw from the judgements."""
    few, oracle = cell(9, {"nqc": 0.9}, 0), cell(60, {"nqc": 0.9}, 0, retriever="rel")
    table = best_predictors([few, oracle], ["bm25"], 99, 0).filter(target="p")
    assert table["verdict"].to_list() == [UNDECIDED, None] and table["p_holm"].to_list() == [None, None]
    assert table["reason"].to_list() == ["fewer than 10 queries", None]
    assert table["p_value"][1] == pytest.approx(0.01)
