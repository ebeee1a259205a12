"""What 95% intervals cover, and whether tests at 5% keep their level: the simulation behind docs/error-rates.md.

    python benchmarks/interval_coverage.py --out interval_coverage.json

Draws many data sets whose true value is known, takes the workflow's own intervals and tests (and those it was chosen
over) on each, and prints Markdown tables. Seeded. ``--datasets`` and ``--resamples`` make it shorter or sharper.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from ragrelay.analysis import bootstrap, correlation, paired_tests
from scipy import stats

Array = np.ndarray
Pair = tuple[Array, Array]
SIZES = (43, 54, 1000)
RHO = 0.5
# Data sets whose moments are in memory at a time.
BATCH = 50


def normal(random: np.random.Generator, n: int) -> Pair:
    """Bivariate normal with correlation RHO."""
    x, noise = random.standard_normal((2, n))
    return x, RHO * x + np.sqrt(1 - RHO**2) * noise


def skewed(random: np.random.Generator, n: int) -> Pair:
    """A log-normal column (as utility, which has a long tail) and one of seven values in [0, 1] (as nDCG)."""
    x, noise = random.standard_normal((2, n))
    return np.exp(x), np.clip(np.round(6 * (0.55 + 0.15 * x + 0.2 * noise)) / 6, 0, 1)


KINDS: dict[str, Callable[[np.random.Generator, int], Pair]] = {"normal": normal, "skewed": skewed}


@cache
def true_values(kind: str) -> dict[str, float]:
    """The coefficients of the population: exact for normal data, of a very large sample otherwise."""
    if kind == "normal":
        return {"pearson": RHO, "spearman": 6 / np.pi * np.arcsin(RHO / 2), "kendall": 2 / np.pi * np.arcsin(RHO)}
    x, y = KINDS[kind](np.random.default_rng(0), 1_000_000)
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return {name: float(test(x, y).statistic) for name, test in tests.items()}


def plain_level(n: int) -> float:
    """The level at which the expanded interval has the plain one's tails."""
    return float(1 - 2 * stats.t.cdf(stats.norm.ppf(0.025) / np.sqrt(n / (n - 1)), n - 1))


def pearson_coverage(kind: str, n: int, datasets: int, resamples: int) -> dict[str, tuple[float, float]]:
    """Per kind of interval for r: the share that covers the truth, and the median width."""
    random, truth, found = np.random.default_rng([1, n]), true_values(kind)["pearson"], []
    for _ in range(0, datasets, BATCH):
        pairs = [KINDS[kind](random, n) for _ in range(BATCH)]
        made = bootstrap.pearson_draws(pairs, resamples, seed=0)
        z = studentised(pairs, made.values, resamples)
        for place, value in enumerate(made.values):
            draws, jackknife = made.draws[:, place], made.jackknife[:, place]
            half, reach = stats.norm.ppf(0.975) / np.sqrt(n - 3), stats.t.ppf(0.975, n - 1)
            found.append(
                [
                    bootstrap.bca_interval(value, draws, jackknife)[:2],
                    bootstrap.bca_interval(value, draws, jackknife, plain_level(n))[:2],
                    np.quantile(draws, [0.025, 0.975]),
                    z[place],
                    np.tanh(np.arctanh(value) + np.array([-half, half])),
                    np.tanh(
                        np.arctanh(value) + np.array([-reach, reach]) * bootstrap.jackknife_error(np.arctanh(jackknife))
                    ),
                ]
            )
    names = ("BCa, expanded", "BCa", "percentile", "bootstrap-t on Fisher's z", "Fisher's z", "jackknife on Fisher's z")
    return dict(zip(names, _summary(np.array(found, dtype=float), truth), strict=True))


