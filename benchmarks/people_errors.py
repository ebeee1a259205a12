"""What intervals and tests of people's scores are worth: prediction-powered estimates, and agreement with people.

    python benchmarks/people_errors.py --out people_errors.json

Draws studies whose true value is known, at the smallest numbers of scores by people that the page gives an interval
for, takes the workflow's own intervals and tests, and prints and writes the share that covers the truth, the width
compared with people's scores alone, and how often a test finds a difference that there is or is not. Parts: estimates
from people's scores and a scorer's; the bias of answers that are chosen; r, rho and biases over answers; tau and tau_AP
over systems; alpha of two assessors; gains whose cells have unequal numbers of scores, or were scored by different
people. Seeded. ``--parts`` chooses what is drawn.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from ragrelay.analysis.bootstrap import fisher_jackknife, without_each
from ragrelay.analysis.clusters import effective_number
from ragrelay.analysis.orders import AT_LEAST as SYSTEMS_AT_LEAST
from ragrelay.analysis.orders import TAU, TAU_AP, Families, order_agreement, order_difference
from ragrelay.analysis.prediction_powered import DIFFERENT_AT_LEAST, different
from ragrelay.analysis.verdicts import EFFECTIVE_AT_LEAST
from ragrelay.annexes.people.assessors import alpha_interval, krippendorff
from ragrelay.annexes.people.estimates import few_of_a_cell, unlike_assessors
from ragrelay.annexes.people.following import FAMILIES, RHO, bias, coefficient, rho_difference
from ragrelay.annexes.people.powered import (
    LABELS_AT_LEAST,
    LABELS_OF_SLOPE,
    OF_CELL_AT_LEAST,
    PartlyScored,
    influences,
    powered,
)
from scipy import stats

from benchmarks.shared.record import Figure, arguments, figure, write_record

Array = np.ndarray
QUANTITIES = ("mean", "gain", "slope")
# Shapes of people's scores: real numbers; grades 0 to 4; counts from 0 to 10, half of them 0; 0 or 1, half or 15% of
# them 1, or half of one cell's and 10% of the other's; log-normal, and its negative.
CUTS = {
    "grades": ((0.1, 0.25, 0.5, 0.8),) * 2,
    "counts": (tuple(stats.norm.cdf(np.log(np.arange(1, 11)))),) * 2,
    "0 or 1": ((0.5,),) * 2,
    "0 or 1, rarely 1": ((0.85,),) * 2,
    "0 or 1, unequal cells": ((0.5,), (0.9,)),
}
SHAPES = ("normal", *CUTS, "skewed", "skewed left")
ALIKE = (0.0, 0.2, 0.5, 0.7, 0.9)
# Queries, queries of a cluster, and columns (cells and seeds).
SIZES = {
    "12 queries": (12, 1, 4),
    "36 queries": (36, 1, 2),
    "100 queries": (100, 1, 2),
    "120 queries in clusters of 3": (120, 3, 2),
}
DESIGNS = ("scattered", "whole queries", "unequal probabilities")
# Share of the variance between queries.
BETWEEN = 0.4
# Measures that slopes are on: real numbers; 0 for most queries; real numbers, where scores vary more far from 0; real
# numbers, with a slope of .3.
MEASURES = ("normal", "mostly 0", "uneven spread", "true slope .3")
SLOPE = 0.3
# Systems: independent; means that tie; families of four that share 80% of a variance, left out together or one by one.
ALONE = "families of four, systems left out one by one"
FAMILY = 4
# How many systems, or families.
SYSTEMS = {
    "systems": (8, 12, 16, 30),
    "systems with equal means": (8, 12, 16, 30),
    "families of four": (8, 16),
    ALONE: (4, 8),
}
# Two scorers' correlations with people: equal ones, and ones that differ by .3.
EQUAL, UNEQUAL = ((0.7, 0.7), (0.9, 0.9)), ((0.8, 0.5), (0.9, 0.6))
# Correlation of the errors of two scorers that share some.
SHARED = 0.7
LARGE = 400_000
WIDTH = "width over that of people's scores alone"
COVERS = ">= 0.935"
FALSE = "<= 0.065"


def shaped(values: Array, shape: str) -> Array:
    """Scores by people of normal ``values`` (..., columns); the first half of the columns is the first cell's."""
    if shape in CUTS:
        chance, half = stats.norm.cdf(values), (values.shape[-1] + 1) // 2
        parts = zip((chance[..., :half], chance[..., half:]), CUTS[shape], strict=True)
        return np.concatenate([np.digitize(part, cuts) / len(cuts) for part, cuts in parts], axis=-1)
    return values if shape == "normal" else np.exp(values) * (1 if shape == "skewed" else -1)


