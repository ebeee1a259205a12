"""Every sentence that a study's page can say, with what it claims, and its numbers computed a second way.

A function per kind of sentence makes the texts that the page must say, from single scores, contexts and measures, by
numpy, scipy and statsmodels; none of them calls the analysis. The page must say these sentences and no other. A text in
the modules that make sentences must be in this file, so that a new one has to be listed here.
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from ragrelay.base.vocabulary.names import UNSCORED
from ragrelay.report import answer_findings, findings, lead, lead_figure, verdict_sentences
from ragrelay.report.display.sections import Section
from ragrelay.report.study import ReportedStudy
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tests.support.measured_study import MARGIN, POOL, Measured, demo, pool, section_of
from tests.support.sandbox import ROOT

pytestmark = pytest.mark.page

Array = npt.NDArray[np.float64]
Where = tuple[str, str, int, str]
"""retriever, ordering, k, references"""
PACKAGE = ROOT / "workflow" / "scripts" / "ragrelay"


class Listed(NamedTuple):
    """What a kind of sentence claims: the estimand, over which rows, how many, by which test; and its texts."""

    estimand: str
    rows: str
    n: str
    test: str
    texts: "Callable[[Again], list[str]]"


LISTED: dict[str, Listed] = {}


def listed(estimand: str, rows: str, n: str, test: str) -> "Callable[[Callable[[Again], list[str]]], None]":
    def add(texts: "Callable[[Again], list[str]]") -> None:
        LISTED[texts.__name__] = Listed(estimand, rows, n, test, texts)

    return add


def num(value: float, digits: int = 3) -> str:
    text = f"{abs(value):,.{digits}f}"
    return ("−" if value < 0 and float(text.replace(",", "")) else "") + text


def ends(value: float, between: tuple[float, float] | None, digits: int = 3) -> str:
    return num(value, digits) + (f" [{num(between[0], digits)}, {num(between[1], digits)}]" if between else "")


def short(value: float, between: tuple[float, float] | None, margin: float = 0.0) -> str:
    """Two decimals, or so many that no end looks like zero or the margin."""
    shown = [[float(f"{abs(end):.{digits}f}") for end in between or () if end] for digits in (2, 3)]
    return ends(value, between, 2 if not {0.0, margin} & {*shown[0]} else 3 if not {0.0, margin} & {*shown[1]} else 4)


def plus(text: str) -> str:
    return text if text.startswith("−") or not float(text) else f"+{text}"


def percent(value: float) -> str:
    return f"{value:.0%}"


def many(n: int, noun: str, plural: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words) or "none"


def chance(tests: int) -> str:
    return f"about {round(tests * 0.05):,}" if round(tests * 0.05) else "fewer than 1"


def both_statistics(values: Array, null: float, cautious: bool = True) -> tuple[float, float]:
    """Student's t, and Hall's; where words follow, with 1.75 times the skewness (docs/statistics.md)."""
    n, g = len(values), (1.75 if cautious else 1.0) * float(stats.skew(values))
    t = (values.mean() - null) / values.std(ddof=1)
    return np.sqrt(n) * t, np.sqrt(n) * (t + g * t**2 / 3 + g**2 * t**3 / 27 + g / (6 * n))


def between(values: Array, level: float = 0.95, cautious: bool = True) -> tuple[float, float] | None:
    """The means that neither statistic rejects, by solving for them."""
    if len(values) < 5 or np.ptp(values) < 1e-12:
        return None
    q, far = stats.t.ppf((1 + level) / 2, len(values) - 1), 60 * values.std(ddof=1)
    low = optimize.brentq(
        lambda null: min(both_statistics(values, null, cautious)) - q, values.mean() - far, values.mean(), xtol=1e-12
    )
    high = optimize.brentq(
        lambda null: max(both_statistics(values, null, cautious)) + q, values.mean(), values.mean() + far, xtol=1e-12
    )
    return float(low), float(high)


def p_cautious(values: Array, cautious: bool = True) -> float:
    low, high = (sign * np.array(both_statistics(values, 0.0, cautious)) for sign in (-1, 1))
    return float(2 * min(stats.t.sf(side.min(), len(values) - 1) for side in (low, high)))


def of_ratio(above: Array, below: Array) -> tuple[float, float] | None:
    """Fieller's interval by the same test, by stepping outwards and solving."""
    q, centre, found = stats.t.ppf(0.975, len(above) - 1), above.mean() / below.mean(), []
    for side in (-1, 1):

        def rest(ratio: float, side: int = side) -> float:
            one, other = (-side * value for value in both_statistics(above - ratio * below, 0.0))
            return min(one, other) - q

        step = max(abs(centre), 1.0) / 64
        while rest(centre + side * step) < 0:
            step *= 1.5
            if step > 1e6:
                return None
        found.append(float(optimize.brentq(rest, centre, centre + side * step, xtol=1e-12)))
    return found[0], found[1]


def word_of(values: Array, low: float | None, high: float | None, margin: float | None = None) -> str:
    """The word of a mean difference, by docs/statistics.md."""
    if len(values) < 12 or (values != 0).sum() < 8:
        return "too few queries"
    if low is None or high is None:
        return "undecided"
    if low > 0 or high < 0:
        side, near, far = ("better", low, high) if low > 0 else ("worse", -high, -low)
        small, large = margin is not None and far < margin, margin is not None and near > margin
        return f"{side} by more than the margin" if large else f"{side}, by less than the margin" if small else side
    if margin is None:
        return "undecided"
    inside = (low > -margin, high < margin)
    return {(True, True): "equivalent", (True, False): "not worse", (False, True): "not better"}.get(
        inside, "undecided"
    )


