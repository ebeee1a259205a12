"""Error rates of the verdict on rho over queries, from 6 to 42 queries, where there is no correlation.

    python benchmarks/rho_errors.py --out rho_errors.json

Utility and a measure are normal, skewed, dependent but uncorrelated, of many equal values, or the measure has two
values and utility varies ten times as much at the rarer one. *Test* counts p < .05 of the studentised permutation test,
*test and interval* also needs the interval to leave out 0, and *verdict* needs enough queries, too, with enough values
(``verdicts.few_pairs``). A page's verdicts are after Holm's correction, which makes them rarer.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from ragrelay.analysis import bootstrap, correlation
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import few_pairs

from benchmarks.shared import record

Array = np.ndarray
SIZES = (6, 8, 10, 12, 16, 20, 30, 42)
PERMUTATIONS, RESAMPLES = 999, 1000
FALSE_AT_MOST = 0.06
SHARE, TIMES = 0.25, 10
"""Share of the rarer value of a measure of two, and how many times as much utility varies there."""


def two_values(random: np.random.Generator, size: tuple[int, int]) -> tuple[Array, Array]:
    hits = random.random(size) < SHARE
    return random.standard_normal(size) * np.where(hits, TIMES, 1), hits * 1.0


def dependent(random: np.random.Generator, size: tuple[int, int]) -> tuple[Array, Array]:
    y = random.standard_normal(size)
    return y * random.standard_normal(size), y


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], tuple[Array, Array]]] = {
    "normal": lambda random, size: (random.standard_normal(size), random.standard_normal(size)),
    "skewed": lambda random, size: (
        np.exp(random.standard_normal(size)),
        np.clip(np.round(6 * random.normal(0.55, 0.25, size)) / 6, 0, 1),
    ),
    "uncorrelated, dependent": dependent,
    "40% and 70% zeros": lambda random, size: (
        np.where(random.random(size) < 0.4, 0.0, random.standard_normal(size)),
        np.where(random.random(size) < 0.7, 0.0, random.random(size)),
    ),
    "two values, spread unequal": two_values,
}


def rates(kind: str, n: int, draws: int) -> dict[str, float]:
    """Shares of data sets of ``n`` queries with a word, by what a word needs."""
    x, y = KINDS[kind](np.random.default_rng([n, len(kind)]), (draws, n))
    varied = (np.ptp(x, axis=1) > 0) & (np.ptp(y, axis=1) > 0)
    pairs = [(x[place], y[place]) for place in np.flatnonzero(varied)]
    p_values = correlation.permutation_p("spearman", pairs, PERMUTATIONS, 0)
    rejected = [pair for pair, p_value in zip(pairs, p_values, strict=True) if p_value < ALPHA]
    intervals = bootstrap.bootstrap_intervals("spearman", rejected, RESAMPLES, 0) if rejected else []
    outside = [
        pair
        for pair, interval in zip(rejected, intervals, strict=True)
        if interval.low is not None and interval.high is not None and not interval.low <= 0 <= interval.high
    ]
    said = [pair for pair in outside if few_pairs(*pair, ("utility", "measure"), None, np.inf) is None]
    return {"test": len(rejected) / draws, "test and interval": len(outside) / draws, "verdict": len(said) / draws}


def figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    """Every rate, by name."""
    for kind in KINDS:
        for n in SIZES:
            for name, rate in rates(kind, n, draws).items():
                goal = f"<= {FALSE_AT_MOST}" if name == "verdict" else ""
                yield f"above, below zero: {kind}, {n} queries, {name}", record.figure(rate, goal=goal)


def table(path: Path) -> str:
    """Markdown of a record's rates in per cent: a row per kind of data and what a word needs, a column per n."""
    rows: dict[tuple[str, str], list[str]] = {}
    for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items():
        kind, _, needed = title.removeprefix("above, below zero: ").rsplit(", ", 2)
        rows.setdefault((kind, needed), []).append(f"{100 * one['value']:.1f}")
    lines = [["data", "rate", *(f"n = {n}" for n in SIZES)], ["---"] * (len(SIZES) + 2)]
    lines += [[*names, *values] for names, values in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    given = parser.parse_args()
    setting = f"{given.draws} data sets for each figure"
    record.write_record(given, setting, dict(figures(given.draws)), ["numpy", "scipy"], "docs/error-rates.md")


if __name__ == "__main__":
    main()
