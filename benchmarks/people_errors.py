"""What intervals on people's scores cover: prediction-powered means, gains and slopes, and tau_AP of systems.

    python benchmarks/people_errors.py --out people_errors.json

Draws studies whose true value is known, at the smallest numbers of scores by people that the page gives an interval
for, takes the workflow's own intervals, and prints and writes the share that covers the truth, with the width compared
with people's scores alone. Also intervals of tau_AP over systems, and how often the paired test of two scorers is wrong
or finds a difference. Seeded.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from ragrelay.analysis.orders import TAU, TAU_AP, order_agreement, order_difference, tau_ap
from ragrelay.annexes.people.powered import (
    DIFFERENT_AT_LEAST,
    LABELS_AT_LEAST,
    LABELS_OF_SLOPE,
    PartlyScored,
    different,
    influences,
    powered,
    slope_influences,
)
from scipy import stats

from benchmarks.shared.record import Figure, arguments, figure, write_record

Array = np.ndarray
QUANTITIES = ("mean", "gain", "slope")
# Shapes of people's scores: real numbers; grades 0 to 4; 0 or 1, half or 15% of them 1; log-normal, and its negative.
CUTS = {"grades": (0.1, 0.25, 0.5, 0.8), "0 or 1": (0.5,), "0 or 1, rarely 1": (0.85,)}
SHAPES = ("normal", *CUTS, "skewed", "skewed left")
ALIKE = (0.0, 0.2, 0.5, 0.7, 0.9)
# Queries and the queries of a cluster.
CLUSTERS = {"36 queries": (36, 1), "100 queries": (100, 1), "120 queries in clusters of 3": (120, 3)}
DESIGNS = ("scattered", "whole queries", "unequal probabilities")
# Share of the variance between queries.
BETWEEN = 0.4
SYSTEMS = (8, 12, 16, 30)
COVERS = ">= 0.935"


def shaped(values: Array, shape: str) -> Array:
    """Scores by people of normal ``values``."""
    if shape in CUTS:
        return np.digitize(stats.norm.cdf(values), CUTS[shape]) / len(CUTS[shape])
    return values if shape == "normal" else np.exp(values) * (1 if shape == "skewed" else -1)


def truth(shape: str) -> float:
    """Their mean."""
    if shape in CUTS:
        return float(np.mean([1.0 - cut for cut in CUTS[shape]]))
    return {"normal": 0.0, "skewed": np.exp(0.5), "skewed left": -np.exp(0.5)}[shape]


def study(random: np.random.Generator, draws: int, cells: int, size: tuple[int, int], r: float) -> tuple[Array, ...]:
    """Normal values of people and of a scorer (draws, queries, cells), and the queries' clusters."""
    queries, of_cluster = size
    cluster = np.arange(queries) // of_cluster

    def values() -> Array:
        common = random.normal(size=(draws, cluster.max() + 1, 1))[:, cluster]
        return np.sqrt(BETWEEN) * common + np.sqrt(1 - BETWEEN) * random.normal(size=(draws, queries, cells))

    people = values()
    return people, r * people + np.sqrt(1 - r**2) * values(), cluster


def drawn(random: np.random.Generator, scorer: Array, scores: int, design: str) -> tuple[Array, Array]:
    """Which answers people score (draws, queries, cells), and the inverse of the probability of each.

    Unequal: answers with a high value of the scorer are drawn three times as often as others, independently.
    """
    draws, queries, cells = scorer.shape
    if design == "unequal probabilities":
        relative = np.where(scorer > 0, 3.0, 1.0)
        chance = np.minimum(relative * scores / cells / relative.sum(axis=1, keepdims=True), 1.0)
        return random.random(scorer.shape) < chance, 1.0 / chance
    order = random.random((draws, queries, 1 if design == "whole queries" else cells))
    ranks = np.broadcast_to(order.argsort(axis=1).argsort(axis=1), scorer.shape)
    return ranks < scores // cells, np.ones(scorer.shape)