class Again:
    """What was measured, in the way that this file computes from it; ``section`` gives p-values of resampling alone."""

    def __init__(self, measured: Measured, section: Section) -> None:
        self.measured, self.section = measured, section
        self.retrievers, self.rankings = measured.grid["retrievers"], measured.rankings
        self.ks, self.orderings = measured.grid["k"], measured.grid["orderings"]
        one = measured.primary
        self.pair, self.ordering, self.k, self.grade = (
            (one.retriever, one.reference),
            one.ordering,
            one.k,
            one.references,
        )
        means = measured.scores.group_by("retriever", "ordering", "k", "references", "qid").agg(pl.col("f1").mean())
        self.means = {row[:-1]: row[-1] for row in means.iter_rows() if row[-1] is not None}
        self.measure = {
            row[:3]: row[3] for row in measured.retrieval.select("retriever", "k", "qid", "value").iter_rows()
        }
        self.shown = {
            row[:-1]: tuple(row[-1])
            for row in measured.contexts.select("retriever", "ordering", "k", "qid", "docnos").iter_rows()
        }
        self.qids = sorted({key[-1] for key in self.means})
        self.baseline = any(key[0] == "zeroshot" for key in self.means)

    def at(self, retriever: str, **other: Any) -> Where:
        return (
            retriever,
            other.get("ordering", self.ordering),
            other.get("k", self.k),
            other.get("references", self.grade),
        )

    def p(self, where: Where) -> dict[str, float]:
        return {qid: self.means[*where, qid] for qid in self.qids if (*where, qid) in self.means}

    def p0(self, where: Where) -> dict[str, float]:
        retriever, _, k, references = where
        own = (retriever, "none", k) if references.endswith("-unseen") else ("zeroshot", "none", 0)
        return self.p((*own[:2], own[2], references))

    def gain(self, where: Where) -> Array:
        p, p0 = self.p(where), self.p0(where)
        differences = np.array([p[qid] - p0[qid] for qid in self.qids if qid in p and qid in p0])
        return np.where(np.abs(differences) < 1e-12, 0.0, differences)

    def utility(self, where: Where) -> dict[str, float]:
        p, p0 = self.p(where), self.p0(where)
        if self.measured.mode == "absolute":
            return {qid: p[qid] - p0[qid] for qid in self.qids if qid in p and qid in p0}
        return {qid: (p[qid] - p0[qid]) / p0[qid] for qid in self.qids if qid in p and p0.get(qid, 0.0) > 0}

    def difference(self, one: Where, other: Where) -> Array:
        p, q = self.p(one), self.p(other)
        differences = np.array([p[qid] - q[qid] for qid in self.qids if qid in p and qid in q])
        return np.where(np.abs(differences) < 1e-12, 0.0, differences)

    def mean_measure(self, retriever: str, k: int) -> float:
        p = self.p(self.at(retriever, k=k))
        return float(np.mean([self.measure[retriever, k, qid] for qid in p]))

    def cells(self, grades: Sequence[str]) -> list[Where]:
        """Of every retriever, ordering, k and grade; orderings of one passage are one."""
        return [
            (r, o, k, g)
            for g in grades
            for r in self.retrievers
            for k in self.ks
            for o in self.orderings
            if k > 1 or o == self.orderings[0]
        ]

    @cached_property
    def primary(self) -> tuple[Array, tuple[float, float] | None, str]:
        values = self.difference(self.at(self.pair[0]), self.at(self.pair[1]))
        found = between(values)
        return values, found, word_of(values, *(found or (None, None)), margin=MARGIN)

    def against(self, k: int, ordering: str) -> tuple[Array, tuple[float, float] | None, str]:
        """The primary pair elsewhere: at the level of its role's pairs in that cell together."""
        if (k, ordering) == (self.k, self.ordering):
            return self.primary
        reference = self.measured.reference in self.pair
        others = len(self.retrievers) - 1
        pairs = others if reference else len(list(combinations(self.retrievers, 2))) - others
        values = self.difference(*(self.at(name, k=k, ordering=ordering) for name in self.pair))
        tested = sum(
            between(self.difference(*(self.at(name, k=k, ordering=ordering) for name in two))) is not None
            for two in combinations(self.retrievers, 2)
            if (self.measured.reference in two) == reference
        )
        assert tested <= pairs
        found = between(values, 1 - 0.05 / tested) if tested else None
        return values, found, word_of(values, *(found or (None, None)), margin=MARGIN)

    def slope(
        self, k: int, adjusted: bool = False, unseen: bool = False
    ) -> tuple[float, tuple[float, float] | None, int]:
        """Relay over all pairs of rankings: by query, the sums of products of the residuals of both differences."""
        xx, xp, ns = (np.zeros(len(self.qids)) for _ in range(3))
        if adjusted and not self.baseline:
            return np.nan, None, 0
        mean = {
            qid: np.mean([self.measure[r, k, qid] for r in self.rankings if (r, k, qid) in self.measure])
            for qid in self.qids
        }
        zero = self.p(("zeroshot", "none", 0, self.grade))
        for one, other in combinations(self.rankings, 2):
            wheres = [self.at(name, k=k, references=self.grade + "-unseen" * unseen) for name in (one, other)]
            p, q = (
                {qid: value - (self.p0(w).get(qid, np.nan) if unseen else 0.0) for qid, value in self.p(w).items()}
                for w in wheres
            )
            used = [
                place
                for place, qid in enumerate(self.qids)
                if qid in p
                and qid in q
                and np.isfinite(p[qid] - q[qid])
                and (not adjusted or qid in zero)
                and self.shown[one, self.ordering, k, qid] != self.shown[other, self.ordering, k, qid]
            ]
            if len(used) < 5:
                continue
            those = [self.qids[place] for place in used]
            both = np.array(
                [[self.measure[one, k, qid] - self.measure[other, k, qid], p[qid] - q[qid]] for qid in those]
            )
            design = np.array([[1.0, mean[qid], zero[qid]] if adjusted else [1.0] for qid in those])
            rest = both - design @ np.linalg.pinv(design) @ both
            xx[used] += rest[:, 0] ** 2
            xp[used] += rest[:, 0] * rest[:, 1]
            ns[used] = 1
        mine = ns > 0
        n = int(mine.sum())
        if n < 5:
            return np.nan, None, n
        return float(xp.sum() / xx.sum()), of_ratio(xp[mine], xx[mine]), n

    @property
    def rho(self) -> pl.DataFrame:
        """Intervals, permutation p-values and power of the correlations: the table's, tested where they are made."""
        return self.section["correlation"].filter(coefficient="spearman", subset="all")

    def rho_of(self, where: Where) -> tuple[float, dict[str, Any]] | None:
        utility = self.utility(where)
        x = np.array([self.measure[where[0], where[2], qid] for qid in utility])
        y = np.array(list(utility.values()))
        if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
            return None
        names = dict(zip(("retriever", "ordering", "k", "references"), where, strict=True))
        row = self.rho.filter(**names).row(0, named=True)
        rejects = row["p_permutation"] < 0.05 and row["low"] is not None
        word = (
            "above zero" if rejects and row["low"] > 0 else "below zero" if rejects and row["high"] < 0 else "undecided"
        )
        return float(stats.spearmanr(x, y).statistic), row | {"word": word}


WINS = {
    "better by more than the margin": "Answers from {} are better than from {} by more than {}",
    "better": "Answers from {} are better than from {}",
    "better, by less than the margin": "Answers from {} are better than from {}, by less than {}",
    "equivalent": "Answers from {} and {} are equally good, within {}",
    "not worse": "Answers from {} are not worse than from {} by {}; whether better, we do not know",
    "undecided": "We do not know which of {} and {} gives better answers",
}


@listed(
    "mean of P less the other's P",
    "the primary pair, its ordering, k and grade",
    "queries with both",
    "95% interval of the mean, Student's t and Hall's",
)
def the_answer_on_the_pair(a: Again) -> list[str]:
    values, found, word = a.primary
    names, sign = a.pair, 1
    if word.startswith("worse") or word == "not better":
        names, sign, word = a.pair[::-1], -1, word.replace("worse", "better").replace("not better", "not worse")
    few = f"Too few queries ({len(values)}) to say which of {names[0]} and {names[1]} gives better answers"
    if len(values) >= 12:
        few = f"Too few of {len(values)} queries differ to say which of {names[0]} and {names[1]} gives better answers"
    strong = few if word == "too few queries" else WINS[word].format(*names, num(MARGIN, 2))
    if word.startswith("better") and a.mean_measure(names[0], a.k) < a.mean_measure(names[1], a.k):
        strong += f", although {names[1]} ranks better"
    turned = found if sign > 0 or found is None else (-found[1], -found[0])
    numbers = f"difference {short(sign * values.mean(), turned, MARGIN)}"
    numbers += "" if word == "too few queries" else f", {many(len(values), 'query', 'queries')}"
    means = [num(float(np.mean(list(a.p(a.at(name)).values()))), 2) for name in names]
    whole = f"{strong}: P {means[0]} against {means[1]}, {numbers}."
    same = a.p(a.at(names[0])).keys() == a.p(a.at(names[1])).keys()  # else the means are of other queries
    return [whole if same and len(whole.split()) <= 25 else f"{strong}: {numbers}."]


@listed(
    "slope of the difference of P on that of the measure, each less its mean",
    "all pairs of rankings, where contexts differ",
    "queries that differ in any pair",
    "Fieller's interval; the adjusted row must agree",
)
def the_answer_on_relay(a: Again) -> list[str]:
    slopes = [a.slope(a.k), a.slope(a.k, adjusted=True)]
    value, found, n = slopes[0]
    sides = {0 if one is None else 1 if one[0] > 0 else -1 if one[1] < 0 else 0 for _, one, _ in slopes}
    strong = {(1,): "It is", (-1,): "The answer is worse"}.get(tuple(sides), "We do not know")
    if n < 12:
        strong = f"Too few queries differ ({n})"
    elif found is None:
        strong = "We cannot tell (the interval is unbounded)"
    ten = None if found is None else (found[0] / 10, found[1] / 10)
    queries = "" if n < 12 or found is None else f", {many(n, 'query', 'queries')}"
    return [
        f"{strong}: where a retriever ranks a query 0.1 better in nDCG@{a.k}, P differs by "
        f"{short(value / 10, ten)}{queries}."
    ]


