"""What 95% intervals of judges cover: kappa and rho of score and length over queries, and prediction-powered ones.

    python benchmarks/judge_intervals.py --out judge_intervals.json

Draws data sets whose true value is known, takes the workflow's own intervals on each, and prints and writes the share
that covers the truth, and the width of prediction-powered ones compared with people's labels alone. Also tau of
retrievers over retrievers, next to a bootstrap over queries, and prediction-powered means whose unit is the answer.
Seeded. ``--parts`` chooses what is drawn.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
from ragrelay.analysis.bootstrap import fisher_jackknife, resample_counts
from ragrelay.analysis.clusters import spearman_left_out
from ragrelay.analysis.coefficients import spearman
from ragrelay.analysis.kappa import cohens_kappa
from ragrelay.analysis.orders import AT_LEAST as RETRIEVERS_FOR_INTERVAL
from ragrelay.analysis.orders import DECIMALS
from ragrelay.analysis.prediction_powered import DIFFERENT_AT_LEAST, different
from ragrelay.annexes.labels.agreement import tau_means
from ragrelay.annexes.labels.prediction_powered import powered_correlation, powered_mean
from scipy import stats

from benchmarks.shared import model_columns
from benchmarks.shared.record import Figure, arguments, figure, write_record

Array = np.ndarray
SIZES = (50, 200)
# Queries without people's labels for each one with them.
TIMES = 10
JUDGES = {"random": 0.0, "correlated .6": 0.6, "correlated .9": 0.9, "opposed": -0.5}
R = 0.5
PASSAGES = 10
# Where a normal variable becomes the next grade.
CUTS = {"binary": (0.9,), "grades": (0.3, 0.9, 1.5)}
# Of a measure that is 0 or 1: how often it is 1 by people's labels, and by the judge's.
RARE = ((0.16, 0.16), (0.16, 0.08), (0.16, 0.3), (0.08, 0.16), (0.04, 0.04), (0.3, 0.16), (0.84, 0.84))
# Fewer than the number from which a page says nothing of their coverage.
FEW = (12, 25)
# Answers, or passages, of each query that a judge scores, from the first to the second number.
JUDGED = {"answers": (3, 3), "passages": (1, 19)}
# How strongly a judge's score goes with length, on a normal scale; and the number of values that a score has.
LENGTHS = {"unrelated": (0.0, None), "longer is better": (0.4, None), "of five values": (0.4, 5)}
# Retrievers and queries of a study, and how the retrievers' true means by people and by the judge correlate.
RETRIEVERS, QUERIES, ALIKE = (8, 12, 16, 30), (20, 50, 200), (0.0, 0.5, 0.9, 0.97)
# Standard deviations of a measure: between topics, between retrievers, and of a retriever's query; half of the last
# variance is the same by people and by the judge, as the passages are.
TOPIC, RETRIEVER, QUERY = 0.2, 0.06, 0.25
# Measures: real numbers; 0 or 1, whose means tie; every third retriever is the same one; four share 80% of a variance.
MEANS = ("real", "0 or 1", "copies", "families")
FAMILY = 4
LIMITS = MEANS[2:]
RESAMPLES = 300
# Retrievers drawn at once for the true tau, ten times.
MANY = 2_000
# Labelled queries, answers of each, and the share of the variance that is between queries.
LABELLED, ANSWERS, BETWEEN = 40, 10, (0.1, 0.5)
DRAWN_AT_ONCE = 50
LARGE = 200_000
COVERS, NARROWER = "0.935 to 0.965", "<= 0.9"
# An interval of tau may be too wide, where nearly all pairs of retrievers are in the same order.
AT_LEAST = ">= 0.935"


def skewed(normal: Array) -> Array:
    """Precision at 5 of a rare kind of passage: one of six values, most of them low."""
    return np.clip(np.round(5 * np.exp(0.7 * normal - 1.6)) / 5, 0, 1)


def powered(draws: int, size: int, judge: float, shape: str) -> dict[str, float]:
    """Coverage of the mean and of r, and their mean widths compared with people's labels alone."""
    random, found = np.random.default_rng([size, round(100 * judge) + 100]), []
    shaped = skewed if shape == "skewed" else lambda normal: normal
    truth = float(shaped(np.random.default_rng(0).standard_normal(20 * LARGE)).mean()) if shape == "skewed" else 0.0
    for _ in range(0, draws, DRAWN_AT_ONCE):
        hidden, noise, other = random.standard_normal((3, DRAWN_AT_ONCE, size * (1 + TIMES)))
        people, by_judge = shaped(hidden), shaped(judge * hidden + np.sqrt(1 - judge**2) * noise)
        answers = R * hidden + np.sqrt(1 - R**2) * other
        (p, _), (j, others), (y, rest) = (np.split(one, [size], axis=1) for one in (people, by_judge, answers))
        mean = powered_mean(p, j, others)
        r = powered_correlation((p, y), (j, y), (others, rest))
        for name, one, value in (("mean", mean, truth), ("r", r, R)):
            covers = (one.low <= value) & (value <= one.high)
            found.append((name, covers.mean(), ((one.high - one.low) / (one.alone_high - one.alone_low)).mean()))
    return {f"{name}, {what}": float(np.mean([one[place] for one in found if one[0] == name]))
            for name in ("mean", "r") for place, what in ((1, "coverage"), (2, "width"))}  # fmt: skip


