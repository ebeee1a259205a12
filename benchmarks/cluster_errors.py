"""Error rates of words where queries come in clusters and there is nothing to find.

    python benchmarks/cluster_errors.py --out cluster_errors.json

Values have a part that the queries of a cluster share, 0 to .8 of their variance, and a part of their own; both are
normal, exponential, or 0 for 40% (of clusters, of queries). Clusters have 4 queries each, 1 to 10, sizes of a geometric
distribution (mean 3.3, at most 15), or half of them 8 and half 1. Rates are the highest over shared variance and
shape: of the test of a mean difference by cluster, of the same with the number of clusters less one as degrees of
freedom, and with queries as units; of relay's *it is* where both differences of two or five retrievers are shared
within clusters; and of rho over queries. The last rows are a limit: three clusters of 12 queries differ by one standard
deviation from the rest, whose size is 1 to 3, and the mean over all is 0.

Skewed data are a limit, too: values have a gamma distribution of shape .5; or a twentieth or a tenth of the queries, or
of whole clusters, have a refused answer and a large difference, and all others a small one of the other sign. Rates are
the highest over sizes, among them those of a Zipf distribution (exponent 2, at most 40). *Without a remark* are words
that stand with one more cluster (analysis.standing), *without a remark on one query* those that stand with a cluster of
one query. ``--parts`` chooses what is drawn.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from ragrelay.analysis import bootstrap, mean_tests
from ragrelay.analysis.clusters import effective_number
from ragrelay.analysis.relay import Cell
from ragrelay.analysis.standing import AGAINST, stands
from ragrelay.analysis.verdicts import BETTER, EFFECTIVE_AT_LEAST, WORSE
from scipy import stats

from benchmarks.shared import record
from benchmarks.word_errors import relayed

Array = np.ndarray
COUNTS = (12, 20, 40)
SHARED = (0.0, 0.2, 0.5, 0.8)
SIZES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "4 queries each": lambda random, count: np.full(count, 4),
    "1 to 10 queries": lambda random, count: random.integers(1, 11, count),
    "geometric sizes": lambda random, count: np.minimum(random.geometric(0.3, count), 15),
    "half of 8, half of 1": lambda random, count: np.where(np.arange(count) < count // 2, 1, 8),
}
ZIPF = "Zipf sizes"
ALL_SIZES = {**SIZES, ZIPF: lambda random, count: np.minimum(random.zipf(2.0, count), 40)}
NO_GATE = "half of 8, half of 1"
SHAPES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda random, count: random.standard_normal(count),
    "exponential": lambda random, count: random.exponential(size=count) - 1.0,
    "40% zeros": lambda random, count: np.where(random.random(count) < 0.4, 0.0, random.standard_normal(count)),
}
# Share of refused answers, and their difference; the others' is STEADY, and the mean is 0.
REFUSED = {"5% refused": (0.05, 0.38), "10% refused": (0.1, 0.18)}
STEADY = -0.02
FALSE_AT_MOST, RELAY_AT_MOST, WITHOUT_REMARK = 0.065, 0.035, 0.015


def values(random: np.random.Generator, cluster: Array, shape: str, shared: float) -> Array:
    """Values (n,) of mean 0 of queries in ``cluster`` (n,), which share ``shared`` of their variance."""
    draw = SHAPES[shape]
    own = draw(random, len(cluster))
    return np.sqrt(shared) * draw(random, cluster[-1] + 1)[cluster] + np.sqrt(1.0 - shared) * own


def clusters(random: np.random.Generator, count: int, pattern: str) -> Array:
    """Clusters (n,) of ``count`` that are enough for a word."""
    while True:
        sizes = ALL_SIZES[pattern](random, count)
        if effective_number(sizes) >= EFFECTIVE_AT_LEAST:
            return np.repeat(np.arange(count), sizes)


def mean_errors(differences: Array, cluster: Array) -> dict[str, bool]:
    """Whether a mean of 0 is rejected."""
    by_cluster = mean_tests.ClusterMeans.of(differences, cluster)
    # Equal sizes have as many degrees of freedom as there are clusters, less one.
    count, sums = len(by_cluster.sums), by_cluster.sums
    return {
        "by cluster": bool(by_cluster.p_value()[0] < 0.05),
        "clusters less one as degrees of freedom": bool(
            mean_tests.ClusterMeans(sums, np.ones(count)).p_value()[0] < 0.05
        ),
        "queries as units": bool(mean_tests.cautious(differences).p_value()[0] < 0.05),
    }


def rho_errors(x: Array, y: Array, cluster: Array) -> dict[str, bool]:
    """Whether a rho of 0 is rejected, as in correlation.csv, and by scipy's test over queries."""
    tested = stats.spearmanr(x, y)
    degrees = effective_number(np.bincount(cluster)) - 1
    left_out = bootstrap.without_each("spearman", x, y, cluster)
    by_cluster = bootstrap.fisher_jackknife(float(tested.statistic), left_out, degrees)
    return {"by cluster": (by_cluster.p_value or 1.0) < 0.05, "queries as units": bool(tested.pvalue < 0.05)}


