"""Error rates and power of what is said of one relevant passage, where contexts are changed on purpose.

    python benchmarks/intervention_errors.py --out benchmarks/results/intervention_errors.json

Queries have contexts of five passages. An answer's P has noise of one of four kinds (``NOISE``), a part of the query,
and a cost of .03 wherever *any* passage is exchanged. Where one relevant passage is worth something, its worth differs
between queries, and falls or not along the context. Rates are the highest over the kinds of noise, power the lowest.

*Two arms* is what the annex tests: the same place with a relevant and with a non-relevant passage, both new, averaged
within the query. *One arm* compares the relevant one with the context as it was (for the slope: a relevant one that is
taken out); *swaps as units* takes each place of a query for a sample of its own. The slope per nDCG is tested at the
true value, as its interval inverts the test.
*First less last* is paired within queries; *unpaired*, queries whose context is short, which are harder and gain more,
count at the first place alone. Leaving out compares relevant with non-relevant passages within queries that have both.
The first place counts more whatever is in it, and relevant passages stand there more often: *adjusted* is less the
means of queries and places, *relevant less others* of queries alone, and *against 0* tests the relevant ones alone.
*Places that do not add up* are a limit: the first place counts more in queries whose first passage is more often
relevant. *A query's part* is the largest difference between the package's and a two-way centred number of a query, with
2 to 10 passages: places add up to 0 within a query, so that their matrix is singular.
Clusters have four queries that share half of their variance.
*Refused*: effects are steady but for some refused answers, which lack in many samples. Rates are the highest over
steady effects of 0, .05 and .1 with a standard deviation of .01 to .12, and over refusals; *without a remark* counts
the slopes that one more query hardly moves (effects.stays).
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from ragrelay.analysis.mean_tests import ClusterMeans, Means
from ragrelay.annexes.interventions.effects import by_query, stays
from ragrelay.annexes.interventions.intervention import OTHER, RELEVANT

from benchmarks.shared import model_columns, record

Array = np.ndarray
SIZES = (12, 20, 36, 43)
AT_FIRST = 0.08
"""What any passage at the first place of the prompt is worth besides, of the size seen with SmolLM2 on the demo."""
UNLIKE_AT_FIRST = 0.25
"""The same on average, where it differs by query."""
PLACES, COST, WORTH, SPREAD, NOISE_OF_P, OF_QUERY = 5, 0.03, 0.06, 0.08, 0.12, 0.1
SLOPE = 0.2
FALSE_AT_MOST, FOUND_AT_LEAST = 0.06, 0.7
REFUSALS = ((0.0, 0.0), (0.08, -0.4), (0.08, 0.4), (0.05, 0.38), (0.08, 0.2))
"""Share of queries with a refused answer, and what it adds to their effect."""
DISCOUNT = 1.0 / np.log2(np.arange(PLACES) + 2.0)


def _of_model() -> Array:
    """Differences of P between two seeds of one language model's answers to the same prompt, over their sd."""
    rows = model_columns.packed().filter(references="lenient", k=PLACES)
    differences = (rows["seed1"] - rows["seed2"]).drop_nulls().to_numpy()
    return (differences - differences.mean()) / differences.std()


MODEL = _of_model()
NOISE: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "exponential": lambda random, shape: random.exponential(size=shape) - 1.0,
    "half zeros": lambda random, shape: np.where(
        random.random(shape) < 0.5, 0.0, np.sqrt(2.0) * random.standard_normal(shape)
    ),
    "a language model's": lambda random, shape: MODEL[random.integers(0, len(MODEL), shape)],
}


class Answers:
    """P (n, places, draws) of contexts as they were, and with a relevant and a non-relevant passage at each place."""

    def __init__(
        self, random: np.random.Generator, kind: str, n: int, draws: int, worth: float, falls: float = 0.0,
        cluster: Array | None = None,
    ) -> None:  # fmt: skip
        noise = NOISE[kind]
        number = n if cluster is None else int(cluster.max()) + 1
        shared = noise(random, (number, 1, draws))[np.arange(n) if cluster is None else cluster]
        # Worth differs by query: half of its variance is the cluster's, where there are clusters.
        own = noise(random, (n, 1, draws))
        varied = own if cluster is None else np.sqrt(0.5) * (own + shared)
        slant = falls * (0.5 - np.arange(PLACES) / (PLACES - 1))[None, :, None]
        query = OF_QUERY * noise(random, (n, 1, draws))

        def answered(part: Array | float) -> Array:
            return query + part + NOISE_OF_P * noise(random, (n, PLACES, draws))

        self.unchanged = query + NOISE_OF_P * noise(random, (n, 1, draws))
        self.worth = worth + SPREAD * varied + slant
        self.relevant = answered(-COST + self.worth)
        self.other = answered(-COST)


