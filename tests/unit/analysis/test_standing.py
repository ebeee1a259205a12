"""Whether a word of a mean difference stands with one more query, whose difference is against it."""

import numpy as np
import pytest
from ragrelay.analysis.equivalence import words_of
from ragrelay.analysis.standing import AGAINST, stands
from ragrelay.analysis.verdicts import (
    BETTER,
    EQUIVALENT,
    LITTLE_BETTER,
    MUCH_BETTER,
    NOT_BETTER,
    NOT_WORSE,
    OF_DIFFERENCE,
    SAY_BETTER,
    SAY_WORSE,
    TOO_FEW,
    UNDECIDED,
    WORSE,
    of_difference,
)
from scipy import stats

from tests.unit.report.second_way import between, both_statistics, undone

MARGIN = 0.02
RANDOM = np.random.default_rng(0)
STEADY = RANDOM.normal(-0.02, 0.01, 36)
"""A small difference that hardly varies, as where a refused answer, on few queries, was not drawn."""
LARGE = RANDOM.normal(-0.2, 0.1, 36)


def test_a_small_steady_difference_does_not_stand_and_a_large_one_does() -> None:
    for sign, word in ((1, WORSE), (-1, BETTER)):
        assert stands(sign * STEADY, word) is False and stands(sign * LARGE, word) is True


def test_the_query_is_against_the_word_and_not_for_it() -> None:
    assert AGAINST == 0.25
    assert of_difference(np.append(STEADY, -AGAINST), *between(np.append(STEADY, -AGAINST))) == WORSE
    assert of_difference(np.append(STEADY, AGAINST), *between(np.append(STEADY, AGAINST))) == UNDECIDED


@pytest.mark.parametrize("word", [word for word in OF_DIFFERENCE if word in (*SAY_BETTER, *SAY_WORSE)])
def test_of_better_and_worse_the_side_of_0_alone_counts(word: str) -> None:
    """With 200 queries, more than the margin is undone by one query here, and better is not."""
    sign = 1 if word in SAY_BETTER else -1
    differences = sign * np.random.default_rng(1).normal(0.0235, 0.022, 200)
    low, high = between(np.append(sign * differences, -AGAINST))
    assert 0 < low < MARGIN < high and stands(differences, word, margin=MARGIN) is True


def test_the_level_is_that_of_the_word() -> None:
    differences = np.random.default_rng(3).normal(0.1, 0.15, 36)
    low = [between(np.append(differences, -AGAINST), level)[0] for level in (0.95, 0.9999)]
    assert low[0] > 0 > low[1]
    assert [stands(differences, BETTER, level) for level in (0.95, 0.9999)] == [True, False]


@pytest.mark.parametrize(("word", "n", "expected"), [
    (EQUIVALENT, 36, False), (EQUIVALENT, 200, True), (NOT_WORSE, 20, False), (NOT_WORSE, 200, True),
    (NOT_BETTER, 20, False), (NOT_BETTER, 200, True),
])  # fmt: skip
def test_words_on_the_margin_stand_against_it(word: str, n: int, expected: bool) -> None:
    differences = np.random.default_rng(2).normal(0.0, 0.02, n)
    assert stands(differences, word, margin=MARGIN) is expected


def test_equivalence_needs_both_margins() -> None:
    """The mean is near a margin, so that a query against that one undoes what a query against the other does not."""
    differences = np.random.default_rng(4).normal(0.008, 0.02, 100)
    for sign, far, near in ((1, NOT_WORSE, NOT_BETTER), (-1, NOT_BETTER, NOT_WORSE)):
        stand = [stands(sign * differences, word, margin=MARGIN) for word in (far, near, EQUIVALENT)]
        assert stand == [True, False, False]


def test_what_says_nothing_has_no_remark() -> None:
    assert [stands(LARGE, word, margin=MARGIN) for word in (UNDECIDED, TOO_FEW)] == [None, None]


def test_words_of_several_retrievers_stand_as_computed_a_second_way() -> None:
    random, found = np.random.default_rng(0), set()
    for n in (10, 36, 60, 120):
        for scale in (0.01, 0.03, 0.1):
            columns = list(random.normal(scale * random.choice([-2, -0.5, 0.0, 0.5, 2], (5, 1)), scale, (5, n)))
            for row, column in zip(words_of(columns, MARGIN), columns, strict=True):
                fallen = undone(column, row["verdict"], row["verdict_level"], MARGIN)
                assert row["stands"] is (None if fallen is None else not fallen)
                found.add((row["verdict"], row["stands"]))
    assert {(EQUIVALENT, True), (EQUIVALENT, False), (TOO_FEW, None), (UNDECIDED, None)} < found
    assert {(MUCH_BETTER, True), (MUCH_BETTER, False), (LITTLE_BETTER, False)} < found


def above_zero(sums: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether both statistics of the clusters' sums put the mean above 0, computed a second way."""
    df = sizes.sum() ** 2 / (sizes**2).sum() - 1
    return all(value > stats.t.ppf(0.975, df) for value in both_statistics(sums, 0.0))


def test_of_clusters_one_more_of_their_own_size_counts() -> None:
    """A cluster of one query undoes fewer verdicts than one of the size that queries are in: (sum m²) / (sum m)."""
    random, found = np.random.default_rng(6), []
    for _ in range(200):
        sizes = np.minimum(random.zipf(2.5, 30), 12).astype(float)
        cluster = np.repeat(np.arange(30), sizes.astype(int))
        differences = random.normal(0.08, 0.04, 30)[cluster] + random.normal(0, 0.1, len(cluster))
        sums = np.bincount(cluster, differences)
        size = (sizes**2).sum() / sizes.sum()
        one, own = (above_zero(np.append(sums, -AGAINST * m), np.append(sizes, m)) for m in (1.0, size))
        if above_zero(sums, sizes):
            assert stands(differences, BETTER, cluster=cluster) is own
            assert stands(-differences, WORSE, cluster=cluster) is own
            found.append((one, own))
    assert {(True, True), (True, False)} <= set(found) and (False, True) not in found


def test_clusters_of_one_query_stand_as_queries_do() -> None:
    for scale in (0.02, 0.1, 0.2):
        differences = np.random.default_rng(7).normal(scale, 0.1, 60)
        assert stands(differences, BETTER, cluster=np.arange(60)) is stands(differences, BETTER)
