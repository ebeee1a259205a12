"""Remarks beside verdicts: too few queries, with the counts, and Student's t that the verdict does not follow."""

import numpy as np
import pytest
from ragrelay.analysis.equivalence import words_of
from ragrelay.analysis.mean_tests import cautious
from ragrelay.analysis.remarks import remark
from scipy import stats

SKEWED = "only Student’s t-test is significant ({}), which isn’t enough because the differences are skewed"


def one_against_eleven(against: float) -> np.ndarray:
    return np.append(-0.4 - 0.02 * np.arange(11), against)


def test_a_verdict_that_students_t_would_decide_says_why() -> None:
    """−.37 [−.51, .06]: one of twelve queries goes the other way, and plain tests have p < .001."""
    differences = one_against_eleven(0.5)
    (word,) = words_of([differences], None)
    assert word["verdict"] == "undecided" and word["verdict_low"] < 0 < word["verdict_high"]
    assert stats.ttest_1samp(differences, 0).pvalue < 0.001
    said = SKEWED.format("p < 0.001") + "; 1 of 12 queries goes the other way"
    assert word["remark"] == said
    (mirrored,) = words_of([-differences], None)
    assert mirrored["remark"] == said
    assert words_of([one_against_eleven(-0.3)], None)[0]["remark"] is None, "worse"


def test_the_p_value_of_students_t_is_scipys() -> None:
    differences = np.random.default_rng(1).exponential(size=20) - 0.5
    assert cautious(differences).p_student() == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    each = np.arange(20)
    assert cautious(differences, each).p_student() == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_clusters_are_counted() -> None:
    differences = np.repeat(one_against_eleven(0.5), 3) + np.tile([0.01, 0.0, -0.01], 12)
    (word,) = words_of([differences], 0.02, [np.repeat(np.arange(12), 3)])
    assert word["remark"] == SKEWED.format("p < 0.001") + "; 1 of 12 clusters goes the other way"


def test_students_t_is_asked_at_the_verdicts_level() -> None:
    """Among many comparisons the level is higher, and Student's t may not decide either."""
    differences = one_against_eleven(1.1)
    p_value = float(stats.ttest_1samp(differences, 0).pvalue)
    assert 0.001 < p_value < 0.05
    assert remark(differences, "undecided") == (
        SKEWED.format(f"p = {p_value:.3f}") + "; 1 of 12 queries goes the other way"
    )
    assert remark(differences, "undecided", 1 - p_value / 2) is None
    assert remark(np.random.default_rng(0).standard_normal(30), "undecided") is None


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ([0.1], "1 query, but 12 are needed"),
        ([0.1] * 5 + [0.0] * 5, "10 queries, but 12 are needed"),
        ([0.3] + [0.0] * 11, "1 of 12 queries shows a difference, but 8 are needed"),
        ([0.0] * 36, "0 of 36 queries show a difference, but 8 are needed"),
    ],
)
def test_too_few_queries_have_counts(differences: list[float], said: str) -> None:
    (word,) = words_of([np.array(differences)], 0.02)
    assert (word["verdict"], word["remark"]) == ("too few queries", said)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [((3,) * 11, "11 clusters, but 12 are needed"), ((60, *(1,) * 30), "2.2 effective clusters, but 6 are needed")],
)
def test_too_few_clusters_have_counts(sizes: tuple[int, ...], said: str) -> None:
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    (word,) = words_of([np.random.default_rng(2).standard_normal(len(cluster))], None, [cluster])
    assert (word["verdict"], word["remark"]) == ("too few queries", said)
