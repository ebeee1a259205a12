"""Prediction-powered estimates of people's mean scores: by hand, and by simulation (benchmarks/people_errors.py)."""

import numpy as np
import pytest
from ragrelay.annexes.people.estimates import estimate
from ragrelay.annexes.people.powered import PartlyScored, influences, powered
from scipy import stats

from benchmarks.people_errors import differs, intervals, orders

ALONE = np.arange(6)
GAIN = [[1.0, 0.0], [0.0, -1.0]]


def answers(scores: int = 40, r: float = 0.8, queries: int = 90, seed: int = 3) -> PartlyScored:
    """People score ``scores`` answers of two cells: half of each, of queries at random."""
    random = np.random.default_rng(seed)
    people = random.normal(size=(queries, 2)) + random.normal(size=(queries, 1)) + [0.5, 0.0]
    scorer = r * people + np.sqrt(1 - r**2) * random.normal(size=people.shape)
    ranks = random.random(people.shape).argsort(axis=0).argsort(axis=0)
    return PartlyScored(np.where(ranks < scores // 2, people, np.nan), scorer, np.ones_like(people))


def test_a_mean_is_that_of_people_and_the_scorers_lead_on_all_answers() -> None:
    people = np.array([[1.0], [np.nan], [3.0], [np.nan], [2.0], [np.nan]])
    scorer = np.array([[1.0], [2.0], [3.0], [4.0], [2.0], [np.nan]])
    weights = np.array([[1.0], [9.0], [3.0], [9.0], [1.0], [9.0]])
    given = influences(PartlyScored(people, scorer, weights), [[1.0]], ALONE)
    by_people, of_these, of_all = (1 + 3 * 3 + 2) / 5, (1 + 3 * 3 + 2) / 5, (1 + 2 + 3 + 4 + 2) / 5
    assert given.alone == pytest.approx(by_people)
    assert given.more == pytest.approx(of_all - of_these)
    assert given.of_people.sum() == pytest.approx(0, abs=1e-12)
    assert given.of_scorer.sum() == pytest.approx(0, abs=1e-12)


PPI_PYTHON = {0.0: (0.317371870, 0.534073771), 0.5: (0.302357596, 0.445416664), 1.0: (0.287343322, 0.465099320)}
"""By weight, ``ppi_mean_pointestimate`` and the upper end of ``ppi_mean_ci`` (level 0.95) of ppi-python 0.2.3, of 40
labelled values and 360 others. Without a weight it chose 0.569909: 0.300258316, up to 0.440827460."""


def test_a_mean_is_that_of_ppi_python() -> None:
    """Independent answers, with the same weight: the same estimate and error. Theirs counts answers without a label."""
    place = np.arange(400)
    people, noise = np.sin(1.7 * place) + 0.3, 0.7 * np.cos(2.3 * place) - 0.1
    known, scorer = np.where(place < 40, people, np.nan)[:, None], (people + noise)[:, None]
    given = influences(PartlyScored(known, scorer, np.ones((400, 1))), [[1.0]], place)
    for weight, (estimate_of_theirs, high) in PPI_PYTHON.items():
        own = weight * 400 / 360
        assert given.alone + own * given.more == pytest.approx(estimate_of_theirs, abs=1e-8)
        error = np.sqrt(((given.of_people + own * given.of_scorer) ** 2).sum())
        assert error == pytest.approx((high - estimate_of_theirs) / 1.959964, rel=1e-3)
    found = powered(given)
    # Both weights are estimates; Student's t and Hall's test, and the weight's degree of freedom, widen ours a little.
    assert found.weight * 360 / 400 == pytest.approx(0.569909, abs=0.05)
    assert found.value == pytest.approx(0.300258316, abs=2e-3)
    assert 1.0 < (found.high - found.low) / (2 * (0.440827460 - 0.300258316)) < 1.1


def test_all_answers_scored_is_the_paired_difference() -> None:
    whole = answers(scores=180)
    given = influences(whole, GAIN, np.arange(90))
    differences = whole.people[:, 0] - whole.people[:, 1]
    assert given.alone == pytest.approx(differences.mean())
    assert given.more == pytest.approx(0, abs=1e-12)
    # The error of the mean over queries, as of a paired test.
    found = powered(given)
    reach = (found.alone_high - found.alone_low) / 2
    assert reach == pytest.approx(1.987 * differences.std(ddof=1) / np.sqrt(90), rel=0.02)


def test_a_clusters_queries_count_together() -> None:
    some = answers()
    cluster = np.arange(90) // 3
    each, by_cluster = (influences(some, GAIN, of) for of in (np.arange(90), cluster))
    assert by_cluster.of_people == pytest.approx(np.bincount(cluster, each.of_people))
    assert by_cluster.df < each.df


def test_the_scorer_is_used_only_where_it_narrows_the_interval() -> None:
    good, none = (powered(influences(answers(r=r), GAIN, np.arange(90))) for r in (0.9, 0.0))
    assert good.weight > 0.5 and good.high - good.low < 0.8 * (good.alone_high - good.alone_low)
    assert none.high - none.low <= none.alone_high - none.alone_low


def test_the_weight_is_that_of_the_least_variance() -> None:
    given = influences(answers(r=0.7), GAIN, np.arange(90))
    weight = powered(given).weight

    def variance(w: float) -> float:
        return float(((given.of_people + w * given.of_scorer) ** 2).sum())

    assert variance(weight) < min(variance(weight - 0.01), variance(weight + 0.01))


def test_a_slope_is_that_of_the_difference_on_the_measure() -> None:
    whole, x = answers(scores=180), np.random.default_rng(1).normal(size=90)
    given = influences(whole, GAIN, np.arange(90), x)
    differences = whole.people[:, 0] - whole.people[:, 1]
    assert given.alone == pytest.approx(np.polyfit(x, differences, 1)[0])
    left_out = [np.polyfit(np.delete(x, place), np.delete(differences, place), 1)[0] for place in range(90)]
    jackknife = given.alone - np.array(left_out)
    assert given.of_people == pytest.approx(jackknife, abs=1e-9)


def test_probabilities_mend_a_draw_that_prefers_some_answers() -> None:
    random, found = np.random.default_rng(8), {True: [], False: []}
    for _ in range(200):
        people = (random.random((200, 1)) < 0.2).astype(float)
        scorer = people + random.normal(size=people.shape)
        chance = np.where(scorer > 0.5, 0.5, 0.1)
        drawn = np.where(random.random(people.shape) < chance, people, np.nan)
        for weighted in found:
            weights = 1 / chance if weighted else np.ones_like(chance)
            found[weighted].append(
                float(influences(PartlyScored(drawn, scorer, weights), [[1.0]], np.arange(200)).alone)
            )
    assert np.mean(found[True]) == pytest.approx(0.2, abs=0.015)
    assert np.mean(found[False]) > 0.25


def test_too_few_scores_give_a_reason_and_no_interval() -> None:
    some = answers()
    only = np.where(np.isfinite(some.people), 1.0, np.nan)
    one_cell = some._replace(people=np.column_stack([some.people[:, 0], np.full(90, np.nan)]))
    random = np.random.default_rng(6)
    few_queries = PartlyScored(random.normal(size=(11, 4)), random.normal(size=(11, 4)), np.ones((11, 4)))
    wide = [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, -1.0]]
    cases = [
        (answers(scores=38), GAIN, "fewer than 40 human scores"),
        (some._replace(people=only), GAIN, "fewer than 5 human scores differ from the most frequent score"),
        (one_cell, GAIN, "no human score in one of the cells"),
        (few_queries, wide, "human scores for fewer than 12 queries"),
    ]
    for given, contrast, reason in cases:
        row = estimate(given, contrast, np.arange(len(given.people)))
        assert row["reason"] == reason and "low" not in row
    assert "reason" not in estimate(some, GAIN, np.arange(90))
    slope = estimate(some, GAIN, np.arange(90), np.arange(90.0))
    assert slope["reason"] == "fewer than 80 human scores"


def test_each_cell_needs_scores_of_its_own() -> None:
    """Forty scores are not enough if one cell has few of them, or if hardly any of its scores differ."""
    random = np.random.default_rng(3)
    people, cluster = random.normal(size=(90, 2)), np.arange(90)

    def scored(first: int, second: int, rare: int | None = None) -> dict[str, object]:
        known = np.where(np.arange(90)[:, None] < [first, second], people, np.nan)
        if rare is not None:
            known[:, 0] = np.where(np.isfinite(known[:, 0]), (np.arange(90) < rare).astype(float), np.nan)
        return estimate(PartlyScored(known, people + random.normal(size=people.shape), np.ones((90, 2))), GAIN, cluster)

    few = "fewer than 20 human scores in one of the cells"
    alike = "in one cell, fewer than 3 scores differ from the most frequent score"
    assert [scored(*sizes).get("reason") for sizes in ((6, 34), (34, 6), (19, 60), (20, 20))] == [few, few, few, None]
    assert [scored(30, 30, rare).get("reason") for rare in (2, 3)] == [alike, None]
    assert "low" not in scored(6, 34) and "alone" in scored(6, 34)


@pytest.mark.parametrize(("shares", "unlike"), [
    ((40, 0), True), ((28, 12), True), ((20, 20), False), ((21, 19), False), ((19, 21), False), ((12, 28), True),
])  # fmt: skip
def test_cells_that_different_people_scored_have_no_interval(shares: tuple[int, int], unlike: bool) -> None:
    """Ada scores so many of the first cell's 40 answers, and as many of the second's as Bo leaves of 40."""
    some = answers(scores=80)
    places = [np.flatnonzero(np.isfinite(some.people[:, cell])) for cell in (0, 1)]
    ada = np.zeros_like(some.people)
    for cell, share in enumerate(shares):
        ada[places[cell][:share], cell] = 1.0
    known = np.isfinite(some.people)
    parts = {"ada": ada, "bo": known - ada}
    row = estimate(some, GAIN, np.arange(90), None, parts)
    assert ("reason" in row) == unlike == ("low" not in row)
    if unlike:
        one, other = (f"{share / 40:.0%}" for share in shares)
        assert str(row["reason"]).startswith("different people scored the two cells: ada gave ")
        assert str(row["reason"]).endswith(f"gave {one} of the scores in the first cell and {other} in the second")
        counts = np.array([shares, [40 - share for share in shares]])
        assert stats.chi2_contingency(counts, correction=False).pvalue < 0.2
    both = {"ada": known / 2, "bo": known / 2}
    assert estimate(some, GAIN, np.arange(90), None, both) == estimate(some, GAIN, np.arange(90))
    x = np.random.default_rng(1).normal(size=90)
    assert "low" in estimate(some, GAIN, np.arange(90), x, parts), "severity leaves a slope as it is"


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("quantity", "shape", "design"),
    [
        ("mean", "normal", "scattered"),
        ("gain", "skewed", "scattered"),
        ("gain", "grades", "unequal probabilities"),
        ("slope", "grades", "scattered"),
    ],
)
def test_intervals_cover_from_the_fewest_scores(quantity: str, shape: str, design: str) -> None:
    """It checks 600 studies; benchmarks/people_errors.py checks more. Without clusters' sums or the t it fails."""
    found = intervals(600, quantity, shape, 0.7, "120 queries in clusters of 3", design)
    assert found["coverage"] >= 0.92 and found["coverage alone"] >= 0.92
    assert found["width over that of people's scores alone"] < 1


@pytest.mark.simulation
def test_tau_ap_covers_and_two_scorers_are_seldom_told_apart_wrongly() -> None:
    assert orders(100, 16, 0.5, "systems with equal means", "tau_AP")["coverage"] >= 0.88
    assert orders(100, 16, 0.5, "families of four", "tau")["coverage"] >= 0.88
    assert differs(100, 16, (0.7, 0.7), "tau") <= 0.1