def truth(shape: str, cell: int = 0) -> float:
    """The mean of a cell."""
    if shape in CUTS:
        return float(np.mean([1.0 - cut for cut in CUTS[shape][cell]]))
    return {"normal": 0.0, "skewed": np.exp(0.5), "skewed left": -np.exp(0.5)}[shape]


def study(random: np.random.Generator, draws: int, size: tuple[int, int, int], r: float) -> tuple[Array, ...]:
    """Normal values of people and of a scorer (draws, queries, columns), and the queries' clusters."""
    queries, of_cluster, columns = size
    cluster = np.arange(queries) // of_cluster

    def values() -> Array:
        common = random.normal(size=(draws, cluster.max() + 1, 1))[:, cluster]
        return np.sqrt(BETWEEN) * common + np.sqrt(1 - BETWEEN) * random.normal(size=(draws, queries, columns))

    people = values()
    return people, r * people + np.sqrt(1 - r**2) * values(), cluster


def drawn(random: np.random.Generator, scorer: Array, scores: int, design: str) -> tuple[Array, Array]:
    """Which answers people score (draws, queries, columns), and the inverse of the probability of each.

    Unequal: answers with a high value of the scorer are drawn three times as often as others, independently.
    """
    draws, queries, columns = scorer.shape
    if design == "unequal probabilities":
        relative = np.where(scorer > 0, 3.0, 1.0)
        chance = np.minimum(relative * scores / columns / relative.sum(axis=1, keepdims=True), 1.0)
        return random.random(scorer.shape) < chance, 1.0 / chance
    order = random.random((draws, queries, 1 if design == "whole queries" else columns))
    ranks = np.broadcast_to(order.argsort(axis=1).argsort(axis=1), scorer.shape)
    return ranks < scores // columns, np.ones(scorer.shape)


