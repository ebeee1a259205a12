"""Ensembles: predictors of noise gain nothing by nested cross-validation, real ones are found, nothing leaks."""

from dataclasses import replace

import numpy as np
import pytest
from ragrelay.annexes.prediction import ensembles as module
from ragrelay.annexes.prediction.best import NOT_BEYOND, WORTH_USING
from ragrelay.annexes.prediction.cells import GAIN, P
from ragrelay.annexes.prediction.ensembles import (
    BOOSTING,
    FOLDS,
    LOG,
    MODELS,
    POST,
    PRE,
    RIDGE,
    SINGLE,
    Fitted,
    Model,
    beyond,
    centred_out_of_fold,
    ensembles,
    folds,
    judged,
    matrix,
    out_of_fold,
    permuted_rhos,
)  # fmt: skip
from scipy import stats

from benchmarks.shared.predicted_cells import cell

pytestmark = pytest.mark.simulation

FAST = [SINGLE, RIDGE, LOG]


def rho_of(model: Model, x: np.ndarray, y: np.ndarray, seed: int) -> float:
    return float(np.nan_to_num(stats.spearmanr(centred_out_of_fold(model, x, y, seed), y).statistic))


def rhos(model: Model, runs: int, r: float, seed: int = 0, n: int = 60, noise: int = 40) -> list[float]:
    """rho of out-of-fold predictions of P on simulated studies, one predictor of which has the correlation ``r``."""
    cells = [cell(n, {"nqc": r}, seed + run, noise) for run in range(runs)]
    return [rho_of(model, matrix(one, POST)[1], one.targets["p"], run) for run, one in enumerate(cells)]


@pytest.mark.parametrize("name", FAST)
def test_noise_gains_nothing(name: str) -> None:
    """A choice among 41 predictors of noise on the tested 60 queries would show a rho of .3 and more."""
    values = rhos(MODELS[name], 12, 0.0)
    # A model that learnt noise from the other folds is rather wrong on this one.
    assert -0.2 < np.mean(values) < 2.5 * np.std(values) / np.sqrt(len(values)), values