def studentised(pairs: list[Pair], values: Array, resamples: int) -> Array:
    """Bootstrap-t intervals (pairs, 2) on Fisher's z, with the delta-method error of every resample."""
    n = len(pairs[0][0])
    powers = [(i, j) for i in range(5) for j in range(5) if 0 < i + j <= 4]
    i, j = np.array(powers).T
    columns = [(_standard(x)[:, None], _standard(y)[:, None]) for x, y in pairs]
    features = np.stack([x**i * y**j for x, y in columns], axis=1)
    ends = []
    drawn = np.concatenate(
        [np.tensordot(weights, features, 1) / n for weights in bootstrap.resample_counts(n, resamples, 0)]
    )
    for place in range(len(pairs)):
        r, error = _z_error(dict(zip(powers, drawn[:, place].T, strict=True)), n)
        _, own = _z_error(dict(zip(powers, features[:, place].mean(axis=0), strict=True)), n)
        centre = np.arctanh(values[place])
        ratios = (np.arctanh(r) - centre) / error
        ends.append(np.tanh(centre - np.quantile(ratios[np.isfinite(ratios)], [0.975, 0.025]) * own))
    return np.array(ends)


def _standard(column: Array) -> Array:
    return (column - column.mean()) / column.std()


def _z_error(m: dict[tuple[int, int], Array], n: int) -> tuple[Array, Array]:
    """r and the standard error of its Fisher z from raw moments: the spread of the queries' influences on r."""
    a, b = m[1, 0], m[0, 1]
    x2, y2, xy = m[2, 0] - a**2, m[0, 2] - b**2, m[1, 1] - a * b
    x4 = m[4, 0] - 4 * a * m[3, 0] + 6 * a**2 * m[2, 0] - 3 * a**4
    y4 = m[0, 4] - 4 * b * m[0, 3] + 6 * b**2 * m[0, 2] - 3 * b**4
    x3y = m[3, 1] - b * m[3, 0] - 3 * a * m[2, 1] + 3 * a * b * m[2, 0] + 3 * a**2 * m[1, 1] - 3 * a**3 * b
    xy3 = m[1, 3] - a * m[0, 3] - 3 * b * m[1, 2] + 3 * a * b * m[0, 2] + 3 * b**2 * m[1, 1] - 3 * a * b**3
    x2y2 = (
        m[2, 2] - 2 * b * m[2, 1] + b**2 * m[2, 0] - 2 * a * m[1, 2] + 4 * a * b * m[1, 1] + a**2 * m[0, 2]
        - 3 * a**2 * b**2
    )  # fmt: skip
    r = xy / np.sqrt(x2 * y2)
    variance = x2y2 / (x2 * y2) - r * (x3y / x2 + xy3 / y2) / np.sqrt(x2 * y2)
    variance = variance + r**2 / 4 * (x4 / x2**2 + y4 / y2**2 + 2 * x2y2 / (x2 * y2))
    return r, np.sqrt(np.maximum(variance, 0) / n) / (1 - r**2)


def rank_coverage(kind: str, n: int, datasets: int, resamples: int) -> dict[str, tuple[float, float]]:
    """As ``pearson_coverage`` for rho and tau-b: bootstrapped for few queries, by formula at 1,000."""
    random, truth = np.random.default_rng([2, n]), true_values(kind)
    pairs = [KINDS[kind](random, n) for _ in range(datasets)]
    found: dict[str, list[bootstrap.Interval]] = {}
    if n < 1000:
        for name in ("spearman", "kendall"):
            found[name] = bootstrap.bootstrap_intervals(name, pairs, resamples, seed=0)
    else:
        found["spearman"] = [correlation.spearman_interval(stats.spearmanr(*pair).statistic, n) for pair in pairs]
        found["kendall"] = [correlation.kendall_interval(stats.kendalltau(*pair).statistic, *pair) for pair in pairs]
    method = "BCa, expanded" if n < 1000 else "formula"
    return {
        f"{name}: {method}": _summary(np.array([[one[:2]] for one in intervals], dtype=float), truth[name])[0]
        for name, intervals in found.items()
    }


