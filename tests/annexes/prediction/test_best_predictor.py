"""The word `worth using`: said of noise at most at the promised rate, and of a predictor that knows."""

import numpy as np
import pytest
import statsmodels.api as sm
from ragrelay.annexes.prediction.best import NOT_BEYOND, UNDECIDED, WORTH_USING, best_predictors, beyond_p0
from scipy import stats

from benchmarks.shared.predicted_cells import cell, exchangeable_cells

pytestmark = pytest.mark.simulation


def test_noise_is_worth_using_in_at_most_a_twentieth_of_studies() -> None:
    """100 studies have three cells, 40 queries and 15 predictors of noise; a word in any cell counts as an error."""
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
    """It is the mean of the largest of m normal numbers, over √(n − 1)."""
    row = best_predictors([cell(400, {"nqc": 0.0}, 5, 20)], ["bm25"], 999, 0).filter(target="p").to_dicts()[0]
    largest = np.random.default_rng(0).normal(size=(20_000, 21)).max(axis=1).mean() / np.sqrt(399)
    assert row["chance"] == pytest.approx(largest, rel=0.1)


def test_what_decides_nothing() -> None:
    """Few queries are undecided, and retrievers that draw from the judgements have no verdict."""
    few, oracle = cell(9, {"nqc": 0.9}, 0), cell(60, {"nqc": 0.9}, 0, retriever="rel")
    table = best_predictors([few, oracle], ["bm25"], 99, 0).filter(target="p")
    assert table["verdict"].to_list() == [UNDECIDED, None] and table["p_holm"].to_list() == [None, None]
    assert table["reason"].to_list() == ["fewer than 10 queries", None]
    assert table["p_value"][1] == pytest.approx(0.01)


def test_what_follows_p0_alone_is_not_worth_using_for_the_gain() -> None:
    """Where contexts are as good as none, predictors of the zero-shot answer follow P_0's noise, as the gain does."""
    words = []
    for study in range(40):
        table = best_predictors(exchangeable_cells(80, 0.6, study, 1), ["bm25"], 199, study)
        words += table.filter(target="gain")["verdict"].to_list()
    assert words.count(NOT_BEYOND) >= 20
    # A rate of .05 gives 7 or more in one of 280 such tests.
    assert words.count(WORTH_USING) <= 6


def test_what_follows_the_gain_beyond_p0_is_worth_using() -> None:
    (row,) = best_predictors([cell(80, {"nqc": 0.8}, 2, 6)], ["bm25"], 199, 0).filter(target="gain").to_dicts()
    assert (row["predictor"], row["verdict"]) == ("nqc", WORTH_USING)
    assert row["given_p0"] > 0.5 > row["chance_given_p0"] and row["p_given_p0_holm"] == pytest.approx(1 / 200)
    of_p = best_predictors([cell(80, {"nqc": 0.8}, 2, 6)], ["bm25"], 199, 0).filter(target="p").to_dicts()[0]
    assert of_p["verdict"] == WORTH_USING and of_p["given_p0"] is None


def test_the_partial_correlation_is_that_of_residuals() -> None:
    """The residuals are those of statsmodels' regressions on P_0's rank and its square."""
    random = np.random.default_rng(0)
    p0, x = random.normal(size=(2, 50))
    p = 0.6 * p0 + 0.5 * x + random.normal(size=50)
    ranks = stats.rankdata(x) - 25.5
    found = beyond_p0((ranks / np.linalg.norm(ranks))[:, None], p, p0, 0, 99, 0)
    design = sm.add_constant(np.column_stack([stats.rankdata(p0), stats.rankdata(p0) ** 2]))
    rests = [sm.OLS(stats.rankdata(column), design).fit().resid for column in (x, p)]
    assert found["given_p0"] == pytest.approx(np.corrcoef(*rests)[0, 1])
    assert found["p_given_p0"] == pytest.approx(0.01)
    assert beyond_p0(ranks[:, None], p, x, 0, 99, 0)["p_given_p0"] == 1.0
