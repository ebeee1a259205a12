"""Data sets whose truth is known, for simulations: nothing to find in them, or a correlation that is known."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from benchmarks.shared.real_columns import Cells, Real

Array = np.ndarray
Blocks = Iterator[tuple[Array, Array]]
Studies = Iterator[Cells]
Columns = Callable[[np.random.Generator, int], Iterator[tuple[Array, Array]]]
PLACES = [(retriever, ordering, k) for retriever in ("bm25", "monot5") for ordering in ("descending", "ascending")
          for k in (1, 5, 15)]  # fmt: skip
RHO = 0.5
TRUTH_QUERIES = 1_000_000


def log_normal(random: np.random.Generator, size: tuple[int, ...]) -> Array:
    return np.exp(random.standard_normal(size)) - np.exp(0.5)


def normal(random: np.random.Generator, n: int) -> Iterator[tuple[Array, Array]]:
    """Measure and utility (n,) of every one of PLACES, r = 0.3; what a query has in common in all of them is half."""
    query = random.standard_normal((2, n))
    for _ in PLACES:
        y, rest = (query + random.standard_normal((2, n))) / np.sqrt(2)
        yield y, 0.3 * y + np.sqrt(1 - 0.3**2) * rest


def skewed(random: np.random.Generator, n: int) -> Iterator[tuple[Array, Array]]:
    """The same with log-normal utility and a measure of seven values."""
    for y, u in normal(random, n):
        yield np.clip(np.round(6 * (0.55 + 0.25 * y)) / 6, 0, 1), np.exp(u)


def gain_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Array]]:
    kinds: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
        "normal": lambda random, draws, n: random.standard_normal((n, draws)),
        "skewed, symmetric": lambda random, draws, n: log_normal(random, (n, draws)) - log_normal(random, (n, draws)),
        "skewed (exponential)": lambda random, draws, n: random.exponential(size=(n, draws)) - 1.0,
        "skewed (log-normal)": lambda random, draws, n: log_normal(random, (n, draws)),
    }
    kinds |= {"real, centred": real.gain, "real, swapped": real.swapped} if real.gains else {}
    return kinds | ({"real, chosen by chance": real.chosen} if real.blocks else {})


def correlation_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], tuple[Array, Array]]]:
    def normal(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array]:
        return random.standard_normal((draws, n)), random.standard_normal((draws, n))

    def skewed(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array]:
        return log_normal(random, (draws, n)), np.clip(np.round(6 * random.normal(0.55, 0.25, (draws, n))) / 6, 0, 1)

    def dependent(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array]:
        x = random.standard_normal((draws, n))
        return x, x * random.standard_normal((draws, n))

    kinds = {"normal": normal, "skewed": skewed, "uncorrelated, dependent": dependent}
    return kinds | ({"real, permuted": real.permuted} if real.pairs else {})


def within_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Blocks]]:
    """Measures and P (n, 4) of queries, of which the harder ones have lower measures; no correlation within them."""

    def normal(random: np.random.Generator, draws: int, n: int) -> Blocks:
        for _ in range(draws):
            hard = random.standard_normal((n, 1))
            yield random.standard_normal((n, 4)) - hard, random.standard_normal((n, 4)) + hard

    def slopes(random: np.random.Generator, draws: int, n: int) -> Blocks:
        for _ in range(draws):
            x = random.standard_normal((n, 4))
            yield x, random.standard_normal((n, 1)) * x + random.standard_normal((n, 4))

    def skewed_slopes(random: np.random.Generator, draws: int, n: int) -> Blocks:
        for _ in range(draws):
            x = random.standard_normal((n, 4))
            yield x, log_normal(random, (n, 1)) * x + random.standard_normal((n, 4))

    def skewed(random: np.random.Generator, draws: int, n: int) -> Blocks:
        for _ in range(draws):
            hard = random.standard_normal((n, 1))
            x = np.clip(np.round(6 * (0.4 - 0.3 * hard + random.normal(0, 0.3, (n, 4)))) / 6, 0, 1)
            yield x, np.exp(hard + 0.8 * random.standard_normal((n, 4)))

    kinds = {"normal": normal, "skewed": skewed, "slopes by query": slopes}
    kinds |= {"slopes by query (log-normal)": skewed_slopes}
    return kinds | ({"real, permuted within queries": real.within} if real.blocks else {})


def coverage_data(
    real: Real,
) -> dict[str, Callable[[np.random.Generator, int, int], tuple[Array, Array, Array, Array]]]:
    """Columns (draws, n) with the r and rho of what they are drawn from (draws,)."""

    def normal(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array, Array]:
        x = random.standard_normal((draws, n))
        y = RHO * x + np.sqrt(1 - RHO**2) * random.standard_normal((draws, n))
        return x, y, np.full(draws, RHO), np.full(draws, 6 / np.pi * np.arcsin(RHO / 2))

    def columns(random: np.random.Generator, size: tuple[int, ...]) -> tuple[Array, Array]:
        x = random.standard_normal(size)
        return np.exp(x), np.clip(np.round(6 * (0.55 + 0.15 * x + random.normal(0, 0.2, size))) / 6, 0, 1)

    many = columns(np.random.default_rng(0), (TRUTH_QUERIES,))
    truths = [float(test(*many).statistic) for test in (stats.pearsonr, stats.spearmanr)]

    def skewed(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array, Array]:
        return (*columns(random, (draws, n)), *(np.full(draws, truth) for truth in truths))

    return {"normal": normal, "skewed": skewed} | ({"real": real.related} if real.pairs else {})


def lead_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], tuple[Array, Array, Array]]]:
    """What is followed and the measures of two sources that follow it alike, (draws, n) each."""

    def skewed(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array]:
        x = random.standard_normal((draws, n))
        first, second = (np.round(6 * stats.norm.cdf(x / 2 + random.standard_normal(x.shape))) / 6 for _ in range(2))
        return np.exp(x), first, second

    kinds = {"skewed": skewed}
    return kinds | ({"real, permuted": real.alone, "real, swapped": real.alike} if real.leads else {})


def correlated_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Studies]]:
    """Studies with no correlation in any cell."""

    def independent(columns: Columns) -> Callable[[np.random.Generator, int, int], Studies]:
        return lambda random, draws, n: (
            {cell: (u, y) for cell, (_, u), (y, _) in zip(PLACES, columns(random, n), columns(random, n), strict=True)}
            for _ in range(draws)
        )

    def dependent(random: np.random.Generator, draws: int, n: int) -> Studies:
        for _ in range(draws):
            sign = random.standard_normal(n)
            yield {
                cell: (y * (sign + random.standard_normal(n)), y)
                for cell, (y, _) in zip(PLACES, normal(random, n), strict=True)
            }

    kinds = {"normal": independent(normal), "skewed": independent(skewed), "uncorrelated, dependent": dependent}
    return kinds | ({"real, permuted": real.permuted_studies} if real.studies else {})


def falling_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Studies]]:
    """Studies with a correlation that is the same at every k."""

    def same(columns: Columns) -> Callable[[np.random.Generator, int, int], Studies]:
        return lambda random, draws, n: (
            {cell: (u, y) for cell, (y, u) in zip(PLACES, columns(random, n), strict=True)} for _ in range(draws)
        )

    kinds = {"normal": same(normal), "skewed": same(skewed)}
    return kinds | ({"real, k exchanged": real.exchanged_studies} if real.studies else {})


def answered_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Array]]:
    """Differences of P (n, draws) of mean 0 between two retrievers."""
    return {"real, swapped": real.swapped_retrievers} if real.blocks else {}


def within_coverage_data(
    real: Real,
) -> dict[str, Callable[[np.random.Generator, int, int], Iterator[tuple[Array, Array, float]]]]:
    """Measures and P (n, 4) of queries, with the r within them of all queries that there are."""
    slopes: dict[str, Callable[[np.random.Generator, int], Array]] = {
        "one slope": lambda random, n: np.full((n, 1), 0.5),
        "slopes by query": lambda random, n: 0.5 + random.standard_normal((n, 1)),
        "slopes by query (log-normal, 0.5)": lambda random, n: np.exp(0.5 * random.standard_normal((n, 1))),
        "slopes by query (log-normal, 1)": lambda random, n: np.exp(random.standard_normal((n, 1))),
    }

    def sloped(
        one: Callable[[np.random.Generator, int], Array],
    ) -> Callable[[np.random.Generator, int], tuple[Array, Array]]:
        def draw(random: np.random.Generator, n: int) -> tuple[Array, Array]:
            x = random.standard_normal((n, 4))
            return x, one(random, n) * x + random.standard_normal((n, 4))

        return draw

    def skewed(random: np.random.Generator, n: int) -> tuple[Array, Array]:
        hard, better = random.standard_normal((n, 1)), random.normal(0, 0.3, (n, 4))
        x = np.clip(np.round(6 * (0.4 - 0.3 * hard + better)) / 6, 0, 1)
        return x, np.exp(hard + better + 0.8 * random.standard_normal((n, 4)))

    def of_many(draw: Callable[[np.random.Generator, int], tuple[Array, Array]]) -> Callable:
        x, y = (column - column.mean(axis=1, keepdims=True) for column in draw(np.random.default_rng(0), TRUTH_QUERIES))
        truth = float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))

        def blocks(random: np.random.Generator, draws: int, n: int) -> Iterator[tuple[Array, Array, float]]:
            return ((*draw(random, n), truth) for _ in range(draws))

        return blocks

    kinds = {name: of_many(sloped(one)) for name, one in slopes.items()} | {"skewed": of_many(skewed)}
    return kinds | ({"real": real.related_within} if real.blocks else {})
