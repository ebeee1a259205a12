"""Error rates and power of relay's slope at the steps of a search, and what recorded searches say instead.

    python benchmarks/round_errors.py --out benchmarks/results/round_errors.json

Searches have three steps. At each, every list has the same query text and the same passages before it, and the
question is answered at once; the reference's answer makes the next query. Hard questions have bad lists and bad
answers, good answers make good queries, a list keeps its habits, and passages shown before count as not relevant. P
has normal noise, whose spread differs by question. ``WORLDS`` has the data of one kind each. Words are those of
round_slopes: *all steps* is its row without a step, *it is* both such rows above zero, *some step* any word on a
step as measured. Rates are shares of all studies, with their standard errors.

*The ideal*: nDCG over newly shown passages has the question's ideal (*fixed*), or an ideal without the passages shown
before (*remaining*; no value where nothing is left). An effect is per nDCG of either kind, or per gain. *Recorded
searches* are the reference's answers alone, with questions as units: P on nDCG, its change, both less the means of
the question and the step, and P on the nDCG of new passages with P before the step. *Within a question* centres the
differences of two lists over a question's steps, *question × step* takes each for a unit.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.relay import Cell
from ragrelay.analysis.verdicts import ABOVE, BELOW, TOO_FEW
from ragrelay.annexes.rounds.slopes import STEP_AT_LEAST, round_slopes
from scipy import special

from benchmarks.shared import record

Array = np.ndarray
SIZES, FOUND_SIZES = (12, 20, 36, 100, 300), (36, 100, 300)
STEPS, K, RELEVANT = 3, 3, 8
"""Steps, passages per list, and relevant passages of a question at most."""
SLOPES = (0.1, 0.2)
DISCOUNT = 1.0 / np.log2(np.arange(K) + 2.0)
IDEALS = np.concatenate([[np.nan], DISCOUNT.cumsum()])
"""Ideal gain by the number of relevant passages, at most K."""
MEAN_IDEAL = 2.0
SPREADS = (0.4, 1.0, 1.8)
FALSE_AT_MOST, IT_IS_AT_MOST, STEP_AT_MOST = 0.07, 0.045, 0.07
FIXED, REMAINING, GAIN = "fixed", "remaining", "gain"
PER = {FIXED: "nDCG with the fixed ideal", GAIN: "DCG / 2", REMAINING: "nDCG with the remaining ideal"}
ONE_STATE = "two lists at one state"
RECORDED = ("P on nDCG", "change of P on nDCG", "less question and step", "P on new nDCG, given P before", ONE_STATE)


class World(NamedTuple):
    """What the searches of a kind are like; by default two lists and no effect."""

    lists: int = 2
    slope: float = 0.0
    per: str = FIXED
    """What the slope is per."""
    hits: float = 0.0
    """Log odds of a relevant passage, besides."""
    better: float = 0.0
    """The same, by list: each next one has more."""
    lead: float = 0.02
    """What each next list's answers are worth besides."""
    leads: float = 0.05
    """Standard deviation over questions of that lead."""
    luck: float = 0.4
    """Standard deviation over questions of a list's log odds."""
    habit: float = 0.7
    """How alike the passages are that a list prefers at each step."""
    leans: float = 0.0
    """How much more the last list gains from a good answer before."""
    known: float = 0.0
    """What relevant passages shown before are worth, per nDCG."""
    equal: float = 0.0
    """Share of a list's questions where it is the reference's."""
    ceiling: bool = False
    calmer: bool = False
    """Whether later steps have higher levels and less noise."""
    missing: bool = False
    """Whether answers of hard questions are often missing and count as 0."""
    of_cluster: int = 1
    """Questions of a cluster, which have the same luck and leads."""
    seeds: int = 1


