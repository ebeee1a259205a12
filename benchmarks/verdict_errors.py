"""How often the words of conclusion are said wrongly: the simulation behind docs/statistics.md that chose their tests.

    python -m benchmarks.verdict_errors --out verdict_errors.json --studies results/demo/demo results/dl19/dl19

Draws data sets in which there is nothing to find (a mean gain, a correlation or a slope of 0; a difference as large as
the margin) and counts how often each test finds something; and data sets whose correlation is known, and counts how
often intervals hold it. Real columns are those of finished studies (``--studies``, folders of a dataset's results): a
data set of n queries is drawn from one of their cells with replacement, after what the word claims was taken out of it.
Rates are shares of ``--draws`` data sets, each with its standard error. Seeded.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from ragrelay.analysis import asymptotic, bootstrap, equivalence, mean_tests, paired_tests, permutation, within
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annotations import leads
from scipy import special, stats

from benchmarks.shared.real_columns import Real

Array = np.ndarray
SIZES = (43, 54, 1000)
MARGIN = 0.02
RHO = 0.5
PERMUTATIONS = 499
RESAMPLES = 500
# Data sets at once: bounds memory at n = 1,000.
BATCH = 500
Rates = dict[str, Array]


def log_normal(random: np.random.Generator, size: tuple[int, ...]) -> Array:
    return np.exp(random.standard_normal(size)) - np.exp(0.5)


def gain_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Array]]:
    kinds: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
        "normal": lambda random, draws, n: random.standard_normal((n, draws)),
        "skewed, symmetric": lambda random, draws, n: log_normal(random, (n, draws)) - log_normal(random, (n, draws)),
        "skewed (exponential)": lambda random, draws, n: random.exponential(size=(n, draws)) - 1.0,
        "skewed (log-normal)": lambda random, draws, n: log_normal(random, (n, draws)),
    }
    return kinds | ({"real, centred": real.gain, "real, swapped": real.swapped} if real.gains else {})


def gain_errors(differences: Array) -> Rates:
    """better or worse of a mean gain of 0 (n, draws)."""
    means = mean_tests.Means.of(differences)
    t = stats.ttest_1samp(differences, 0.0).pvalue
    columns = list(differences.T)
    return {
        "Student's t": t < ALPHA,
        "sign flips": paired_tests.permutation_p(columns, PERMUTATIONS, 0) <= ALPHA,
        "Wilcoxon": paired_tests.wilcoxon_p(columns) < ALPHA,
        "Hall's t": means.p_hall() < ALPHA,
        "t and Hall's t (verdict)": means.p_value() < ALPHA,
    }


def equivalence_errors(differences: Array) -> Rates:
    """equivalent, or not worse, of a mean difference as far off as the margin allows at most; spread as in practice."""
    scaled = differences / differences.std() * MARGIN
    made = {}
    for name, shift in (("above", MARGIN), ("below", -MARGIN)):
        means = equivalence.one_sided_means(scaled + shift)
        not_worse, not_better = means.p_greater(-MARGIN), means.p_less(MARGIN)
        made[f"equivalent, though {name} by the margin"] = np.maximum(not_worse, not_better) < ALPHA
        if name == "below":
            made["not worse, though below by the margin"] = not_worse < ALPHA
            made["not worse, by Student's t alone"] = (
                stats.ttest_1samp(scaled + shift, shift, alternative="greater").pvalue < ALPHA
            )
    return made


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


def pearson_errors(x: Array, y: Array) -> Rates:
    """above or below zero of columns (draws, n) with r = 0."""
    pairs = list(zip(x, y, strict=True))
    return {
        "r: Student's t": stats.pearsonr(x, y, axis=1).pvalue < ALPHA,
        "r: HC3": _hc(x, y, 2.0) < ALPHA,
        "r: HC4": _hc(x, y, None) < ALPHA,
        "r: studentised permutation": permutation.permutation_p("pearson", pairs, PERMUTATIONS, 0) <= ALPHA,
    }


def correlation_errors(x: Array, y: Array) -> Rates:
    """above or below zero of columns (draws, n) with r = 0 and rho = 0."""
    pairs, n = list(zip(x, y, strict=True)), x.shape[1]
    ranks = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
    return pearson_errors(x, y) | {
        "rho: Student's t": 2 * special.stdtr(n - 2, -np.abs(_t(*ranks))) < ALPHA,
        "rho: studentised permutation": permutation.permutation_p("spearman", pairs, PERMUTATIONS, 0) <= ALPHA,
    }


def _standard(columns: Array) -> Array:
    return (columns - columns.mean(axis=1, keepdims=True)) / columns.std(axis=1, keepdims=True)


def _t(x: Array, y: Array) -> Array:
    r = (_standard(x) * _standard(y)).mean(axis=1)
    return r * np.sqrt((x.shape[1] - 2) / (1 - r**2))


def _hc(x: Array, y: Array, power: float | None) -> Array:
    """p-values of the slope of y on x with a variance that allows for dependence: HC3, or HC4 (power None)."""
    n = x.shape[1]
    x, y = _standard(x), _standard(y)
    slope = (x * y).mean(axis=1)
    leverage = 1 / n + x**2 / n
    powers = np.minimum(4, leverage * n / 2) if power is None else power
    errors = np.sqrt((x**2 * (y - slope[:, None] * x) ** 2 / (1 - leverage) ** powers).sum(axis=1)) / n
    return 2 * special.stdtr(n - 2, -np.abs(slope / errors))


def within_data(real: Real) -> dict[str, Callable[[np.random.Generator, int, int], Iterator[tuple[Array, Array]]]]:
    """Measures and P (n, 4) of queries, of which the harder ones have lower measures; no correlation within them."""

    def normal(random: np.random.Generator, draws: int, n: int) -> Iterator[tuple[Array, Array]]:
        for _ in range(draws):
            hard = random.standard_normal((n, 1))
            yield random.standard_normal((n, 4)) - hard, random.standard_normal((n, 4)) + hard

    def slopes(random: np.random.Generator, draws: int, n: int) -> Iterator[tuple[Array, Array]]:
        for _ in range(draws):
            x = random.standard_normal((n, 4))
            yield x, random.standard_normal((n, 1)) * x + random.standard_normal((n, 4))

    def skewed(random: np.random.Generator, draws: int, n: int) -> Iterator[tuple[Array, Array]]:
        for _ in range(draws):
            hard = random.standard_normal((n, 1))
            x = np.clip(np.round(6 * (0.4 - 0.3 * hard + random.normal(0, 0.3, (n, 4)))) / 6, 0, 1)
            yield x, np.exp(hard + 0.8 * random.standard_normal((n, 4)))

    kinds = {"normal": normal, "skewed": skewed, "slopes that differ by query": slopes}
    return kinds | ({"real, permuted within queries": real.within} if real.blocks else {})


def within_errors(data: Iterator[tuple[Array, Array]]) -> Rates:
    """above or below zero of what has no correlation within queries."""
    found: list[tuple[bool, bool]] = []
    for x, y in data:
        x, y = (columns - columns.mean(axis=1, keepdims=True) for columns in (x, y))
        sums = np.array([np.full(len(x), x.shape[1]), *(part.sum(axis=1) for part in (x * x, y * y, x * y))])
        row = within.repeated_measures(sums)
        freedom = row["n"] - row["n_queries"] - 1
        t = row["r"] * np.sqrt(freedom / (1 - row["r"] ** 2))
        found.append((2 * special.stdtr(freedom, -abs(t)) < ALPHA, row["verdict"] != UNDECIDED))
    plain, verdict = np.array(found).T
    return {"answers as the unit": plain, "Fieller over queries (verdict)": verdict}


def lead_errors(x: Array, random: np.random.Generator) -> Rates:
    """A lead of one of two sources whose measures are equally related to a log-normal P, exp(``x``), (draws, n)."""
    found = []
    for end in x:
        first, second = (np.round(6 * stats.norm.cdf(end / 2 + random.standard_normal(len(end)))) / 6 for _ in range(2))
        row = leads.lead_of("kendall", np.exp(end), first, second, RESAMPLES, 0)
        found.append(row.get("p_value", 1.0) < ALPHA)
    return {"lead": np.array(found)}


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

    many = columns(np.random.default_rng(0), (1_000_000,))
    truths = [float(test(*many).statistic) for test in (stats.pearsonr, stats.spearmanr)]

    def skewed(random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array, Array]:
        return (*columns(random, (draws, n)), *(np.full(draws, truth) for truth in truths))

    return {"normal": normal, "skewed": skewed} | ({"real": real.related} if real.pairs else {})


def coverage(x: Array, y: Array, r: Array, rho: Array) -> Rates:
    """Whether 95% intervals of columns (draws, n) hold the true ``r`` and ``rho`` (draws,)."""
    n, pairs = x.shape[1], list(zip(x, y, strict=True))
    made = bootstrap.pearson_draws(pairs, RESAMPLES, 0)
    z, reach = np.arctanh(made.values), stats.t.ppf(0.975, n - 1)
    errors = {
        "r: Fisher's z": np.full(len(x), stats.norm.ppf(0.975) / np.sqrt(n - 3)),
        "r: HC3-type (jackknife) on z": reach
        * np.array(list(map(bootstrap.jackknife_error, np.arctanh(made.jackknife).T))),
    }
    held = {name: np.abs(z - np.arctanh(r)) <= error for name, error in errors.items()}
    bca = [bootstrap.bca_interval(*one) for one in zip(made.values, made.draws.T, made.jackknife.T, strict=True)]
    held["r: BCa, expanded"] = _holds(bca, r)
    if n < SIZES[-1]:
        held["rho: BCa, expanded"] = _holds(bootstrap.bootstrap_intervals("spearman", pairs, RESAMPLES, 0), rho)
    else:
        values = (float(stats.spearmanr(*pair).statistic) for pair in pairs)
        held["rho: formula"] = _holds([asymptotic.spearman_interval(value, n) for value in values], rho)
    return held


def _holds(intervals: Sequence[bootstrap.Interval], truth: Array) -> Array:
    ends = np.array([interval[:2] for interval in intervals], dtype=float)
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1])


def simulate(real: Real, draws: int, sizes: Sequence[int]) -> Iterator[dict[str, str | int | float]]:
    """A record per word, data, test and n: the share of ``draws`` and its standard error."""
    for n in sizes:
        for word, kinds, errors in (
            ("better, worse", gain_data(real), gain_errors),
            ("equivalent, not worse", gain_data(real), equivalence_errors),
            ("above, below zero (over queries)", correlation_data(real), correlation_errors),
            (
                "above, below zero (over queries)",
                {"real, uncorrelated": real.uncorrelated} if real.pairs else {},
                pearson_errors,
            ),
            ("above, below zero (within queries)", within_data(real), within_errors),
            ("lead", {"skewed": None} if n < SIZES[-1] else {}, None),
            ("coverage of 95% intervals", coverage_data(real), coverage),
        ):
            for kind, draw in kinds.items():
                random = np.random.default_rng([len(word), n, len(kind)])
                found: dict[str, list[Array]] = {}
                for start in range(0, draws, BATCH):
                    size = min(BATCH, draws - start)
                    if draw is None:
                        rates = lead_errors(random.standard_normal((size, n)), random)
                    else:
                        data = draw(random, size, n)
                        rates = errors(*data) if isinstance(data, tuple) else errors(data)
                    for test, values in rates.items():
                        found.setdefault(test, []).append(values)
                for test, values in found.items():
                    share = float(np.mean(np.concatenate(values)))
                    error = float(np.sqrt(share * (1 - share) / draws))
                    yield {"word": word, "data": kind, "test": test, "n": n, "share": share, "standard_error": error}


def table(records: Sequence[dict], word: str) -> str:
    """Markdown of one word's records, a column per number of queries."""
    sizes = sorted({record["n"] for record in records})
    lines = [["data", "test", *(f"n = {n:,d}" for n in sizes)], ["---"] * (2 + len(sizes))]
    of_word = [record for record in records if record["word"] == word]
    for data, test in dict.fromkeys((record["data"], record["test"]) for record in of_word):
        shares = {
            record["n"]: record["share"] for record in of_word if (record["data"], record["test"]) == (data, test)
        }
        lines.append([data, test, *(f"{shares[n]:.1%}" if n in shares else "–" for n in sizes)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument(
        "--studies", type=Path, nargs="*", default=[], help="folders <results>/<dataset> of real columns"
    )
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments = parser.parse_args()
    records = list(simulate(Real(arguments.studies), arguments.draws, arguments.sizes))
    for word in dict.fromkeys(record["word"] for record in records):
        print(f"{word}\n\n{table(records, word)}\n", flush=True)
    arguments.out.write_text(
        json.dumps({"draws": arguments.draws, "rates": records}, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
