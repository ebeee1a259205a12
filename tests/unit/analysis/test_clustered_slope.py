"""The slope over clusters: against a loop, its degrees of freedom, and what few clusters with another x do to it."""

import numpy as np
import pytest
from ragrelay.analysis.clusters import clustered_slope
from scipy import special, stats

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(random: np.random.Generator, clusters: int, having: int | None = None) -> Drawn:
    """x, unrelated y that is alike within a cluster, and the cluster of each row; ``having``: x is 1 in so many."""
    cluster = np.repeat(np.arange(clusters), random.integers(1, 6, clusters))
    y = random.standard_normal(clusters)[cluster] + random.standard_normal(len(cluster))
    x = random.standard_normal(len(cluster)) if having is None else (cluster < having).astype(float)
    return x, y, cluster


def test_it_is_the_slope_over_its_error_without_each_cluster() -> None:
    x, y, cluster = drawn(np.random.default_rng(0), 12)
    found = clustered_slope(x, y, cluster)
    left_out = np.array([np.polyfit(x[cluster != one], y[cluster != one], 1)[0] for one in range(12)])
    error = np.sqrt(11 / 12 * ((left_out - left_out.mean()) ** 2).sum())
    u = x - x.mean()
    q = np.array([0.5 * (u[cluster == one] ** 2).sum() + 0.5 * u[cluster == one].sum() ** 2 for one in range(12)])
    df = q.sum() ** 2 / (q**2).sum() - 1
    assert (found.df, found.error) == pytest.approx((df, error))
    assert found.p_value == pytest.approx(2 * special.stdtr(df, -abs(np.polyfit(x, y, 1)[0]) / error))


def test_degrees_of_freedom_count_the_clusters_that_differ_from_the_rest() -> None:
    cluster = np.repeat(np.arange(100), 2)
    y = np.random.default_rng(0).standard_normal(200)
    rare, common = (clustered_slope((cluster < count).astype(float), y, cluster).df for count in (4, 50))
    assert rare == pytest.approx(3, abs=0.5) and common == pytest.approx(99)


def test_copies_of_single_rows_change_nothing() -> None:
    random = np.random.default_rng(1)
    x, y, cluster = random.standard_normal(30), random.standard_normal(30), np.arange(30)
    once, often = clustered_slope(x, y, cluster), clustered_slope(*(np.tile(one, 4) for one in (x, y, cluster)))
    assert often == pytest.approx(once)


@pytest.mark.parametrize("having", [2, 4, 15])
def test_few_clusters_that_have_it_find_nothing_where_there_is_nothing(having: int) -> None:
    random, n = np.random.default_rng(having), 600
    p = [clustered_slope(*drawn(random, 40, having)).p_value for _ in range(n)]
    share = np.mean([one is not None and one < 0.05 for one in p])
    assert share - 2 * np.sqrt(0.05 * 0.95 / n) <= 0.05
    if having == 2:
        # As many degrees of freedom as clusters less one would call too often.
        errors = [clustered_slope(*drawn(random, 40, having)) for _ in range(n)]
        t = [-float(stats.t.ppf(one.p_value / 2, one.df)) for one in errors if one.p_value is not None]
        assert np.mean(2 * stats.t.sf(np.array(t), 39) < 0.05) > 0.08


def test_a_slope_is_found() -> None:
    x, y, cluster = drawn(np.random.default_rng(2), 60)
    assert (clustered_slope(x, y + x, cluster).p_value or 1) < 0.001


def test_what_one_cluster_alone_has_is_not_tested() -> None:
    x, y, cluster = drawn(np.random.default_rng(3), 20, 1)
    assert clustered_slope(x, y, cluster) == (None, None, None)
