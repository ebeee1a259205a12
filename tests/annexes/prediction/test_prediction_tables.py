"""How well predictions do: intervals cover known correlations, and each table against numbers reckoned apart."""

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction.accuracy import (
    accuracies,
    auroc,
    predictor_comparisons,
    query_errors,
    rho_difference,
    smare,
)
from ragrelay.annexes.prediction.best import best_predictors
from ragrelay.annexes.prediction.cells import oriented
from ragrelay.annexes.prediction.correlations import predictor_correlations
from ragrelay.annexes.prediction.decisions import curves, policies
from scipy import stats

from benchmarks.shared.predicted_cells import cell


@pytest.mark.simulation
def test_intervals_cover_the_known_correlation() -> None:
    """Pearson's intervals cover r = .5 in 100 studies of 40 queries, and a correlation of 0 is seldom found."""
    inside = rejected = 0
    for run in range(5):
        cells = [cell(40, {"nqc": 0.5, "wig": 0.0}, 20 * run + place, k=place + 1) for place in range(20)]
        rows = predictor_correlations(cells, 300, run).filter(target="p", coefficient="pearson")
        found = rows.filter(predictor="nqc")
        inside += int(((found["low"] < 0.5) & (found["high"] > 0.5)).sum())
        rejected += int((rows.filter(predictor="wig")["p_value"] < 0.05).sum())
    assert 0.90 <= inside / 100 <= 0.99
    assert rejected / 100 <= 0.12


def test_correlations_are_scipys_with_holm_over_predictors() -> None:
    one = cell(50, {"nqc": 0.7, "wig": 0.0}, 3, 8)
    table = predictor_correlations([one], 200, 0)
    assert table.height == 4 * 10 * 3
    row = table.filter(target="gain", predictor="nqc", coefficient="kendall").to_dicts()[0]
    assert row["value"] == pytest.approx(stats.kendalltau(one.predictors["nqc"], one.targets["gain"]).statistic)
    family = table.filter(target="p", coefficient="spearman")
    assert set(family["family_size"]) == {10} and len(set(family["family"])) == 1
    best = family.filter(predictor="nqc").to_dicts()[0]
    assert best["p_holm"] == pytest.approx(10 * best["p_value"])


def test_auroc_by_pairs() -> None:
    x, positive = np.array([1.0, 2.0, 2.0, 3.0, 5.0]), np.array([False, True, False, True, True])
    found = auroc(x, positive)
    wins = [1 if a > b else 0.5 if a == b else 0 for a in x[positive] for b in x[~positive]]
    assert found["value"] == pytest.approx(np.mean(wins)) and found["low"] < found["value"] < found["high"]
    assert auroc(x, x > 4) == {"reason": "fewer than two queries with a gain, or without one"}


def test_auroc_covers() -> None:
    """The AUROC of normal scores a standard deviation apart is .760, which about 95% of intervals contain."""
    random, expected, inside = np.random.default_rng(0), stats.norm.cdf(1 / np.sqrt(2)), 0
    positive = np.arange(60) < 25
    for _ in range(400):
        found = auroc(random.normal(size=60) + positive, positive)
        inside += found["low"] < expected < found["high"]
    assert 0.92 <= inside / 400 <= 0.98


def test_smare_by_hand_and_by_chance() -> None:
    assert smare(np.arange(10.0), np.arange(10.0))["value"] == 0
    found = smare(np.arange(10.0)[::-1], np.arange(10.0))
    assert found["value"] == pytest.approx(0.5) and found["chance"] == pytest.approx(0.33)
    random = np.random.default_rng(0)
    values = [smare(random.normal(size=30), random.normal(size=30)) for _ in range(200)]
    assert np.mean([one["value"] for one in values]) == pytest.approx(values[0]["chance"], abs=0.01)


def test_errors_of_queries_have_the_mean_of_the_cell() -> None:
    """One predictor's errors are also computed by hand; a lower `mean_entropy` is better."""
    one = cell(30, {"mean_entropy": -0.5, "nqc": 0.5}, 2, 3)
    one.predictors["nqc"][4] = np.nan
    table = query_errors([one])
    assert set(table["target"]) == {"p", "gain"} and table.height == 2 * (4 * 30 + 29)
    means = table.group_by("target", "predictor").agg(mean=pl.col("sare").mean())
    both = accuracies([one]).filter(statistic="smare").join(means, on=["target", "predictor"])
    assert both.height == 10 and both["mean"].to_list() == pytest.approx(both["value"].to_list())
    x, y = (stats.rankdata(column) for column in (-one.predictors["mean_entropy"], one.targets["p"]))
    found = dict(table.filter(target="p", predictor="mean_entropy").select("qid", "sare").iter_rows())
    assert found == pytest.approx(dict(zip(one.qids, abs(x - y) / 30, strict=True)))


