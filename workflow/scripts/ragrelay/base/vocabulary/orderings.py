"""Arrange the top k passages in the prompt."""

import itertools
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from ragrelay.base.io.hashing import text_hash

Item = TypeVar("Item")


DESCENDING = "descending"
RANDOM = "random"


def _descending(n: int, _key: str) -> list[int]:
    return list(range(n))


def _ascending(n: int, _key: str) -> list[int]:
    return list(range(n))[::-1]


def _best_at_ends(n: int, _key: str) -> list[int]:
    # With primacy and recency bias, the last position is as good as the first, and the best passage goes there.
    return [*range(1, n, 2), *range(0, n, 2)[::-1]]


def _best_in_middle(n: int, _key: str) -> list[int]:
    odd = list(range(1, n, 2))
    return [*odd[::-1], *range(0, n, 2)]


def _random(n: int, key: str) -> list[int]:
    places = list(range(n))
    random.Random(int(text_hash(key)[:16], 16)).shuffle(places)
    return places


ORDERINGS: dict[str, Callable[[int, str], list[int]]] = {
    DESCENDING: _descending,
    "ascending": _ascending,
    "best_at_ends": _best_at_ends,
    "best_in_middle": _best_in_middle,
    RANDOM: _random,
}


PERMUTATIONS = "permutations"
"""In the grid, stands for all permutations of k passages, for each k. Each permutation has a separate cell."""
MOST_PERMUTED = 4
_PREFIX = "permutation_"


def named_orderings(orderings: Sequence[str], ks: Iterable[int]) -> list[str]:
    """Replace ``permutations`` in ``orderings`` with all permutations for each k in ``ks``, largest k first.

    ``permutation_312`` puts the passage at rank 3 first, followed by ranks 1 and 2. The ordering only applies to k = 3.
    """
    names = []
    for ordering in orderings:
        if ordering == PERMUTATIONS:
            for k in sorted(ks, reverse=True):
                ranks = itertools.permutations(range(1, k + 1))
                names += [_PREFIX + "".join(map(str, permutation)) for permutation in ranks]
        else:
            names.append(ordering)
    return names


def is_permutation(ordering: str) -> bool:
    """Return whether ``ordering`` is the name of a permutation, such as ``permutation_312``."""
    return ordering.startswith(_PREFIX)


def fits(ordering: str, k: int) -> bool:
    """Return whether ``ordering`` applies to contexts with k passages. A permutation only applies to a single k."""
    return not is_permutation(ordering) or len(ordering) == len(_PREFIX) + k


def ordered(ranking: Sequence[Item], ordering: str, key: str = "") -> list[Item]:
    """Put ``ranking`` (best first) into prompt order.

    For ranks 0 to 4, the orders are: descending 0,1,2,3,4; ascending 4,3,2,1,0; best_at_ends 1,3,4,2,0; best_in_middle
    3,1,0,2,4. A random order depends only on ``key`` (the qid) and the number of passages. If the ranking is shorter
    than the permutation, missing ranks are skipped.
    """
    if is_permutation(ordering):
        places = [int(digit) - 1 for digit in ordering.removeprefix(_PREFIX)]
        return [ranking[place] for place in places if place < len(ranking)]
    return [ranking[place] for place in ORDERINGS[ordering](len(ranking), f"{key}\t{len(ranking)}")]


def distinct_orderings(contexts: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[str, int]]:
    """Map each (ordering, k) in ``contexts`` to the first ordering with the same k and the same passage order.

    For one passage, all orderings are equal. For two, ``ascending``, ``best_at_ends`` and ``best_in_middle`` are equal.
    """
    first: dict[tuple[Hashable, ...], tuple[str, int]] = {}
    return {(ordering, k): first.setdefault(_layouts(ordering, k), (ordering, k)) for ordering, k in contexts}


def _layouts(ordering: str, k: int) -> tuple[Hashable, ...]:
    """Return how ``ordering`` arranges 1 to ``k`` passages. A shuffle of several passages equals no other ordering."""
    return tuple(
        tuple(ordered(range(n), ordering)) if ordering != RANDOM or n == 1 else RANDOM for n in range(1, k + 1)
    )