def binary(draws: int, size: int, judge: float, people_share: float, judge_share: float) -> dict[str, float]:
    """Coverage of the mean and of r of a measure that is 0 or 1, of the data sets that have an interval; their share.

    ``judge``: the correlation of the normal variables behind both labels.
    """
    random, found = np.random.default_rng([size, round(100 * judge) + 100, round(100 * people_share)]), []
    cut, judge_cut = stats.norm.isf([people_share, judge_share])
    true_r = R * stats.norm.pdf(cut) / np.sqrt(people_share * (1 - people_share))
    for _ in range(0, draws, DRAWN_AT_ONCE):
        hidden, noise, other = random.standard_normal((3, DRAWN_AT_ONCE, size * (1 + TIMES)))
        people = (hidden > cut).astype(float)
        by_judge = (judge * hidden + np.sqrt(1 - judge**2) * noise > judge_cut).astype(float)
        answers = R * hidden + np.sqrt(1 - R**2) * other
        for name, least, value in (("mean", 1, people_share), ("r", DIFFERENT_AT_LEAST, true_r)):
            known = different(people[:, :size]) >= least
            known &= (name == "mean") | (different(by_judge[:, :size]) > 0)
            if not known.any():
                continue
            parts = [np.split(one[known], [size], axis=1) for one in (people, by_judge, answers)]
            (p, _), (j, others), (y, rest) = parts
            one = powered_mean(p, j, others) if name == "mean" else powered_correlation((p, y), (j, y), (others, rest))
            found += [(name, covers) for covers in (one.low <= value) & (value <= one.high)]
    made = {}
    for name in ("mean", "r"):
        covered = [covers for what, covers in found if what == name]
        made[f"{name}, coverage"] = float(np.mean(covered)) if covered else np.nan
        made[f"{name}, share of data sets"] = len(covered) / draws
    return made


def tables(random: np.random.Generator, queries: tuple[int, ...], judge: float, cuts: tuple[float, ...]) -> Array:
    """Counts of pairs by query of labels that depend within a query, (*queries, g, g)."""
    shared, own = random.standard_normal((2, *queries, 1)), random.standard_normal((2, *queries, PASSAGES))
    people, noise = 0.6 * shared + 0.8 * own
    labels = (np.searchsorted(cuts, one) for one in (people, judge * people + np.sqrt(1 - judge**2) * noise))
    of_people, of_judge = (np.eye(len(cuts) + 1)[one] for one in labels)
    return np.swapaxes(of_people, -1, -2) @ of_judge


def kappa(draws: int, size: int, judge: float, scale: str) -> float:
    """Coverage of kappa's interval; its true value is that of a very large sample."""
    random = np.random.default_rng([7, size, round(100 * judge)])
    weighted = scale == "grades"
    truth = float(cohens_kappa(tables(random, (LARGE,), judge, CUTS[scale]).sum(axis=0)[None], weighted).value)
    covers = []
    for _ in range(0, draws, DRAWN_AT_ONCE):
        found = cohens_kappa(tables(random, (DRAWN_AT_ONCE, size), judge, CUTS[scale]), weighted)
        covers.append(((found.low <= truth) & (truth <= found.high)).mean())
    return float(np.mean(covers))


