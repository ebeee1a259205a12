"""What 95% intervals of judges cover: kappa and rho of score and length over queries, and prediction-powered ones.

    python benchmarks/judge_intervals.py --out judge_intervals.json

Draws data sets whose true value is known, takes the workflow's own intervals on each, and prints and writes the share
that covers the truth, and the width of prediction-powered ones compared with people's labels alone. Seeded.
"""

import numpy as np
from ragrelay.analysis.bootstrap import fisher_jackknife
from ragrelay.analysis.clusters import spearman_left_out
from ragrelay.analysis.coefficients import spearman
from ragrelay.annexes.labels.kappa import cohens_kappa
from ragrelay.annexes.labels.prediction_powered import DIFFERENT_AT_LEAST, different, powered_correlation, powered_mean
from scipy import stats

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
DRAWN_AT_ONCE = 50
LARGE = 200_000
COVERS, NARROWER = "0.935 to 0.965", "<= 0.9"


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


def figures(draws: int) -> dict[str, Figure]:
    """All figures by label."""
    made: dict[str, Figure] = {}
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
                    made[f"{name}, {shape} measure, judge {label}, {size} labelled"] = figure(value, "", goal)
    for size in (*FEW, 50):
        for people_share, judge_share in RARE:
            for judge in (0.0, 0.6, 0.9, 0.97):
                label = (
                    f"0 or 1, {people_share:.0%} are 1, judge's {judge_share:.0%}, correlation {judge}, {size} labelled"
                )
                for name, value in binary(draws, size, judge, people_share, judge_share).items():
                    made[f"{name}, {label}"] = figure(value)
    for size in SIZES:
        for what in JUDGED:
            for case in LENGTHS:
                value = length(draws, size, what, case)
                made[f"rho of score and length, coverage, {what}, {case}, {size} queries"] = figure(value, "", COVERS)
        for scale in CUTS:
            for judge in (0.0, 0.6, 0.95):
                value = kappa(draws, size, judge, scale)
                made[f"kappa, coverage, {scale}, judge's correlation {judge}, {size} queries"] = figure(
                    value, "", COVERS
                )
    return made


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=10_000)
    given = parser.parse_args()
    setting = f"{given.draws:,} data sets each, {TIMES} queries without people's labels for each one with"
    write_record(given, setting, figures(given.draws), ["numpy", "scipy"])