@listed(
    "Spearman's rho of measure and utility over queries",
    "each ranking, in the primary pair's cell",
    "queries with both",
    "permutation test and 95% interval, both of the table",
)
def the_answer_on_queries(a: Again) -> list[str]:
    if not a.baseline:
        return []
    known = {name: one for name in a.rankings if (one := a.rho_of(a.at(name)))}
    names = {
        word: [name for name, (_, row) in known.items() if row["word"] == word]
        for word in ("above zero", "below zero", "undecided")
    }
    yes, no, open_ = names.values()
    if len(known) > 3:
        if not yes and not no:
            return [
                f"We do not know, for any of {len(known)} retrievers: Spearman’s ρ of nDCG@{a.k} with utility "
                f"is undecided."
            ]
        strong = (
            "They are, with all" if len(yes) == len(known) else f"They are with {len(yes)} of {len(known)} retrievers"
        )
        rest = f"with {len(no)} they are answered worse, " if no else ""
        rest += f"with {len(open_)} we do not know; " if open_ else ""
        return [
            f"{strong}: "
            f"{rest}{'a query’s difficulty may cause both' if yes else f'Spearman’s ρ of nDCG@{a.k} with utility'}."
        ]
    said = [
        f"with {joined(some)} {text}"
        for some, text in ((yes, "they are"), (no, "they are answered worse"), (open_, "we do not know"))
        if some
    ]
    strong = "; ".join(said)
    if len(yes) == len(known):
        strong = f"They are, with {joined(yes)}"
    elif len(open_) == len(known) > 1:
        strong = f"We do not know, for {'either' if len(known) == 2 else 'any'}"
    rho = ", ".join(f"{short(value, (row['low'], row['high']))} with {name}" for name, (value, row) in known.items())
    return [f"{strong[0].upper()}{strong[1:]}: ρ {rho}."]


@listed("where the answers hold", "-", "-", "-")
def scope(a: Again) -> list[str]:
    left = "; oracles left out" if len(a.rankings) < len(a.retrievers) else ""
    return [
        f"k = {a.k} unless said otherwise, {a.ordering} order, {a.grade} references{left}. Brackets: 95% intervals."
    ]


@listed(
    "at which k the pair's difference is decided",
    "the primary pair, at each k",
    "queries with both",
    "intervals that hold for the role's pairs in a cell together",
)
def the_figures_title(a: Again) -> list[str]:
    words = {k: a.against(k, a.ordering)[2] for k in a.ks}
    ks = {side: [str(k) for k, word in words.items() if word.startswith(side)] for side in ("better", "worse")}
    said = [f"{name} is ahead at k = {joined(some)}" for name, some in zip(a.pair, ks.values(), strict=True) if some]
    if not said:
        return ["Quality of the answers, P, against passages in the context, k"]
    rest = [str(k) for k, word in words.items() if not word.startswith(("better", "worse"))]
    return ["; ".join([*said, *([f"at k = {joined(rest)} we do not know"] if rest else [])])]


def gain_word(a: Again, where: Where) -> str:
    values = a.gain(where)
    return word_of(values, *(between(values) or (None, None)))


@listed("mean gain P − P₀", "each ranking in the primary pair's cell", "queries with both", "95% interval, per cell")
def the_tables_title(a: Again) -> list[str]:
    if not a.baseline:
        return [f"Retrievers at k = {a.k}"]
    words = [gain_word(a, a.at(name)) for name in a.rankings]
    if set(words) == {"too few queries"}:
        return [f"Retrievers at k = {a.k}"]
    n, all_ = words.count("better"), len(words)
    who = f"{'Both' if all_ == 2 else 'All'} retrievers" if n == all_ > 1 else f"{n} of {many(all_, 'retriever')}"
    return [f"{who} beat zero-shot at k = {a.k}"]


@listed(
    "mean gain P − P₀; change of mean P; share copied",
    "each ranking and k, in the primary pair's ordering and grade",
    "queries with both",
    "95% interval, per cell",
)
def headings(a: Again) -> list[str]:
    words = [gain_word(a, a.at(name, k=k)) for name in a.rankings for k in a.ks]
    worse = f" and worse in {words.count('worse')}" if "worse" in words else ""
    mean = {(name, k): np.mean(list(a.p(a.at(name, k=k)).values())) for name in a.rankings for k in a.ks}
    changes = {}
    for name in a.rankings:
        first, last = (a.p(a.at(name, k=k)) for k in (a.ks[0], a.ks[-1]))
        both = sorted(first.keys() & last.keys())
        changes[name] = float(np.mean([last[qid] for qid in both]) - np.mean([first[qid] for qid in both]))
    best = max(a.rankings, key=lambda name: mean[name, a.ks[-1]])
    named = a.rankings if len(a.rankings) <= 4 else [name for name in a.rankings if name in (*a.pair, best)]
    moved = [f"{plus(num(changes[name], 2))} with {name}" for name in named]
    assert a.baseline or len(a.rankings) == 2
    decided = sum(word.startswith(("better", "worse")) for word in (a.against(k, a.ordering)[2] for k in a.ks))
    better = (
        ["No cell can be compared with zero-shot (too few queries)"]
        if a.baseline and set(words) == {"too few queries"}
        else [f"Passages make the answer better in {words.count('better')} of {many(len(words), 'cell')}{worse}"]
        if a.baseline
        else [f"Of two retrievers, one gives better answers in {decided} of {many(len(a.ks), 'comparison')}"]
    )
    cells = [a.at(name, k=k) for name in a.rankings for k in a.ks if a.baseline]
    rho = [found[1]["word"] for where in cells if (found := a.rho_of(where))]
    lower = f" and lower in {rho.count('below zero')}" if "below zero" in rho else ""
    higher = (
        f"Queries ranked better have higher utility in {rho.count('above zero')} of {many(len(rho), 'cell')}{lower}"
    )
    return [
        *better,
        *([higher] if a.baseline else []),
        *(f"{text.partition(' ')[0]} of the answers {text.partition(' ')[2]}" for text in [*lost(a), *ended(a)][:1]),
        f"From k = {a.ks[0]} to {a.ks[-1]}, P changes by {joined(moved)}",
        *(text.partition(": ")[2].partition(";")[0].capitalize() for text in copied_in_rankings(a)),
    ]


def copied(a: Again, name: str) -> float:
    rows = a.measured.scores.filter(retriever=name, ordering=a.ordering, k=a.k, references=a.grade).drop_nulls(
        "best_in_context"
    )
    return float(np.mean([part["best_in_context"].mean() for part in rows.partition_by("qid")]))


def copied_in_rankings(a: Again) -> list[str]:
    most = max(a.rankings, key=lambda name: round(copied(a, name), 9))
    return (
        [
            f"Copying: the nearest reference was in the context for {percent(copied(a, most))} of the answers "
            f"with {most}; P "
            "rewards that."
        ]
        if copied(a, most) >= 0.5
        else []
    )


@listed(
    "share of the answers whose nearest reference was in the context",
    "the ranking with the largest",
    "queries with such a reference",
    "-",
)
def copying_warning(a: Again) -> list[str]:
    return copied_in_rankings(a)


@listed(
    "difference of mean P that this size finds",
    "the primary pair",
    "queries with both",
    "power of the paired t-test, + 1.5/n",
)
def few_queries(a: Again) -> list[str]:
    n, least = len(a.primary[0]), detectable(a)
    digits = 2 if round(least, 2) else 4
    rare = f"; a kind of query rarer than 3 in {n} may be missing" if n < 36 else ""
    return (
        [
            f"{many(n, 'query', 'queries')}: a difference of {num(least, digits)} is found four times in five, a "
            f"smaller one less "
            f"often{rare}."
        ]
        if n < 100
        else []
    )


@listed(
    "mean of P less the reference retriever's P",
    "every ranking but those of the primary pair, in its cell",
    "queries with both",
    "interval with Bonferroni's correction over the role's pairs",
)
def against_the_reference(a: Again) -> list[str]:
    reference = a.measured.reference
    others = [name for name in a.retrievers if name != reference and {name, reference} != set(a.pair)]
    differences = {name: a.difference(a.at(name), a.at(reference)) for name in others}
    tested = sum(between(values) is not None for values in differences.values())
    sides: dict[str, list[str]] = {"better": [], "worse": [], "not known": []}
    for name, values in sorted(differences.items(), key=lambda one: -one[1].mean()):
        if {name, reference} <= set(a.rankings):
            word = word_of(values, *(between(values, 1 - 0.05 / max(tested, 1)) or (None, None)), margin=MARGIN)
            side = next((side for side in ("better", "worse") if word.startswith(side)), "not known")
            sides[side].append(name)
    texts = {"better": "they are better with {}", "worse": "they are worse with {}"}
    said = "; ".join(
        texts.get(side, "with {} we do not know").format(joined(names)) for side, names in sides.items() if names
    )
    return [f"Other answers than {reference}’s: {said} (Bonferroni)."] if said else []


