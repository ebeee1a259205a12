"""Queries that come in clusters: every table takes whole clusters, or has neither interval nor p-value."""

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.clusters import NOT_BY_CLUSTER, effective_number
from ragrelay.analysis.equivalence import equivalences
from ragrelay.analysis.gain import gains
from ragrelay.analysis.mean_tests import ClusterMeans, Means, cautious, enough
from ragrelay.analysis.systems import systems as systems_of
from ragrelay.analysis.transmission import Transmission
from ragrelay.execution.study.files import modules_of
from ragrelay.report.display.sections import Section
from scipy import stats

from tests.support import measured_study

SIZES = (1, 10, 2, 1, 3, 2, 1, 4, 1, 2, 1, 3, 1, 2, 2)
"""Of 15 clusters of the demo's 36 queries."""
BY_CLUSTER = ("gain", "systems", "equivalence", "relay", "within", "correlation")


def study(clusters: bool | str) -> measured_study.Measured:
    """The demo's study; its queries in clusters of SIZES, or each ``alone``, or independent."""
    demo = measured_study.real()
    qids = sorted(demo.qrels["qid"].unique())
    assert len(qids) == sum(SIZES) == 36
    of_qid = dict(zip(qids, np.repeat(np.arange(len(SIZES)), SIZES).tolist(), strict=True))
    alone = {qid: place for place, qid in enumerate(qids)}
    return dataclasses.replace(demo, clusters=of_qid if clusters is True else alone if clusters else None)


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Section]:
    """The study's section with and without clusters."""
    return {
        by: measured_study.section_of(study(by), tmp_path_factory.mktemp(f"clusters{by}"), resamples=50)
        for by in (False, True)
    }


def inference(table: pl.DataFrame) -> list[str]:
    """Names of the columns of intervals and p-values."""
    ends = ("low", "high", "_low", "_high")
    return [
        name
        for name in table.columns
        if name in ("low", "high")
        or name.startswith(("p_value", "p_verdict", "p_difference", "p_perm", "p_wil", "p_hall"))
        or name.endswith(ends[2:])
    ]


@pytest.mark.parametrize("name", [name for name in modules_of("analyse_transmission") if name != "clusters"])
def test_estimates_stay_and_every_interval_is_another_or_none(sections: dict[bool, Section], name: str) -> None:
    independent, clustered = sections[False][name], sections[True][name]
    assert clustered.columns == independent.columns and clustered.height == independent.height
    for column in clustered.columns:
        if column in ("mean_difference", "slope", "r", "value", "mean_utility", "difference", "partial_r", "n"):
            assert clustered[column].equals(independent[column]), column
    checked = compared = 0
    for column in inference(clustered):
        both = pl.DataFrame({"independent": independent[column], "clustered": clustered[column]}).drop_nulls()
        if "of_" not in column and both.height:
            same = (both["independent"] - both["clustered"]).abs() < 1e-12
            bounds = both["clustered"].is_in([-1.0, 0.0, 1.0])
            assert not (same & ~bounds).any(), f"{name}.{column} takes queries as independent"
        checked += independent[column].is_not_null().sum()
        compared += both.height
    assert checked or name == "holes", "nothing was compared"
    assert bool(compared) == (name in BY_CLUSTER), "these tables alone have intervals over clusters"
    if "reason" in clustered.columns:
        tested = independent[inference(independent)[0]].is_not_null() if inference(independent) else None
        lost = (
            tested & clustered[inference(clustered)[0]].is_null()
            if tested is not None
            else pl.Series([], dtype=pl.Boolean)
        )
        assert clustered.filter(lost)["reason"].is_not_null().all(), "a row without an interval says why"


def test_one_cluster_per_query_is_no_cluster(tmp_path: Path) -> None:
    """Sums over clusters of one query each give the tests of independent queries."""
    differences = np.random.default_rng(1).exponential(size=40) - 0.7
    independent, clustered = cautious(differences), cautious(differences, np.arange(40))
    assert isinstance(independent, Means) and isinstance(clustered, ClusterMeans)
    np.testing.assert_allclose(clustered.interval(), np.array(independent.interval()), rtol=1e-9)
    np.testing.assert_allclose(clustered.p_value(0.1), independent.p_value(0.1), rtol=1e-9)
    np.testing.assert_allclose(clustered.error, stats.sem(differences))
    assert enough(differences, np.arange(40)) == enough(differences)


def test_equal_clusters_are_their_means() -> None:
    """With clusters of one size the test is that of the clusters' means."""
    random = np.random.default_rng(2)
    cluster = np.repeat(np.arange(14), 5)
    differences = random.standard_normal(14)[cluster] + 0.3 * random.standard_normal(70)
    of_means = Means.cautious(differences.reshape(14, 5).mean(axis=1)[:, None])
    shuffled = random.permutation(70)
    clustered = cautious(differences[shuffled], cluster[shuffled])
    np.testing.assert_allclose(clustered.interval(), np.array(of_means.interval()), rtol=1e-9)
    np.testing.assert_allclose(clustered.p_greater(0.2), of_means.p_greater(0.2), rtol=1e-9)
    np.testing.assert_allclose(clustered.p_less(0.2), of_means.p_less(0.2), rtol=1e-9)