def judged(
    random: np.random.Generator, queries: int, per: tuple[int, int], r: float, values: int | None
) -> tuple[Array, Array, Array]:
    """Words, scores and query of what a judge scored; half of the variance of either is between queries."""
    query = np.repeat(np.arange(queries), random.integers(per[0], per[1] + 1, queries))
    between, within = random.standard_normal((2, queries))[:, query], random.standard_normal((2, len(query)))
    length, other = np.sqrt(0.5) * (between + within)
    latent = r * length + np.sqrt(1 - r**2) * other
    score = latent if values is None else np.searchsorted(np.linspace(-1, 1.5, values - 1), latent).astype(float)
    return np.round(50 * np.exp(0.5 * length)), score, query


def length(draws: int, size: int, what: str, case: str) -> float:
    """Coverage of the interval of Spearman's rho of score and words; its true value is that of a very large sample."""
    random, (r, values) = np.random.default_rng([11, size, len(what), len(case)]), LENGTHS[case]

    def rho(words: Array, scores: Array) -> float:
        return float(spearman(np.ones((1, len(words))), words, scores)[0])

    truth, covered = rho(*judged(random, LARGE, JUDGED[what], r, values)[:2]), 0
    for _ in range(draws):
        words, scores, query = judged(random, size, JUDGED[what], r, values)
        found = fisher_jackknife(rho(words, scores), spearman_left_out(words, scores, query))
        covered += found.low is not None and found.low <= truth <= found.high
    return covered / draws