@listed(
    "slope as in the answer on relay, and adjusted",
    "all pairs of rankings in the primary pair's cell",
    "queries that differ",
    "Fieller's interval leaves out 0, the adjusted one does not",
)
def relay_left_open(a: Again) -> list[str]:
    (_, found, n), (value, adjusted, _) = a.slope(a.k), a.slope(a.k, adjusted=True)
    if n < 12 or found is None or found[0] <= 0 <= found[1]:
        return []
    if not a.baseline:
        return [
            "Relay: it cannot be adjusted for P₀ without zero-shot answers, so that it may be the queries’ difficulty."
        ]
    if adjusted is not None and not adjusted[0] <= 0 <= adjusted[1]:
        return []
    return [
        f"Relay: adjusted for difficulty and P₀, P differs by "
        f"{ends(value / 10, adjusted and (adjusted[0] / 10, adjusted[1] / 10))}, which leaves it open."
    ]


def detectable(a: Again) -> float:
    values = a.primary[0]
    effect = TTestPower().solve_power(nobs=len(values), alpha=0.05, power=0.8, alternative="two-sided")
    return float(values.std(ddof=1) * effect * (1 + 1.5 / len(values)))


@listed(
    "mean of P less the other's P",
    "the primary pair in the other orderings, its k and grade",
    "queries with both",
    "interval at the level of the role's pairs in the cell together",
)
def other_orderings(a: Again) -> list[str]:
    def side(word: str) -> int:
        return 1 if word.startswith("better") else -1 if word.startswith("worse") else 0

    said = []
    for ordering in a.orderings:
        values, found, word = a.against(a.k, ordering)
        if ordering != a.ordering and found and side(word) != side(a.primary[2]):
            text = ("which is better is not known", f"{a.pair[0]} is better", f"{a.pair[1]} is better")[side(word)]
            said.append(f"{ordering.capitalize()} order: {text}: difference {short(values.mean(), found)}.")
    return said


@listed(
    "queries whose contexts differ",
    "all pairs of rankings at another k",
    "queries with P and measure of both",
    "fewer than 12 (or than 6 effective) have no verdict",
)
def too_few_differ(a: Again) -> list[str]:
    ns = {k: a.slope(k)[2] for k in a.ks if k != a.k}
    n = len(a.primary[0])
    return [
        f"k = {k}: the contexts differ for {differ or 'fewer than 5'} of {many(n, 'query', 'queries')}: too few to "
        "judge relay."
        for k, differ in ns.items()
        if differ < min(12, n)
    ]


def all_answers(a: Again) -> pl.DataFrame:
    """Those of orderings that have one prompt once."""
    return a.measured.answers.filter((pl.col("k") != 1) | (pl.col("ordering") == a.orderings[0]))


def lost(a: Again) -> list[str]:
    share = 1 - all_answers(a)["answer"].count() / all_answers(a).height
    return [f"{percent(share)} are missing"] if share >= 0.005 else []


def ended(a: Again) -> list[str]:
    """Shares of all answers."""
    answers = all_answers(a)
    made = answers.drop_nulls("answer")
    if not made["answer_tokens"].count():
        return []
    ways = ((made["finish_reason"] == "length").sum(), (made["answer"] == "").sum())
    cut, blank = (n / answers.height for n in ways)
    return [
        f"{percent(value)} {text}"
        for value, text in ((cut, "were cut at max_tokens"), (blank, "are blank"))
        if value >= 0.005
    ]


@listed(
    "share of the answers that ended so",
    "all cells, one of orderings with one prompt, and zero-shot",
    "queries x seeds",
    "-",
)
def answers_warning(a: Again) -> list[str]:
    return [
        *(f"Answers: {text}; they have no score, and the results leave them out." for text in lost(a)),
        *(f"Answers: {text}; they are scored like the others." for text in ended(a)),
    ]


@listed(
    "slopes as in the answer on relay; adjusted for mean measure and P₀; on P − P₀ of unseen references",
    "all pairs of rankings in the primary pair's cell",
    "queries that differ",
    "Fieller's interval",
)
def how_relayed(a: Again) -> list[str]:
    def said(**kind: bool) -> str:
        value, found, _ = a.slope(a.k, **kind)
        return ends(value / 10, found and (found[0] / 10, found[1] / 10))

    of = [
        said(),
        *(
            [f"adjusted for difficulty and P₀ {said(adjusted=True)}", f"on unseen references {said(unseen=True)}"]
            if a.baseline
            else []
        ),
    ]
    return [
        f"Relay: per 0.1 of nDCG@{a.k} ({a.ordering} order, {a.grade} references), P differs by {joined(of)}. "
        f"It is said to be relayed "
        "where the adjusted slope says so, too. An advantage that suits some queries for another reason looks "
        "the same; only "
        "doses of relevance show cause."
    ]


@listed(
    "mean gain P − P₀, and the same over mean P₀; mean and median utility",
    "each retriever in the primary pair's cell",
    "queries with both",
    "95% interval, per cell",
)
def gains(a: Again) -> list[str]:
    if not a.baseline:
        return []
    cells = {name: a.gain(a.at(name)) for name in a.retrievers}
    texts = {
        "better": "better than zero-shot with",
        "worse": "worse with",
        "undecided": "undecided with",
        "too few queries": "of too few queries to say with",
    }
    said = []
    for word, text in texts.items():
        mine = [
            f"{name} ({ends(values.mean(), between(values))})"
            for name, values in cells.items()
            if gain_word(a, a.at(name)) == word
        ]
        said += [f"{text} {joined(mine)}"] if mine else []
    ratios = []
    for name, values in cells.items():
        p0, utility = a.p0(a.at(name)), list(a.utility(a.at(name)).values())
        base = np.mean([p0[qid] for qid in a.p(a.at(name)) if qid in p0])
        ratios.append(
            f"{num(100 * values.mean() / base, 0)}% ({num(float(np.mean(utility)), 2)}, "
            f"{num(float(np.median(utility)), 2)}) with {name}"
        )
    return [
        f"By mean gain over the same queries (up to {max(map(len, cells.values()))}), P is {'; '.join(said)}.",
        f"As a percentage of mean P₀, the mean gain is (mean and median U of a query in brackets) {joined(ratios)}.",
    ]


@listed(
    "mean of P less the reference retriever's P",
    "every other retriever in the primary pair's cell",
    "queries with both",
    "interval with Bonferroni's correction over the cell's retrievers, the primary pair's at 95%",
)
def equivalence(a: Again) -> list[str]:
    reference = a.measured.reference
    others = [name for name in a.retrievers if name != reference]
    own = [name for name in others if {name, reference} == set(a.pair)]
    found: dict[str, list[str]] = {}
    for name in others:
        values = a.difference(a.at(name), a.at(reference))
        ends_ = between(values, 0.95 if name in own else 1 - 0.05 / len([one for one in others if one not in own]))
        found.setdefault(word_of(values, *(ends_ or (None, None)), margin=MARGIN), []).append(
            f"{name} ({ends(values.mean(), ends_)})"
        )
    words = [
        "better by more than the margin",
        "better, by less than the margin",
        "worse, by less than the margin",
        "worse by more than the margin",
        "better",
        "equivalent",
        "not worse",
        "not better",
        "worse",
        "undecided",
    ]
    said = "; ".join(
        [
            *(f"{word}{',' * ('margin' in word)} for {joined(found[word])}" for word in words if word in found),
            *(f"of too few queries to say for {joined(some)}" for some in [found.get("too few queries")] if some),
        ]
    )
    alone = ", the primary pair’s without" if own and len(others) > 1 else ""
    return [
        f"Compared with {reference}, at a margin of 0.02 in P (intervals with Bonferroni’s correction{alone}), "
        f"P is {said}."
    ]