def test_falling_predictors_are_turned() -> None:
    """A lower `mean_entropy` is better."""
    one = cell(80, {"mean_entropy": -0.9, "answer_logprob": 0.9}, 0)
    table = accuracies([one])
    assert (table.filter(statistic="auroc", target="gain")["value"] > 0.7).all()
    assert (table.filter(statistic="smare", target="p")["value"] < 0.2).all()
    assert set(table.filter(statistic="auroc")["target"]) == {"gain"}


def test_certainty_without_context_leaves_less_to_gain() -> None:
    """In answers without context, entropy predicts a gain, and certainty predicts P."""
    names = ("zeroshot_mean_entropy", "zeroshot_agreement_minilm", "mean_entropy", "zeroshot_first_token_margin")
    predicted = {name: np.ones(2) for name in names}
    found = {
        target: [x[0] for x in oriented(predicted, target).values()] for target in ("p", "gain", "utility", "nDCG")
    }
    quality, gain = [-1, 1, -1, 1], [1, -1, -1, -1]
    assert found == {"p": quality, "gain": gain, "utility": gain, "nDCG": quality}
    one = cell(80, {"zeroshot_mean_entropy": 0.9}, 0)
    row = best_predictors([one], ["bm25"], 99, 0).filter(target="gain").row(0, named=True)
    assert row["predictor"] == "zeroshot_mean_entropy" and row["rho"] > 0.4


def test_dependent_correlations_are_told_apart_at_the_promised_rate() -> None:
    """Of 400 differences between two predictors equally good, about 5% are significant."""
    random, wrong = np.random.default_rng(1), 0
    for _ in range(400):
        y = random.normal(size=50)
        x, z = (0.5 * y + random.normal(size=50) for _ in range(2))
        wrong += rho_difference(x, z, y)["p_value"] < 0.05
    assert 0.02 <= wrong / 400 <= 0.08


def test_the_best_and_the_measure_are_compared_with() -> None:
    one = cell(100, {"nqc": 0.9, "wig": 0.1}, 4)
    table = predictor_comparisons([one], "nDCG").filter(target="p")
    assert table.filter(role="best").select("predictor", "against").rows() == [("wig", "nqc")]
    assert table.filter(role="best")["p_holm"].item() < 0.001 and table.filter(role="best")["high"].item() < 0
    found = table.filter(role="measure", predictor="nqc").to_dicts()[0]
    assert found["against"] == "nDCG" and found["low"] > 0.3
    assert predictor_comparisons([one], "nDCG").filter(target="nDCG", role="measure").is_empty()


def test_selective_retrieval_ends_at_never_and_always() -> None:
    one = cell(60, {"nqc": 0.9}, 5, 3)
    table = curves([one], 0)
    p, gain = one.targets["p"], one.targets["gain"]
    for predictor in ("nqc", "oracle", "chance", "ridge, before generation"):
        ends = table.filter(predictor=predictor).sort("share")["mean_p"].to_list()
        assert ends[0] == pytest.approx((p - gain).mean()) and ends[-1] == pytest.approx(p.mean())
    middle = {name: table.filter(predictor=name, share=0.5)["mean_p"].item() for name in ("oracle", "nqc", "chance")}
    assert middle["oracle"] > middle["nqc"] > middle["chance"]


def test_regret_is_none_for_the_oracle_and_less_where_predictors_know() -> None:
    one, other = (cell(100, {"nqc": 0.95}, 6, 3, k=k) for k in (1, 2))
    table = policies([one, other], 0)
    assert set(table["choice"]) == {"context or none", "k"}
    use = table.filter(choice="context or none", k=1)
    regret = dict(use.select("policy", "regret").iter_rows())
    assert regret["oracle"] == 0 and regret["predicted"] < min(regret["always"], regret["never"])
    oracle = np.maximum(one.targets["p"], one.targets["p"] - one.targets["gain"])
    assert regret["always"] == pytest.approx((oracle - one.targets["p"]).mean())
    assert use.filter(policy="predicted")["better_than_fixed"].item() > 0
    few = policies([cell(8, {"nqc": 0.9}, 0)], 0)
    assert few["reason"].to_list() == ["fewer than 20 queries"]


def test_noise_chooses_no_better_than_the_best_fixed_option() -> None:
    """The best fixed option is known with hindsight, so that noise rather loses; it wins at most at the test's rate."""
    wins = 0
    for seed in range(8):
        found = policies([cell(60, {"nqc": 0.0}, seed, 10)], 0).filter(policy="predicted").to_dicts()[0]
        wins += (found["fixed_p"] or 1.0) < 0.05 and found["better_than_fixed"] > 0
    assert wins <= 1