def measured(
    random: np.random.Generator, topics: Array, studies: int, retrievers: int, alike: float, means: str
) -> tuple[Array, Array]:
    """A measure by people and judge (2, studies, queries, retrievers), and true means (2, studies, retrievers)."""
    hidden = random.standard_normal((2, studies, retrievers))
    if means == "families":
        shared = np.repeat(random.standard_normal((2, studies, -(-retrievers // FAMILY))), FAMILY, axis=-1)
        hidden = np.sqrt(0.8) * shared[..., :retrievers] + np.sqrt(0.2) * hidden
    true = RETRIEVER * np.stack([hidden[0], alike * hidden[0] + np.sqrt(1 - alike**2) * hidden[1]])
    noise = random.standard_normal((3, studies, len(topics), retrievers))
    own = QUERY * np.sqrt(0.5) * (noise[0] + noise[1:])
    if means == "copies":
        copied = random.random((studies, retrievers)) < 1 / 3
        true = np.where(copied, 0.0, true)
        own = np.where(copied[:, None], 0.0, own)
    values = true[:, :, None] + topics[:, None] + own
    return (values > 0).astype(float) if means == "0 or 1" else values, true


def tau_here(random: np.random.Generator, topics: Array, retrievers: int, alike: float, means: str) -> float:
    """Tau at these queries over retrievers like these, from very many; of families, over studies of as many."""
    studies, size = (MANY // retrievers, retrievers) if means == "families" else (1, MANY)
    parts = [measured(random, topics, studies, size, alike, means)[0].mean(axis=2) for _ in range(10)]
    drawn = np.round(np.concatenate(parts, axis=1 if means == "families" else 2), DECIMALS)
    return float(np.mean([stats.kendalltau(*study).statistic for study in drawn.swapaxes(0, 1)]))


def over_queries(people: Array, judge: Array) -> tuple[float, float]:
    """Bootstrap percentiles, over queries, of tau of the means of two tables (queries, retrievers)."""
    weights = np.concatenate(list(resample_counts(len(people), RESAMPLES, 0)))
    first, second = np.triu_indices(people.shape[1], 1)
    a, b = (np.sign(drawn[:, first] - drawn[:, second]) for drawn in (weights @ people, weights @ judge))
    low, high = np.quantile((a * b).mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def retrievers(draws: int, count: int, queries: int, alike: float, means: str) -> dict[str, float]:
    """Coverage of the interval of tau of retrievers, its mean width, and the share of studies that have one.

    With real measures and a correlation of .9 also of the bootstrap over queries: of the same tau, and of that of these
    retrievers over all queries.
    """
    random = np.random.default_rng([13, count, queries, round(100 * alike), MEANS.index(means)])
    resampled = means == "real" and alike == 0.9
    found: dict[str, list[float]] = {"coverage": [], "width": [], "share of studies": []}
    for _ in range(0, draws, 4 * DRAWN_AT_ONCE):
        topics = TOPIC * random.standard_normal(queries)
        truth = tau_here(random, topics, count, alike, means)
        values, true = measured(random, topics, 4 * DRAWN_AT_ONCE, count, alike, means)
        for place in range(4 * DRAWN_AT_ONCE):
            people, judge = values[:, place]
            row = tau_means(people, judge, at_least=0)
            found["share of studies"].append("low" in row)
            if "low" in row:
                found["coverage"].append(row["low"] <= truth <= row["high"])
                found["width"].append(row["high"] - row["low"])
            if resampled and place < DRAWN_AT_ONCE:
                low, high = over_queries(people, judge)
                of_these = float(stats.kendalltau(*true[:, place]).statistic)
                for what, value in (("at these queries", truth), ("of these retrievers over all queries", of_these)):
                    found.setdefault(f"coverage of tau {what} by a bootstrap over queries", []).append(
                        low <= value <= high
                    )
    return {what: float(np.mean(values)) if values else np.nan for what, values in found.items()}


def answers(draws: int, judge: float, share: float) -> dict[str, float]:
    """Coverage of the mean of even scores of answers, with the answer and with the query as the unit."""
    random = np.random.default_rng([17, round(100 * judge) + 100, round(100 * share)])
    covers = {"answer": 0.0, "query": 0.0}
    for _ in range(0, draws, DRAWN_AT_ONCE):
        between = random.standard_normal((2, DRAWN_AT_ONCE, LABELLED * (1 + TIMES), 1))
        within = random.standard_normal((*between.shape[:-1], ANSWERS))
        hidden, noise = np.sqrt(share) * between + np.sqrt(1 - share) * within
        scores = stats.norm.cdf([hidden, judge * hidden + np.sqrt(1 - judge**2) * noise])
        for unit, units in (("answer", scores), ("query", scores.mean(axis=-1, keepdims=True))):
            (people, _), (by_judge, others) = (
                (one[:, :LABELLED].reshape(DRAWN_AT_ONCE, -1), one[:, LABELLED:].reshape(DRAWN_AT_ONCE, -1))
                for one in units
            )
            found = powered_mean(people, by_judge, others)
            covers[unit] += ((found.low <= 0.5) & (found.high >= 0.5)).sum() / draws
    return {unit: float(share) for unit, share in covers.items()}


def powered_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of prediction-powered intervals."""
    for size in (*FEW, *SIZES):
        for label, judge in JUDGES.items():
            for shape in ("normal", "skewed"):
                for name, value in powered(draws, size, judge, shape).items():
                    if shape == "skewed" and name.startswith("r,"):
                        continue  # what r is of the population is not known there
                    covers = name.endswith("coverage")
                    goal = (
                        ""
                        if size in FEW
                        else COVERS
                        if covers
                        else NARROWER
                        if label == "correlated .6" and shape == "normal"
                        else "<= 1"
                    )
                    yield f"{name}, {shape} measure, judge {label}, {size} labelled", figure(value, "", goal)
    for size in (*FEW, 50):
        for people_share, judge_share in RARE:
            for judge in (0.0, 0.6, 0.9, 0.97):
                label = (
                    f"0 or 1, {people_share:.0%} are 1, judge's {judge_share:.0%}, correlation {judge}, {size} labelled"
                )
                for name, value in binary(draws, size, judge, people_share, judge_share).items():
                    yield f"{name}, {label}", figure(value)


def judged_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of kappa, and of rho of score and length."""
    for size in SIZES:
        for what in JUDGED:
            for case in LENGTHS:
                value = length(draws, size, what, case)
                label = f"rho of score and length, coverage, {what}, {case}, {size} queries"
                yield label, figure(value, "", COVERS)
        for scale in CUTS:
            for judge in (0.0, 0.6, 0.95):
                value = kappa(draws, size, judge, scale)
                label = f"kappa, coverage, {scale}, judge's correlation {judge}, {size} queries"
                yield label, figure(value, "", COVERS)


def retriever_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of tau of retrievers."""
    for means, count, queries, alike in product(MEANS, RETRIEVERS, QUERIES, ALIKE):
        if means in LIMITS and (count < RETRIEVERS_FOR_INTERVAL or alike < 0.9 or queries == QUERIES[1]):
            continue
        label = f"{count} retrievers, {queries} queries, {means}, true means' correlation {alike}"
        for name, value in retrievers(draws, count, queries, alike, means).items():
            promised = name == "coverage" and count >= RETRIEVERS_FOR_INTERVAL and means not in LIMITS
            yield f"tau of retrievers, {name}: {label}", figure(value, "", AT_LEAST if promised else "")


def answer_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of prediction-powered means of answers."""
    for share, (label, judge) in product(BETWEEN, JUDGES.items()):
        for unit, value in answers(draws, judge, share).items():
            drawn = f"{LABELLED} queries of {ANSWERS} answers, intra-query correlation {share}, judge {label}"
            yield (
                f"mean, coverage, the {unit} is the unit: {drawn}",
                figure(value, "", COVERS if unit == "query" else ""),
            )


def on_a_models_answers(draws: int, size: int, other: bool) -> dict[str, float]:
    """Coverage of the mean and of r where P and measure are a language model's (model_columns.py), queries resampled.

    The judge's measure is that of another run of the same query, or of one of another query. The true mean and r are
    those of the 43 queries.
    """
    rows = model_columns.packed().filter(~pl.col("retriever").is_in(model_columns.ORACLES), references="lenient")
    cells = rows.sort("retriever", "qid").partition_by("k", "retriever", as_dict=True, maintain_order=True)
    random, found = np.random.default_rng([size, other]), []
    for key in [list(cells)[place] for place in random.integers(0, len(cells), draws // DRAWN_AT_ONCE)]:
        people, p = (cells[key][name].to_numpy() for name in ("ndcg", "p"))
        names = [name for k, name in cells if k == key[0] and name != key[1]]
        by_judge = cells[key[0], str(random.choice(names))]["ndcg"].to_numpy()
        at = random.integers(0, len(p), (DRAWN_AT_ONCE, size * (1 + TIMES)))
        judge = by_judge[random.integers(0, len(p), at.shape)] if other else by_judge[at]
        (x, _), (j, others), (y, rest) = (np.split(one, [size], axis=1) for one in (people[at], judge, p[at]))
        known = (different(x) >= DIFFERENT_AT_LEAST) & (different(j) > 0)
        mean = powered_mean(x[known], j[known], others[known])
        r = powered_correlation((x[known], y[known]), (j[known], y[known]), (others[known], rest[known]))
        truths = people.mean(), np.corrcoef(people, p)[0, 1]
        for name, one, truth in zip(("mean", "r"), (mean, r), truths, strict=True):
            found += [(name, covers) for covers in (one.low <= truth) & (truth <= one.high)]
    return {name: float(np.mean([covers for what, covers in found if what == name])) for name in ("mean", "r")}


def model_figures(draws: int) -> Iterator[tuple[str, Figure]]:
    """Of prediction-powered intervals on a language model's answers."""
    for size, other in product(SIZES, (False, True)):
        judge = "of another query" if other else "of another run"
        for name, value in on_a_models_answers(draws, size, other).items():
            goal = COVERS if name == "mean" else ""
            yield (
                f"{name}, coverage, a language model's answers, judge's measure {judge}, {size} labelled",
                figure(value, "", goal),
            )


PARTS = {
    "powered": powered_figures, "judged": judged_figures, "retrievers": retriever_figures, "answers": answer_figures,
    "model": model_figures,
}  # fmt: skip


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    given = parser.parse_args()
    made = dict(one for part in given.parts for one in PARTS[part](given.draws))
    setting = f"{given.draws:,} data sets each, {TIMES} queries without people's labels for each one with"
    write_record(given, setting, made, ["numpy", "scipy"], "docs/error-rates.md")
