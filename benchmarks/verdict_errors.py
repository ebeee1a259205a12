"""Error rates of the verdicts: the simulation behind docs/error-rates.md that chose their tests.

    python -m benchmarks.verdict_errors --out verdict_errors.json --studies results/demo/demo results/dl19/dl19

Draws data sets in which there is nothing to find (a mean gain, a correlation or a slope of 0) and counts how often each
test finds something; and data sets whose correlation is known, and counts how often intervals contain it. (The words of
a mean difference are in word_errors.py.) Real columns are those of finished studies (``--studies``, folders of a
dataset's results): a data set of n queries is drawn from one of their cells with replacement, after the effect that
the word claims was removed. Rates are shares of ``--draws`` data sets, each with its standard error. Seeded.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
from ragrelay.analysis import bootstrap, correlation, mean_tests, paired_tests, within
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annexes.labels import leads
from ragrelay.annexes.reproduction.findings import AS_IN_THE_PAPER, BETTER, CORRELATED, FALLS, correlation_findings
from scipy import special, stats

from benchmarks.shared import model_columns
from benchmarks.shared.known_truth import (
    answered_data,
    correlated_data,
    correlation_data,
    coverage_data,
    falling_data,
    gain_data,
    lead_data,
    within_coverage_data,
    within_data,
)
from benchmarks.shared.real_columns import Cells, Real

Array = np.ndarray
SIZES = (43, 54, 1000)
PERMUTATIONS = 499
RESAMPLES = 500
# Data sets at once: bounds memory at n = 1,000.
BATCH = 500
Rates = dict[str, Array]


def gain_errors(differences: Array) -> Rates:
    """better or worse of a mean gain of 0 (n, draws)."""
    plain, cautious = mean_tests.Means.of(differences), mean_tests.Means.cautious(differences)
    t = stats.ttest_1samp(differences, 0.0).pvalue
    columns = list(differences.T)
    return {
        "Student's t": t < ALPHA,
        "sign flips": paired_tests.sign_flip_p(columns, PERMUTATIONS, 0) <= ALPHA,
        "Wilcoxon": paired_tests.wilcoxon_p(columns) < ALPHA,
        "Hall's t": plain.p_hall() < ALPHA,
        "t and Hall's t (verdict)": cautious.p_value() < ALPHA,
    }


def pearson_errors(x: Array, y: Array) -> Rates:
    """above or below zero of columns (draws, n) with r = 0."""
    pairs = list(zip(x, y, strict=True))
    return {
        "r: Student's t": stats.pearsonr(x, y, axis=1).pvalue < ALPHA,
        "r: HC3": _hc(x, y, 2.0) < ALPHA,
        "r: HC4": _hc(x, y, None) < ALPHA,
        "r: studentised permutation": correlation.permutation_p("pearson", pairs, PERMUTATIONS, 0) <= ALPHA,
    }


def correlation_errors(x: Array, y: Array) -> Rates:
    """above or below zero of columns (draws, n) with r = 0 and rho = 0."""
    pairs, n = list(zip(x, y, strict=True)), x.shape[1]
    ranks = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
    return pearson_errors(x, y) | {
        "rho: Student's t": 2 * special.stdtr(n - 2, -np.abs(_t(*ranks))) < ALPHA,
        "rho: studentised permutation": correlation.permutation_p("spearman", pairs, PERMUTATIONS, 0) <= ALPHA,
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


def within_errors(data: Iterator[tuple[Array, Array]]) -> Rates:
    """above or below zero of what has no correlation within queries."""
    found: dict[str, list[bool]] = {}
    for x, y in data:
        sums = _sums(x, y)
        row = within.repeated_measures(sums)
        freedom, r = row["n"] - row["n_queries"] - 1, row.get("r", 0.0)
        low, high = _jackknife(sums)
        # Real blocks, drawn with replacement, may have no r; nothing is called then.
        called = {
            "answers as the unit": abs(r) == 1
            or 2 * special.stdtr(freedom, -abs(r) * np.sqrt(freedom / (1 - r**2))) < ALPHA,
            "Fieller over queries": "r" in row and mean_tests.Means.of(sums[3][:, None]).p_value()[0] < ALPHA,
            "jackknife on Fisher's z": low > 0 or high < 0,
            "Fieller and jackknife (verdict)": row["verdict"] != UNDECIDED,
        }
        for name, value in called.items():
            found.setdefault(name, []).append(bool(value))
    return {name: np.array(values) for name, values in found.items()}


def within_coverage(data: Iterator[tuple[Array, Array, float]]) -> Rates:
    """Whether 95% intervals of r within queries contain the true one."""
    found: dict[str, list[bool]] = {}
    for x, y, r in data:
        sums = _sums(x, y)
        row = within.repeated_measures(sums)
        _, xx, yy, xy, _ = sums
        scale = np.sqrt(yy.sum() / xx.sum())
        ratio = mean_tests.ratio_interval(xy, (scale * xx + yy / scale) / 2, 1.0) if "low" in row else None
        intervals = {
            "Fieller over queries": ratio or (-1.0, 1.0),
            "jackknife on Fisher's z": np.tanh(_jackknife(sums)),
            "Fieller and jackknife (verdict)": (row.get("low", -1.0), row.get("high", 1.0)),
        }
        for name, (low, high) in intervals.items():
            found.setdefault(name, []).append(bool(low <= r <= high))
    return {name: np.array(values) for name, values in found.items()}


def _sums(x: Array, y: Array) -> Array:
    """What within.repeated_measures takes, from measures and P (queries, retrievers)."""
    x, y = (columns - columns.mean(axis=1, keepdims=True) for columns in (x, y))
    products = (part.sum(axis=1) for part in (x * x, y * y, x * y))
    return np.array([np.full(len(x), x.shape[1]), *products, np.ones(len(x))])


def _jackknife(sums: Array) -> tuple[float, float]:
    """Interval of Fisher's z of r: Student's t with the jackknife's standard error over queries, nothing else."""
    (xx, yy, xy), n = sums[1:4], sums.shape[1]
    left_out = [column.sum() - column for column in (xx, yy, xy)]
    with np.errstate(invalid="ignore", divide="ignore"):
        error = bootstrap.jackknife_error(np.arctanh(left_out[2] / np.sqrt(left_out[0] * left_out[1])))
        z, reach = np.arctanh(xy.sum() / np.sqrt(xx.sum() * yy.sum())), special.stdtrit(n - 1, 0.975) * error
    return (float(z - reach), float(z + reach)) if np.isfinite(reach) and np.isfinite(z) else (-np.inf, np.inf)