def intervals(
    draws: int, quantity: str, shape: str, r: float, size: str, design: str, measure: str = "normal", few: bool = False
) -> dict[str, float]:
    """Coverage with the scorer and of people's scores alone, the width over that of these, and the width.

    Of the studies that have an interval, whose share is the last one. ``few``: the scorer's scores have the shape of
    people's. ``measure``: what slopes are on.
    """
    queries, of_cluster, columns = SIZES[size]
    scores = LABELS_OF_SLOPE if quantity == "slope" else LABELS_AT_LEAST
    places = (QUANTITIES.index(quantity), SHAPES.index(shape), list(SIZES).index(size), MEASURES.index(measure))
    random = np.random.default_rng([*places, round(100 * r), few])
    people, scorer, cluster = study(random, draws, (queries, of_cluster, columns), r)
    x, true = random.normal(size=people.shape[:2]), truth(shape)
    half = (columns + 1) // 2 if quantity != "mean" else columns
    first = np.arange(columns) < half
    if measure == "mostly 0":
        x = x * (random.random(x.shape) < 0.3)
    elif measure == "uneven spread":
        people, scorer = (values * (0.3 + np.abs(x))[..., None] for values in (people, scorer))
    there = drawn(random, scorer, scores, design)
    people = shaped(people, shape)
    if quantity != "mean":
        true = truth(shape) - truth(shape, 1)
    if quantity == "slope":
        true = SLOPE if measure == "true slope .3" else 0.0
        people = people + true * x[..., None] * first
        scorer = scorer + r * true * x[..., None] * first
    scorer = shaped(scorer, shape) if few else scorer
    known = np.where(there[0], people, np.nan)
    contrast = [first * 1.0] if quantity == "mean" else [first * 1.0, ~first * -1.0]
    answers = PartlyScored(known, scorer, there[1])
    with np.errstate(all="ignore"):
        given = influences(answers, contrast, cluster, x if quantity == "slope" else None)
        found = powered(given)
    used = np.array([different(one[np.isfinite(one)]) >= DIFFERENT_AT_LEAST for one in known])
    used &= (given.of_people**2).sum(axis=-1) > 0
    used &= given.df + 1.0 >= EFFECTIVE_AT_LEAST
    covered = (found.low <= true) & (true <= found.high)
    alone = (found.alone_low <= true) & (true <= found.alone_high)
    width, of_people = (found.high - found.low)[used], (found.alone_high - found.alone_low)[used]
    return {
        "coverage": covered[used].mean(), "coverage alone": alone[used].mean(),
        WIDTH: float(np.median(width / of_people)),
        "width": float(np.median(width)), "share of studies": used.mean(),
    }  # fmt: skip


def powered_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of means, gains and slopes."""
    usual = ("100 queries", "scattered")
    for quantity, shape in product(QUANTITIES, SHAPES):
        if quantity == "mean" and shape == "0 or 1, unequal cells":
            continue
        for r in ALIKE:
            found, label = intervals(draws, quantity, shape, r, *usual), f"{quantity}: {shape}, r {r}"
            yield f"coverage of a {label}", figure(found["coverage"], "", COVERS)
            yield f"{WIDTH}, {label}", figure(found[WIDTH])
        yield f"coverage of a {quantity} by people's scores alone: {shape}", figure(found["coverage alone"])
        few = intervals(draws, quantity, shape, 0.7, *usual, few=True)
        yield f"coverage of a {quantity}: {shape}, the scorer's too, r 0.7", figure(few["coverage"], "", COVERS)
    shapes = ("normal", "grades", "0 or 1, rarely 1", "skewed")
    for quantity, shape, size in product(QUANTITIES, shapes, SIZES):
        queries, _, columns = SIZES[size]
        if quantity == "slope" and queries * columns < LABELS_OF_SLOPE + queries:
            continue  # there are hardly more answers
        usual_width = 1.0
        for design in DESIGNS:
            found, label = intervals(draws, quantity, shape, 0.7, size, design), f"{shape}, r 0.7, {size}, {design}"
            yield f"coverage of a {quantity}: {label}", figure(found["coverage"], "", COVERS)
            if design == "scattered":
                usual_width = found["width"]
            elif design == "whole queries":
                yield (
                    f"width of a {quantity} over that of scattered scores: {label}",
                    figure(found["width"] / usual_width),
                )
            if shape == "0 or 1, rarely 1":
                yield f"share of studies with an interval, {quantity}: {label}", figure(found["share of studies"])
    for measure, shape, r in product(MEASURES[1:], ("normal", "grades"), (0.2, 0.7)):
        if shape == "normal" or measure == "mostly 0":
            found = intervals(draws, "slope", shape, r, *usual, measure)
            yield f"coverage of a slope: {shape}, r {r}, measure: {measure}", figure(found["coverage"], "", COVERS)


CHOICES = {
    # How the 40 answers are chosen, and whether their scores are weighted by the inverse of their probability.
    "at random": (1.0, False),
    "where the scorer is unsure": (np.inf, False),
    "three times as often where it is unsure, without weights": (3.0, False),
    "three times as often where it is unsure, with weights": (3.0, True),
}


def chosen(draws: int, preferred: float, weighted: bool) -> dict[str, float]:
    """The mean, over studies, of estimates of a share of 20% from 40 of 200 answers; the scorer's r is .7.

    ``preferred``: by how much more often the half of the answers is drawn that is nearest to the score from which on
    the scorer says 1; infinite: the nearest are.
    """
    random, cut = np.random.default_rng(5), stats.norm.isf(0.2)
    people, scorer, cluster = study(random, draws, (200, 1, 1), 0.7)
    people, distance = (people > cut).astype(float), np.abs(scorer - cut)
    if preferred == np.inf:
        there, weights = distance.argsort(axis=1).argsort(axis=1) < LABELS_AT_LEAST, np.ones_like(people)
    else:
        relative = np.where(distance < np.median(distance), preferred, 1.0)
        chance = relative * LABELS_AT_LEAST / relative.sum(axis=1, keepdims=True)
        there, weights = random.random(people.shape) < chance, 1.0 / chance if weighted else np.ones_like(people)
    answers = PartlyScored(np.where(there, people, np.nan), stats.norm.cdf(scorer), weights)
    found = powered(influences(answers, [[1.0]], cluster))
    covered = (found.low <= 0.2) & (found.high >= 0.2)
    return {"by people alone": found.alone.mean(), "with the scorer": found.value.mean(), "coverage": covered.mean()}


def chosen_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of answers chosen for people."""
    for how, (preferred, weighted) in CHOICES.items():
        for name, value in chosen(draws, preferred, weighted).items():
            promised = name == "coverage" and (preferred == 1.0 or weighted)
            yield f"a share of .2, 40 of 200 answers {how}: {name}", figure(value, "", COVERS if promised else "")


