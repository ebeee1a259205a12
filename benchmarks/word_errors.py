"""Error rates of the words of a mean difference (docs/statistics.md): how often each is said where it is false.

    python benchmarks/word_errors.py --out benchmarks/results/word_errors.json --studies results/demo/demo

Differences of n queries are drawn whose true mean is 0, or ± the margin; a word is false where its interval leaves out
the truth on that side. *Real* columns are those of finished studies (``--studies``, folders of a dataset's results;
differences of P of two retrievers, and of P and P₀), drawn with replacement around the truth, zeros kept. What is
recorded under ``limits`` is known to fail: no test of a mean holds its level there with few queries.
Rates are shares of ``--draws`` data sets, each with its standard error; the gate is the rate less two of these at 5%.
"""

import argparse
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.verdicts import DIFFERENT_AT_LEAST, QUERIES_AT_LEAST, WORDS_AT_LEAST
from ragrelay.vocabulary.names import UNSEEN
from scipy import stats

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, int], Array]
SIZES = (8, 12, 20, 36, 54, 100, 500)
BATCH = 1000
CELL = ["ordering", "k", "references"]


def columns_of(studies: Sequence[Path]) -> list[Array]:
    """Differences of P over queries: of every two retrievers in a cell, and of P and P₀."""
    found = []
    for study in studies:
        for path in sorted((study / "utility").rglob("*.parquet")):
            utility = pl.read_parquet(path).filter(pl.col("k") > 0, ~pl.col("references").str.ends_with(UNSEEN))
            for _, cell in utility.sort("qid").group_by(CELL, maintain_order=True):
                wide = cell.pivot(on="retriever", index="qid", values="p").drop("qid").to_numpy()
                places = itertools.combinations(range(wide.shape[1]), 2)
                pairs = [wide[:, one] - wide[:, other] for one, other in places]
                gains = [part["p"].to_numpy() - part["p0"].to_numpy() for _, part in cell.group_by("retriever")]
                found += [one[np.isfinite(one)] for one in (*pairs, *gains)]
    rounded = [np.where(np.abs(one) < 1e-9, 0.0, one) for one in found]
    return [one for one in rounded if len(one) > WORDS_AT_LEAST and np.ptp(one) > 0]


def nulls(real: Sequence[Array]) -> dict[str, Draw]:
    """Kinds of differences (n, draws) of mean 0 and sd near 1, for which the words must hold."""
    kinds: dict[str, Draw] = {
        "normal": lambda random, draws, n: random.standard_normal((n, draws)),
        "spread that differs by query": lambda random, draws, n: (
            random.standard_normal((n, draws)) * random.choice([0.2, 1.0, 3.0], (n, draws))
        ),
        "exponential": lambda random, draws, n: random.exponential(size=(n, draws)) - 1.0,
    }
    if real:
        skewed = sorted(real, key=lambda one: -abs(float(stats.skew(one))))[: max(1, len(real) // 5)]
        zeros = [one for one in real if np.mean(one == 0) >= 0.4]
        kinds |= {"real": _resampled(real), "real, the most skewed fifth": _resampled(skewed)}
        kinds |= {"real, 40% zeros or more": _resampled(zeros)} if zeros else {}
    return kinds


def limits() -> dict[str, Draw]:
    """Kinds that are known to fail with few queries."""

    def zeros(random: np.random.Generator, draws: int, n: int) -> Array:
        drawn = np.exp(random.standard_normal((n, draws)))
        return np.where(random.random((n, draws)) < 0.6, 0.0, drawn) - 0.4 * np.exp(0.5)

    def rare(random: np.random.Generator, draws: int, n: int) -> Array:
        return 0.1 * random.standard_normal((n, draws)) + 0.5 * (random.random((n, draws)) < 0.1) - 0.05

    return {
        "log-normal": lambda random, draws, n: np.exp(random.standard_normal((n, draws))) - np.exp(0.5),
        "60% zeros, the rest log-normal": zeros,
        "0.5 more on a tenth of the queries": rare,
    }


def _resampled(columns: Sequence[Array]) -> Draw:
    """A column's values less their mean; what was 0 stays apart from the rest, as minus the mean."""

    def draw(random: np.random.Generator, draws: int, n: int) -> Array:
        chosen = [columns[at] for at in random.integers(0, len(columns), draws)]
        return np.column_stack([(random.choice(one, n) - one.mean()) / one.std() for one in chosen])

    return draw


def false_words(differences: Array) -> dict[str, Array]:
    """Whether each kind of word is said (draws,) of ``differences`` (n, draws) less their true mean.

    A word says that the mean is above or below the value it is read against (0 or a margin), which is the truth here.
    Words need as many queries, and as many that are not alike, as in a study; with fewer queries the interval counts.
    """
    n, said = len(differences), np.ptp(differences, axis=0) > 0
    if n >= WORDS_AT_LEAST:
        said &= n - stats.mode(np.round(differences, 9), axis=0).count >= DIFFERENT_AT_LEAST
    low, high = Means.cautious(np.where(said, differences, np.arange(n)[:, None])).interval(0.95)
    return {
        "better, worse (truth 0)": said & ((low > 0) | (high < 0)),
        "above the truth: more than the margin, not worse": said & (low > 0),
        "below the truth: equivalent, less than the margin": said & (high < 0),
    }


def records(real: Sequence[Array], draws: int, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    for gated, kinds in ((True, nulls(real)), (False, limits())):
        for (kind, draw), n in itertools.product(kinds.items(), sizes):
            random, found = np.random.default_rng([n, len(kind)]), []
            for start in range(0, draws, BATCH):
                found.append(false_words(draw(random, min(BATCH, draws - start), n)))
            for word in found[0]:
                share = float(np.concatenate([one[word] for one in found]).mean())
                error = float(np.sqrt(share * (1 - share) / draws))
                yield {"word": word, "data": kind, "n": n, "share": share, "standard_error": error,
                       "gated": gated, "passed": share - 2 * error <= 0.05 if gated else None}  # fmt: skip


def table(made: Sequence[Mapping[str, Any]]) -> str:
    """Markdown of the records: a row per word and kind of data, a column per number of queries."""
    sizes = sorted({one["n"] for one in made})
    lines = [["word", "data", *(f"n = {n}" for n in sizes)], ["---"] * (len(sizes) + 2)]
    for word, kind in itertools.product(*(dict.fromkeys(one[name] for one in made) for name in ("word", "data"))):
        row = {one["n"]: one for one in made if (one["word"], one["data"]) == (word, kind)}
        known = "" if all(one["gated"] for one in row.values()) else " (limit)"
        lines.append([word, kind + known, *(f"{100 * row[n]['share']:.1f}" for n in sizes)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--studies", type=Path, nargs="*", default=[Path("results/demo/demo")])
    parser.add_argument("--draws", type=int, default=8000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments = parser.parse_args()
    real = columns_of(arguments.studies)
    made = list(records(real, arguments.draws, [n for n in arguments.sizes if n >= QUERIES_AT_LEAST]))
    result = {
        "page": "docs/statistics.md",
        "command": "python benchmarks/word_errors.py",
        "versions": {name: version(name) for name in ("numpy", "scipy")},
        "draws": arguments.draws,
        "columns": len(real),
        "rates": made,
    }
    arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table(made))


if __name__ == "__main__":
    main()