CLUSTERS, HABITS, LEANS = (
    "clusters of three for questions",
    "lists with habits and leads by question",
    "good answers help one list more",
)
WORLDS = {
    "two lists": World(),
    "four lists": World(lists=4),
    "equal measures in three of four pairs": World(hits=-2.2),
    "the same, four lists": World(hits=-2.2, lists=4),
    "a third of the lists equal": World(equal=0.33),
    "P near its ceiling": World(ceiling=True),
    "later steps calmer and on higher levels": World(calmer=True),
    "passages shown before count, four lists": World(known=0.2, lists=4),
    "a list that finds more and leads": World(better=0.8, lead=0.1),
    HABITS: World(leads=0.2, luck=1.2, habit=0.3),
    LEANS: World(leans=7.0, habit=0.3),
    CLUSTERS: World(leads=0.2, luck=1.2, of_cluster=3),
    "missing answers count as 0": World(missing=True),
    "two seeds": World(seeds=2),
}
LABELS = {
    "two lists": "two lists per step",
    "four lists": "four lists per step",
    "equal measures in three of four pairs": "two lists per step; in 75% of pairs, the measure is equal for both lists",
    "the same, four lists": "four lists per step; in 75% of pairs, the measure is equal for both lists",
    "a third of the lists equal": "both lists are identical for a third of the questions",
    "later steps calmer and on higher levels": "later steps have higher P and less noise",
    "passages shown before count, four lists": "four lists per step; relevant passages shown earlier still raise P",
    "a list that finds more and leads": "one list finds more relevant passages and gets better answers",
    HABITS: "the lead of one list differs between questions",
    LEANS: "good answers help one list more than the other",
    CLUSTERS: "questions in clusters of three",
    "P on nDCG": "regression of P on nDCG",
    "change of P on nDCG": "regression of the change in P on nDCG",
    "less question and step": "regression of P on nDCG, both centred by question and by step",
    "P on new nDCG, given P before": "regression of P on nDCG over new passages, adjusted for P before the step",
    ONE_STATE: "slope between two lists in the same state",
}
"""How the page shows the data and estimates in a record."""
FOUND = {name: WORLDS[name] for name in ("two lists", "four lists", "equal measures in three of four pairs")}


class Step(NamedTuple):
    """A step of all studies; (lists, questions, draws), ``before`` without lists."""

    context: Array
    x: dict[str, Array]
    """The measure over new passages, by ideal."""
    shown: Array
    """nDCG of the list, with passages shown before."""
    p: Array
    before: Array


class Questions:
    """The questions of ``draws`` studies, and what they have in all their searches."""

    def __init__(self, random: np.random.Generator, world: World, n: int, draws: int) -> None:
        self.random, self.world = random, world
        self.shape = (n * world.of_cluster, draws)
        self.cluster = np.arange(n).repeat(world.of_cluster)
        self.hard = random.standard_normal(self.shape)
        self.relevant = np.minimum(1 + random.poisson(3, self.shape), RELEVANT)
        self.base = 0.45 - 0.12 * self.hard
        self.spread = 0.12 * random.choice(SPREADS, self.shape)
        shared = self.noise((RELEVANT, *self.shape))
        self.preferred = [0.6 * shared + 0.8 * self.noise(shared.shape) for _ in range(world.lists)]
        self.luck = [world.luck * self.of_cluster() + place * world.better for place in range(world.lists)]
        self.leads = [
            place * world.lead + world.leads * self.of_cluster() * (place > 0) for place in range(world.lists)
        ]
        self.before = np.clip(self.base + self.spread * self.noise(self.shape), 0, 1)
        self.first = self.gains(self.before)

    def noise(self, shape: tuple[int, ...]) -> Array:
        return self.random.standard_normal(shape)

    def of_cluster(self) -> Array:
        """Standard normal numbers that the questions of a cluster share."""
        return self.noise((self.cluster[-1] + 1, self.shape[1]))[self.cluster]

    def gains(self, p: Array) -> tuple[Array, Array]:
        """The number of each list, and its gain by relevant passage (lists, passages, questions, draws)."""
        world, random = self.world, self.random
        gains, context = np.zeros((world.lists, RELEVANT, *self.shape)), np.zeros((world.lists, *self.shape))
        exists = np.arange(RELEVANT)[:, None, None] < self.relevant
        for place in range(world.lists):
            follows = 1.6 + world.leans * (1.0 if place == world.lists - 1 else -1.0) * 0.8
            odds = -0.3 + world.hits - 0.6 * self.hard + self.luck[place] + follows * (p - 0.45)
            odds += 0.3 * self.noise(self.shape)
            found = np.minimum(random.binomial(K, special.expit(odds)), self.relevant)
            own = world.habit * self.preferred[place] + np.sqrt(1 - world.habit**2) * self.noise(exists.shape)
            rank = np.where(exists, -own, np.inf).argsort(axis=0).argsort(axis=0)
            at = np.take_along_axis(random.random((K, *self.shape)).argsort(axis=0), np.minimum(rank, K - 1), axis=0)
            gains[place] = DISCOUNT[at] * (rank < found)
            equal = (random.random(self.shape) < world.equal) & (place > 0)
            gains[place] = np.where(equal, gains[0], gains[place])
            context[place] = np.where(equal, 0, place)
        return context, gains

    def answers(self, mean: Array, context: Array, step: int) -> Array:
        """P (lists, questions, draws) about ``mean``; equal lists have one answer."""
        world = self.world
        noise = self.spread * (0.7**step if world.calmer else 1.0)
        p = np.clip(mean + 0.1 * step * world.calmer + noise * self.noise(mean.shape), 0, 1)
        p = np.minimum(p + 0.35, 1) if world.ceiling else p
        if world.missing:
            p = np.where(self.random.random(p.shape) < special.expit(1.2 * self.hard - 2), 0.0, p)
        return np.where(context == 0, p[0], p)

    def search(self) -> Iterator[Step]:
        """The steps of one seed."""
        world, p, ideal = self.world, self.before, IDEALS[np.minimum(self.relevant, K)]
        seen, known = np.zeros((RELEVANT, *self.shape), bool), np.zeros(self.shape)
        for step in range(STEPS):
            context, gains = self.gains(p) if step else self.first
            new = np.where(seen, 0.0, gains).sum(axis=1)
            left = IDEALS[np.minimum(self.relevant - seen.sum(axis=0), K)]
            x = {FIXED: new / ideal, REMAINING: new / left, GAIN: new / MEAN_IDEAL}
            mean = self.base + world.known * known + world.slope * np.nan_to_num(x[world.per]) + np.array(self.leads)
            answered = self.answers(mean + 0.35 * (p - self.base), context, step)
            yield Step(context, x, gains.sum(axis=1) / ideal, answered, p)
            seen, known, p = seen | (gains[0] > 0), known + x[FIXED][0], answered[0]