def scored_answers(
    random: np.random.Generator,
    draws: int,
    queries: int,
    columns: int,
    shape: str,
    alike: tuple[float, ...],
    shared: float,
) -> tuple[Array, ...]:
    """People's scores and scorers' (draws, answers): LABELS_AT_LEAST of each study, and their query's number.

    The scorers correlate with people's normal values by ``alike``, their errors with each other by ``shared``.
    """
    size = (queries, 1, columns)
    people, common, _ = study(random, draws, size, 0.0)
    scorers = []
    for r in alike:
        own, _, _ = study(random, draws, size, 0.0)
        scorers.append(r * people + np.sqrt(1 - r**2) * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own))
    kept = np.sort(random.random((draws, queries * columns)).argsort(axis=1)[:, :LABELS_AT_LEAST], axis=1)
    known = [np.take_along_axis(one.reshape(draws, -1), kept, axis=1) for one in (shaped(people, shape), *scorers)]
    return *known, kept // columns


def agreement_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of rho, r and the bias by length over answers, and of the difference of two scorers' rho."""
    shapes, sizes = ("normal", "grades", "counts", "0 or 1, rarely 1", "skewed"), ((12, 4), (40, 2))
    for shape, (queries, columns) in product(shapes, sizes):
        of = f"{shape}, 40 answers of {queries} queries"
        for r in (0.0, 0.5, 0.9):
            for name, (true, value) in correlated(draws, shape, queries, columns, r).items():
                yield f"coverage of {name}: {of}, true {true:.2f}", figure(value, "", COVERS if name == "rho" else "")
        yield f"coverage of a bias by length: {of}", figure(biased(draws, shape, queries, columns), "", COVERS)
        for shared, alike in product((0.0, SHARED), (*EQUAL, UNEQUAL[0])):
            value = differs_over_answers(draws, shape, queries, columns, alike, shared)
            pair = f"{alike[0]} and {alike[1]}, rho of two scorers: {of}{', shared errors' if shared else ''}"
            yield (
                f"{'false' if alike in EQUAL else 'found'}, {pair}",
                figure(value, "", FALSE if alike in EQUAL else ""),
            )


