"""Which stored answers are made again: in proportion from each retriever and k, the same each time, each once."""

from collections import Counter
from itertools import product

import polars as pl
import pytest
from ragrelay.annexes.recheck.drawing import draw


def keys(sizes: dict[tuple[str, int], int], seeds: tuple[int, ...] = (1,)) -> pl.DataFrame:
    """So many prompts of each retriever and k, with every seed."""
    rows = [
        (f"{retriever} {k} {place}", seed, retriever, k)
        for (retriever, k), size in sizes.items()
        for place, seed in product(range(size), seeds)
    ]
    return pl.DataFrame(rows, schema=["prompt_id", "seed", "retriever", "k"], orient="row")


SIZES = {("zeroshot", 0): 10, ("bm25", 1): 60, ("bm25", 5): 60, ("rel", 5): 70}


@pytest.mark.parametrize(
    ("number", "shares"),
    [(20, (1, 6, 6, 7)), (7, (0, 2, 2, 3)), (199, (10, 60, 60, 69)), (1, (0, 0, 0, 1))],
)
def test_each_stratum_gives_its_share(number: int, shares: tuple[int, ...]) -> None:
    """By largest remainders: of 7 the quotas are 0.35, 2.1, 2.1 and 2.45."""
    drawn = draw(keys(SIZES), number)
    counts = Counter(drawn.select("retriever", "k").iter_rows())
    assert drawn.height == number
    assert tuple(counts[stratum] for stratum in SIZES) == shares


def test_of_equal_remainders_as_many_strata_as_are_lacking_give_one_more() -> None:
    drawn = draw(keys({("a", 1): 5, ("b", 1): 5, ("c", 1): 5}), 4)
    assert sorted(Counter(drawn["retriever"].to_list()).values()) == [1, 1, 2]


@pytest.mark.parametrize("number", [200, 201, 10**6])
def test_all_where_there_are_fewer(number: int) -> None:
    whole = keys(SIZES)
    assert draw(whole, number).equals(whole)
    assert draw(whole.clear(), number).is_empty()


def test_none_is_drawn_twice_and_the_order_stays() -> None:
    whole = keys(SIZES, (1, 2, 3)).with_row_index("line").with_columns(other=pl.lit("kept"))
    drawn = draw(whole, 150)
    assert drawn.columns == whole.columns
    assert drawn.select("prompt_id", "seed").n_unique() == 150
    assert drawn["line"].is_sorted()
    assert set(drawn["seed"]) == {1, 2, 3}


def test_the_same_are_drawn_whatever_the_order() -> None:
    """By prompt and seed alone; another seed's answers are others."""
    whole = keys(SIZES)
    first = set(draw(whole, 50)["prompt_id"])
    assert first == set(draw(whole.sample(fraction=1.0, shuffle=True, seed=4), 50)["prompt_id"])
    assert first != set(draw(whole.with_columns(seed=pl.lit(2)), 50)["prompt_id"])
    fewer = set(draw(whole, 20)["prompt_id"])
    assert fewer < first, "a smaller sample is a part of a larger one where shares are whole"