def test_a_leak_would_show() -> None:
    """The same data give a high rho where the predictor is chosen on all queries, the tested ones among them."""

    def leaking(x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        chosen = whole.predict

        return Fitted(chosen)

    values = []
    for run in range(12):
        one = cell(60, {"nqc": 0.0}, run, 40)
        _, x = matrix(one, POST)
        y = one.targets["p"]
        whole = module.best_single(x, y, 0)
        values.append(rho_of(leaking, x, y, run))
    assert np.mean(values) > 0.2 > np.mean(rhos(MODELS[SINGLE], 12, 0.0))


def test_boosting_on_noise_and_on_a_signal() -> None:
    assert np.mean(rhos(MODELS[BOOSTING], 3, 0.0, noise=10)) < 0.25
    assert np.mean(rhos(MODELS[BOOSTING], 1, 0.9, n=100, noise=3)) > 0.5


@pytest.mark.parametrize("name", FAST)
def test_a_signal_is_found(name: str) -> None:
    assert np.mean(rhos(MODELS[name], 2, 0.8, n=100)) > 0.5


def test_no_model_sees_a_tested_query() -> None:
    """Every fit is on the other folds alone, and every query is tested once."""
    seen: list[tuple[frozenset[float], frozenset[float]]] = []

    def spy(x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        fitted = frozenset(y)

        def predict(rows: np.ndarray) -> np.ndarray:
            seen.append((fitted, frozenset(rows[:, 0])))
            return np.zeros(len(rows))

        return Fitted(predict)

    y = np.arange(50.0)
    out_of_fold(spy, y[:, None], y, 3)
    assert all(not fitted & tested for fitted, tested in seen)
    assert sorted(value for _, tested in seen for value in tested) == list(y)
    assert len(seen) == FOLDS == len(folds(50, FOLDS, 3))


def test_medians_are_of_fitted_queries() -> None:
    """A missing value is filled from the fitted rows, so that the tested ones don't matter."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(40, 3)), random.normal(size=40)
    fitted = module.ridge(x, y, 0)
    rows = np.array([[np.nan, 0.0, 0.0], [1e6, 0.0, 0.0]])
    assert fitted.predict(rows)[0] == pytest.approx(fitted.predict(rows[:1])[0])
    assert fitted.predict(np.array([[np.median(x[:, 0]), 0.0, 0.0]]))[0] == pytest.approx(fitted.predict(rows)[0])


def test_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MODELS", {name: MODELS[name] for name in (SINGLE, RIDGE)})
    table = ensembles([cell(60, {"nqc": 0.8, "answer_logprob": 0.9}, 1, 5), cell(8, {"nqc": 0.8}, 1, k=5)], 0)
    assert table.height == 2 * 2 * 2 * 2
    few = table.filter(k=5)
    assert set(few["reason"]) == {"fewer than 20 queries"} and few["rho"].is_null().all()
    assert few["p_value"].is_null().all()
    one = table.filter(k=2, target="p", model=RIDGE)
    before, after = (one.filter(known=known).to_dicts()[0] for known in (PRE, POST))
    assert 0.4 < before["low"] < before["rho"] < before["high"] < 1 and before["p_value"] == 2 / 1000
    assert (before["n_predictors"], after["n_predictors"]) == (6, 7) and after["rho"] > before["rho"]


def test_a_constant_target_says_so() -> None:
    one = cell(30, {"nqc": 0.5}, 0)
    assert judged(MODELS[RIDGE], matrix(one, PRE)[1], np.ones(30), 0) == {"reason": "the target is constant"}


@pytest.mark.parametrize("name", FAST)
def test_many_targets_at_once_are_as_one_by_one(name: str) -> None:
    """Predictions and rhos by the cross-validation of (n, m) targets equal those of each target alone."""
    random = np.random.default_rng(0)
    x = random.normal(size=(40, 8))
    x[random.random(x.shape) < 0.1] = np.nan
    x[:, 3] = 1.0
    y = random.normal(size=40)
    targets = np.column_stack([np.random.default_rng([4, 40]).permutation(y), y])
    together = centred_out_of_fold(MODELS[name], x, targets, 4)
    for column in range(2):
        alone = centred_out_of_fold(MODELS[name], x, targets[:, column], 4)
        np.testing.assert_allclose(together[:, column], alone, rtol=1e-6, atol=1e-9)
    (rho,) = permuted_rhos(MODELS[name], x, y, 4, 1)
    assert rho == pytest.approx(stats.spearmanr(together[:, 0], targets[:, 0]).statistic)


def test_noise_is_found_in_five_percent() -> None:
    """A jackknife over the unchanged predictions would find 41 predictors of noise in 12 to 14% of studies."""
    found = []
    for run in range(60):
        one = cell(40, {"nqc": 0.0}, run, 40)
        row = judged(MODELS[SINGLE], matrix(one, POST)[1], one.targets["p"], run, 79)
        assert row["low"] <= row["rho"] <= row["high"]
        assert row["p_value"] < 0.05 or row["low"] <= 0 <= row["high"]
        found.append(row["p_value"] < 0.05)
    assert np.mean(found) <= 0.12


def test_boosting_has_no_test() -> None:
    one = cell(30, {"nqc": 0.9}, 0, 3)
    row = judged(MODELS[BOOSTING], matrix(one, POST)[1], one.targets["p"], 0, 0)
    assert row["rho"] > 0 and "p_value" not in row and "low" not in row
    assert str(row["reason"]).startswith("no test")


def of_gain(predicts: str, seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictors, P and P₀ of ``n`` queries: one predictor is P₀ and noise, or what P has beyond P₀ and noise."""
    random = np.random.default_rng(seed)
    p0, added, *noise = random.standard_normal((8, n))
    follows = {"P₀": -p0, "what is added": added}[predicts]
    return np.column_stack([follows + 0.5 * noise[0], *noise[1:]]), 0.2 * p0 + added, p0


@pytest.mark.parametrize("name", FAST)
def test_predictions_that_follow_p0_alone_are_told_from_those_of_what_is_added(name: str) -> None:
    """Both follow the gain; P given P₀ is followed by the second alone."""
    values = {}
    for predicts in ("P₀", "what is added"):
        x, p, p0 = of_gain(predicts, 1)
        found = judged(MODELS[name], x, p - p0, 0, 199)
        assert found["rho"] > 0 and found["p_value"] < 0.05
        values[predicts] = beyond(MODELS[name], x, p, p0, 0, 199)
    assert values["P₀"]["p_given_p0"] > 0.05 > values["what is added"]["p_given_p0"]
    assert values["what is added"]["given_p0"] > 0.5


def test_given_p0_is_the_partial_correlation_of_out_of_fold_predictions() -> None:
    x, p, p0 = of_gain("what is added", 2, 40)
    predicted = centred_out_of_fold(MODELS[RIDGE], x, p - p0, 0)
    ranks = stats.rankdata(p0)
    design = np.column_stack([np.ones(40), ranks, ranks**2])
    rest = [stats.rankdata(y) - design @ np.linalg.lstsq(design, stats.rankdata(y))[0] for y in (predicted, p)]
    assert beyond(MODELS[RIDGE], x, p, p0, 0, 9)["given_p0"] == pytest.approx(stats.pearsonr(*rest).statistic)


def test_the_word_of_a_regression_needs_both_of_the_gain() -> None:
    one = cell(60, {"nqc": 0.0}, 0, 3)
    for predicts, word in (("P₀", NOT_BEYOND), ("what is added", WORTH_USING)):
        x, p, p0 = of_gain(predicts, 1)
        predictors = dict(zip(list(one.predictors)[:4], x.T, strict=False))
        made = replace(one, predictors=predictors, targets={P: p, GAIN: p - p0})
        table = ensembles([made], 0).filter(model=RIDGE, target=GAIN)
        assert set(table["verdict"]) == {word}
    boosted = ensembles([made], 0).filter(model=BOOSTING)
    assert boosted["verdict"].is_null().all() and boosted["given_p0"].is_null().all()