class Studies(NamedTuple):
    """Steps of ``draws`` studies by seed, and the questions' clusters if they have any."""

    seeds: list[list[Step]]
    cluster: Array | None
    draws: int

    @classmethod
    def of(cls, world: World, n: int, draws: int) -> "Studies":
        """Draw them."""
        questions = Questions(np.random.default_rng([n, *str(world).encode()]), world, n, draws)
        seeds = [list(questions.search()) for _ in range(world.seeds)]
        return cls(seeds, questions.cluster if world.of_cluster > 1 else None, draws)

    def cells(self, draw: int, ideal: str = FIXED) -> dict[int, list[Cell]]:
        """A study's cells by step: of each seed, but one at the first step, whose P is the mean over seeds."""
        by_step: dict[int, list[Cell]] = {}
        for step in range(STEPS):
            of_seeds = [seed[step] for seed in self.seeds]
            p = [one.p[..., draw] for one in of_seeds]
            for one, answered in zip(of_seeds, p if step else [np.mean(p, axis=0)], strict=False):
                x = one.x[ideal][..., draw]
                cell = Cell(one.context[..., draw], x, answered, x.mean(axis=0), one.before[:, draw])
                by_step.setdefault(step + 1, []).append(cell._replace(cluster=self.cluster))
        return by_step


class Read(NamedTuple):
    """What round_slopes says of studies: words and slopes (draws, steps and all together, as measured and adjusted)."""

    words: Array
    slopes: Array

    @classmethod
    def of(cls, studies: Studies, ideal: str = FIXED) -> "Read":
        rows = [round_slopes(studies.cells(draw, ideal)) for draw in range(studies.draws)]
        shape = (studies.draws, STEPS + 1, 2)
        words = np.array([[row["verdict"] for row in of_study] for of_study in rows]).reshape(shape)
        slopes = np.array([[row["slope"] for row in of_study] for of_study in rows], float).reshape(shape)
        return cls(words, slopes)

    @property
    def said(self) -> dict[str, Array]:
        """Whether there is a word (draws,)."""
        word = np.isin(self.words, (ABOVE, BELOW))
        return {
            "all steps": word[:, -1, 0],
            "it is": (self.words[:, -1] == ABOVE).all(axis=1),
            "some step": word[:, :-1, 0].any(axis=1),
        }


def rate(said: Array, goal: str = "") -> record.Figure:
    """The share of studies where something is said, with its standard error."""
    share = float(said.mean())
    error = float(np.sqrt(share * (1 - share) / len(said)))
    return record.figure(share, goal=goal) | {"error": float(f"{error:.2g}")}


def mean(values: Array) -> record.Figure:
    """A mean over studies, with its standard error."""
    known = values[np.isfinite(values)]
    return record.figure(float(known.mean())) | {"error": float(f"{known.std() / np.sqrt(len(known)):.2g}")}


Figures = Iterator[tuple[str, record.Figure]]
GOALS = {"all steps": FALSE_AT_MOST, "it is": IT_IS_AT_MOST, "some step": STEP_AT_MOST}


