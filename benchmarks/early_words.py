"""How often a word is false for whoever watches an unfinished study and stops at the first one (docs/error-rates.md).

    python benchmarks/early_words.py --out benchmarks/results/early_words.json

No retriever is better: the true mean difference is 0. A look computes the interval of the words (analysis.mean_tests)
from the queries that have finished, 12 at least; a word is said once it leaves out 0. There are ten looks, after every
tenth of the n queries, or one after every query; the last is at the end. *Nine pairs*: any of nine retrievers against
the same one, each read alone at 95%. *At half*: one look after half of the queries, in a random order and in one whose
place correlates with the differences, as in a file that is sorted by topic or difficulty. Seeded.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.verdicts import DIFFERENT_AT_LEAST, WORDS_AT_LEAST

from benchmarks.shared.record import Figure, arguments, figure, write_record
from benchmarks.word_errors import Draw, nulls

Array = np.ndarray
SIZES = (43, 200)
TEN, PAIRS = 10, 9
CORRELATION = 0.2
PAGE = "docs/error-rates.md"


def said(differences: Array) -> Array:
    """Whether a word is said (columns,) of ``differences`` (n, columns): better, or worse."""
    low, high = Means.cautious(differences).interval()
    enough = np.count_nonzero(differences, axis=0) >= DIFFERENT_AT_LEAST
    return enough & ((low > 0) | (high < 0))


def watched(differences: Array, looks: int) -> Array:
    """Whether a word is said (columns,) at any of so many ``looks`` at ``differences`` (n, columns), evenly spread."""
    found = np.zeros(differences.shape[1], dtype=bool)
    for seen in np.linspace(0, len(differences), looks + 1).round().astype(int):
        if seen < WORDS_AT_LEAST:
            continue
        waiting = np.flatnonzero(~found)
        found[waiting] = said(differences[:seen, waiting])
    return found


def pairs_watched(draws: int, n: int, draw: Draw, looks: int) -> Array:
    """Whether a word is said (draws,) at any of the ``looks`` of any of PAIRS retrievers, all against the same one."""
    random = np.random.default_rng([n, PAIRS])
    answers = draw(random, draws * (PAIRS + 1), n).reshape(n, draws, PAIRS + 1)
    differences = (answers[:, :, 1:] - answers[:, :, :1]).reshape(n, draws * PAIRS)
    return np.asarray(watched(differences, looks).reshape(draws, PAIRS).any(axis=1))


def at_half(draws: int, n: int, draw: Draw, correlation: float) -> Array:
    """Whether a word is said (draws,) after half of n queries, whose place in the order has this ``correlation``."""
    place = np.arange(n) - (n - 1) / 2
    noise = draw(np.random.default_rng([n, round(100 * correlation)]), draws, n)
    ordered = correlation * (place / place.std())[:, None] + np.sqrt(1 - correlation**2) * noise / noise.std()
    return said(ordered[: n // 2])


def rates(draws: int) -> Iterator[tuple[str, Array]]:
    """Yield a label, and whether a false word is said (draws,)."""
    for n, (kind, draw) in itertools.product(SIZES, nulls(()).items()):
        for name, looks in (("ten looks", TEN), ("a look after every query", n)):
            yield f"{n} queries, {name}, one pair, {kind}", watched(draw(np.random.default_rng(n), draws, n), looks)
        yield f"{n} queries, ten looks, nine pairs, {kind}", pairs_watched(draws, n, draw, TEN)
        for name, correlation in (("random order", 0.0), ("order that correlates .2", CORRELATION)):
            yield f"{n} queries, at half, {name}, {kind}", at_half(draws, n, draw, correlation)


def figures(draws: int) -> dict[str, Figure]:
    """All figures by label: the share of data sets with a false word."""
    return {label: figure(float(false.mean())) for label, false in rates(draws)}


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=8_000)
    given = parser.parse_args()
    setting = f"{given.draws:,} data sets each; standard error at most {0.5 / given.draws**0.5:.1%}"
    write_record(given, setting, figures(given.draws), ["numpy", "scipy"], PAGE)
