"""Cohen's kappa with its interval over queries, and Kendall's tau, against other implementations and by simulation."""

import numpy as np
import pytest
from ragrelay.analysis.kappa import cohens_kappa, tables_by_query
from ragrelay.analysis.orders import kendall_tau
from scipy import stats


def drawn(queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    people = random.integers(0, 4, 10 * queries)
    judge = np.where(random.uniform(size=len(people)) < 0.6, people, random.integers(0, 4, len(people)))
    return np.repeat(np.arange(queries), 10), people, judge


@pytest.mark.parametrize("weighted", [False, True])
def test_kappa_equals_scikit_learns(weighted: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    query, people, judge = drawn(20)
    found = cohens_kappa(tables_by_query(query, people, judge, 4), weighted)
    expected = metrics.cohen_kappa_score(people, judge, weights="quadratic" if weighted else None)
    assert float(found.value) == pytest.approx(expected, abs=1e-12)
    assert found.low < found.value < found.high


def test_labels_may_be_any_numbers() -> None:
    """Labels count by their places: a table of all grades up to the highest would not fit into any memory."""
    metrics = pytest.importorskip("sklearn.metrics")
    query, *both = drawn(20)
    labels = np.array([0, 1, 3, 999_999_999])
    found = cohens_kappa(tables_by_query(query, *both, grades=4), True, labels)
    shares = metrics.confusion_matrix(*both) / len(query)
    apart = ((labels[:, None] - labels) / 1e9) ** 2
    expected = 1 - (shares * apart).sum() / (np.outer(shares.sum(1), shares.sum(0)) * apart).sum()
    assert float(found.value) == pytest.approx(expected, abs=1e-9)


def test_kappa_by_hand() -> None:
    """With 20 yes-yes, 5 yes-no, 10 no-yes and 15 no-no, .7 is observed and .5 expected, as in Wikipedia's example."""
    table = np.array([[[20.0, 5.0], [10.0, 15.0]]])
    assert float(cohens_kappa(np.repeat(table, 9, axis=0)).value) == pytest.approx(0.4)


def test_the_interval_counts_queries_and_not_pairs() -> None:
    """Pairs that are copies within a query add nothing."""
    query, people, judge = drawn(30)
    once = cohens_kappa(tables_by_query(query, people, judge, 4))
    thrice = cohens_kappa(tables_by_query(*(np.tile(one, 3) for one in (query, people, judge)), grades=4))
    assert [float(one) for one in once] == pytest.approx([float(one) for one in thrice])


def test_one_label_alone_has_no_kappa() -> None:
    tables = tables_by_query(np.arange(6), np.zeros(6, int), np.zeros(6, int), 2)
    assert np.isnan(cohens_kappa(tables).value)


@pytest.mark.simulation
def test_kappas_interval_covers() -> None:
    """It checks 1,000 data sets of 50 queries with dependent pairs; benchmarks/judge_intervals.py checks more."""
    from benchmarks.judge_intervals import kappa

    for judge, scale in ((0.6, "binary"), (0.95, "grades")):
        assert 0.925 <= kappa(1000, 50, judge, scale) <= 0.975


def test_kendall_equals_scipys() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        x, y = random.integers(0, 5, (2, 12))
        assert kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
    assert np.isnan(kendall_tau(np.ones(3), np.arange(3)))