def lead_errors(ends: Array, firsts: Array, seconds: Array) -> Rates:
    """A lead of one of two sources whose measures ``firsts`` and ``seconds`` follow ``ends`` alike, all (draws, n)."""
    rows = [leads.lead_of("kendall", *one, RESAMPLES, 0) for one in zip(ends, firsts, seconds, strict=True)]
    return {"lead": np.array([row.get("p_value", 1.0) < ALPHA for row in rows])}


def finding_errors(finding: str, studies: Iterator[Cells]) -> Rates:
    """One of the paper's findings, or its opposite, of studies where it does not hold."""
    made = (correlation_findings(cells, "nDCG") for cells in studies)
    verdicts = np.array([next(row["verdict"] for row in rows if row["finding"] == finding) for rows in made])
    return {"either": verdicts != UNDECIDED, AS_IN_THE_PAPER: verdicts == AS_IN_THE_PAPER}


def coverage(x: Array, y: Array, r: Array, rho: Array) -> Rates:
    """Whether 95% intervals of columns (draws, n) contain the true ``r`` and ``rho`` (draws,)."""
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
        held["rho: formula"] = _holds([correlation.spearman_interval(value, n) for value in values], rho)
    return held


def _holds(intervals: Sequence[bootstrap.Interval], truth: Array) -> Array:
    ends = np.array([interval[:2] for interval in intervals], dtype=float)
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1])


def simulate(
    real: Real, draws: int, sizes: Sequence[int], words: Sequence[str] = ()
) -> Iterator[dict[str, str | int | float]]:
    """A record per word, data, test and n: the share of ``draws`` and its standard error; of all words where no
    ``words`` are named.
    """
    for n in sizes:
        for word, kinds, errors in (
            ("better, worse", gain_data(real), gain_errors),
            ("above, below zero (over queries)", correlation_data(real), correlation_errors),
            (
                "above, below zero (over queries)",
                {"real, uncorrelated": real.uncorrelated} if real.pairs else {},
                pearson_errors,
            ),
            ("above, below zero (within queries)", within_data(real), within_errors),
            ("lead", lead_data(real), lead_errors),
            (CORRELATED, correlated_data(real), partial(finding_errors, CORRELATED)),
            (FALLS, falling_data(real), partial(finding_errors, FALLS)),
            (BETTER, answered_data(real), gain_errors),
            ("coverage of 95% intervals", coverage_data(real), coverage),
            ("coverage of 95% intervals (within queries)", within_coverage_data(real), within_coverage),
        ):
            for kind, draw in kinds.items() if not words or word in words else ():
                random = np.random.default_rng([len(word), n, len(kind)])
                found: dict[str, list[Array]] = {}
                for start in range(0, draws, BATCH):
                    data = draw(random, min(BATCH, draws - start), n)
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
    parser.add_argument("--model", action="store_true", help="add the columns of a language model (model_columns.py)")
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--words", nargs="*", default=[], help="tables to make, by title; all where none is named")
    arguments = parser.parse_args()
    with model_columns.as_study() if arguments.model else nullcontext() as study:
        real = Real([*arguments.studies, *([study] if study else [])])
    records = list(simulate(real, arguments.draws, arguments.sizes, arguments.words))
    for word in dict.fromkeys(record["word"] for record in records):
        print(f"{word}\n\n{table(records, word)}\n", flush=True)
    arguments.out.write_text(
        json.dumps({"draws": arguments.draws, "rates": records}, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