def relay_cell(random: np.random.Generator, cluster: Array, retrievers: int, shared: float) -> Cell:
    """A cell without relay: per retriever, measure and P have parts that the queries of a cluster share."""
    n = len(cluster)
    x, p = (
        np.array([0.2 * values(random, cluster, "normal", shared) for _ in range(retrievers)])
        + 0.1 * random.standard_normal(n)
        for _ in range(2)
    )
    context = np.arange(retrievers)[:, None] * np.ones(n)
    return Cell(context, x, p, x.mean(axis=0), 0.1 * random.standard_normal(n), cluster=cluster)


def unlike(random: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Differences and clusters where three clusters of 12 differ from the rest, and the mean over queries is 0."""
    sizes = np.concatenate([np.full(3, 12), random.integers(1, 4, count - 3)])
    cluster = np.repeat(np.arange(count), sizes)
    other = np.where(cluster < 3, 1.0, 0.0)
    # The expected mean, not the drawn one: the sizes of the others vary.
    return other - 36 / (36 + 2 * (count - 3)) + values(random, cluster, "normal", 0.3), cluster


def highest(draws: int, one: Callable[[np.random.Generator, str, float], dict[str, bool]]) -> dict[str, float]:
    """The highest rate of each test over shapes and shared variance."""
    rates: dict[str, float] = {}
    for shape, shared in itertools.product(SHAPES, SHARED):
        random = np.random.default_rng([len(shape), int(10 * shared), draws])
        found = [one(random, shape, shared) for _ in range(draws)]
        for name in found[0]:
            rates[name] = max(rates.get(name, 0.0), float(np.mean([each[name] for each in found])))
    return rates


def figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    for pattern, count in itertools.product(SIZES, COUNTS):
        gate = "" if pattern == NO_GATE else f"<= {FALSE_AT_MOST}"

        def mean(random: np.random.Generator, shape: str, shared: float) -> dict[str, bool]:
            cluster = clusters(random, count, pattern)  # noqa: B023
            return mean_errors(values(random, cluster, shape, shared), cluster)

        def rho(random: np.random.Generator, shape: str, shared: float) -> dict[str, bool]:
            cluster = clusters(random, count, pattern)  # noqa: B023
            return rho_errors(*(values(random, cluster, shape, shared) for _ in range(2)), cluster)

        for name, rate in highest(draws, mean).items():
            goal = gate if name == "by cluster" else ""
            yield f"better, worse: {count} clusters, {pattern}, {name}", record.figure(rate, goal=goal)
        for name, rate in highest(draws // 4, rho).items():
            goal = gate if name == "by cluster" else ""
            yield f"rho above, below zero: {count} clusters, {pattern}, {name}", record.figure(rate, goal=goal)
        for retrievers in (2, 5):
            random, said = np.random.default_rng([count, retrievers]), {"by cluster": [], "queries as units": []}
            for shared in (0.2, 0.8):
                rates = []
                for _ in range(draws // 4):
                    cell = relay_cell(random, clusters(random, count, pattern), retrievers, shared)
                    rates.append((relayed(cell), relayed(cell._replace(cluster=None))))
                for name, rate in zip(said, np.mean(rates, axis=0), strict=True):
                    said[name].append(float(rate))
            for name, of_name in said.items():
                goal = f"<= {RELAY_AT_MOST}" if name == "by cluster" else ""
                title = f"relay, it is: {retrievers} retrievers, {count} clusters, {pattern}, {name}"
                yield title, record.figure(max(of_name), goal=goal)
    for count in COUNTS:
        random = np.random.default_rng(count)
        found = [mean_errors(*unlike(random, count)) for _ in range(draws)]
        for name in ("by cluster", "queries as units"):
            rate = float(np.mean([each[name] for each in found]))
            yield f"better, worse: {count} clusters, three large ones differ, {name}", record.figure(rate)


def skewed(random: np.random.Generator, sizes: Array, data: str, shared: float) -> Array:
    """Differences (draws, clusters, queries) with mean 0, NaN from the cluster's size on.

    Refused answers are those of whole clusters if ``shared``.
    """
    shape = (*sizes.shape, int(sizes.max()))
    if data in REFUSED:
        share, difference = REFUSED[data]
        refused = random.random((*shape[:2], 1) if shared else shape) < share
        values = np.where(refused, difference, STEADY) + 0.01 * random.standard_normal(shape)
    else:
        of_cluster, own = (0.1 * (random.gamma(0.5, size=size) - 0.5) for size in ((*shape[:2], 1), shape))
        values = np.sqrt(shared) * of_cluster + np.sqrt(1.0 - shared) * own
    return np.where(np.arange(shape[2]) < sizes[..., None], values, np.nan)


def tested(sums: Array, sizes: Array) -> mean_tests.Means:
    """The moments of all studies' ``sums`` (draws, clusters), as ClusterMeans has them of one."""
    degrees = sizes.sum(axis=1) ** 2 / (sizes**2).sum(axis=1) - 1.0
    return mean_tests.Means.cautious(sums.T)._replace(degrees=degrees)


def remarked(random: np.random.Generator, draws: int, count: int, pattern: str, data: str, shared: float) -> Array:
    """Shares of studies with a word, with one that stands with one more cluster, and with one more query."""
    sizes = np.array([np.bincount(clusters(random, count, pattern)) for _ in range(draws)]).astype(float)
    values = skewed(random, sizes, data, shared)
    sums = np.nansum(values, axis=2)
    means, sign = tested(sums, sizes), np.sign(sums.sum(axis=1))
    word = means.p_value() < 0.05
    still = []
    for size in ((sizes**2).sum(axis=1) / sizes.sum(axis=1), np.ones(draws)):
        more = tested(np.column_stack([sums, -sign * AGAINST * size]), np.column_stack([sizes, size]))
        still.append(word & (np.where(sign > 0, more.p_greater(), more.p_less()) < 0.025))
    for place in np.flatnonzero(word)[:5]:  # the same as the package says
        cluster, of_query = np.nonzero(np.isfinite(values[place]))
        said = BETTER if sign[place] > 0 else WORSE
        if stands(values[place][cluster, of_query], said, cluster=cluster) != still[0][place]:
            raise AssertionError("not as the package says")
    return np.array([word.mean(), *(each.mean() for each in still)])


def skewed_figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    """Of skewed data, the highest rates over sizes and shared variance, and of usual data with Zipf sizes."""
    names = ("better, worse", "better, worse without a remark", "better, worse without a remark on one query")
    for data, count in itertools.product(("gamma of shape .5", *REFUSED), COUNTS):
        random, rates = np.random.default_rng([count, len(data), draws]), np.zeros(len(names))
        for pattern, shared in itertools.product(ALL_SIZES, (0.0, 1.0) if data in REFUSED else SHARED):
            rates = np.maximum(rates, remarked(random, draws, count, pattern, data, shared))
        for name, rate in zip(names, rates.tolist(), strict=True):
            goal = f"<= {WITHOUT_REMARK}" if name == names[1] else ""
            yield f"{name}: {count} clusters, {data}, by cluster", record.figure(rate, goal=goal)
    for count in COUNTS:

        def mean(random: np.random.Generator, shape: str, shared: float) -> dict[str, bool]:
            cluster = clusters(random, count, ZIPF)  # noqa: B023
            return mean_errors(values(random, cluster, shape, shared), cluster)

        rate = highest(draws, mean)["by cluster"]
        yield f"better, worse: {count} clusters, {ZIPF}, by cluster", record.figure(rate, goal=f"<= {FALSE_AT_MOST}")


PARTS = {"words": figures, "skewed": skewed_figures}
LABELS = {
    "better, worse": "*better* or *worse*",
    "rho above, below zero": "*above* or *below zero* (ρ)",
    "relay, it is: ": "*answers improve more*: ",
    "4 queries each": "4 queries per cluster",
    "1 to 10 queries": "1 to 10 queries per cluster",
    "geometric sizes": "geometrically distributed cluster sizes",
    "half of 8, half of 1": "8 queries in each of half the clusters, 1 in each of the others",
    "three large ones differ": "three large clusters with a different mean",
    "gamma of shape .5": "gamma-distributed values (shape .5)",
    "% refused": "% refused answers",
    "Zipf sizes": "Zipf-distributed cluster sizes",
    "remark on one query": "remark about one more query",
    "clusters less one as degrees of freedom": "by cluster, with (clusters − 1) degrees of freedom",
    "queries as units": "by query",
}
"""How the page shows parts of a record's titles."""


def table(path: Path) -> str:
    """Markdown of a record's rates in per cent: a row per word, sizes and test, a column per number of clusters."""
    rows: dict[tuple[str, str], dict[int, str]] = {}
    for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items():
        place, *_ = (part for part in title.replace(": ", ", ").split(", ") if part.endswith(" clusters"))
        word, by = title.replace(f"{place}, ", "").rsplit(", ", 1)
        word += "" if by != "by cluster" or "goal" in one else " (no gate)"
        rows.setdefault((word, by), {})[int(place.split()[0])] = f"{100 * one['value']:.1f}"
    lines = [["verdict and data", "test", *(f"{count} clusters" for count in COUNTS)], ["---"] * (len(COUNTS) + 2)]
    lines += [[word, by, *(row[count] for count in COUNTS)] for (word, by), row in rows.items()]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    for name, label in LABELS.items():
        text = text.replace(name, label)
    return text


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--parts", nargs="*", choices=PARTS)
    given = parser.parse_args()
    setting = f"{given.draws} data sets for each mean of the parts drawn last, a quarter for each relay and rho"
    figures_of = record.figures_of(given, PARTS)
    record.write_record(given, setting, figures_of, ["numpy", "scipy"], "docs/error-rates.md")


if __name__ == "__main__":
    main()
