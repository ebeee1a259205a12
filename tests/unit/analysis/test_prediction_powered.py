"""Prediction-powered intervals: by hand, and by the simulation of benchmarks/judge_intervals.py at small size."""

import numpy as np
import pytest
from ragrelay.analysis.prediction_powered import powered_correlation, powered_mean
from scipy import stats

from benchmarks.judge_intervals import powered


def columns(seed: int = 0, n: int = 60, more: int = 500) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    people, noise, answers = random.standard_normal((3, n + more))
    judge = 0.8 * people + 0.6 * noise
    answers = 0.5 * people + answers
    return people[:n], judge[:n], judge[n:], answers[:n], answers[n:]


def test_the_mean_by_hand() -> None:
    people, judge, others, *_ = columns()
    found = powered_mean(people, judge, others)
    covariance = np.cov(people, judge)
    n, more = len(people), len(others)
    weight = covariance[0, 1] / n / (covariance[1, 1] / n + others.var(ddof=1) / more)
    assert float(found.weight) == pytest.approx(weight)
    assert float(found.value) == pytest.approx(people.mean() + weight * (others.mean() - judge.mean()))
    variance = (people - weight * judge).var() / (n - 2) + weight**2 * others.var(ddof=1) / more
    assert float(found.high - found.low) == pytest.approx(2 * stats.t.ppf(0.975, n - 1) * np.sqrt(variance))
    alone = stats.ttest_1samp(people, 0).confidence_interval()
    assert (float(found.alone_low), float(found.alone_high)) == pytest.approx((alone.low, alone.high))


def test_a_judge_that_never_changes_has_no_weight() -> None:
    people, _, others, answers, rest = columns()
    for judge, unlabelled in ((np.ones(60), np.ones(500)), (np.ones(60), others)):
        found = powered_mean(people, judge, unlabelled)
        assert (found.weight, found.value, found.low) == (0.0, found.alone, found.alone_low)
    r = powered_correlation((people, answers), (people, answers), (others, rest))
    assert float(r.alone) == pytest.approx(stats.pearsonr(people, answers).statistic)
    assert r.low < r.value < r.high and float(r.high - r.low) < float(r.alone_high - r.alone_low)


def test_labels_on_another_scale_say_the_same() -> None:
    people, judge, others, *_ = columns()
    one, other = powered_mean(people, judge, others), powered_mean(people, 3 * judge + 7, 3 * others + 7)
    assert [float(one.value), float(one.low)] == pytest.approx([float(other.value), float(other.low)])


@pytest.mark.parametrize(("judge", "narrower"), [(0.0, 0.0), (0.6, 0.1), (-0.5, 0.0)])
def test_they_cover_and_are_never_wider(judge: float, narrower: float) -> None:
    found = powered(1000, 50, judge, "normal")
    assert 0.925 <= found["mean, coverage"] <= 0.97 and 0.925 <= found["r, coverage"] <= 0.97
    assert found["mean, width"] <= 1 - narrower and found["r, width"] <= 1 - narrower