@listed(
    "Spearman's rho of measure and utility over queries",
    "each retriever in the primary pair's cell",
    "queries with both",
    "permutation test and 95% interval, both of the table",
)
def correlations(a: Again) -> list[str]:
    if not a.baseline:
        return []
    known = {name: a.rho_of(a.at(name)) for name in a.retrievers}
    said = []
    for word in ("above zero", "below zero", "undecided"):
        mine = [
            f"{name} ({ends(one[0], (one[1]['low'], one[1]['high']), 2)})"
            for name, one in known.items()
            if one and one[1]["word"] == word
        ]
        said += [f"{word} for {joined(mine)}"] if mine else []
    none = [f"{name} (nDCG is constant)" for name, one in known.items() if not one]
    said += [f"not defined for {joined(none)}"] if none else []
    return [f"Over queries, Spearman’s ρ between nDCG@{a.k} and utility is {'; '.join(said)}."]


@listed(
    "Spearman's rho of measure and utility over queries",
    "all cells at the grades, orderings of one prompt once",
    "cells with a rho",
    "permutation tests, Holm over the table's family",
)
def correlation_counts(a: Again) -> list[str]:
    if not a.baseline:
        return []
    cells = [(where, one[1]) for where in a.cells(("lenient", "strict")) if (one := a.rho_of(where))]
    words = [row["word"] for _, row in cells]
    kept = 0
    for grade in ("lenient", "strict"):
        rows = [row for where, row in cells if where[3] == grade]
        kept += sum(row["p_permutation_holm"] < 0.05 for row in rows if row["word"] != "undecided")
    return [
        f"Over the whole grid (retriever, ordering, k and grade), {len(cells)} cells have a ρ between nDCG@k "
        f"and utility: "
        f"{words.count('above zero')} above zero, {words.count('below zero')} below, {words.count('undecided')} "
        f"undecided; "
        f"{kept} after Holm’s correction, {chance(len(cells))} expected by chance."
    ]


@listed(
    "mean gain P − P₀",
    "all cells of the first grade, orderings of one prompt once",
    "cells with a test",
    "95% interval per cell; Holm over the grade's cells",
)
def gain_counts(a: Again) -> list[str]:
    if not a.baseline:
        return []
    cells = a.cells(("lenient",))
    words, values = [gain_word(a, where) for where in cells], [a.gain(where) for where in cells]
    holm = multipletests([p_cautious(one) for one in values], method="holm")[1] < 0.05
    few = f" (too few queries in {words.count('too few queries')})" if "too few queries" in words else ""
    kept = {
        word: sum(one == word for one, keeps in zip(words, holm, strict=True) if keeps) for word in ("better", "worse")
    }
    return [
        f"Against the answers without context, P is better in {words.count('better')} of {len(cells)} cells, worse in "
        f"{words.count('worse')} and undecided in {words.count('undecided')}{few} (lenient references, up to "
        f"{max(map(len, values))} "
        f"queries; after Holm’s correction {kept['better']} better and {kept['worse']} worse; "
        f"{chance(len(cells))} expected by "
        "chance if no context mattered)."
    ]


@listed(
    "signs of mean utility and mean gain; largest part of a query in the sum of |utility|",
    "all cells at the grades, orderings of one prompt once",
    "cells",
    "-",
)
def flags(a: Again) -> list[str]:
    if not a.baseline:
        return []
    grid = [
        (r, o, k, g)
        for r in a.retrievers
        for o in a.orderings
        for k in a.ks
        for g in ("lenient", "strict")
        if k > 1 or o == a.orderings[0]
    ]
    odd, one = [], []
    for where in grid:
        utility = a.utility(where)
        if np.mean(list(utility.values())) * a.gain(where).mean() < 0:
            odd.append(f"{where[0]}, {where[1]}, k = {where[2]}, {where[3]}")
        most = max(utility, key=lambda qid: abs(utility[qid]))
        part = abs(utility[most]) / sum(map(abs, utility.values()))
        if part > 0.2:
            one.append((-part, f"query {most} {percent(part)} with {where[0]}, {where[1]}, k = {where[2]}, {where[3]}"))
    first = [text for _, text in sorted(one, key=lambda pair: pair[0])[:3]]
    dots = "; …" if len(odd) > 3 else ""
    return [
        *(
            [
                f"In {many(len(odd), 'cell')} mean U and the mean gain have different signs "
                f"({'; '.join(odd[:3])}{dots}); no conclusion "
                "is drawn from U."
            ]
            if odd
            else []
        ),
        *(
            [
                f"In {many(len(one), 'cell')} one query accounts for more than 20% of the sum of |U|: "
                f"{'; '.join(first)}"
                f"{'; …' if len(one) > 3 else '.'}"
            ]
            if one
            else []
        ),
    ]


@listed(
    "Pearson's r of P₀ and utility; Spearman's partial rho of measure and P given P₀",
    "each retriever in the primary pair's cell",
    "queries with all",
    "interval by the jackknife, of the table",
)
def coupling(a: Again) -> list[str]:
    if not a.baseline:
        return []
    of_p0, given = [], []
    for name in a.retrievers:
        where = a.at(name)
        utility, p, p0 = a.utility(where), a.p(where), a.p0(where)
        x, y, z = (np.array([one[qid] for qid in utility]) for one in (p, p0, utility))
        of_p0.append(f"{num(stats.pearsonr(y, z).statistic, 2)} with {name}")
        measured = np.array([a.measure[name, a.k, qid] for qid in utility])
        if np.ptp(measured) > 1e-12:
            m, u, v = (stats.rankdata(one) for one in (measured, x, y))
            r = [np.corrcoef(*two)[0, 1] for two in ((m, u), (m, v), (u, v))]
            partial = (r[0] - r[1] * r[2]) / np.sqrt((1 - r[1] ** 2) * (1 - r[2] ** 2))
            row = (
                a.section["coupling"]
                .filter(retriever=name, ordering=a.ordering, k=a.k, references=a.grade)
                .row(0, named=True)
            )
            given.append(f"{ends(partial, (row['partial_rho_low'], row['partial_rho_high']), 2)} with {name}")
    return [
        f"Utility depends on P₀ by its definition: over queries, r between P₀ and utility is {joined(of_p0)}. "
        f"Given P₀, Spearman’s "
        f"ρ between nDCG@{a.k} and P is {joined(given)}."
    ]


@listed(
    "the rho found in 80% of studies",
    "the verdict on rho in the primary pair's cell",
    "queries with both",
    "simulated, of the table",
)
def power(a: Again) -> list[str]:
    if not a.baseline:
        return []
    n = len(a.utility(a.at(a.retrievers[0])))
    least = a.rho.filter(retriever=a.retrievers[0], ordering=a.ordering, k=a.k, references=a.grade)["detectable"].item()
    assert 2.6 / np.sqrt(n) < least < 3.4 / np.sqrt(n)
    return [
        f"With {n} queries, the verdict on ρ finds a true ρ of ±{num(least, 2)} in 80% of studies, and a weaker "
        f"one less often, so an "
        "undecided result does not rule out relevance transmission. Verdicts on correlations over queries are "
        "based on ρ, because no "
        "interval of Pearson’s r has its nominal coverage on skewed data."
    ]


@listed(
    "intercept of the difference of P on that of log(1 + tokens)",
    "the primary pair",
    "queries with both",
    "interval over jackknife pseudo-values",
)
def equal_length(a: Again) -> list[str]:
    cells = [
        a.measured.answers.filter(retriever=name, ordering=a.ordering, k=a.k).drop_nulls("answer_tokens")
        for name in a.pair
    ]
    if any(cell.is_empty() for cell in cells):
        return []
    one, other = (dict(cell.group_by("qid").agg(pl.col("answer_tokens").mean()).iter_rows()) for cell in cells)
    p, q = (a.p(a.at(name)) for name in a.pair)
    both = [qid for qid in a.qids if qid in p and qid in q]
    x = np.array([np.log1p(one[qid]) - np.log1p(other[qid]) for qid in both])
    y = np.array([p[qid] - q[qid] for qid in both])
    if min((x >= 0).sum(), (x <= 0).sum()) < 5:
        return []
    fitted = stats.linregress(x, y).intercept
    pseudo = []
    for left in range(len(x)):
        rest = np.arange(len(x)) != left
        pseudo.append(len(x) * fitted - (len(x) - 1) * stats.linregress(x[rest], y[rest]).intercept)
    found = between(np.array(pseudo))
    return [
        f"Answers with {a.pair[0]} have {num(float(np.exp(x.mean())), 2)} times the tokens of those with "
        f"{a.pair[1]}. At equal length P "
        f"differs by {ends(fitted, found)}, unless a better context itself changes the length; no conclusion is "
        f"drawn from it."
    ]


