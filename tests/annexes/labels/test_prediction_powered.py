"""Prediction-powered intervals: by hand, and by the simulation of benchmarks/judge_intervals.py at small size."""

import numpy as np
import pytest
from ragrelay.annexes.labels.prediction_powered import powered_correlation, powered_mean
from scipy import stats

from benchmarks.judge_intervals import answers, binary, powered


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


def test_the_correlation_alone_is_pearsons_and_a_judge_narrows_its_interval() -> None:
    people, _, others, answers, rest = columns()
    r = powered_correlation((people, answers), (people, answers), (others, rest))
    assert float(r.alone) == pytest.approx(stats.pearsonr(people, answers).statistic)
    assert r.low < r.value < r.high and float(r.high - r.low) < float(r.alone_high - r.alone_low)


def test_a_judge_that_differs_once_leaves_the_correlation_to_people() -> None:
    """Without that query the judge's labels are constant and have no correlation."""
    people, _, others, answers, rest = columns()
    found = powered_correlation((people, answers), (np.arange(60.0) == 7, answers), (others, rest))
    assert found.weight == 0 and (found.value, found.low, found.high) == (
        found.alone,
        found.alone_low,
        found.alone_high,
    )
    assert float(found.alone) == pytest.approx(stats.pearsonr(people, answers).statistic) and found.low < found.high


def test_labels_on_another_scale_say_the_same() -> None:
    people, judge, others, *_ = columns()
    one, other = powered_mean(people, judge, others), powered_mean(people, 3 * judge + 7, 3 * others + 7)
    assert [float(one.value), float(one.low)] == pytest.approx([float(other.value), float(other.low)])


@pytest.mark.parametrize(("judge", "narrower"), [(0.0, 0.0), (0.6, 0.1), (-0.5, 0.0)])
def test_they_cover_and_are_never_wider(judge: float, narrower: float) -> None:
    found = powered(1000, 50, judge, "normal")
    assert 0.925 <= found["mean, coverage"] <= 0.97 and 0.925 <= found["r, coverage"] <= 0.97
    assert found["mean, width"] <= 1 - narrower and found["r, width"] <= 1 - narrower


def test_the_unit_is_the_query() -> None:
    """Of 40 queries with ten answers each, half of whose variance is between queries."""
    found = answers(1000, 0.6, 0.5)
    assert found["answer"] < 0.7 and 0.925 <= found["query"] <= 0.975


def test_the_mean_of_zeros_and_ones_has_wilsons_interval() -> None:
    people = np.array([1.0] * 4 + [0.0] * 21)
    never = powered_mean(people, np.zeros(25), np.zeros(250))
    assert never.weight == 0.0
    n, share, t = 25, 0.16, stats.t.ppf(0.975, 24)
    # A sample's variance is over n - 1, Wilson's over n: n - 1 in its place.
    squared = t**2 / (n - 1)
    middle, reach = share + squared / 2, np.sqrt(squared * share * (1 - share) + squared**2 / 4)
    ends = (middle - reach) / (1 + squared), (middle + reach) / (1 + squared)
    assert (float(never.low), float(never.high)) == pytest.approx(ends)
    assert (float(never.alone_low), float(never.alone_high)) == pytest.approx(ends)


def test_the_ends_of_a_share_are_where_its_own_variance_puts_them() -> None:
    random = np.random.default_rng(3)
    hidden = random.standard_normal(660)
    people, judge = hidden > 0.9, hidden + 0.4 * random.standard_normal(660) > 0.8
    p, j, others = people[:60].astype(float), judge[:60].astype(float), judge[60:].astype(float)
    found = powered_mean(p, j, others)
    weight = float(found.weight)
    assert weight > 0.2
    residual = np.var(p - weight * j) / 58
    for end in (float(found.low), float(found.high)):
        at_end = residual * end * (1 - end) / (p.mean() * (1 - p.mean())) + weight**2 * others.var(ddof=1) / 600
        assert abs(float(found.value) - end) / np.sqrt(at_end) == pytest.approx(stats.t.ppf(0.975, 59))


def test_a_judge_has_no_weight_where_few_labels_differ() -> None:
    for positives, used in ((4, False), (5, True)):
        people = np.array([1.0] * positives + [0.0] * (40 - positives))
        judge = np.array([1.0] * (positives + 1) + [0.0] * (39 - positives))
        assert (powered_mean(people, judge, np.resize([1.0, 0, 0, 0, 0, 0], 400)).weight > 0) == used
        assert (powered_mean(judge, people, np.resize([1.0, 0, 0, 0, 0, 0], 400)).weight > 0) == used


@pytest.mark.parametrize("judge_share", [0.08, 0.16, 0.3])
@pytest.mark.parametrize("judge", [0.0, 0.6, 0.97])
def test_intervals_cover_where_one_of_two_values_is_rare(judge: float, judge_share: float) -> None:
    """16% of 25 labelled queries are 1: by t the interval of the mean covered 88 to 93%."""
    found = binary(4000, 25, judge, 0.16, judge_share)
    assert found["mean, coverage"] >= 0.935 and found["mean, share of data sets"] > 0.95
    assert found["r, coverage"] >= 0.92 and found["r, share of data sets"] > 0.3
