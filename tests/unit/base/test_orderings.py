"""Orderings: exactly the design's lists, and a random one that is its own."""

import itertools

import pytest
from ragrelay.base.vocabulary.orderings import (
    ORDERINGS,
    distinct_orderings,
    fits,
    is_permutation,
    named_orderings,
    ordered,
)

OF_FIVE = {
    "descending": [0, 1, 2, 3, 4],
    "ascending": [4, 3, 2, 1, 0],
    "best_at_ends": [1, 3, 4, 2, 0],
    "best_in_middle": [3, 1, 0, 2, 4],
}
OF_FOUR = {
    "descending": [0, 1, 2, 3],
    "ascending": [3, 2, 1, 0],
    "best_at_ends": [1, 3, 2, 0],
    "best_in_middle": [3, 1, 0, 2],
}


@pytest.mark.parametrize("expected", [OF_FIVE, OF_FOUR], ids=["five", "four"])
def test_designs_lists(expected: dict[str, list[int]]) -> None:
    found = {name: ordered(range(len(expected["descending"])), name, key="q1") for name in expected}
    assert found == expected


def test_names() -> None:
    assert set(ORDERINGS) == {*OF_FIVE, "random"}


@pytest.mark.parametrize("name", ORDERINGS)
@pytest.mark.parametrize("n", range(14))
def test_every_passage_once(name: str, n: int) -> None:
    passages = [f"d{i}" for i in range(n)]
    assert sorted(ordered(passages, name, key="q1")) == sorted(passages)
    assert passages == [f"d{i}" for i in range(n)], "the ranking itself is left alone"


def test_random_is_the_querys_own() -> None:
    of_query = {f"q{i}": tuple(ordered(range(10), "random", key=f"q{i}")) for i in range(50)}
    assert len(set(of_query.values())) == 50
    assert tuple(range(10)) not in of_query.values()


def test_random_is_uniform_over_places() -> None:
    first = [ordered(range(5), "random", key=f"query {i}")[0] for i in range(2000)]
    counts = [first.count(place) for place in range(5)]
    assert all(320 <= count <= 480 for count in counts), counts  # 400 ± 4.5 standard deviations


def test_random_is_stable_between_runs_and_versions() -> None:
    """Kept answers belong to these very prompts: another shuffle would make every one of them again."""
    assert ordered(range(6), "random", key="q1") == ordered(range(6), "random", key="q1") == [3, 1, 0, 5, 2, 4]


def test_random_looks_at_places_not_at_passages() -> None:
    places = ordered(range(4), "random", key="q7")
    assert ordered(["a", "b", "c", "d"], "random", key="q7") == ["abcd"[place] for place in places]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_permutations_are_all_orders_of_k(k: int) -> None:
    names = named_orderings(["permutations"], [k])
    found = [tuple(ordered(range(k), name)) for name in names]
    assert sorted(found) == sorted(itertools.permutations(range(k)))
    assert found[0] == tuple(range(k)) and all(is_permutation(name) and fits(name, k) for name in names)
    assert ordered("abcd", "permutation_3142") == ["c", "a", "d", "b"]


def test_permutations_stand_beside_other_orderings() -> None:
    names = named_orderings(["ascending", "permutations", "random"], [1, 3, 2])
    assert names[0] == "ascending" and names[-1] == "random" and len(names) == len(set(names)) == 2 + 6 + 2 + 1
    assert names[1] == "permutation_123", "the largest k first, and the ranking itself the first of it"
    assert [k for k in (1, 2, 3, 4) if fits("permutation_21", k)] == [2]
    assert all(fits(name, 7) for name in ORDERINGS) and not any(map(is_permutation, ORDERINGS))


def test_permutation_of_a_shorter_ranking() -> None:
    assert ordered("ab", "permutation_312") == ["a", "b"] and ordered("a", "permutation_21") == ["a"]


def test_orderings_that_make_the_same_prompts_of_k_passages() -> None:
    names = list(ORDERINGS)
    assert {first for first, _ in distinct_orderings((name, 1) for name in names).values()} == {"descending"}
    of_two = {name: first for (name, _), (first, _) in distinct_orderings((name, 2) for name in names).items()}
    assert of_two == {
        "descending": "descending", "ascending": "ascending", "best_at_ends": "ascending",
        "best_in_middle": "ascending", "random": "random",
    }  # fmt: skip
    of_three = distinct_orderings([*((name, 3) for name in names), ("permutation_321", 3), ("permutation_213", 3)])
    assert [of_three[name, 3][0] for name in names] == names
    assert of_three["permutation_321", 3] == ("ascending", 3)
    assert of_three["permutation_213", 3] == ("best_in_middle", 3)