def rejected(columns: Array) -> tuple[float, float]:
    """Shares of ``columns`` (n, draws) whose mean is said to be above, and below, 0."""
    tested = Means.cautious(columns)
    low, high = tested.interval()
    return float((low > 0).mean()), float((high < 0).mean())


def two_arms(random: np.random.Generator, kind: str, n: int, draws: int, worth: float) -> dict[str, float]:
    """Rates of words, in both directions, for a mean ``worth``."""
    given = Answers(random, kind, n, draws, worth)
    both = (given.relevant - given.other).mean(axis=1)
    one = given.relevant.mean(axis=1) - given.unchanged[:, 0]
    units = (given.relevant - given.other).reshape(n * PLACES, draws)
    rates = {"two arms": rejected(both), "one arm": rejected(one), "swaps as units": rejected(units)}
    return {name: (above if worth else above + below) for name, (above, below) in rates.items()}


def slopes(random: np.random.Generator, kind: str, n: int, draws: int) -> dict[str, float]:
    """How often the true slope is rejected, and the mean slope that each design reads."""
    noise, noise_of = NOISE[kind], NOISE_OF_P
    gain = random.uniform(0.2, 0.6, (n, 1, draws)) * DISCOUNT[None, :, None]
    taken = random.random((n, PLACES, draws)) < 0.4  # the places that have a relevant passage
    taken[:, 0] = True
    lost = random.uniform(0.2, 0.6, (n, 1, draws)) * DISCOUNT[None, :, None] * taken
    relevant, other = gain - lost, -lost
    p = [SLOPE * x - COST + noise_of * noise(random, (n, PLACES, draws)) for x in (relevant, other)]
    p_was, out = noise_of * noise(random, (n, 1, draws)), taken.sum(axis=1)
    above, below = (p[0] - p[1]).mean(axis=1), (relevant - other).mean(axis=1)
    alone, moved = (np.where(taken, p_was - p[1], 0.0).sum(axis=1) / out, lost.sum(axis=1) / out)
    tests = {"two arms": (above, below), "one arm": (alone, moved)}
    return {
        **{name: sum(rejected(up - SLOPE * down)) for name, (up, down) in tests.items()},
        **{
            f"read by {name}": float(np.mean(up.mean(axis=0) / down.mean(axis=0))) for name, (up, down) in tests.items()
        },
    }