@listed(
    "difference of mean P found in 80% of studies; queries for equivalence",
    "the primary pair",
    "queries with both",
    "power of the paired t-test, + 1.5/n; normal approximation",
)
def sizes(a: Again) -> list[str]:
    values = a.primary[0]
    needed = int(np.ceil(((stats.norm.ppf(0.975) + stats.norm.ppf(0.9)) * values.std(ddof=1) / MARGIN) ** 2))
    return [
        f"With {len(values)} queries, a difference between {a.pair[0]} and {a.pair[1]} of {num(detectable(a))} "
        f"in mean P is found in 80% "
        f"of studies, and equivalence at a margin of 0.02 with {needed:,} queries."
    ]


@listed(
    "share of the answers whose nearest reference was in the context; mean gain on unseen references",
    "the retriever with the largest share",
    "queries with both",
    "95% interval",
)
def copying(a: Again) -> list[str]:
    most = max(a.retrievers, key=lambda name: round(copied(a, name), 9))
    if not copied(a, most):
        return []
    said = (
        f"With {most}, the reference nearest to the answer was in the context for {percent(copied(a, most))} of "
        f"the answers to "
        f"{many(len(a.p(a.at(most))), 'query', 'queries')}, so P also rewards copying"
    )
    if not a.baseline:
        return [f"{said}."]
    whole, unseen = a.gain(a.at(most)), a.gain(a.at(most, references=f"{a.grade}-unseen"))
    return [
        f"{said}: against references that were not in the context, "
        f"its mean gain is {ends(unseen.mean(), between(unseen))} over {many(len(unseen), 'query', 'queries')} "
        f"instead of "
        f"{num(whole.mean())}."
    ]


@listed(
    "paired differences of P and of utility",
    "† and ‡ at the grades, tests of one prompt once",
    "tests",
    "Student's t; Holm in the family",
)
def marks(a: Again) -> list[str]:
    found: dict[tuple[str, ...], list[float]] = {}
    for grade in ("lenient", "strict", "lenient-unseen", "strict-unseen"):
        for quantity in (a.p, a.utility):
            of = {where: quantity(where) for where in a.cells((grade,))}
            pairs = [
                ("†", where, (a.measured.reference, "descending", *where[2:]))
                for where in of
                if where[0] != a.measured.reference
            ]
            pairs += [
                ("‡", where, (where[0], "ascending", *where[2:]))
                for where in of
                if where[1] == "descending" and where[2] > 1
            ]
            for mark, one, other in pairs:
                if other not in of:
                    continue
                both = sorted(of[one].keys() & of[other].keys())
                values = np.array([of[one][qid] - of[other][qid] for qid in both])
                if len(values) > 1 and np.ptp(values) > 1e-12:
                    found.setdefault((mark, quantity.__name__, grade), []).append(
                        float(stats.ttest_1samp(values, 0).pvalue)
                    )
    mine = {family: values for family, values in found.items() if not family[2].endswith("unseen")}
    n, significant = sum(map(len, mine.values())), sum((np.array(values) < 0.05).sum() for values in mine.values())
    kept = sum((multipletests(values, method="holm")[1] < 0.05).sum() for values in mine.values())
    return [
        f"The marks † and ‡ come from {n} tests at an uncorrected 5%, of which {chance(n)} would be significant "
        f"if nothing differed; "
        f"{significant} are, and {kept} after Holm’s correction within their families."
    ]


@listed("queries without a utility, or with a low P₀", "each retriever in the primary pair's cell", "queries", "-")
def missing(a: Again) -> list[str]:
    if not a.baseline:
        return []
    where = [a.at(name) for name in a.retrievers]
    null = max(len(set(a.p(one) | a.p0(one)) - set(a.utility(one))) for one in where)
    low = max(sum(value < 0.1 for value in a.p0(one).values()) for one in where)
    relative = a.measured.mode == "relative"
    why = "P is missing or P₀ is not above 0" if relative else "P or P₀ is missing"
    said = [f"up to {many(null, 'query', 'queries')} without a utility, because {why}"] if null else []
    said += (
        [f"up to {many(low, 'query', 'queries')} with a P₀ below 0.1, where relative utility tends to be large"]
        if low and relative
        else []
    )
    return [f"A cell has {joined(said)}."] if said else []


@listed("-", "-", "seeds", "-")
def one_seed(a: Again) -> list[str]:
    one = len(a.measured.grid["seeds"]) == 1
    return ["Only one seed was used, so it is unknown how much answers to the same prompt vary."] if one else []


@listed("what a correlation shows", "-", "-", "-")
def cause(a: Again) -> list[str]:
    return [
        "A correlation over queries does not show causation: a query that is easy to retrieve for may also be "
        "easy to answer. Comparing "
        "the contexts of one query rules out this cause alone; only doses of relevance are set by design."
    ]


@listed(
    "mean of P, descending less ascending",
    "each retriever at the largest k, first grade",
    "queries with both",
    "Student's t, Holm over the retrievers and k of the grade",
)
def ordering(a: Again) -> list[str]:
    if len(a.orderings) < 2:
        return []
    k = a.ks[-1]
    tests = {
        (name, one): a.difference(a.at(name, k=one), a.at(name, k=one, ordering="ascending"))
        for name in a.retrievers
        for one in a.ks
        if one > 1
    }
    p = {key: float(stats.ttest_1samp(values, 0).pvalue) for key, values in tests.items() if np.ptp(values) > 1e-12}
    holm = dict(zip(p, multipletests(list(p.values()), method="holm")[1], strict=True))
    mine = [name for name in a.retrievers if (name, k) in p]
    moved = [f"{name} ({num(tests[name, k].mean())} for descending)" for name in mine if p[name, k] < 0.05]
    return [
        "Whether the best ranked passage is first or last in the prompt (descending against ascending, paired "
        "t-test, uncorrected) makes "
        f"a significant difference to P at k = {k} for {joined(moved)} of {many(len(mine), 'retriever')} tested; "
        f"{sum(holm[name, k] < 0.05 for name in mine)} after Holm’s correction, {chance(len(mine))} expected by chance."
    ]


@listed(
    "variance of single scores within and between queries",
    "each retriever at the largest k, first grade and ordering",
    "queries x seeds",
    "one-way analysis of variance",
)
def seeds(a: Again) -> list[str]:
    s, found = len(a.measured.grid["seeds"]), {}
    if s == 1:
        return []
    for name in a.retrievers:
        rows = a.measured.scores.filter(retriever=name, ordering=a.orderings[0], k=a.ks[-1], references="lenient")
        scores = np.array(
            [part["f1"].to_list() for part in rows.sort("qid", "seed").partition_by("qid", maintain_order=True)]
        )
        within = scores.var(axis=1, ddof=1).mean()
        own = max(0.0, scores.mean(axis=1).var(ddof=1) - within / s)
        found[name] = (within / (own + within), own / (own + within / s))
    most = max(found, key=lambda name: found[name][0])
    return [
        f"Seeds account for at most {percent(found[most][0])} of the variance of P at k = {a.ks[-1]} (with "
        f"{most}), and queries for the "
        f"rest; the mean over {s} seeds has a reliability of {num(found[most][1], 2)} there."
    ]