def usable(scores: Array) -> bool:
    """Whether enough of people's ``scores`` (n,) differ from the most frequent."""
    return different(scores) >= DIFFERENT_AT_LEAST


def correlated(draws: int, shape: str, queries: int, columns: int, r: float) -> dict[str, tuple[float, float]]:
    """Rho's and r's true value and the coverage of an interval by a jackknife over queries on Fisher's z."""
    random = np.random.default_rng([23, SHAPES.index(shape), queries, round(100 * r)])
    x, y, *_ = (one.ravel() for one in scored_answers(random, LARGE // 40, 40, 2, shape, (r,), 0.0))
    true = {"rho": np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1], "r": np.corrcoef(x, y)[0, 1]}
    covers: dict[str, list[bool]] = {name: [] for name in true}
    for one, other, of in zip(*scored_answers(random, draws, queries, columns, shape, (r,), 0.0), strict=True):
        cluster = np.unique(of, return_inverse=True)[1]
        row = coefficient(RHO, one, other, cluster)
        if "low" not in row:
            continue
        covers["rho"].append(row["low"] <= true["rho"] <= row["high"])
        degrees = effective_number(np.bincount(cluster)) - 1.0
        tested = fisher_jackknife(np.corrcoef(one, other)[0, 1], without_each("pearson", one, other, cluster), degrees)
        covers["r"].append(tested.low is not None and tested.low <= true["r"] <= tested.high)
    return {name: (value, float(np.mean(covers[name]))) for name, value in true.items()}


def biased(draws: int, shape: str, queries: int, columns: int) -> float:
    """Coverage of the bias by length of a scorer that prefers long answers."""
    random = np.random.default_rng([29, SHAPES.index(shape), queries])

    def answers(number: int) -> tuple[Array, ...]:
        people, scorer, length, of = scored_answers(random, number, queries, columns, shape, (0.6, 0.3), 0.0)
        return people, scorer + 0.4 * length, length, of

    x, y, length, _ = (one.ravel() for one in answers(LARGE // 40))
    z = [(one - one.mean()) / one.std() for one in (y, x)]
    true, covers = float(np.polyfit(length, z[0] - z[1], 1)[0]), []
    for people, scorer, words, of in zip(*answers(draws), strict=True):
        row = bias(people, scorer, words, np.unique(of, return_inverse=True)[1])
        if "low" in row:
            covers.append(row["low"] <= true <= row["high"])
    return float(np.mean(covers))


def differs_over_answers(
    draws: int, shape: str, queries: int, columns: int, alike: tuple[float, float], shared: float
) -> float:
    """How often the paired test of two scorers' rho over answers finds a difference, of the studies that have one."""
    random = np.random.default_rng(
        [31, SHAPES.index(shape), queries, *(round(100 * r) for r in alike), round(10 * shared)]
    )
    people, one, other, query = scored_answers(random, draws, queries, columns, shape, alike, shared)
    rows = [
        rho_difference(x, y, z, np.unique(of, return_inverse=True)[1])
        for x, y, z, of in zip(people, one, other, query, strict=True)
        if usable(x)
    ]
    return float(np.mean([row.get("p_value", 1.0) < 0.05 for row in rows]))


ORDERS = {"tau": TAU, "tau_AP": TAU_AP}


def systems(
    random: np.random.Generator, number: int, count: int, alike: tuple[float, ...], kind: str, shared: float = 0.0
) -> list[Array]:
    """Means of ``count`` systems or families by people and by scorers, each (number, systems)."""

    def normal() -> Array:
        own = random.normal(size=(number, count))
        if not kind.startswith("families"):
            return own
        of_family = np.repeat(own, FAMILY, axis=-1)
        return np.sqrt(0.8) * of_family + np.sqrt(0.2) * random.normal(size=of_family.shape)

    people, common = normal(), normal()
    scorers = [
        r * people + np.sqrt(1 - r**2) * (np.sqrt(shared) * common + np.sqrt(1 - shared) * normal()) for r in alike
    ]
    return [np.round(2 * one) / 2 if kind == "systems with equal means" else one for one in (people, *scorers)]


def families(kind: str, count: int) -> Families | None:
    """The families that are left out together."""
    return Families(np.repeat(np.arange(count), FAMILY), FAMILIES) if kind == "families of four" else None


def orders(draws: int, count: int, alike: float, kind: str, order: str) -> dict[str, float]:
    """Coverage of the interval of tau or tau_AP, its mean width, and the share of studies that have one."""
    random, of = np.random.default_rng([37, count, round(100 * alike), list(SYSTEMS).index(kind)]), ORDERS[order]
    many = systems(random, 3 * draws, count, (alike,), kind)
    true = np.nanmean([of.value(x, y) for x, y in zip(*many, strict=True)])
    means = zip(*systems(random, draws, count, (alike,), kind), strict=True)
    rows = [order_agreement(x, y, of, "system", 0, families(kind, count)) for x, y in means]
    ends = np.array([(row["low"], row["high"]) for row in rows if "low" in row])
    covers = (ends[:, 0] <= true) & (true <= ends[:, 1])
    return {"coverage": covers.mean(), "width": (ends[:, 1] - ends[:, 0]).mean(), "share of studies": len(ends) / draws}


def differs(
    draws: int, count: int, alike: tuple[float, float], order: str, kind: str = "systems", shared: float = 0.0
) -> float:
    """How often the paired test of two scorers finds a difference."""
    random = np.random.default_rng(
        [41, count, *(round(100 * r) for r in alike), list(SYSTEMS).index(kind), round(10 * shared)]
    )
    means = zip(*systems(random, draws, count, alike, kind, shared), strict=True)
    rows = [order_difference(*each, ORDERS[order], 0, families(kind, count)) for each in means]
    return float(np.mean([row.get("p_value", 1.0) < 0.05 for row in rows]))


def noisy(draws: int, scores: int) -> float:
    """Mean tau of 16 systems' means by people, of ``scores`` answers each, and of their true means.

    Systems' true means have the standard deviation .06, scores of a system's answers .25 (judge_intervals.py).
    """
    random = np.random.default_rng([43, scores])
    true = 0.06 * random.normal(size=(draws, SYSTEMS_AT_LEAST))
    means = true + 0.25 / np.sqrt(scores) * random.normal(size=true.shape)
    return float(np.mean([TAU.value(x, y) for x, y in zip(means, true, strict=True)]))


def order_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of tau and tau_AP, and of two scorers' tau and tau_AP."""
    of_kinds = [(kind, count) for kind, counts in SYSTEMS.items() for count in counts]
    for order, (kind, count), alike in product(ORDERS, of_kinds, (0.0, 0.5, 0.9, 0.97)):
        label = f"{order}: {count} {kind}, correlation {alike}"
        found, promised = orders(draws, count, alike, kind, order), count >= SYSTEMS_AT_LEAST and kind != ALONE
        yield f"coverage of {label}", figure(found["coverage"], "", COVERS if promised else "")
        if kind == "systems":
            yield f"width of {label}", figure(found["width"])
    cases = [(*each, 0.0) for each in of_kinds] + [("systems", count, SHARED) for count in SYSTEMS["systems"]]
    for order, (kind, count, shared), alike in product(ORDERS, cases, (*EQUAL, *UNEQUAL)):
        label = (
            f"{alike[0]} and {alike[1]}, {order} of two scorers: {count} {kind}{', shared errors' if shared else ''}"
        )
        promised = alike in EQUAL and count >= SYSTEMS_AT_LEAST and kind != ALONE
        value = differs(draws, count, alike, order, kind, shared)
        yield f"{'false' if alike in EQUAL else 'found'}, {label}", figure(value, "", FALSE if promised else "")
    for scores in (5, 20, 100):
        yield f"tau of 16 systems' means of {scores} scores each and of their true means", figure(noisy(draws, scores))


def assessed(random: np.random.Generator, number: int, size: tuple[int, int, int], shape: str, alike: float) -> Array:
    """Scores by two assessors, (number, queries, columns, 2), whose normal values correlate by ``alike``."""
    common, one, _ = study(random, number, size, np.sqrt(alike))
    _, noise, _ = study(random, number, size, 0.0)
    other = np.sqrt(alike) * common + np.sqrt(1 - alike) * noise
    return np.stack([shaped(each, shape) for each in (one, other)], axis=-1)


def assessor_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of Krippendorff's alpha of two assessors."""
    shapes = ("grades", "counts", "0 or 1, rarely 1")
    for shape, (queries, columns), alike in product(shapes, ((12, 4), (40, 1)), (0.5, 0.9)):
        random = np.random.default_rng([47, SHAPES.index(shape), queries, round(100 * alike)])
        many = assessed(random, LARGE // 40, (40, 1, 1), shape, alike)
        true = krippendorff(many.ravel(), np.arange(many.size) // 2)
        cluster, unit = np.repeat(np.arange(queries), 2 * columns), np.arange(2 * columns * queries) // 2
        drawn_scores = assessed(random, draws, (queries, 1, columns), shape, alike)
        rows = [alpha_interval(each.ravel(), unit, cluster) for each in drawn_scores]
        covers = [row["low"] <= true <= row["high"] for row in rows if "low" in row]
        label = f"{shape}, true {true:.2f}, {queries * columns} answers of {queries} queries"
        yield f"share of studies with an interval, alpha of two assessors: {label}", figure(len(covers) / draws)
        if shape == "grades":
            yield f"coverage of alpha of two assessors: {label}", figure(float(np.mean(covers)), "", COVERS)


CELLS = ((6, 34), (8, 32), (20, 20), (20, 40), (20, 60))
"""Scores by people of the two cells of a gain."""
# Severity is a person's mean lead: of scores from 0 to 1 with a standard deviation of .3, its own is .15.
SEVERITY = 0.5
# Share of each cell's scores that are of the first of two people; at random, or all answers of a query by one of them.
ASSESSED = {
    "each cell by one": (1.0, 0.0), "70% and 30%": (0.7, 0.3), "60% and 40%": (0.6, 0.4), "at random": None,
    "whole queries by one": (0.5, 0.5),
}  # fmt: skip


def of_cells(
    random: np.random.Generator, draws: int, shape: str, scores: tuple[int, int], added: Array | None = None
) -> tuple[Array, Array, Array]:
    """Whether a gain's interval covers the truth, people's scores (draws, queries, 2), and whether there is one at all.

    ``scores``: of each cell, of 100 queries' answers; ``added`` (draws, queries, 2): what is added to people's values.
    """
    people, scorer, cluster = study(random, draws, (100, 1, 2), 0.7)
    ranks = random.random(people.shape).argsort(axis=1).argsort(axis=1)
    shown = shaped(people, shape) + (0.0 if added is None else added)
    known = np.where(ranks < np.array(scores), shown, np.nan)
    with np.errstate(all="ignore"):
        given = influences(PartlyScored(known, scorer, np.ones_like(known)), [[1.0, 0.0], [0.0, -1.0]], cluster)
        found = powered(given)
    true = truth(shape) - truth(shape, 1)
    there = np.array([different(one[np.isfinite(one)]) >= DIFFERENT_AT_LEAST for one in known])
    there &= ((given.of_people**2).sum(axis=-1) > 0) & (given.df + 1.0 >= EFFECTIVE_AT_LEAST)
    return (found.low <= true) & (true <= found.high), known, there


def cell_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of gains whose cells have unequal numbers of scores, and of gains whose cells different people scored."""
    shapes = ("normal", "grades", "counts", "0 or 1, rarely 1", "0 or 1, unequal cells", "skewed")
    for scores, shape in product(CELLS, shapes):
        random = np.random.default_rng([53, SHAPES.index(shape), *scores])
        covers, known, there = of_cells(random, draws, shape, scores)
        label = f"{shape}, r 0.7, {scores[0]} and {scores[1]} scores of the cells"
        yield f"without a gate of its own, coverage of a gain: {label}", figure(covers[there].mean())
        of_each = [[one[np.isfinite(one[:, cell]), cell] for cell in (0, 1)] for one in known]
        passed = there & np.array([not few_of_a_cell(cells) for cells in of_each])
        if min(scores) >= OF_CELL_AT_LEAST:
            goal = COVERS if scores[1] <= 2 * scores[0] else ""
            yield f"coverage of a gain: {label}", figure(covers[passed].mean(), "", goal)
            yield f"share of studies with an interval, gain: {label}", figure(passed.mean())
    for (how, shares), scores in product(ASSESSED.items(), (20, 40)):
        random = np.random.default_rng([59, list(ASSESSED).index(how), scores])
        first = random.random((draws, 100, 2)) < (0.5 if shares is None else np.array(shares))
        if how == "whole queries by one":
            first = np.repeat(first[..., :1], 2, axis=-1)
        severity = SEVERITY * random.normal(size=(2, draws, 1, 1))
        added = np.where(first, *severity)
        covers, known, _ = of_cells(random, draws, "normal", (scores, scores), added)
        there = np.isfinite(known)
        counts = [(there & own).sum(axis=1) for own in (first, ~first)]
        told = np.array([bool(unlike_assessors({"a": a, "b": b})) for a, b in zip(*counts, strict=True)])
        label = f"scored {how}, {scores} scores of the cells each"
        yield f"without a look at assessors, coverage of a gain of two people: {label}", figure(covers.mean())
        yield f"false verdicts on a gain of two people: {label}", figure((~covers & ~told).mean(), "", FALSE)
        yield f"share of studies without an interval, gain of two people: {label}", figure(told.mean())


PARTS = {
    "powered": powered_figures, "chosen": chosen_figures, "agreement": agreement_figures, "orders": order_figures,
    "assessors": assessor_figures, "cells": cell_figures,
}  # fmt: skip
# What the labels of a part's figures have, and no others.
LABELS = {
    "powered": r"^(?!.*of the cells).*(a|over|interval,|alone,) (mean|gain|slope)\b",
    "chosen": r"^a share of",
    "agreement": r" (rho|r|length)\b.*answers",
    "orders": r"\b(tau|tau_AP)\b",
    "assessors": r"two assessors",
    "cells": r"of the cells",
}


def _is_of(label: str, parts: Sequence[str]) -> bool:
    return any(re.search(LABELS[part], label) for part in parts)


def main() -> None:
    """Draw, print and write."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=4000, help="studies of each kind")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    given = parser.parse_args()
    figures: dict[str, Figure] = {}
    if set(given.parts) < set(PARTS) and given.out.is_file():  # those of other parts are kept
        figures = json.loads(given.out.read_text(encoding="utf-8"))["figures"]
        figures = {label: one for label, one in figures.items() if not _is_of(label, given.parts)}
    for part in given.parts:
        for label, made in PARTS[part](given.draws):
            figures[label] = made
            print(f"{label}: {made['value']} {made.get('goal', '')}", flush=True)
    setting = (
        f"{given.draws:,} studies each; {LABELS_AT_LEAST} scores by people, {LABELS_OF_SLOPE} for slopes; "
        "of 100 queries, scattered, where nothing else is said"
    )
    write_record(given, setting, figures, ("numpy", "scipy"), page="docs/people.md")


if __name__ == "__main__":
    main()