def choice_figures(draws: int) -> Figures:
    """The ideal of the measure over new passages: false words, and slopes by step."""
    for ideal, n in itertools.product((FIXED, REMAINING), FOUND_SIZES):
        said = Read.of(Studies.of(World(), n, draws), ideal).said
        yield f"ideal, false word: {n} questions, {ideal} ideal", rate(said["all steps"])
    for per, ideal in itertools.product((FIXED, GAIN, REMAINING), (FIXED, REMAINING)):
        studies = Studies.of(World(slope=0.2, per=per), 300, draws // 5)
        slopes = Read.of(studies, ideal).slopes[..., 0]
        for place in range(STEPS + 1):
            step = f"step {place + 1}" if place < STEPS else "all steps"
            yield f"ideal, slope of {step}: effect per {per}, {ideal} ideal", mean(slopes[:, place])
    for place, step in enumerate(Studies.of(World(), 300, draws // 5).seeds[0]):
        undefined = np.isnan(step.x[REMAINING]).any(axis=0).mean(axis=0)
        yield f"ideal, questions without a value: step {place + 1}, {REMAINING} ideal", mean(undefined)


def null_figures(draws: int) -> Figures:
    """Words where lists have no effect."""
    for (name, world), n in itertools.product(WORLDS.items(), SIZES):
        read = Read.of(Studies.of(world, n, draws))
        for word, said in read.said.items():
            if word != "some step" or n >= STEP_AT_LEAST:
                yield f"{word}, false word: {n} questions, {name}", rate(said, f"<= {GOALS[word]}")
        yield f"all steps, enough for a word: {n} questions, {name}", rate(read.words[:, -1, 0] != TOO_FEW)


def found_figures(draws: int) -> Figures:
    """Words where lists have an effect."""
    for (name, world), slope, n in itertools.product(FOUND.items(), SLOPES, FOUND_SIZES):
        read = Read.of(Studies.of(world._replace(slope=slope), n, draws // 2))
        yield f"it is, found: {n} questions, {name}, slope {slope}", rate(read.said["it is"])
        for place in range(STEPS):
            above = read.words[:, place, 0] == ABOVE
            yield f"step {place + 1}, found: {n} questions, {name}, slope {slope}", rate(above)
        yield f"all steps, slope: {n} questions, {name}, slope {slope}", mean(read.slopes[:, -1, 0])


def summed(x: Array, y: Array) -> tuple[Array, Array]:
    """Words and slopes (draws,) of ``y`` on ``x`` (steps, questions, draws), with questions as units."""
    xx, xy = (x * x).sum(axis=0), (x * y).sum(axis=0)
    return Means.cautious(xy).p_value() < 0.05, xy.sum(axis=0) / xx.sum(axis=0)


def centred(values: Array, within: bool = False) -> Array:
    """``values`` (steps, questions, draws) less the step's mean and, ``within`` questions, the question's."""
    less = values - values.mean(axis=1, keepdims=True)
    return less - less.mean(axis=0) if within else less


def given_before(values: Array, before: Array) -> Array:
    """Residuals of ``values`` (steps, questions, draws) on ``before``, by step."""
    y, z = centred(values), centred(before)
    return y - z * (y * z).sum(axis=1, keepdims=True) / (z * z).sum(axis=1, keepdims=True)


def recorded(steps: Sequence[Step]) -> dict[str, tuple[Array, Array]]:
    """What recorded searches say: words and slopes (draws,)."""
    shown, p, before = (np.array(each) for each in zip(*((s.shown[0], s.p[0], s.before) for s in steps), strict=True))
    new = np.array([step.x[FIXED][0] for step in steps])
    read = (
        summed(centred(shown), centred(p)),
        summed(centred(shown), centred(p - before)),
        summed(centred(shown, True), centred(p, True)),
        summed(given_before(new, before), given_before(p, before)),
    )
    return dict(zip(RECORDED, read, strict=False))


def recorded_figures(draws: int) -> Figures:
    """What recorded searches, and other ways to take differences of two lists, say."""
    for slope, n in itertools.product((0.0, *SLOPES[1:]), FOUND_SIZES):
        studies = Studies.of(World(slope=slope), n, draws)
        for name, (word, slopes) in recorded(studies.seeds[0]).items():
            if not slope:
                yield f"recorded, false word: {n} questions, {name}", rate(word)
            yield f"recorded, slope: {n} questions, {name}, slope {slope}", mean(slopes)
        few = studies._replace(draws=min(draws, 200))
        yield (
            f"recorded, slope: {n} questions, {ONE_STATE}, slope {slope}",
            mean(Read.of(few).slopes[:, -1, 0]),
        )
    for name, n in itertools.product((HABITS, LEANS), FOUND_SIZES):
        steps = Studies.of(WORLDS[name], n, draws).seeds[0]
        x, y = (np.array([one[1] - one[0] for one in of]) for of in ([s.x[FIXED] for s in steps], [s.p for s in steps]))
        word, slopes = summed(centred(x, True), centred(y, True))
        yield f"within a question, false word: {n} questions, {name}", rate(word)
        yield f"within a question, slope: {n} questions, {name}", mean(slopes)
        units = (centred(one).reshape(1, -1, draws) for one in (x, y))
        yield f"question × step, false word: {n} questions, {name}", rate(summed(*units)[0])
    for n in FOUND_SIZES:
        alone = Read.of(Studies.of(WORLDS[CLUSTERS], n, draws // 2)._replace(cluster=None))
        yield f"questions as units, false word: {n} questions, {CLUSTERS}", rate(alone.said["all steps"])


PARTS = {"choice": choice_figures, "nulls": null_figures, "found": found_figures, "recorded": recorded_figures}


def values(path: Path) -> dict[str, float]:
    """A record's figures."""
    return {title: one["value"] for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items()}


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def null_table(path: Path) -> str:
    """False words in per cent: all steps / it is / some step, by world and number of questions."""
    known = values(path)

    def cell(world: str, n: int) -> str:
        shares = [known.get(f"{word}, false word: {n} questions, {world}") for word in GOALS]
        return " / ".join("–" if share is None else f"{100 * share:.1f}" for share in shares)

    header = [
        "data without an effect (all steps / *leads to a better answer* / one step)",
        *(f"n = {n}" for n in SIZES),
    ]
    return markdown(header, [[LABELS.get(world, world), *(cell(world, n) for n in SIZES)] for world in WORLDS])


def found_table(path: Path) -> str:
    """True words in per cent: it is (each step), by world, slope and number of questions."""
    known = values(path)

    def cell(data: str, n: int) -> str:
        its, *steps = (
            f"{100 * known[f'{word}, found: {n} questions, {data}']:.0f}"
            for word in ("it is", *(f"step {place + 1}" for place in range(STEPS)))
        )
        return f"{its} ({', '.join(steps)})"

    worlds = {f"{world}, slope {slope}": f"{LABELS[world]}; true slope {slope}" for world in FOUND for slope in SLOPES}
    header = ["data with an effect (in parentheses: steps 1, 2 and 3)", *(f"n = {n}" for n in FOUND_SIZES)]
    return markdown(header, [[label, *(cell(data, n) for n in FOUND_SIZES)] for data, label in worlds.items()])


def recorded_table(path: Path) -> str:
    """Slopes that are read, and false words in per cent, by estimate and number of questions."""
    known, rows = values(path), []
    for name in RECORDED:
        read = [f"{known[f'recorded, slope: 300 questions, {name}, slope {slope}']:.2f}" for slope in (0.0, SLOPES[1])]
        false = f"recorded, false word: {{}} questions, {name}"
        if name == ONE_STATE:
            false = "all steps, false word: {} questions, two lists"
        rows.append([LABELS[name], *(f"{100 * known[false.format(n)]:.0f}" for n in FOUND_SIZES), *read])
    true = (f"mean estimate, true slope {slope}" for slope in (0, SLOPES[1]))
    header = ["estimate", *(f"false verdicts (%), n = {n}" for n in FOUND_SIZES), *true]
    return markdown(header, rows)


def ideal_table(path: Path) -> str:
    """Slopes by step of a true .2, by what the effect is per and the measure's ideal."""
    known = values(path)
    places = (*(f"step {place + 1}" for place in range(STEPS)), "all steps")
    rows = []
    for per, ideal in itertools.product((FIXED, GAIN, REMAINING), (FIXED, REMAINING)):
        data = f"effect per {per}, {ideal} ideal"
        rows.append([PER[per], ideal, *(f"{known[f'ideal, slope of {place}: {data}']:.3f}" for place in places)])
    return markdown(["quantity that affects P", "ideal ranking", *places], rows)


TABLES = {
    "error rates of steps": null_table,
    "power of steps": found_table,
    "recorded searches": recorded_table,
    "ideals of new passages": ideal_table,
}


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=800)
    parser.add_argument("--parts", nargs="*", choices=PARTS)
    given = parser.parse_args()
    setting = f"{given.draws} studies for each rate of the parts drawn last, half with an effect"
    record.write_record(given, setting, record.figures_of(given, PARTS), ["numpy", "scipy"], "docs/error-rates.md")


if __name__ == "__main__":
    main()