def test_p_value_and_interval_agree() -> None:
    """The 95% interval ends where the p-value is 5%, with clusters of 1 to 10 queries."""
    random = np.random.default_rng(3)
    cluster = np.repeat(np.arange(20), random.integers(1, 11, 20))
    means = cautious(random.exponential(size=20)[cluster] + random.standard_normal(len(cluster)), cluster)
    low, high = (float(end[0]) for end in means.interval())
    for end in (low, high):
        np.testing.assert_allclose(means.p_value(end), 0.05, atol=1e-6)
    assert means.p_value((low + high) / 2)[0] > 0.05 > means.p_value(high + 0.1)[0]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [((3,) * 11, False), ((3,) * 12, True), ((60, *(1,) * 30), False), ((10, *(2,) * 12), True)],
)
def test_a_word_needs_12_clusters_of_which_6_count(sizes: tuple[int, ...], said: bool) -> None:
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    assert enough(np.random.default_rng(4).standard_normal(len(cluster)), cluster) == said
    assert said == (len(sizes) >= 12 and effective_number(np.array(sizes)) >= 6)


def test_sums_that_rounding_keeps_from_0_do_not_count() -> None:
    """Differences that cancel within a cluster are a sum of 0, and 8 sums must not be 0."""
    cluster = np.repeat(np.arange(12), 3)
    differences = np.tile([0.1, 0.2, -0.3], 12)
    assert 0.1 + 0.2 - 0.3 != 0.0 and not enough(differences, cluster)
    differences[:24] += 0.01
    assert enough(differences, cluster)


def test_a_false_word_is_rare_where_queries_as_units_say_it_often() -> None:
    """Twenty conversations of five turns, .8 of the variance theirs, no difference: at most 6% of words (36% else)."""
    random = np.random.default_rng(5)
    cluster = np.repeat(np.arange(20), 5)
    said = np.zeros(2)
    for _ in range(500):
        differences = np.sqrt(0.8) * random.standard_normal(20)[cluster] + np.sqrt(0.2) * random.standard_normal(100)
        said += [cautious(differences, cluster).p_value()[0] < 0.05, cautious(differences).p_value()[0] < 0.05]
    by_cluster, by_query = said / 500
    assert by_cluster <= 0.06 and by_query > 0.3


def test_an_unbounded_interval_says_why() -> None:
    """One cluster has most queries: all tables name the effective number of clusters."""
    sizes = np.array([60, *(1,) * 15])
    cluster = np.repeat(np.arange(16), sizes)
    qids = [f"q{number:02}" for number in range(75)]
    random, clusters = np.random.default_rng(8), dict(zip(qids, cluster.tolist(), strict=True))
    p = {"bm25": random.normal(0.5, 0.1, 75), "dense": random.normal(0.6, 0.1, 75)}
    cell = {"ordering": "descending", "k": 1, "references": "lenient"}
    utility = pl.concat([
        pl.DataFrame({"retriever": name, **cell, "qid": qids, "p": values, "p0": p["bm25"][::-1], "utility": 0.1})
        for name, values in p.items()
    ])  # fmt: skip
    reason = "the interval is unbounded, because there are only 1.6 effective clusters of queries"
    assert f"{sizes.sum() ** 2 / (sizes**2).sum():.1f}" == "1.6"
    systems = systems_of(utility, ["bm25", "dense"], None, None, 0.02, clusters=clusters)
    equivalent = equivalences(utility, "bm25", 0.02, clusters=clusters)
    gained = gains(utility, 99, 0, clusters=clusters)
    for table in (systems, equivalent, gained):
        assert set(table["reason"]) == {reason} and table["low"].null_count() == table.height
        assert set(table["verdict"]) == {"too few queries"}


def test_the_page_says_so(sections: dict[bool, Section]) -> None:
    from ragrelay.report import lead_warnings
    from ragrelay.report.facts import facts_of

    (line,) = [text for title, text, _ in lead_warnings.warnings(facts_of(sections[True])) if title == "Clusters"]
    assert line.startswith("36 queries form 15 clusters; the largest contains 28% of the queries.")
    size = sum(size**2 for size in SIZES) / 36
    assert line.endswith(f"means “a further cluster of {size:.1f} such queries”.")
    assert not [text for title, text, _ in lead_warnings.warnings(facts_of(sections[False])) if title == "Clusters"]
    assert sections[False]["clusters"].is_empty()
    assert NOT_BY_CLUSTER in set(sections[True]["significance"]["reason"])


def test_each_table_names_what_takes_queries_as_independent() -> None:
    """BY_QUERY has columns of the table alone."""
    from importlib import import_module

    named = 0
    for module in modules_of("analyse_transmission").values():
        columns = getattr(import_module(module), "BY_QUERY", ())
        assert set(columns) <= set(import_module(module).COLUMNS)
        named += bool(columns)
    assert named == 4
    assert Transmission.__dataclass_fields__["clusters"].default is None
