"""Regressions tested on another dataset: what both share transfers, noise gains nothing, nothing is learnt there."""

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction.ensembles import BOOSTING, LOG, MODELS, POST, PRE, RIDGE, SINGLE, Fitted, matrix
from ragrelay.annexes.prediction.transfer import judged_elsewhere, transfer_predictions, transfers

from benchmarks.shared.predicted_cells import cell


def rhos(name: str, r: float, runs: int = 12) -> list[float]:
    """rho over the tested queries of P and its prediction by a model of another dataset with the same relation."""
    found = []
    for run in range(runs):
        trained, tested = (cell(60, {"nqc": r}, seed, 40) for seed in (run, 1000 + run))
        given = [(matrix(one, POST)[1], one.targets["p"]) for one in (trained, tested)]
        found.append(judged_elsewhere(MODELS[name], *given[0], *given[1], run).get("rho", 0.0))
    return found


@pytest.mark.parametrize("name", [SINGLE, RIDGE, LOG])
def test_what_both_datasets_share_transfers_and_noise_does_not(name: str) -> None:
    noise = rhos(name, 0.0)
    assert abs(np.mean(noise)) < 3 / np.sqrt(59 * len(noise)), noise
    assert np.mean(rhos(name, 0.8, 4)) > 0.4


def test_a_relation_of_the_other_sign_is_not_mended() -> None:
    """The model is wrong on the tested dataset, since nothing about its targets is used."""
    trained, tested = cell(80, {"nqc": 0.9}, 1), cell(80, {"nqc": -0.9}, 2)
    table = transfers({"other": [trained]}, [tested], 0).filter(target="p", known=POST)
    assert set(table["model"]) == {SINGLE, RIDGE, LOG, BOOSTING} and (table["rho"] < -0.5).all()
    assert (table["low"] < table["rho"]).all() and (table["p_value"] < 0.01).all()
    assert table["n"].to_list() == table["n_trained"].to_list() == [80] * 4


def test_a_model_sees_the_targets_of_its_own_dataset_alone() -> None:
    seen: list[np.ndarray] = []

    def spy(x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        seen.append(y)
        return MODELS[RIDGE](x, y, seed)

    random = np.random.default_rng(0)
    x, y, unseen, target = random.normal(size=(30, 2)), *(random.normal(size=s) for s in (30, (40, 2), 40))
    judged_elsewhere(spy, x, y, unseen, target, 0)
    assert len(seen) == 1 and seen[0] is y


def test_cells_of_one_place_alone_are_held_against_each_other() -> None:
    others = [cell(30, {"nqc": 0.5, "scs": 0.5}, 1, references="gold"), cell(30, {"nqc": 0.5}, 2, k=5)]
    table = transfers({"a": others, "b": others[1:]}, [cell(30, {"nqc": 0.5}, 3), cell(30, {"nqc": 0.5}, 4, k=7)], 0)
    assert set(table["trained_on"]) == {"a"} and set(table["k"]) == {2} and set(table["references"]) == {"lenient"}
    assert table["n_predictors"].unique().to_list() == [1], "a predictor that the tested dataset lacks takes no part"
    few = transfers({"a": [cell(10, {"nqc": 0.5}, 1)]}, [cell(30, {"nqc": 0.5}, 3)], 0)
    assert few["reason"].unique().to_list() == ["fewer than 20 queries"]
    assert set(table.filter(known=PRE)["model"]) == set(MODELS)


def test_one_dataset_has_no_rows() -> None:
    assert transfer_predictions({}, {"only": "none"}, {}, "nDCG", "only", 0).is_empty()
    assert isinstance(transfers({}, [cell(30, {"nqc": 0.5}, 3)], 0), pl.DataFrame)
