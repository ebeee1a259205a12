"""Error rates of *more* and *fewer* tokens of thought, with and without the remark on one more query.

    python benchmarks/thought_errors.py --out benchmarks/results/thought_errors.json

Thoughts have log-normal lengths with a mean of about 300 tokens and are cut at the budget. Where there is nothing to
find, both sides have equal means: with equal spread; with a quarter or half of the spread on one side; and where 3, 6
or 10% of one side's thoughts run into the budget while its others are shorter. A word is false there. *Without a
remark* counts the words that one more query with a thought to the budget would leave (lengths.DIFFERENCES, stands). The
last rows are true words: thoughts that are 1.3, 2 or 3 times as long.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from ragrelay.analysis.mean_tests import Means
from ragrelay.annexes.thoughts.lengths import FEWER, MORE, compared

from benchmarks.shared import record

Array = np.ndarray
SIZES, BUDGETS = (36, 43, 60, 100), (1024, 2048, 4096)
MEAN = 300.0
WITHOUT_REMARK = 0.025
Pair = tuple[Array, Array]


def lengths(random: np.random.Generator, n: int, mean: float, spread: float) -> Array:
    """Log-normal lengths (n,) with this mean; ``spread`` is the standard deviation of their logarithm."""
    return mean * np.exp(spread * random.standard_normal(n) - spread**2 / 2)


def equal(spread: float, other: float) -> Callable[[np.random.Generator, int, int], Pair]:
    """Both sides with one mean, and their spreads."""
    return lambda random, n, budget: (lengths(random, n, MEAN, spread), lengths(random, n, MEAN, other))


def running(share: float) -> Callable[[np.random.Generator, int, int], Pair]:
    """One side where a ``share`` runs into the budget, and another with the same mean where none does."""

    def pair(random: np.random.Generator, n: int, budget: int) -> Pair:
        own = np.where(random.random(n) < share, budget, lengths(random, n, MEAN, 0.4))
        return own, lengths(random, n, share * budget + (1 - share) * MEAN, 0.4)

    return pair


def longer(factor: float) -> Callable[[np.random.Generator, int, int], Pair]:
    """One side ``factor`` times as long; both share half of their spread."""

    def pair(random: np.random.Generator, n: int, budget: int) -> Pair:
        query = np.exp(0.4 * random.standard_normal(n))
        return query * lengths(random, n, factor * MEAN, 0.4), query * lengths(random, n, MEAN, 0.4)

    return pair


NULLS = {
    "equal spread": equal(0.6, 0.6), "half the spread on one side": equal(0.8, 0.4),
    "a quarter of the spread on one side": equal(0.8, 0.2), "3% run into the budget": running(0.03),
    "6% run into the budget": running(0.06), "10% run into the budget": running(0.1),
}  # fmt: skip
LABELS = {
    "equal spread": "equal spread on both sides", "half the spread on one side": "one side has half the other's spread",
    "a quarter of the spread on one side": "one side has a quarter of the other's spread",
    **{f"{share}% run into the budget": f"{share}% of one side's thoughts hit the budget" for share in (3, 6, 10)},
    **{f"{factor} times as long, budget {budget}": f"thought lengths in the ratio {factor} to 1; budget {budget:,}"
       for factor in (1.3, 2, 3) for budget in BUDGETS},
}  # fmt: skip
"""How the page shows the data in a record."""
TRUE = {"1.3 times as long": longer(1.3), "2 times as long": longer(2.0), "3 times as long": longer(3.0)}


def rates(
    draws: int, n: int, budget: int, pair: Callable[[np.random.Generator, int, int], Pair]
) -> tuple[float, float]:
    """Shares of studies with a word, and with a word without a remark."""
    random = np.random.default_rng([n, budget])
    studies = np.minimum([pair(random, n, budget) for _ in range(draws)], budget)
    # The test that the words follow, of all studies at once: no other has a word.
    rejected = Means.cautious((studies[:, 0] - studies[:, 1]).T).p_value() < 0.05
    rows = [compared(*study, None, budget) for study in studies[rejected]]
    said = [row["stands"] for row in rows if row["verdict"] in (MORE, FEWER)]
    return len(said) / draws, sum(said) / draws


def figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    """The highest rate of each null over budgets, then the rates of true words for each budget."""
    for n in SIZES:
        for name, pair in NULLS.items():
            found = [rates(draws, n, budget, pair) for budget in BUDGETS]
            word, without = (max(column) for column in zip(*found, strict=True))
            gate = "<= 0.065" if name == "equal spread" else ""
            yield f"false word: {n} queries, {name}", record.figure(word, goal=gate)
            yield (
                f"false word without a remark: {n} queries, {name}",
                record.figure(without, goal=f"<= {WITHOUT_REMARK}"),
            )
        for name, pair in TRUE.items():
            for budget in BUDGETS:
                word, without = rates(draws // 8, n, budget, pair)
                yield f"true word: {n} queries, {name}, budget {budget}", record.figure(word)
                yield f"true word without a remark: {n} queries, {name}, budget {budget}", record.figure(without)


def table(path: Path) -> str:
    """Markdown of a record's rates in per cent: a row per word and data, a column per number of queries."""
    rows: dict[tuple[str, str], dict[int, str]] = {}
    for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items():
        word, size, data = title.replace(": ", ", ", 1).split(", ", 2)
        rows.setdefault((word, data), {})[int(size.split()[0])] = f"{100 * one['value']:.1f}"
    lines = [["rate", "simulated thoughts", *(f"n = {n}" for n in SIZES)], ["---"] * (len(SIZES) + 2)]
    lines += [
        [word.replace("true", "correct").replace("word", "verdicts"), LABELS.get(data, data), *(row[n] for n in SIZES)]
        for (word, data), row in rows.items()
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Draw, print and write."""
    parser = record.arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=4000)
    given = parser.parse_args()
    setting = f"{given.draws} studies for each budget, an eighth with true words"
    record.write_record(given, setting, dict(figures(given.draws)), ["numpy", "scipy"], "docs/error-rates.md")


if __name__ == "__main__":
    main()