def intervals(draws: int, quantity: str, shape: str, r: float, size: str, design: str) -> dict[str, float]:
    """Coverage with the scorer and of people's scores alone, and the median width compared with these."""
    cells, scores = (1, LABELS_AT_LEAST) if quantity == "mean" else (2, LABELS_AT_LEAST)
    scores = LABELS_OF_SLOPE if quantity == "slope" else scores
    random = np.random.default_rng([QUANTITIES.index(quantity), SHAPES.index(shape), round(100 * r), len(size)])
    people, scorer, cluster = study(random, draws, cells, CLUSTERS[size], r)
    people, there = shaped(people, shape), drawn(random, scorer, scores, design)
    known = np.where(there[0], people, np.nan)
    contrast = [[1.0]] if cells == 1 else [[1.0, 0.0], [0.0, -1.0]]
    answers = PartlyScored(known, scorer, there[1])
    with np.errstate(all="ignore"):
        if quantity == "slope":
            given = slope_influences(answers, contrast, random.normal(size=people.shape[:2]), cluster)
        else:
            given = influences(answers, contrast, cluster)
        found = powered(given)
    used = np.array([different(one[np.isfinite(one)]) >= DIFFERENT_AT_LEAST for one in known])
    used &= (given.of_people**2).sum(axis=-1) > 0
    true = truth(shape) if quantity == "mean" else 0.0
    covered = (found.low <= true) & (true <= found.high)
    alone = (found.alone_low <= true) & (true <= found.alone_high)
    width = (found.high - found.low)[used] / (found.alone_high - found.alone_low)[used]
    return {"coverage": covered[used].mean(), "coverage alone": alone[used].mean(), "width": float(np.median(width))}


def interval_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of means, gains and slopes."""
    cases = [
        (quantity, shape, r, "100 queries", "scattered") for quantity, shape, r in product(QUANTITIES, SHAPES, ALIKE)
    ]
    others = product(QUANTITIES, ("normal", "skewed", "grades"), (0.2, 0.7), CLUSTERS, DESIGNS)
    for case in dict.fromkeys([*cases, *others]):
        quantity, shape, r, size, design = case
        if quantity == "slope" and size == "36 queries":
            continue  # 80 scores of 72 answers
        for name, value in intervals(draws, *case).items():
            goal = COVERS if name == "coverage" else ""
            yield f"{quantity}, {name}: {shape} scores, r {r}, {size}, {design}", figure(value, "", goal)


def orders(draws: int, count: int, alike: float, ties: bool) -> dict[str, float]:
    """Coverage of tau_AP's interval, and its mean width."""
    random = np.random.default_rng([count, round(100 * alike), ties])

    def systems(number: int) -> tuple[Array, Array]:
        x = random.normal(size=(number, count))
        y = alike * x + np.sqrt(1 - alike**2) * random.normal(size=(number, count))
        return (np.round(2 * x) / 2, np.round(2 * y) / 2) if ties else (x, y)

    true = np.mean([tau_ap(x, y) for x, y in zip(*systems(5 * draws), strict=True)])
    rows = [order_agreement(x, y, TAU_AP, "system", 0) for x, y in zip(*systems(draws), strict=True)]
    ends = np.array([(row["low"], row["high"]) for row in rows if "low" in row])
    return {"coverage": ((ends[:, 0] <= true) & (true <= ends[:, 1])).mean(), "width": (ends[:, 1] - ends[:, 0]).mean()}


def differs(draws: int, count: int, alike: tuple[float, float], order: str) -> float:
    """How often the paired test of two scorers finds a difference."""
    random = np.random.default_rng([count, round(100 * alike[0]), round(100 * alike[1])])
    people, *noise = random.normal(size=(3, draws, count))
    one, other = (r * people + np.sqrt(1 - r**2) * each for r, each in zip(alike, noise, strict=True))
    coefficient = {"tau": TAU, "tau_AP": TAU_AP}[order]
    rows = [order_difference(*of, coefficient, 0) for of in zip(people, one, other, strict=True)]
    return float(np.mean([row.get("p_value", 1.0) < 0.05 for row in rows]))


def order_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of tau_AP, and of two scorers' tau and tau_AP."""
    for count, alike, ties in product(SYSTEMS, (0.0, 0.5, 0.9), (False, True)):
        for name, value in orders(draws, count, alike, ties).items():
            label = f"{count} systems, correlation {alike}{', ties' if ties else ''}"
            goal = COVERS if name == "coverage" and count >= 16 else ""
            yield f"tau_AP, {name}: {label}", figure(value, "", goal)
    for order, count in product(("tau", "tau_AP"), SYSTEMS):
        label = f"{order} of two scorers, {count} systems"
        yield f"{label}: false, correlations .7 and .7", figure(differs(draws, count, (0.7, 0.7), order), "", "<= 0.06")
        yield f"{label}: found, correlations .8 and .5", figure(differs(draws, count, (0.8, 0.5), order))


def main() -> None:
    """Draw, print and write."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=2000, help="studies of each kind; a tenth as many of systems")
    given = parser.parse_args()
    figures: dict[str, Figure] = {}
    for label, made in (*interval_figures(given.draws), *order_figures(given.draws // 10)):
        figures[label] = made
        print(f"{label}: {made['value']}")
    setting = (
        f"{given.draws:,} studies each, {given.draws // 10} of systems; {LABELS_AT_LEAST} scores by people, "
        f"{LABELS_OF_SLOPE} for slopes"
    )
    write_record(given, setting, figures, ("numpy", "scipy"), page="docs/people.md")


if __name__ == "__main__":
    main()