def positions(random: np.random.Generator, kind: str, n: int, draws: int, falls: float) -> dict[str, float]:
    """Rates of "first differs from last": paired within queries that have both, and unpaired where some lack the last.

    ``n`` queries have both; half as many again have the first alone, and a relevant passage is worth more to them.
    """
    given = Answers(random, kind, n, draws, WORTH, falls)
    of_place = given.relevant - given.other
    short = Answers(random, kind, max(2, n // 2), draws, 2.5 * WORTH)
    first = np.concatenate([of_place[:, 0], (short.relevant - short.other)[:, 0]])
    last = of_place[:, -1]
    difference = first.mean(axis=0) - last.mean(axis=0)
    error = np.sqrt(first.var(axis=0, ddof=1) / len(first) + last.var(axis=0, ddof=1) / len(last))
    return {
        "paired": sum(rejected(of_place[:, 0] - last)),
        "unpaired": float((np.abs(difference / error) > 2.0).mean()),
    }


def left_out(random: np.random.Generator, kind: str, n: int, draws: int, worth: float) -> dict[str, float]:
    """Rates of words on leaving out: any passage counts, more so in easy queries, which have more relevant ones."""
    noise = NOISE[kind]
    ease = random.random((n, 1, draws))
    place = np.arange(PLACES)[None, :, None]
    relevant = random.random((n, PLACES, draws)) < 0.3 + 0.4 * ease - 0.12 * place + 0.2 * (place == 0)
    lacks, one = ~relevant.any(axis=1), random.integers(0, PLACES, (n, draws))
    relevant |= lacks[:, None] & (place == one[:, None])  # queries that have both
    relevant &= ~(relevant.all(axis=1)[:, None] & (place == one[:, None]))
    was = NOISE_OF_P * noise(random, (n, 1, draws))
    at_place = COST * ease * 2 + AT_FIRST * (place == 0)
    effect = was - NOISE_OF_P * noise(random, (n, PLACES, draws)) + at_place + worth * relevant
    mean = [np.where(side, effect, 0.0).sum(axis=1) / side.sum(axis=1) for side in (relevant, ~relevant)]
    rates = {"adjusted": rejected(parts(relevant * 1.0, effect)), "relevant less others": rejected(mean[0] - mean[1]),
             "against 0": rejected(mean[0])}  # fmt: skip
    return {name: (above if worth else above + below) for name, (above, below) in rates.items()}


def not_additive(random: np.random.Generator, kind: str, n: int, draws: int) -> dict[str, float]:
    """Rates of words on leaving out where the first place counts more in queries whose first passage is relevant."""
    noise = NOISE[kind]
    good = random.random((n, 1, draws))
    place = np.arange(PLACES)[None, :, None]
    relevant = random.random((n, PLACES, draws)) < np.where(place == 0, 0.9 * good, 0.3)
    lacks, one = ~relevant.any(axis=1), random.integers(0, PLACES, (n, draws))
    relevant |= lacks[:, None] & (place == one[:, None])  # queries that have both
    relevant &= ~(relevant.all(axis=1)[:, None] & (place == one[:, None]))
    was = NOISE_OF_P * noise(random, (n, 1, draws))
    effect = was - NOISE_OF_P * noise(random, (n, PLACES, draws)) + UNLIKE_AT_FIRST * (place == 0) * 2 * good
    return {"adjusted": sum(rejected(parts(relevant * 1.0, effect)))}


def parts(relevant: Array, effect: Array) -> Array:
    """Each query's part (n, draws) of the coefficient of relevance beside queries and places (n, places, draws)."""
    own = [x - x.mean(axis=0) - x.mean(axis=1)[:, None] + x.mean(axis=(0, 1)) for x in (relevant, effect)]
    squares = (own[0] ** 2).sum(axis=1).mean(axis=0)
    return (own[0] * own[1]).sum(axis=1) / np.maximum(squares, 1e-9)


def largest_error() -> float:
    """The largest difference of a query's part by the package from that of ``parts``."""
    errors = []
    for n, k in itertools.product(range(4, 45, 3), range(2, 11)):
        random = np.random.default_rng([n, k])
        relevant = random.random((n, k)) < 0.4
        relevant[:, 0] = np.arange(n) % 3 > 0
        relevant[:, -1] = ~relevant[:, 0]
        effect = random.normal(0, 0.1, (n, k))
        rows = pl.DataFrame({
            "qid": [f"{query:02}" for query in range(n) for _ in range(k)], "draw": 1, "place": [*range(k)] * n,
            "side": [RELEVANT if one else OTHER for one in relevant.ravel()], "effect": effect.ravel(), "moved": 0.0,
        })  # fmt: skip
        known = parts(relevant[..., None] * 1.0, effect[..., None])[:, 0]
        errors.append(np.abs(by_query(rows)["effect"].to_numpy() - known).max())
    return float(max(errors))


def clustered(random: np.random.Generator, kind: str, n: int, draws: int) -> dict[str, float]:
    """Rates of words where queries come in clusters of four."""
    cluster = np.arange(4 * n) // 4
    given = Answers(random, kind, 4 * n, draws, 0.0, cluster=cluster)
    both = (given.relevant - given.other).mean(axis=1)
    ends = [ClusterMeans.of(both[:, place], cluster).p_value()[0] < 0.05 for place in range(draws)]
    return {"by cluster": float(np.mean(ends)), "queries as units": sum(rejected(both))}


def refused(random: np.random.Generator, n: int, draws: int, share: float, added: float) -> tuple[float, float]:
    """How often the true slope is rejected, and rejected without a remark: the highest over steady effects."""
    highest = np.zeros(2)
    for steady, spread in itertools.product((0.0, 0.05, 0.1), (0.01, 0.03, 0.06, 0.12)):
        effects = steady + added * (random.random((n, draws)) < share) + spread * random.standard_normal((n, draws))
        moved = random.uniform(0.2, 0.6, (n, draws))
        missed = Means.cautious(effects - (steady + share * added) / 0.4 * moved).p_value() < 0.05
        without = sum(stays(column, None) for column in effects.T[missed])
        highest = np.maximum(highest, [missed.mean(), without / draws])
    return float(highest[0]), float(highest[1])


def refused_figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    """Of slopes where some answers are refused."""
    for n, (share, added) in itertools.product(SIZES, REFUSALS):
        random = np.random.default_rng([n, int(100 * share), int(100 * abs(added)), added > 0])
        missed, without = refused(random, n, draws, share, added)
        of = f"{n} queries, {share:.0%} refused ({added:+g})" if share else f"{n} queries, none refused"
        yield f"slope per nDCG, true one rejected: {of}", record.figure(missed, goal="" if share else "<= 0.065")
        yield f"slope per nDCG, true one rejected without a remark: {of}", record.figure(without, goal="<= 0.065")


def second_draw(random: np.random.Generator, draws: int) -> float:
    """How much of the standard error is left with two pairs of passages for each query."""
    once = Answers(random, "normal", 36, draws, WORTH)
    effect = (once.relevant - once.other).mean(axis=1)
    again = once.worth + NOISE_OF_P * (
        NOISE["normal"](random, once.relevant.shape) - NOISE["normal"](random, once.relevant.shape)
    )
    both = (effect + again.mean(axis=1)) / 2
    return float(np.mean(both.std(axis=0, ddof=1)) / np.mean(effect.std(axis=0, ddof=1)))


def over_kinds(pick: Callable[[list[float]], float], one: Callable[[str], dict[str, float]]) -> dict[str, float]:
    """The highest or lowest of each figure over kinds of noise."""
    rates = [one(kind) for kind in NOISE]
    return {name: pick([each[name] for each in rates]) for name in rates[0]}


def figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    """Every rate, by name."""
    most, least = f"<= {FALSE_AT_MOST}", f">= {FOUND_AT_LEAST}"
    for n in SIZES:
        random = np.random.default_rng(n)
        for name, rate in over_kinds(max, lambda kind: two_arms(random, kind, n, draws, 0.0)).items():  # noqa: B023
            goal = most if name == "two arms" else ""
            yield f"one relevant passage, false word: {n} queries, {name}", record.figure(rate, goal=goal)
        for name, rate in over_kinds(min, lambda kind: two_arms(random, kind, n, draws, WORTH)).items():  # noqa: B023
            goal = least if name == "two arms" and n >= 36 else ""
            yield f"one relevant passage, worth {WORTH} found: {n} queries, {name}", record.figure(rate, goal=goal)
        for name, rate in over_kinds(max, lambda kind: slopes(random, kind, n, draws)).items():  # noqa: B023
            goal = most if name == "two arms" else ""
            title = "slope per nDCG, true one rejected" if "read" not in name else f"slope per nDCG, true {SLOPE}"
            yield f"{title}: {n} queries, {name}", record.figure(rate, goal=goal)
        for name, rate in over_kinds(max, lambda kind: positions(random, kind, n, draws, 0.0)).items():  # noqa: B023
            goal = most if name == "paired" else ""
            yield f"first less last, false word: {n} queries, {name}", record.figure(rate, goal=goal)
        found = over_kinds(min, lambda kind: positions(random, kind, n, draws, 0.1))  # noqa: B023
        yield f"first less last, 0.1 found: {n} queries, paired", record.figure(found["paired"])
        for name, rate in over_kinds(max, lambda kind: left_out(random, kind, n, draws, 0.0)).items():  # noqa: B023
            goal = most if name == "adjusted" else ""
            yield f"left out, false word: {n} queries, {name}", record.figure(rate, goal=goal)
        unlike = np.random.default_rng([n, 1])
        found = over_kinds(max, lambda kind: not_additive(unlike, kind, n, draws))  # noqa: B023
        yield (
            f"left out, places that do not add up, false word: {n} queries, adjusted",
            record.figure(found["adjusted"]),
        )
        found = over_kinds(min, lambda kind: left_out(random, kind, n, draws, WORTH))  # noqa: B023
        yield f"left out, worth {WORTH} found: {n} queries, adjusted", record.figure(found["adjusted"])
        for name, rate in over_kinds(max, lambda kind: clustered(random, kind, n, draws // 4)).items():  # noqa: B023
            goal = "<= 0.065" if name == "by cluster" else ""
            yield f"one relevant passage, false word: {n} clusters of 4, {name}", record.figure(rate, goal=goal)
    yield "left out, largest error of a query's part", record.figure(largest_error(), goal="<= 1e-12")
    yield "standard error left with a second draw", record.figure(second_draw(np.random.default_rng(2), draws))


PARTS = {"changes": figures, "refused": refused_figures}


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--parts", nargs="*", choices=PARTS)
    given = parser.parse_args()
    setting = f"{given.draws} data sets for each figure of the parts drawn last, a quarter with clusters"
    record.write_record(
        given, setting, record.figures_of(given, PARTS), ["numpy", "polars", "scipy"], "docs/which-passages-help.md"
    )


if __name__ == "__main__":
    main()