def difference_levels(kind: str, n: int, datasets: int, resamples: int) -> dict[str, float]:
    """How often two equal correlations with one column (as of two orderings with nDCG) are found to differ at 5%."""
    random, found = np.random.default_rng([3, n]), []
    reach = stats.t.ppf(0.975, n - 1)
    for _ in range(0, datasets, BATCH):
        made = bootstrap.pearson_draws([pair for _ in range(BATCH) for pair in _twins(random, kind, n)], resamples, 0)
        values, draws, jackknives = (part[..., 0::2] - part[..., 1::2] for part in made)
        for value, drawn, jackknife in zip(values, draws.T, jackknives.T, strict=True):
            ends = [
                value + np.array([-reach, reach]) * bootstrap.jackknife_error(jackknife),
                bootstrap.percentile_interval(drawn, n)[:2],
                bootstrap.bca_interval(value, drawn, jackknife)[:2],
            ]
            found.append([not low <= 0 <= high for low, high in ends])
    names = ("paired jackknife, t", "paired bootstrap, percentile", "paired bootstrap, BCa")
    return {f"two r: {name}": float(share) for name, share in zip(names, np.mean(found, axis=0), strict=True)}


def _twins(random: np.random.Generator, kind: str, n: int) -> Iterator[Pair]:
    """Two columns, alike in law and correlated with each other, each with the same third."""
    common, one, two, noise = random.standard_normal((4, n))
    for own in (one, two):
        x = np.sqrt(0.7) * common + np.sqrt(0.3) * own
        y = 0.5 * common + noise
        yield (x, y) if kind == "normal" else (np.exp(x), np.clip(np.round(6 * (0.55 + 0.2 * y)) / 6, 0, 1))


def test_levels(kind: str, n: int, datasets: int, permutations: int) -> dict[str, float]:
    """How often paired tests of differences whose mean is 0 reject at 5%."""
    random = np.random.default_rng([4, n])
    draw = {
        "normal": lambda: random.standard_normal(n),
        "skewed, symmetric": lambda: np.exp(random.standard_normal(n)) - np.exp(random.standard_normal(n)),
        "skewed": lambda: np.exp(random.standard_normal(n)) - np.exp(0.5),
    }[kind]
    columns = [draw() for _ in range(datasets)]
    p_values = {
        "t": [stats.ttest_1samp(column, 0.0).pvalue for column in columns],
        "Wilcoxon": [paired_tests.wilcoxon_p(column) for column in columns],
        "permutation": paired_tests.sign_flip_p(columns, permutations, seed=0),
    }
    return {name: float(np.mean(np.array(values) < paired_tests.ALPHA)) for name, values in p_values.items()}


def _summary(ends: Array, truth: float) -> list[tuple[float, float]]:
    """(coverage, median width) per kind, of ``ends`` (data sets, kinds, 2); a missing interval covers nothing."""
    covered = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
    widths = np.nanmedian(ends[..., 1] - ends[..., 0], axis=0)
    return [(float(share), float(width)) for share, width in zip(covered.mean(axis=0), widths, strict=True)]


def table(head: str, rows: dict[tuple[str, str], dict[int, str]]) -> str:
    """Markdown with a column per number of queries."""
    lines = [["data", head, *(f"n = {n:,d}" for n in SIZES)], ["---"] * (2 + len(SIZES))]
    lines += [[*names, *(cells.get(n, "–") for n in SIZES)] for names, cells in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def records(rows: dict[tuple[str, str], dict[int, str]]) -> list[dict[str, str]]:
    """The rows of a table as JSON-like records."""
    return [
        {"data": kind, "name": name} | {str(n): cell for n, cell in cells.items()}
        for (kind, name), cells in rows.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=1000)
    arguments = parser.parse_args()
    many, resamples = arguments.datasets, arguments.resamples
    covered: dict[tuple[str, str], dict[int, str]] = {}
    levels: dict[tuple[str, str], dict[int, str]] = {}
    for n in SIZES:
        for kind in KINDS:
            shown = pearson_coverage(kind, n, many, resamples) | rank_coverage(kind, n, many // 4, resamples // 2)
            for name, (share, width) in shown.items():
                covered.setdefault((kind, name), {})[n] = f"{share:.1%} ({width:.2f})"
            for name, share in difference_levels(kind, n, many, resamples).items():
                levels.setdefault((kind, name), {})[n] = f"{share:.1%}"
        for kind in ("normal", "skewed, symmetric", "skewed"):
            for name, share in test_levels(kind, n, many, resamples).items():
                levels.setdefault((kind, name), {})[n] = f"{share:.1%}"
    print(table("interval", covered), table("test", levels), sep="\n\n")
    result = {"datasets": many, "resamples": resamples, "coverage": records(covered), "levels": records(levels)}
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