@listed("tokens and seconds of the distinct answers", "all cells", "distinct prompts x seeds", "-")
def cost(a: Again) -> list[str]:
    if a.measured.cost.is_empty():
        return []
    row = a.measured.cost.filter(retriever="all").row(0, named=True)
    prompts = a.measured.contexts.with_columns(pl.col("docnos").list.join(" "))
    made = a.measured.answers.join(prompts, on=["retriever", "ordering", "k", "qid"], how="left").with_columns(
        pl.col("docnos").fill_null("")
    )
    distinct = made.unique(["qid", "docnos", "seed"])
    return [
        f"The {distinct.height:,} distinct answers took {row['prompt_tokens']:,} prompt tokens, "
        f"{percent(row['cached_tokens'] / row['prompt_tokens'])} of them from the prefix cache, "
        f"{distinct['answer_tokens'].sum():,} answer "
        f"tokens, and {row['device_seconds']:.0f} seconds of device time ({row['made_by']})."
    ]


@listed(
    "share of the answers that ended so",
    "all cells, one of orderings with one prompt, and zero-shot",
    "queries x seeds",
    "-",
)
def cut(a: Again) -> list[str]:
    return [
        *(f"Of all answers, {text}: they have no score, and the results leave them out." for text in lost(a)),
        *([f"Of all answers, {joined(said)}; they are scored like all others."] if (said := ended(a)) else []),
    ]


@listed(
    "share with one text from all seeds",
    "cells and queries with several seeds, orderings of one prompt once",
    "cells x queries",
    "-",
)
def alike(a: Again) -> list[str]:
    rows = a.measured.answers.filter((pl.col("k") != 1) | (pl.col("ordering") == a.orderings[0]))
    texts = [
        len(set(part["answer"]))
        for part in rows.drop_nulls("answer").partition_by("retriever", "ordering", "k", "qid")
        if part.height > 1
    ]
    same = texts.count(1)
    return (
        [
            f"In {percent(same / len(texts))} of the cells and queries with several seeds, all seeds gave the "
            f"same answer ({same} of "
            f"{len(texts)}): there, more seeds add nothing."
        ]
        if texts and same / len(texts) >= 0.005
        else []
    )


@listed(
    "queries with a relevant passage at a position",
    "each retriever at the largest k, first grade and ordering",
    "queries with a utility",
    "fewer than 30 are too few",
)
def positions(a: Again) -> list[str]:
    k, relevant = a.ks[-1], {(qid, docno) for qid, docno, label in a.measured.qrels.iter_rows() if label >= 2}
    few = []
    for name in a.retrievers:
        where = a.at(name, k=k, ordering=a.orderings[0], references="lenient")
        known = a.utility(where)
        for place in range(k):
            shown = [
                qid
                for qid in known
                if len(docnos := a.shown[*where[:3], qid]) > place and (qid, docnos[place]) in relevant
            ]
            if 0 < len(shown) < 30:
                few.append((len(shown), place + 1, name))
    if not few:
        return []
    n, place, name = min(few, key=lambda one: one[:2])
    return [
        f"With {name}, only {many(n, 'query has', 'queries have')} a relevant passage at position {place} of "
        f"the prompt. Positions with "
        f"fewer than 30 such queries, here of {many(len({one[2] for one in few}), 'retriever')}, are too few to "
        f"compare."
    ]


def unjudged_share(a: Again, *retrievers: str) -> list[float]:
    known = {row[:2] for row in a.measured.qrels.iter_rows()}
    shown = [
        [
            (qid, docno) not in known
            for (r, o, k, qid), docnos in a.shown.items()
            if (r, o, k) == (name, a.ordering, a.k)
            for docno in docnos
        ]
        for name in retrievers
    ]
    return [float(np.mean(holes)) for holes in shown]


@listed(
    "share of the passages shown that have no judgement",
    "the primary pair's cell",
    "passages of the contexts",
    "above 5% in either",
)
def unjudged(a: Again) -> list[str]:
    one, other = unjudged_share(a, *a.pair)
    return (
        [
            f"Unjudged passages: {percent(one)} of the passages shown with {a.pair[0]} and {percent(other)} "
            f"with {a.pair[1]} have no judgement; "
            "measures and P take them for not relevant."
        ]
        if max(one, other) > 0.05
        else []
    )


@listed(
    "slope of relay with other labels of passages without a judgement",
    "all rankings in the primary pair's cell",
    "queries that differ",
    "the answer on relay, under each labelling; the search is the table's",
)
def relay_with_holes(a: Again) -> list[str]:
    rows = {(row["labelling"], row["adjusted"]): row for row in a.section["holes"].filter(k=a.k).to_dicts()}
    if not rows or any(row["slope"] is None for (_, adjusted), row in rows.items() if not adjusted):
        return []
    none, every, low, high = (
        rows[name, False]["slope"] for name in ("none relevant", "all relevant", "lowest slope", "highest slope")
    )
    own = a.slope(a.k)[0]
    assert low <= min(own, every) and max(own, every) <= high and none == pytest.approx(own)

    def answer(name: str) -> object:
        both = [rows[name, adjusted] for adjusted in (False, True)]
        words = {row["verdict"] for row in both}
        if "too few queries differ" in words:
            return "too few"
        return words == {"above zero"}, words == {"below zero"} and all(row["p_value"] < 0.01 for row in both)

    texts = {
        "all relevant": "if all of them are relevant",
        "lowest slope": "with the labels that give the lowest slope",
        "highest slope": "with those that give the highest",
    }
    other = [text for name, text in texts.items() if answer(name) != answer("none relevant")]
    survives = (
        f"does not survive: it is another {' and '.join(other)}" if other else "survives every labelling that was tried"
    )
    share = np.mean(unjudged_share(a, *a.rankings))
    return [
        f"Relay and unjudged passages: {percent(float(share))} of the passages in the contexts have no "
        f"judgement. The answer on relay "
        f"{survives}. Per 0.1 of nDCG@{a.k}, P differs by {num(own / 10)} as none of them counts as relevant, "
        f"by {num(every / 10)} if all of "
        f"them do, and by {num(low / 10)} to {num(high / 10)} with the labels that change it most, of those tried."
    ]


@listed("what the study relates, and the size of its grid", "the grid", "cells: retriever x ordering x k x seed", "-")
def summary(a: Again) -> list[str]:
    grid, one = a.measured.grid, a.section
    cells = len(a.retrievers) * len(a.orderings) * len(a.ks) * len(grid["seeds"])
    closer = "how much closer the answer is to the query’s references than the answer made without any context"
    higher = "how much higher a judge scores the answer than the answer made without any context"
    to = f"its utility: {higher if a.measured.judged else closer}" if a.baseline else "the quality P of the answer"
    parts = [
        f"1 dataset ({one.dataset})",
        f"1 generator ({one.generator})",
        f"{len(a.retrievers)} retrievers ({', '.join(a.retrievers)})",
        f"{many(len(a.orderings), 'ordering')} ({', '.join(a.orderings)})",
        f"1 scorer ({one.scorer})",
    ]
    return [
        f"For each query, this study relates the quality of the retrieved context (nDCG@k) to {to}.",
        f"It covers {'; '.join(parts)}; contexts of {joined([str(k) for k in a.ks])} passages; and "
        f"{many(len(grid['seeds']), 'seed')}: "
        f"{cells} cells of answers{', plus the zero-shot answers' if a.baseline else ''}.",
    ]


@listed("answers that a judge could not score", "the section", "answers", "-")
def unscored(a: Again) -> list[str]:
    n = sum(one["count"] for one in left_out(a.section))
    return [
        f"{n} answers have no score by {a.section.scorer}, for want of a context, a sentence or nuggets to ask "
        f"about (see Left out). The "
        "results leave them out."
    ]


def left_out(section: Section) -> list[dict[str, Any]]:
    detail = {"generator": section.generator, "scorer": section.scorer}
    return [
        {"stage": "scoring", "dataset": section.dataset, "what": UNSCORED, "count": n, "detail": detail} for n in (3, 4)
    ]


@listed("the study's size", "the grid", "most queries of a cell", "-")
def facts(a: Again) -> list[str]:
    n, oracles = (
        max(len(a.p(where) | a.p0(where)) for where in a.cells(("lenient",))),
        len(a.retrievers) - len(a.rankings),
    )
    return [
        f"{many(n, 'query', 'queries')} · "
        f"{many(len(a.rankings), 'retriever')}{f', {oracles} oracles' if oracles else ''} · k = "
        f"{joined([str(k) for k in a.ks])} · {many(len(a.measured.grid['seeds']), 'seed')} · lm, scored by "
        f"{a.section.scorer}"
    ]


