"""Orderings: how the top k passages are laid out, first to last in the prompt."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from ragrelay.hashing import text_hash

Item = TypeVar("Item")


def _descending(n: int, _key: str) -> list[int]:
    return list(range(n))


def _ascending(n: int, _key: str) -> list[int]:
    return list(range(n))[::-1]


def _best_at_ends(n: int, _key: str) -> list[int]:
    # The last place is as good as the first to a reader with a primacy and recency bias, and gets the best passage.
    return [*range(1, n, 2), *range(0, n, 2)[::-1]]


def _best_in_middle(n: int, _key: str) -> list[int]:
    odd = list(range(1, n, 2))
    return [*odd[::-1], *range(0, n, 2)]


def _random(n: int, key: str) -> list[int]:
    places = list(range(n))
    random.Random(int(text_hash(key)[:16], 16)).shuffle(places)
    return places


ORDERINGS: dict[str, Callable[[int, str], list[int]]] = {
    "descending": _descending,
    "ascending": _ascending,
    "best_at_ends": _best_at_ends,
    "best_in_middle": _best_in_middle,
    "random": _random,
}


def ordered(ranking: Sequence[Item], ordering: str, key: str = "") -> list[Item]:
    """``ranking`` (best first) in prompt order.

    For ranks 0..4: descending 0,1,2,3,4; ascending 4,3,2,1,0; best_at_ends 1,3,4,2,0; best_in_middle 3,1,0,2,4;
    random is a shuffle of its own, decided by ``key`` (the qid) and the number of passages alone.
    """
    return [ranking[place] for place in ORDERINGS[ordering](len(ranking), f"{key}\t{len(ranking)}")]