def page_says(section: Section, judged: bool) -> list[str]:
    """All sentences of the section on the page, but notes and captions, which have no numbers of a study."""
    judges = {section.scorer: "lm"} if judged else {}
    study = ReportedStudy("study", section.grid, (section,), left_out=left_out(section), judges=judges)
    rows = lead_figure.primary_differences(section)
    found, of_answers = findings.findings(section), answer_findings.findings_on_answers(section)
    return [
        *(answer.sentence for answer in verdict_sentences.answers(section)),
        lead.scope(section),
        lead.figure_title(section, rows),
        lead.table(section, rows)["title"],
        *lead.headings(section).values(),
        *(f"{head}: {text}" for head, text in lead.warnings(section)),
        *verdict_sentences.how_relayed(section),
        *findings.summary(study),
        *findings.unscored(study, section),
        lead.facts([section]),
        *found.sentences,
        *found.limits,
        *of_answers.sentences,
        *of_answers.limits,
    ]


def absolute() -> Measured:
    """The demo with differences for utility, as of a judge."""
    return replace(demo(), mode="absolute", judged=True)


def brought() -> Measured:
    """The demo's answers as if made elsewhere, and none without context."""
    found = demo()
    scores = found.scores.filter(pl.col("retriever") != "zeroshot", pl.col("ordering") != "none")
    answers = found.answers.filter(pl.col("retriever") != "zeroshot").with_columns(
        finish_reason=None, answer_tokens=None
    )
    return replace(found, scores=scores, answers=answers, cost=found.cost.clear())


def few() -> Measured:
    """The first queries of the demo: too few for words."""
    found = demo()
    kept = found.scores["qid"].unique().sort()[:10]
    parts = ("scores", "answers", "contexts", "retrieval", "qrels")
    return replace(
        found,
        cost=found.cost.clear(),
        **{name: getattr(found, name).filter(pl.col("qid").is_in(kept)) for name in parts},
    )


def refused() -> Measured:
    """The demo without the answers to every seventh prompt, and without a retriever's answers to a query."""
    found = demo()
    keys = ["retriever", "k", "qid"]  # all orderings of one passage have one prompt
    prompts = found.answers.select(keys).unique().sort(keys).with_row_index("place")
    gone = prompts.filter((pl.col("place") % 7 == 0) | ((pl.col("retriever") == "dense") & (pl.col("qid") == "q02")))
    lost = found.answers.join(gone, on=keys, how="semi").with_columns(
        answer=pl.lit(None, pl.String), answer_tokens=pl.lit(None, pl.Int64), finish_reason=pl.lit("refusal")
    )
    answers = pl.concat([found.answers.join(gone, on=keys, how="anti"), lost]).sort(*keys, "ordering", "seed")
    scores = found.scores.join(gone, on=keys, how="anti", maintain_order="left")
    return replace(found, scores=scores, answers=answers, cost=found.cost.clear())


def with_holes() -> Measured:
    """The demo without a judgement of every fifth passage, measured again."""
    found = demo()
    qrels = found.qrels.sort("qid", "docno").gather_every(5)
    left = found.qrels.join(qrels, on=["qid", "docno"], how="anti")
    labels = {row[:2]: row[2] for row in left.iter_rows()}
    ideal = {
        qid: sorted(part["label"], reverse=True) for (qid,), part in left.partition_by("qid", as_dict=True).items()
    }
    rows = []
    for retriever, k, qid, docnos in (
        found.contexts.filter(pl.col("k") > 0, ordering="descending")
        .select("retriever", "k", "qid", "docnos")
        .iter_rows()
    ):
        got, most = (
            [label / np.log2(place + 2) for place, label in enumerate(some)]
            for some in ([max(labels.get((qid, docno), 0), 0) for docno in docnos], ideal.get(qid, [])[:k])
        )
        rows.append(
            {"retriever": retriever, "qid": qid, "measure": "nDCG", "k": k, "value": sum(got) / (sum(most) or 1.0)}
        )
    return replace(found, qrels=left, retrieval=pl.DataFrame(rows))


no_pool = pytest.mark.skipif(not POOL.is_dir(), reason="no TREC DL 2019 passages next to the project")


@pytest.mark.parametrize("make", [demo, absolute, brought, few, refused, with_holes, pytest.param(pool, marks=no_pool)])
def test_the_page_says_what_the_scores_say(make: Callable[[], Measured], tmp_path: Path) -> None:
    measured = make()
    section = section_of(measured, tmp_path)
    again = Again(measured, section)
    expected = {name: listed.texts(again) for name, listed in LISTED.items()}
    said = page_says(section, measured.judged)
    for name, texts in expected.items():
        for text in texts:
            near = max(said, key=lambda one: sum(a == b for a, b in zip(one, text, strict=False)))
            assert text in said, f"{name}\nfrom the scores: {text}\non the page:     {near}"
    unlisted = set(said) - {text for texts in expected.values() for text in texts}
    assert not unlisted, f"sentences that no function of this file expects: {unlisted}"
    short_of = [name for name, one in LISTED.items() if not all(one[:4])]
    assert not short_of


@pytest.mark.parametrize("make", [demo, with_holes])
def test_the_first_table_has_the_share_of_unjudged_passages(make: Callable[[], Measured], tmp_path: Path) -> None:
    """Of every retriever, not of the primary pair alone: a pool that missed one's passages lowers its measure."""
    measured = make()
    section = section_of(measured, tmp_path)
    again, table = Again(measured, section), lead.table(section, lead_figure.primary_differences(section))
    named = {row["name"]: row["unjudged"] for row in [*table["rows"], *table["designed"]]}
    shown = {name: named[name] for name in measured.grid["retrievers"]}
    shares = dict(zip(shown, unjudged_share(again, *shown), strict=True))
    assert shown == {name: f"{100 * value:.0f}%" for name, value in shares.items()}
    assert table["unjudged"] == (make is with_holes) == (max(shares.values()) > 0.05)


NO_SENTENCE = {
    "Does a better retriever give better answers?",
    "Where a retriever ranks a query better than its usual lead, is the answer better too?",
    "Are the queries that a retriever ranks well answered well?",
    "gain over zero-shot",
}
"""Questions, and the head of a column."""
ELSEWHERE = {
    "Needs two retrievers; here is one": "test_report_findings.py",
    "Needs two rankings; here is one": "test_report_findings.py",
    "ended in another way": "tests/unit/report/test_report_findings.py",
    "No query has both P and P₀ here": "test_report_findings.py",
    "No cell can be compared with zero-shot": "test_report_findings.py",
    "or utility is constant": "test_report_findings.py",
    "for which nothing was found, whose P is P₀": "tests/unit/analysis/test_utility.py",
    "no query has a score with both": "test_degenerate_scores.py",
    "no query has a score with two rankings": "test_degenerate_scores.py",
    "no query has a utility": "test_report_findings.py",
    "higher or lower by the same for all queries, so not tested, with": "test_degenerate_scores.py",
}
"""Texts of states that none of the studies below is in, with the test that brings them about."""
MODULES = ("report/verdict_sentences.py", "report/findings.py", "report/answer_findings.py", "report/lead.py")
"""Where the sentences of a study's page are made."""


def literals(path: Path) -> list[str]:
    """The texts in a module's code, without docstrings: of an f-string what is between its values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]
    return [piece for text in texts for piece in re.split(r"\{\w*\}", text)]


def unlisted(module: Path, here: Path) -> list[str]:
    """The texts of more than three words in the code of ``module`` that the test file ``here`` has not."""
    known = re.sub(r"\s+", " ", " ".join(literals(here)))
    words = [(piece.strip(" .,;:()"), re.findall(r"[^\W\d_]{2,}", piece)) for piece in literals(module)]
    return [piece for piece, found in words if len(found) > 3 and " " in piece and piece not in known]


@pytest.mark.parametrize("module", MODULES)
def test_a_text_of_the_page_is_listed_here(module: str) -> None:
    assert unlisted(PACKAGE / module, Path(__file__)) == []
