"""What every sentence of a study's page claims, computed a second way; what it says is in approved/.

A function per kind of sentence makes the claims of its sentences (names, numbers, words of verdicts) from single
scores, contexts and measures, by numpy, scipy and statsmodels; none calls the analysis. A kind is what one function of
the package says. The page must make these claims and no other. A docstring has the estimand | rows | n | test.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay import report
from ragrelay.analysis.verdicts import OF_DIFFERENCE, TOO_FEW
from ragrelay.base.vocabulary.names import UNSCORED
from ragrelay.report import (
    answer_findings,
    findings,
    lead,
    lead_answers,
    lead_table,
    lead_warnings,
    part_headings,
    verdict_sentences,
)
from ragrelay.report.display.findings import Conclusion, Findings, Warned
from ragrelay.report.display.sections import Section
from ragrelay.report.display.templates import FOLDER, environment
from ragrelay.report.facts import facts_of
from ragrelay.report.lead_figure import lead_figure
from ragrelay.report.study import ReportedStudy
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tests.support.approved import approve, not_approved
from tests.support.measured_study import MARGIN, Measured, section_of
from tests.support.report_study import changed
from tests.unit.report.second_way import (
    PACKAGE,
    Array,
    agree,
    between,
    chance,
    claimed,
    demo,
    ends,
    joined,
    needed,
    no_pool,
    num,
    of_ratio,
    out_of,
    p_cautious,
    percent,
    plus,
    pool,
    remark,
    short,
    undone,
    unlike,
    word_of,
)

pytestmark = pytest.mark.page

Where = tuple[str, str, int, str]
"""retriever, ordering, k, references"""
Claims = Callable[["Again"], list[str]]
KINDS: dict[str, list[Claims]] = defaultdict(list)
"""What says the sentences, in ragrelay.report → what makes their claims again."""


def says(kind: str) -> Callable[[Claims], Claims]:
    def add(claims: Claims) -> Claims:
        KINDS[kind].append(claims)
        return claims

    return add


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
        self.products: dict[bool, tuple[Array, Array]] = {}
        self.inflation: dict[bool, float] = {}
        self.counts: dict[bool, tuple[int, int]] = {}
        part = (section.dataset, section.generator, section.scorer, *section.grades)
        self.names = {*self.retrievers, *self.orderings, *self.qids, *part, *measured.cost["made_by"].drop_nulls()}

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
        """Over the queries with P or P₀, as in the first table."""
        qids = self.p(self.at(retriever, k=k)).keys() | self.p0(self.at(retriever, k=k)).keys()
        return float(np.mean([self.measure[retriever, k, qid] for qid in sorted(qids)]))

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

    def against(self, k: int, ordering: str, grade: str = "") -> tuple[Array, tuple[float, float] | None, str]:
        """The primary pair elsewhere: at the level of its role's pairs in that cell together."""
        where = {"k": k, "ordering": ordering, "references": grade or self.grade}
        values = self.difference(*(self.at(name, **where) for name in self.pair))
        found = between(values, self.level(k, ordering, grade=grade))
        return values, found, word_of(values, *(found or (None, None)), margin=MARGIN)

    def falls(self, k: int, ordering: str, grade: str = "") -> bool:
        """Whether one more query would undo what is said of the primary pair there."""
        values, _, word = self.against(k, ordering, grade)
        return bool(undone(values, word, self.level(k, ordering, grade=grade), MARGIN))

    def level(self, k: int, ordering: str, pair: Sequence[str] = (), grade: str = "") -> float:
        """The level of the primary pair, or of another: that of its role's pairs in a cell together."""
        grade = grade or self.grade
        alone = (k, ordering, grade) == (self.k, self.ordering, self.grade)
        if alone and set(pair or self.pair) == set(self.pair):
            return 0.95
        reference = self.measured.reference in (pair or self.pair)
        others = len(self.retrievers) - 1
        pairs = others if reference else len(list(combinations(self.retrievers, 2))) - others
        where = {"k": k, "ordering": ordering, "references": grade}
        tested = sum(
            between(self.difference(*(self.at(name, **where) for name in two))) is not None
            for two in combinations(self.retrievers, 2)
            if (self.measured.reference in two) == reference and not (alone and set(two) == set(self.pair))
        )
        assert tested <= pairs
        return 1 - 0.05 / max(tested, 1)

    def pairs(self) -> list[str]:
        """The word of each pair of rankings at each k, in the primary pair's ordering and grade."""
        words = []
        for k in self.ks:
            for two in combinations(self.rankings, 2):
                values = self.difference(*(self.at(name, k=k) for name in two))
                found = between(values, self.level(k, self.ordering, two))
                words.append(word_of(values, *(found or (None, None)), margin=MARGIN))
        return words

    def slope(
        self, k: int, adjusted: bool = False, unseen: bool = False
    ) -> tuple[float, tuple[float, float] | None, int]:
        """Relay over all pairs of rankings: by query, the sums of products of the residuals of both differences."""
        xx, xp, ns, known, apart = (np.zeros(len(self.qids)) for _ in range(5))
        if adjusted and not self.baseline:
            return np.nan, None, 0
        lost, weights = 0.0, 0.0
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
                if qid in p and qid in q and np.isfinite(p[qid] - q[qid]) and (not adjusted or qid in zero)
            ]
            known[used] = 1
            used = [
                place
                for place in used
                if self.shown[one, self.ordering, k, self.qids[place]]
                != self.shown[other, self.ordering, k, self.qids[place]]
            ]
            apart[used] = 1
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
            weight = float((rest[:, 0] ** 2).sum())
            lost += weight * ((len(used) - 1) / (len(used) - 3) if adjusted else 1.0)
            weights += weight
        mine = ns > 0
        n = int(mine.sum())
        self.products[adjusted] = xx[mine], xp[mine]
        self.inflation[adjusted] = inflation = lost / weights if weights else 1.0
        self.counts[adjusted] = n or int(apart.sum()), int(known.sum())
        if n < 5:
            return np.nan, None, int(apart.sum())
        return float(xp.sum() / xx.sum()), of_ratio(xp[mine], xx[mine], inflation), n

    def p_of_slope(self, kind: str) -> float:
        self.slope(self.k, adjusted=bool(kind))
        return p_cautious(self.products[bool(kind)][1], inflation=self.inflation[bool(kind)])

    def too_few(self, k: int, kind: str) -> str | None:
        """The counts of a slope that has too few queries for a word; empty where its interval is unbounded."""
        _, found, n = self.slope(k, adjusted=bool(kind))
        if not self.baseline and kind:
            return None
        least, known = 20 if kind else 12, self.counts[bool(kind)][1]
        degrees, xx = (n - 1) / self.inflation[bool(kind)], self.products[bool(kind)][0]
        if n < least:
            return (
                f"{n} {'' if n == known else known} {20 if self.baseline else 12}"  # what the answer needs, not the row
            )
        if kind and degrees < 17:
            return f"{num(degrees, 1)} 17"
        effective = float(xx.sum() ** 2 / (xx**2).sum())
        return f"{num(effective, 1)} 6" if effective < 6 else "" if found is None else None

    @cached_property
    def relayed(self) -> tuple[str, list[str]]:
        """The answer on relay, and the rows that decided: "" as measured, and "adjusted"."""
        rows = {"": self.slope(self.k), "adjusted": self.slope(self.k, adjusted=True)}
        sides = {}
        for kind, (_, found, _) in rows.items():
            few = self.too_few(self.k, kind) is not None or found is None
            sides[kind] = "few" if few else 1 if found[0] > 0 else -1 if found[1] < 0 else 0
        if not self.baseline:
            sides["adjusted"] = 0
        few, open_ = ([kind for kind, side in sides.items() if side == one] for one in ("few", 0))
        if few:
            return "too few", few
        if open_:
            return "not known", open_
        if set(sides.values()) == {1}:
            return "it is", [*sides]
        doubtful = [kind for kind, one in rows.items() if one[2] and not self.p_of_slope(kind) < 0.01]
        if set(sides.values()) == {-1}:
            return ("not known", doubtful) if doubtful else ("it is not", [*sides])
        return "not known", [*sides]

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
        beside = ""
        if word != "undecided" and row["p_permutation_holm"] >= 0.05:
            word, beside = "undecided", " ".join(f"{row[f'p_permutation{end}']:.2g}" for end in ("", "_holm"))
        elif word == "undecided" and row["p_permutation_holm"] < 0.05 and row["low"] is not None:
            beside = f"{row['p_permutation_holm']:.2g} 0"
        others = [len(one) - max(Counter(one.tolist()).values()) for one in (y, x)]
        if len(x) < 12:
            word, beside = "too few", f"{len(x)} 12"
        elif min(others) < 8:
            word, beside = "too few", f"{next(other for other in others if other < 8)} {len(x)} 8"
        return float(stats.spearmanr(x, y).statistic), row | {"word": word, "beside": beside}


WINS = {
    "better by more than the margin": "better {0} {1} by more than the margin {2}",
    "better": "better {} {}",
    "better, by less than the margin": "better {0} {1} by less than the margin {2}",
    "equivalent": "{} {} equally good {}",
    "not worse": "at most {2} worse {0} {1} undecided better",
    "undecided": "undecided {} {} better",
}


@says("Systems")
def the_answer_on_the_pair(a: Again) -> list[str]:
    """Mean of P less the other's P, beside the means of P and of the measure | the primary pair, its ordering, k and
    grade | queries with both | 95% interval of the mean, Student's t and Hall's."""
    values, found, word = a.primary
    names, sign = a.pair, 1
    if word.startswith("worse") or word == "not better":
        names, sign, word = a.pair[::-1], -1, word.replace("worse", "better").replace("not better", "not worse")
    few = f"too few {joined(names)} better"
    strong = few if word == "too few queries" else WINS[word].format(*names, num(MARGIN, 2))
    same = a.p(a.at(names[0])).keys() == a.p(a.at(names[1])).keys()  # else the means are of other queries
    ranked = [num(a.mean_measure(name, a.k), 2) for name in names]
    if same and word.startswith("better") and a.mean_measure(names[0], a.k) < a.mean_measure(names[1], a.k):
        strong += f" {names[1]} better"
        ranked = [ranked[1], names[0], ranked[0]]
    turned = found if sign > 0 or found is None else (-found[1], -found[0])
    numbers = short(sign * values.mean(), turned, MARGIN)
    numbers += f" {needed(values)}" if word == "too few queries" else f" {len(values):,}"
    means = [num(float(np.mean(list(a.p(a.at(name)).values()))), 2) for name in names]
    said = lead_answers.compared(facts_of(a.section))
    rest = re.split(r"difference |differs by ", said.numbers)[-1]
    words = len(said._replace(numbers=rest, remark="").sentence.split()) + 1
    room = lead_answers.MOST_WORDS - words - 8  # "and answer quality P is 0.83 against 0.84" has so many words
    fallen = remark([""] if a.falls(a.k, a.ordering) else []) or unlike(values, word)
    first = [a.k, *ranked, *(means if room >= 5 and len(ranked) == 2 else [])] if same else []
    return [f"{strong} {' '.join(map(str, first))} {numbers} {fallen}"]


RELAYED = {
    "it is": "answers improve more where rankings improve more",
    "it is not": "answers improve less where rankings improve more",
    "not known": "undecided",
    "too few": "cannot",
}


@says("Relay")
def the_answer_on_relay(a: Again) -> list[str]:
    """Slope of the difference of P on that of the measure, each less its mean | all pairs of rankings, where contexts
    differ | queries that differ in any pair | Fieller's interval; the rows that decided, as measured and adjusted."""
    return [relay_claim(a, *a.relayed)]


def relay_claim(a: Again, word: str, decided: Sequence[str]) -> str:
    rows = {kind: a.slope(a.k, adjusted=kind == "adjusted") for kind in decided if a.baseline or kind != "adjusted"}
    if word == "too few":
        return f"{RELAYED[word]} {few_of_both(a, a.k, decided)}"
    if not rows:
        return f"{RELAYED[word]} zero-shot"
    said = [(kind, short(value / 10, tenth(found))) for kind, (value, found, _) in rows.items()]
    first, *rest = said
    both = [f"{joined(first).removeprefix('none')} 0.1 {a.k}", *(f"{slope} {kind}" for kind, slope in rest)]
    sizes = dict.fromkeys(f"{n:,}" for _, _, n in rows.values())
    return f"{RELAYED[word]} {joined(both)} {joined(sizes)} contexts differ"


def few_of_both(a: Again, k: int, kinds: Sequence[str]) -> str:
    """The counts that the answer lacks: of the last of ``kinds`` that has too few of 20 queries, or of the first."""
    texts = [(kind, a.too_few(k, kind) or "") for kind in kinds]
    kind, text = [*texts[:1], *(one for one in texts if one[1].endswith(" 20"))][-1]
    return f"{'adjusted cannot ' if (kind and text != texts[0][1]) or texts[0][0] else ''}{text}"


def tenth(found: tuple[float, float] | None) -> tuple[float, float] | None:
    return found and (found[0] / 10, found[1] / 10)


@says("Queries")
def the_answer_on_queries(a: Again) -> list[str]:
    """Spearman's rho of measure and utility over queries | each ranking, in the primary pair's cell | queries with both
    | permutation test and 95% interval, both of the table."""
    if not a.baseline:
        return []
    known = {name: one for name in a.rankings if (one := a.rho_of(a.at(name)))}
    yes, no, open_ = (
        [name for name, (_, row) in known.items() if row["word"] in words]
        for words in (("above zero",), ("below zero",), ("undecided", "too few"))
    )
    few = {name: row["beside"] for name, (_, row) in known.items() if row["word"] == "too few"}
    said = [f"{short(value, (row['low'], row['high']))} {name}" for name, (value, row) in known.items()]
    if len(few) == len(known):
        counts = [f"{text} {name}" for name, text in few.items()] if len({*few.values()}) > 1 else [*few.values()][:1]
        return [f"cannot too few {' '.join(counts)} {joined(said)}"]
    if len(known) > 3:
        rho, sizes = [value for value, _ in known.values()], [row["n"] for _, row in known.values()]
        none = len(a.rankings) - len(known)
        span = [f"{a.k}", *dict.fromkeys(num(of(rho), 2) for of in (min, max)), f"undefined {none}" if none else ""]
        spans = " ".join([*span, *dict.fromkeys(f"{of(sizes):,}" for of in (min, max))])
        if not yes and not no:
            return [f"undecided {len(a.rankings)} {spans}"]
        named = joined(yes) if len(yes) < 3 else ""
        strong = "they do" if len(yes) == len(a.rankings) else f"they do {len(yes) or 'none'} {len(a.rankings)} {named}"
        worse = f"{len(no)} lower" if no else ""
        return [f"{strong} {worse} {f'{len(open_)} undecided' if open_ else ''} {spans}"]
    texts = ((yes, "they do"), (no, "lower"), (open_, "undecided"))
    strong = joined(f"{text} {joined(some)}" for some, text in texts if some)
    strong = "undecided" if len(open_) == len(known) else strong
    none = [name for name in a.rankings if name not in known]
    n = max(row["n"] for _, row in known.values())
    reasons: dict[str, list[str]] = {}
    for name in open_:
        row = known[name][1]
        by_test = "" if row["low"] is None or row["low"] <= 0 <= row["high"] else f"{row['p_permutation']:.3f}"
        reasons.setdefault(row["beside"] or by_test, []).append(name)
    why = " ".join(f"{joined(names)} {reason}" for reason, names in reasons.items() if reason)
    return [f"{strong} {a.k} {joined(said)} {joined(['undefined', *none]) if none else ''} {n} {why}"]


@says("lead.scope")
def scope(a: Again) -> list[str]:
    """Where the answers hold | - | - | -."""
    return [f"{a.k} {a.ordering} {a.grade} {'oracles' if len(a.rankings) < len(a.retrievers) else ''} 95%"]


@says("part_headings.counted_where")
def counted_where(a: Again) -> list[str]:
    """Which verdicts the headings of parts count | - | - | -."""
    return [f"{a.ordering} {a.grade} {'oracles' if len(a.rankings) < len(a.retrievers) else ''}"]


@says("lead.figure_title")
def the_figures_title(a: Again) -> list[str]:
    """At which k the pair's difference is decided | the primary pair, at each k | queries with both | intervals that
    hold for the role's pairs in a cell together."""
    words = {k: a.against(k, a.ordering)[2] for k in a.ks}
    ks = {side: [k for k, word in words.items() if word.startswith(side)] for side in ("better", "worse")}
    said = [f"{name} ahead {joined(some)}" for name, some in zip(a.pair, ks.values(), strict=True) if some]
    few = [k for k, word in words.items() if word == "too few queries"]
    rest = [k for k, word in words.items() if not word.startswith(("better", "worse", "too few"))]
    open_ = [*([f"undecided {joined(rest)}"] if rest else []), *([f"too few {joined(few)}"] if few else [])]
    return [joined([*said, *open_]) if said else ""]


@says("lead.figure_remark")
def the_figures_remark(a: Again) -> list[str]:
    """Whether one more query would undo what the figure's title says | the primary pair, at each k | queries with both
    and one of 0.25 | intervals as in the title."""
    decided = [k for k in a.ks if a.against(k, a.ordering)[2].startswith(("better", "worse"))]
    fallen = [k for k in decided if a.falls(k, a.ordering)]
    return [remark(fallen)] if fallen else []


def gain_word(a: Again, where: Where) -> str:
    values = a.gain(where)
    return word_of(values, *(between(values) or (None, None)))


def gain_falls(a: Again, where: Where) -> bool:
    return bool(undone(a.gain(where), gain_word(a, where)))


@says("remark of the table")
def the_tables_remark(a: Again) -> list[str]:
    """Whether one more query would undo any verdict of the table | each retriever, and the pair, in the primary pair's
    cell | queries with both and one of 0.25 | 95% interval; without P₀, at the level of the role's pairs."""
    fallen = [gain_falls(a, a.at(name)) for name in a.retrievers if a.baseline]
    first = [remark([""])] if any([*fallen, a.falls(a.k, a.ordering)]) else []
    said = {name: unlike(a.gain(a.at(name)), gain_word(a, a.at(name))) for name in a.retrievers if a.baseline}
    other = []
    for name in a.retrievers if a.baseline else ():
        p, p0 = a.p(a.at(name)), a.p0(a.at(name))
        paired = [value for qid, value in p.items() if qid in p0]
        other += (
            [f"{len(paired)} {name}"] if paired and f"{np.mean(paired):.2f}" != f"{np.mean([*p.values()]):.2f}" else []
        )
    claims = [*first, *(f"{name} {text}" for name, text in said.items() if text), *other, *different_queries(a)]
    return [joined(claims)] if claims else []


def different_queries(a: Again) -> list[str]:
    """The queries that the differences have, if the rows of the table have different ones."""
    p = {name: a.p(a.at(name)).keys() for name in a.retrievers}
    if not a.baseline:
        sizes = [*map(len, p.values()), *(len(p[name] & p[a.pair[1]]) for name in a.retrievers)]
        return [f"{min(sizes)} to {max(sizes)}"] if len({*sizes}) > 1 else []
    zero, both = a.p0(a.at(a.pair[0])).keys(), len(p[a.pair[0]] & p[a.pair[1]])
    differ = {len(zero), both, *(len(keys & zero) for keys in p.values())}
    return [f"{both} {a.k}"] if len(differ) > 1 else []


@says("title of the table")
def the_tables_title(a: Again) -> list[str]:
    """Mean gain P − P₀ | each ranking in the primary pair's cell | queries with both | 95% interval, per cell."""
    words = [gain_word(a, a.at(name)) for name in a.rankings if a.baseline]
    if set(words) <= {"too few queries"}:
        return [f"{a.k}"]
    n, all_ = words.count("better"), len(words)
    return [f"{'' if n in (0, all_) else f'{n} {all_}'} beat zero-shot {a.k}"]


def not_known(words: Sequence[str]) -> str:
    """How many of ``words`` are undecided, and how many of too few queries."""
    counts = {"undecided": words.count("undecided"), "too few": sum(word.startswith("too few") for word in words)}
    return " ".join(f"{word} {n}" for word, n in counts.items() if n)


@says("part_headings.headings")
def headings(a: Again) -> list[str]:
    """Mean gain P − P₀; change of mean P; share copied | each ranking and k, in the primary pair's ordering and grade |
    queries with both | 95% interval, per cell."""
    words = [gain_word(a, a.at(name, k=k)) for name in a.rankings for k in a.ks]
    worse = f"worse {words.count('worse')}" if "worse" in words else ""
    mean = {(name, k): np.mean(list(a.p(a.at(name, k=k)).values())) for name in a.rankings for k in a.ks}
    changes = {}
    for name in a.rankings:
        first, last = (a.p(a.at(name, k=k)) for k in (a.ks[0], a.ks[-1]))
        both = sorted(first.keys() & last.keys())
        changes[name] = float(np.mean([last[qid] for qid in both]) - np.mean([first[qid] for qid in both]))
    best = max(a.rankings, key=lambda name: mean[name, a.ks[-1]])
    named = a.rankings if len(a.rankings) <= 4 else [name for name in a.rankings if name in (*a.pair, best)]
    moved = [f"{plus(num(changes[name], 2))} {name}" for name in named]
    assert a.baseline or len(a.rankings) == 2
    pairs, gains = a.pairs(), []
    decided = sum(word.startswith(("better", "worse")) for word in pairs)
    lacking = f"too few {pairs.count('too few queries')}" if "too few queries" in pairs else ""
    if a.baseline:
        few = set(words) == {"too few queries"}
        unknown = not_known(words)
        counts = {needed(a.gain(a.at(name, k=k))) for name in a.rankings for k in a.ks}
        gains = [
            f"zero-shot too few {counts.pop() if len(counts) == 1 else ''}"
            if few
            else f"better {out_of(words.count('better'), len(words))} {worse} {unknown}"
        ]
    cells = [a.at(name, k=k) for name in a.rankings for k in a.ks if a.baseline]
    rho = [found[1]["word"] for where in cells if (found := a.rho_of(where))]
    lower = f"lower {rho.count('below zero')}" if "below zero" in rho else ""
    lower += f" {not_known(rho)}"
    lower += f" undefined {len(cells) - len(rho)}" if len(cells) > len(rho) else ""
    return [
        *gains,
        *([f"{out_of(decided, len(pairs))} better {lacking}"] if set(pairs) != {"too few queries"} else []),
        f"{a.k} {RELAYED[a.relayed[0]]}",
        *([f"better higher {out_of(rho.count('above zero'), len(cells))} {lower}"] if a.baseline else []),
        f"{a.ks[0]} {a.ks[-1]} {joined(moved)}",
        *(f"{a.k} {claim}" for claim in copied_in_rankings(a)),
        *[*lost(a), *ended(a)][:1],
    ]


def copied(a: Again, name: str) -> float:
    where = {"retriever": name, "ordering": a.ordering, "k": a.k, "references": a.grade}
    rows = a.measured.scores.filter(**where).drop_nulls("best_in_context")
    return float(np.mean([part["best_in_context"].mean() for part in rows.partition_by("qid")]))


@says("lead_warnings.copying")
def copied_in_rankings(a: Again) -> list[str]:
    """Share of the answers whose nearest reference was in the context | the rankings with the largest | queries with
    such a reference | -."""
    shares = {name: round(copied(a, name), 9) for name in a.rankings}
    most = max(shares.values())
    less = [name for name in shares if shares[name] < most]
    others = joined(less) if 0 < len(less) <= 3 else ""
    named = joined(name for name in shares if shares[name] == most)
    return [f"{named} {percent(most)} {others}"] if most >= 0.5 else []


@says("lead_warnings.warnings")
def few_queries(a: Again) -> list[str]:
    """Difference of mean P that this size finds | the primary pair | queries with both | power of the paired t-test,
    + 1.5/n."""
    n, least = len(a.primary[0]), detectable(a)
    shown = num(least, 2 if round(least, 2) else 4)
    said = f"{n} 80% {shown} {joined(a.pair)} {f'1 {round(n / 3)} missing {n}' if n < 36 else ''}"
    return [said] if n < 100 and a.primary[2] != "too few queries" else []


@says("lead_warnings._pair")
def the_pair_of_many(a: Again) -> list[str]:
    """Which of more than two rankings are the primary pair, and why | the grid | - | -."""
    return [f"primary pair {joined(a.pair)}"] if len(a.rankings) > 2 else []


@says("lead_warnings._other_retrievers")
def against_the_reference(a: Again) -> list[str]:
    """Mean of P less the reference retriever's P | every ranking but those of the primary pair, in its cell | queries
    with both | interval with Bonferroni's correction over the role's pairs."""
    reference = a.measured.reference
    others = [name for name in a.retrievers if name != reference and {name, reference} != set(a.pair)]
    differences = {name: a.difference(a.at(name), a.at(reference)) for name in others}
    tested = sum(between(values) is not None for values in differences.values())
    sides: dict[str, list[str]] = {"better": [], "worse": [], "undecided": [], "too few": []}
    level, fallen = 1 - 0.05 / max(tested, 1), []
    for name, values in sorted(differences.items(), key=lambda one: -one[1].mean()):
        if {name, reference} <= set(a.rankings):
            word = word_of(values, *(between(values, level) or (None, None)), margin=MARGIN)
            fallen += [name] if undone(values, word, level, MARGIN) else []
            side = next((side for side in ("better", "worse", "too few") if word.startswith(side)), "undecided")
            sides[side].append(name)
    texts = {"better": "better {}", "worse": "worse {}", "undecided": "undecided {}", "too few": "too few {}"}
    said = [texts[side].format(joined(names)) for side, names in sides.items() if names]
    undecided = [*sides["undecided"], *sides["too few"]]
    fallen = sorted((name for name in fallen if name not in undecided), key=lambda name: name in sides["worse"])
    return [f"{reference} {joined(said)} {remark(fallen)}"] if said else []


@says("lead_warnings.relay_left_open")
def relay_left_open(a: Again) -> list[str]:
    """Slope as measured | all pairs of rankings in the primary pair's cell | queries that differ | Fieller's interval
    leaves out 0, the adjusted one does not."""
    value, found, _ = a.slope(a.k)
    if a.relayed != ("not known", ["adjusted"]) or found is None:
        return []
    slope = f"{short(value / 10, tenth(found))} 0.1 {a.k}"
    return [f"{slope} {'adjusted' if a.baseline else 'zero-shot cannot adjusted'}"]


def detectable(a: Again) -> float:
    values = a.primary[0]
    effect = TTestPower().solve_power(nobs=len(values), alpha=0.05, power=0.8, alternative="two-sided")
    return float(values.std(ddof=1) * effect * (1 + 1.5 / len(values)))


@says("lead_warnings._other_cells")
def other_cells(a: Again) -> list[str]:
    """Mean of P less the other's P | the primary pair in its k, with another ordering or grade | queries with both |
    interval at the level of the role's pairs in the cell together, which is written."""

    def side(word: str) -> int:
        return 1 if word.startswith("better") else -1 if word.startswith("worse") else 0

    said, sign = [], -1 if a.primary[2].startswith("worse") or a.primary[2] == "not better" else 1
    others = [(a.ordering, grade) for grade in a.section.grades if grade != a.grade]
    others += [(ordering, a.grade) for ordering in a.orderings if ordering != a.ordering]
    order = [(row["ordering"], row["references"]) for row in a.section["systems"].filter(k=a.k).to_dicts()]
    for ordering, grade in sorted(others, key=order.index):
        values, found, word = a.against(a.k, ordering, grade)
        if found and side(word) != side(a.primary[2]):
            unknown = "too few" if word == "too few queries" else "undecided"
            text = (unknown, f"{a.pair[0]} better", f"{a.pair[1]} better")[side(word)]
            found = found if sign > 0 else (-found[1], -found[0])
            level = a.level(a.k, ordering, grade=grade)
            wider = f"{100 * level:.1f}%" if level > 0.951 else ""
            fallen = remark([""] if side(word) and a.falls(a.k, ordering, grade) else [])
            where = grade if ordering == a.ordering else ordering
            said.append(f"{where} {text} {short(sign * values.mean(), found)} {wider} {fallen}")
    return said


@says("lead_warnings.warnings")
def too_few_differ(a: Again) -> list[str]:
    """Queries whose contexts differ | all pairs of rankings at another k | queries with P and measure of both | fewer
    than 20, or than 12 without P₀ (or than 6 effective), have no verdict."""
    kinds, n, said = ["", "adjusted"][: 1 + a.baseline], len(a.primary[0]), []
    for k in (k for k in a.ks if k != a.k):
        few = [kind for kind in kinds if a.too_few(k, kind) is not None]
        if few and min(a.slope(k, adjusted=bool(kind))[2] for kind in kinds) < min(20 if a.baseline else 12, n):
            said.append(f"{k} too few {few_of_both(a, k, few)}")
    return said


def all_answers(a: Again) -> pl.DataFrame:
    """Those of orderings that have one prompt once."""
    return a.measured.answers.filter((pl.col("k") != 1) | (pl.col("ordering") == a.orderings[0]))


def lost(a: Again) -> list[str]:
    share = 1 - all_answers(a)["answer"].count() / all_answers(a).height
    return [f"{percent(share)} missing"] if share >= 0.005 else []


def ended(a: Again) -> list[str]:
    """Shares of all answers."""
    answers = all_answers(a)
    made = answers.drop_nulls("answer")
    if not made["answer_tokens"].count():
        return []
    ways = {"cut": (made["finish_reason"] == "length").sum(), "blank": (made["answer"] == "").sum()}
    shares = {text: n / answers.height for text, n in ways.items()}
    return [f"{percent(value)} {text}" for text, value in shares.items() if value >= 0.005]


@says("lead_warnings.warnings")
def answers_warning(a: Again) -> list[str]:
    """Share of the answers that ended so | all cells, one of orderings with one prompt, and zero-shot | queries x seeds
    | -."""
    return [f"{value} zero-shot {text}" for value, text in (claim.split() for claim in [*lost(a), *ended(a)])]


@says("verdict_sentences.how_relayed")
def how_relayed(a: Again) -> list[str]:
    """Slopes as in the answer on relay; adjusted for mean measure and P₀; on P − P₀ of unseen references | all pairs of
    rankings in the primary pair's cell | queries that differ | Fieller's interval."""

    def said(**kind: bool) -> str:
        value, found, _ = a.slope(a.k, **kind)
        return ends(value / 10, tenth(found))

    more = f"{said(adjusted=True)} adjusted {said(unseen=True)} unseen {a.k}" if a.baseline else ""
    return [f"0.1 {a.k} {a.ordering} {a.grade} {said()} {more} adjusted above zero"]


@says("verdict_sentences.gains")
def gains(a: Again) -> list[str]:
    """Mean gain P − P₀, and the same over mean P₀; mean and median utility | each retriever in the primary pair's cell
    | queries with both | 95% interval, per cell."""
    if not a.baseline:
        return []
    cells = {name: a.gain(a.at(name)) for name in a.retrievers}
    texts = {"better": "better zero-shot", "worse": "worse zero-shot", "undecided": "undecided", TOO_FEW: "too few"}
    said, ratios = [], []
    for word, text in texts.items():
        mine = [name for name in cells if gain_word(a, a.at(name)) == word]
        counts = {name: needed(cells[name]) for name in mine}
        shown = {name: f"{ends(cells[name].mean(), between(cells[name]))} {counts[name]}" for name in mine}
        said += [text, *(f"{name} {one}" for name, one in shown.items())] if mine else []
    for name, values in cells.items():
        p0, utility = a.p0(a.at(name)), list(a.utility(a.at(name)).values())
        base = np.mean([p0[qid] for qid in a.p(a.at(name)) if qid in p0])
        both = num(float(np.mean(utility)), 2), num(float(np.median(utility)), 2)
        ratios.append(f"{num(100 * values.mean() / base, 0)}% {joined(both)} {name}")
    fallen = remark(name for name in cells if gain_falls(a, a.at(name)))
    others = {name: unlike(values, gain_word(a, a.at(name))) for name, values in cells.items()}
    unlikes = " ".join(f"{name} {text}" for name, text in others.items() if text)
    return [f"{max(map(len, cells.values()))} {joined(said)} {fallen} {unlikes}", joined(ratios)]


@says("verdict_sentences.equivalence")
def equivalence(a: Again) -> list[str]:
    """Mean of P less the reference retriever's P | every other retriever in the primary pair's cell | queries with both
    | interval with Bonferroni's correction over the cell's retrievers, the primary pair's at 95%."""
    reference = a.measured.reference
    others = [name for name in a.retrievers if name != reference]
    own = [name for name in others if {name, reference} == set(a.pair)]
    found: dict[str, list[str]] = {}
    fallen, others_ = [], []
    for name in others:
        values = a.difference(a.at(name), a.at(reference))
        level = 0.95 if name in own else 1 - 0.05 / len([one for one in others if one not in own])
        ends_ = between(values, level)
        word = word_of(values, *(ends_ or (None, None)), margin=MARGIN)
        found.setdefault(word, []).append(f"{name} {ends(values.mean(), ends_)} {needed(values)}")
        fallen += [name] if undone(values, word, level, MARGIN) else []
        others_ += [f"{name} {text}"] if (text := unlike(values, word, level)) else []
    words = [
        *("better by more than the margin", "better, by less than the margin", "worse, by less than the margin"),
        *("worse by more than the margin", "better", "equivalent", "not worse", "not better", "worse", "undecided"),
        "too few queries",
    ]
    less = "by less than the margin"
    told = {"not worse": f"better worse {less}", "not better": f"worse better {less}"}
    told["equivalent"] = f"equivalent {reference}"
    said = [f"{joined(found[word])} {told.get(word, word)}" for word in words[:-2] if word in found]
    said += [f"{word.removesuffix(' queries')} {joined(found[word])}" for word in words[-2:] if word in found]
    return [f"{reference} 0.02 {'primary pair' if own and len(others) > 1 else ''} {joined(said)} {remark(fallen)} "
            f"{' '.join(others_)}"]  # fmt: skip


@says("verdict_sentences.correlations")
def correlations(a: Again) -> list[str]:
    """Spearman's rho of measure and utility over queries | each retriever in the primary pair's cell | queries with
    both | permutation test and 95% interval, both of the table."""
    if not a.baseline:
        return []
    known = {name: a.rho_of(a.at(name)) for name in a.retrievers}
    said = []
    for word in ("above zero", "below zero", "undecided", "too few"):
        mine = {name: one for name, one in known.items() if one and one[1]["word"] == word}
        shown = (
            f"{name} {ends(rho, (row['low'], row['high']), 2)} {row['beside']}" for name, (rho, row) in mine.items()
        )
        said += [word, *shown] if mine else []
    none = [f"{name} constant" for name, one in known.items() if not one]
    return [joined([a.k, *said, *(["undefined", *none] if none else [])])]


@says("verdict_sentences.correlation_counts")
def correlation_counts(a: Again) -> list[str]:
    """Spearman's rho of measure and utility over queries | all cells at the grades, orderings of one prompt once |
    cells with a rho | permutation tests, Holm over the table's family."""
    if not a.baseline:
        return []
    rows = [one[1] for where in a.cells(("lenient", "strict")) if (one := a.rho_of(where))]
    words = [row["word"] for row in rows]
    alone = sum(row["p_permutation"] < 0.05 for row in rows)
    few = f"{words.count('too few')} too few" if "too few" in words else ""
    counts = [f"{word} {words.count(word)}" for word in ("above zero", "below zero", "undecided")]
    names = {where[0] for where in a.cells(("lenient", "strict")) if a.rho_of(where)}
    oracles = "oracle" if names - set(a.rankings) else ""
    return [f"{len(rows)} {oracles} {joined(counts)} {few} < 0.05 {alone} {chance(len(rows))}"]


@says("verdict_sentences.gain_counts")
def gain_counts(a: Again) -> list[str]:
    """Mean gain P − P₀ | all cells of the first grade, orderings of one prompt once | cells with a test | 95% interval
    per cell; Holm over the grade's cells."""
    if not a.baseline:
        return []
    cells = a.cells(("lenient",))
    words, values = [gain_word(a, where) for where in cells], [a.gain(where) for where in cells]
    holm = multipletests([p_cautious(one) for one in values], method="holm")[1] < 0.05
    n = {word: words.count(word) for word in ("better", "worse", "undecided", "too few queries")}
    kept = [
        f"{word} {sum(one == word for one, keeps in zip(words, holm, strict=True) if keeps)}"
        for word in ("better", "worse")
    ]
    few = f"{n['too few queries']} too few" if n["too few queries"] else ""
    fallen = [one] if (one := sum(gain_falls(a, where) for where in cells)) else []
    oracles = "oracles" if len(a.rankings) < len(a.retrievers) else ""
    if n["too few queries"] == len(cells):
        return [f"{len(cells)} too few better lenient {oracles} {max(map(len, values))}"]
    rest = "" if n["better"] == len(cells) else f"worse {n['worse']} undecided {n['undecided']} {few}"
    first = f"better {out_of(n['better'], len(cells))} {rest} lenient {oracles}"
    return [f"{first} {max(map(len, values))} better worse {chance(len(cells))} {joined(kept)} {remark(fallen)}"]


@says("verdict_sentences.flags")
def flags(a: Again) -> list[str]:
    """Signs of mean utility and mean gain; largest part of a query in the sum of |utility| | all cells at the grades,
    orderings of one prompt once | cells | -."""
    grid = [
        (r, o, k, g)
        for r in a.retrievers
        for o in a.orderings
        for k in a.ks
        for g in ("lenient", "strict")
        if a.baseline and (k > 1 or o == a.orderings[0])
    ]
    odd, one = [], []
    for where in grid:
        utility = a.utility(where)
        if np.mean(list(utility.values())) * a.gain(where).mean() < 0:
            odd.append(joined(where))
        most = max(utility, key=lambda qid: abs(utility[qid]))
        part = abs(utility[most]) / sum(map(abs, utility.values()))
        if part > 0.2:
            one.append((-part, f"{most} {percent(part)} {joined(where)}"))
    first = [text for _, text in sorted(one, key=lambda pair: pair[0])[:3]]
    return [
        *([f"{len(odd)} {joined(odd[:3])}"] if odd else []),
        *([f"{len(one)} more than 20% {joined(first)}"] if one else []),
    ]


@says("verdict_sentences.coupling")
def coupling(a: Again) -> list[str]:
    """Pearson's r of P₀ and utility; Spearman's partial rho of measure and P given P₀ | each retriever in the primary
    pair's cell | queries with all | interval by the jackknife, of the table."""
    if not a.baseline:
        return []
    of_p0, given = [], []
    for name in a.retrievers:
        where = a.at(name)
        utility, p, p0 = a.utility(where), a.p(where), a.p0(where)
        x, y, z = (np.array([one[qid] for qid in utility]) for one in (p, p0, utility))
        of_p0.append(f"{num(stats.pearsonr(y, z).statistic, 2)} {name}")
        measured = np.array([a.measure[name, a.k, qid] for qid in utility])
        if np.ptp(measured) > 1e-12:
            m, u, v = (stats.rankdata(one) for one in (measured, x, y))
            r = [np.corrcoef(*two)[0, 1] for two in ((m, u), (m, v), (u, v))]
            partial = (r[0] - r[1] * r[2]) / np.sqrt((1 - r[1] ** 2) * (1 - r[2] ** 2))
            here = {"retriever": name, "ordering": a.ordering, "k": a.k, "references": a.grade}
            row = a.section["coupling"].filter(**here).row(0, named=True)
            given.append(f"{ends(partial, (row['partial_rho_low'], row['partial_rho_high']), 2)} {name}")
    return [f"{joined(of_p0)} {a.k} {joined(given)}"]


@says("findings._power")
def power(a: Again) -> list[str]:
    """The rho found in 80% of studies | the verdict on rho in the primary pair's cell | queries with both | simulated,
    of the table."""
    if not a.baseline:
        return []
    n = len(a.utility(a.at(a.retrievers[0])))
    if n < 12:
        return []
    least = a.rho.filter(retriever=a.retrievers[0], ordering=a.ordering, k=a.k, references=a.grade)["detectable"].item()
    assert 2.6 / np.sqrt(n) < least < 3.4 / np.sqrt(n)
    return [f"{n} 80% ±{num(least, 2)} undecided"]


@says("verdict_sentences.equal_length")
def equal_length(a: Again) -> list[str]:
    """Intercept of the difference of P on that of log(1 + tokens) | the primary pair | queries with both | interval
    over jackknife pseudo-values."""
    known = a.measured.answers.filter(ordering=a.ordering, k=a.k).drop_nulls("answer_tokens")
    cells = [known.filter(retriever=name) for name in a.pair]
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
    times = num(float(np.exp(x.mean())), 2)
    return [f"{a.pair[0]} {times} {a.pair[1]} {ends(fitted, between(np.array(pseudo)))} better"]


@says("verdict_sentences.sizes")
def sizes(a: Again) -> list[str]:
    """Difference of mean P found in 80% of studies; queries for equivalence | the primary pair | queries with both |
    power of the paired t-test, + 1.5/n; normal approximation."""
    values = a.primary[0]
    needed = int(np.ceil(((stats.norm.ppf(0.975) + stats.norm.ppf(0.9)) * values.std(ddof=1) / MARGIN) ** 2))
    said = f"{len(values)} 80% {num(detectable(a))} {joined(a.pair)} 0.02 {needed:,}"
    return [said] if a.primary[2] != "too few queries" else []


@says("findings._copying")
def copying(a: Again) -> list[str]:
    """Share of the answers whose nearest reference was in the context; mean gain on unseen references | the retriever
    with the largest share | queries with both | 95% interval."""
    most = max(a.retrievers, key=lambda name: round(copied(a, name), 9))
    if not copied(a, most):
        return []
    said = f"{most} {percent(copied(a, most))} {len(a.p(a.at(most)))}"
    if not a.baseline:
        return [said]
    whole, unseen = a.gain(a.at(most)), a.gain(a.at(most, references=f"{a.grade}-unseen"))
    return [f"{said} {ends(unseen.mean(), between(unseen))} {len(unseen)} {num(whole.mean())}"]


@says("findings._multiplicity")
def marks(a: Again) -> list[str]:
    """Paired differences of P and of utility | † and ‡ at the grades, tests of one prompt once | tests | Student's t;
    Holm in the family."""
    found: dict[tuple[str, ...], list[float]] = {}
    for grade in ("lenient", "strict"):
        for quantity in (a.p, a.utility):
            of = {where: quantity(where) for where in a.cells((grade,))}
            reference, after = (a.measured.reference, "descending"), "ascending"
            pairs = [("†", where, (*reference, *where[2:])) for where in of if where[0] != reference[0]]
            pairs += [("‡", w, (w[0], after, *w[2:])) for w in of if w[1] == "descending" and w[2] > 1]
            for mark, one, other in pairs:
                if other not in of:
                    continue
                both = sorted(of[one].keys() & of[other].keys())
                values = np.array([of[one][qid] - of[other][qid] for qid in both])
                if len(values) > 1 and np.ptp(values) > 1e-12:
                    p = float(stats.ttest_1samp(values, 0).pvalue)
                    found.setdefault((mark, quantity.__name__, grade), []).append(p)
    n, significant = sum(map(len, found.values())), sum((np.array(values) < 0.05).sum() for values in found.values())
    kept = sum((multipletests(values, method="holm")[1] < 0.05).sum() for values in found.values())
    return [f"{n} 5% unseen {chance(n)} significant {significant} {kept}"]


@says("findings._missing")
def missing(a: Again) -> list[str]:
    """Queries without a utility, or with a low P₀ | each retriever in the primary pair's cell | queries | -."""
    where = [a.at(name) for name in a.retrievers if a.baseline]
    null = max((len(set(a.p(one) | a.p0(one)) - set(a.utility(one))) for one in where), default=0)
    low = max((sum(value < 0.1 for value in a.p0(one).values()) for one in where), default=0)
    relative = a.measured.mode == "relative"
    said = [f"{null} missing {'above 0' if relative else ''}"] if null else []
    said += [f"{low} below 0.1"] if low and relative else []
    return [joined(said)] if said else []


@says("findings.findings")
def one_seed(a: Again) -> list[str]:
    """Only one | - | seeds | -."""
    return [""] if len(a.measured.grid["seeds"]) == 1 else []


@says("findings.findings")
def cause(a: Again) -> list[str]:
    """What a correlation shows | - | - | -."""
    return [""]


@says("answer_findings._ordering")
def ordering(a: Again) -> list[str]:
    """Mean of P, descending less ascending | each retriever at the largest k, first grade | queries with both |
    Student's t, Holm over the retrievers and k of the grade."""
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
    moved = [f"{name} {num(tests[name, k].mean())}" for name in mine if p[name, k] < 0.05]
    after = f"significant {sum(holm[name, k] < 0.05 for name in mine) or 'none'}" if moved else ""
    part = f"{out_of(len(moved), len(mine))} {chance(len(mine))} {joined(moved) if moved else ''}"
    return [f"{k} descending ascending significant {part} {after}"]


@says("answer_findings._seeds")
def seeds(a: Again) -> list[str]:
    """Variance of single scores within and between queries | each retriever at the largest k, first grade and ordering
    | queries x seeds | one-way analysis of variance."""
    s, found = len(a.measured.grid["seeds"]), {}
    if s == 1:
        return []
    for name in a.retrievers:
        rows = a.measured.scores.filter(retriever=name, ordering=a.orderings[0], k=a.ks[-1], references="lenient")
        by_query = rows.sort("qid", "seed").partition_by("qid", maintain_order=True)
        scores = np.array([part["f1"].to_list() for part in by_query])
        within = scores.var(axis=1, ddof=1).mean()
        own = max(0.0, scores.mean(axis=1).var(ddof=1) - within / s)
        found[name] = (within / (own + within), own / (own + within / s))
    most = max(found, key=lambda name: found[name][0])
    of = percent(found[most][0]) if found[most][0] >= 0.005 else "less than 1%"
    return [f"{most} {of} {a.ks[-1]} {s} {num(found[most][1], 2)}"]


@says("answer_findings._cost")
def cost(a: Again) -> list[str]:
    """Tokens and seconds of the distinct answers | all cells | distinct prompts x seeds | -."""
    if a.measured.cost.is_empty():
        return []
    row = a.measured.cost.filter(retriever="all").row(0, named=True)
    prompts = a.measured.contexts.with_columns(pl.col("docnos").list.join(" "))
    made = a.measured.answers.join(prompts, on=["retriever", "ordering", "k", "qid"], how="left")
    distinct = made.with_columns(pl.col("docnos").fill_null("")).unique(["qid", "docnos", "seed"])
    cached = percent(row["cached_tokens"] / row["prompt_tokens"])
    return [
        f"{distinct.height:,} {row['prompt_tokens']:,} {cached} {distinct['answer_tokens'].sum():,} "
        f"{row['device_seconds']:.0f} {row['made_by']}"
    ]


@says("answer_findings._cut")
def cut(a: Again) -> list[str]:
    """Share of the answers that ended so | all cells, one of orderings with one prompt, and zero-shot | queries x seeds
    | -."""
    return [*lost(a), *([joined(said)] if (said := ended(a)) else [])]


@says("answer_findings.alike")
def alike(a: Again) -> list[str]:
    """Share with one text from all seeds | cells and queries with several seeds, orderings of one prompt once | cells x
    queries | -."""
    by_query = all_answers(a).drop_nulls("answer").partition_by("retriever", "ordering", "k", "qid")
    texts = [len(set(part["answer"])) for part in by_query if part.height > 1]
    same = texts.count(1) / len(texts) if texts else 0.0
    return [f"{out_of(texts.count(1), len(texts))} {percent(same)}"] if same >= 0.005 else []


@says("answer_findings._positions")
def positions(a: Again) -> list[str]:
    """Queries with a relevant passage at a position | each retriever at the largest k, first grade and ordering |
    queries with a utility | fewer than 30 are too few."""
    k, relevant = a.ks[-1], {(qid, docno) for qid, docno, label in a.measured.qrels.iter_rows() if label >= 2}
    few = []
    for name in a.retrievers:
        where = a.at(name, k=k, ordering=a.orderings[0], references="lenient")
        shown = [[(qid, docno) in relevant for docno in a.shown[*where[:3], qid]] for qid in a.utility(where)]
        for place in range(k):
            n = sum(one[place] for one in shown if len(one) > place)
            few += [(n, place + 1, name)] if 0 < n < 30 else []
    if not few:
        return []
    n, place, name = min(few, key=lambda one: one[:2])
    return [f"{name} {n} {place} fewer than 30 {len({one[2] for one in few})}"]


def unjudged_share(a: Again, *retrievers: str) -> list[float]:
    known = {row[:2] for row in a.measured.qrels.iter_rows()}
    here = [(name, qid, docnos) for (name, o, k, qid), docnos in a.shown.items() if (o, k) == (a.ordering, a.k)]
    holes = [(name, (qid, docno) not in known) for name, qid, docnos in here for docno in docnos]
    return [float(np.mean([hole for one, hole in holes if one == name])) for name in retrievers]


@says("lead_warnings.unjudged")
def unjudged(a: Again) -> list[str]:
    """Share of the passages shown that have no judgement | the primary pair's cell | passages of the contexts | above
    5% in either."""
    shares = dict(zip(a.pair, unjudged_share(a, *a.pair), strict=True))
    said = joined(f"{percent(share)} {name}" for name, share in shares.items())
    return [said] if max(shares.values()) > 0.05 else []


@says("lead_warnings.relay_with_holes")
def relay_with_holes(a: Again) -> list[str]:
    """Slope of relay with other labels of passages without a judgement | all rankings in the primary pair's cell |
    queries that differ | the answer on relay, under each labelling; the search is the table's."""
    rows = {(row["labelling"], row["adjusted"]): row for row in a.section["holes"].filter(k=a.k).to_dicts()}
    if not rows or any(row["slope"] is None for (_, adjusted), row in rows.items() if not adjusted):
        return []
    none, every, low, high = (
        rows[name, False]["slope"] for name in ("none relevant", "all relevant", "lowest slope", "highest slope")
    )
    own = a.slope(a.k)[0]
    assert low <= min(own, every) and max(own, every) <= high and none == pytest.approx(own)

    def answer(name: str) -> str:
        both = [rows[name, adjusted] for adjusted in (False, True)]
        words = {row["verdict"] for row in both}
        if "too few queries" in words:
            return "too few"
        worse = words == {"below zero"} and all(row["p_value"] < 0.01 for row in both)
        return "it is" if words == {"above zero"} else "it is not" if worse else "not known"

    texts = {"all relevant": "all", "lowest slope": "lowest", "highest slope": "highest"}
    words = {name: RELAYED[answer(name)] for name in ("none relevant", *texts)}
    others = dict.fromkeys(words[name] for name in texts if words[name] != words["none relevant"])
    cases = {word: [text for name, text in texts.items() if words[name] == word and text != "all"] for word in others}
    changed = [" ".join([word, *some]) for word, some in cases.items()]
    before, after = ("would change", joined(changed)) if changed else ("", "")
    slopes = f"0.1 {a.k} {num(low / 10)} {num(high / 10)} {num(own / 10)} none {num(every / 10)}"
    return [f"{slopes} {before} {words['none relevant']} {after}"]


@says("findings.summary")
def summary(a: Again) -> list[str]:
    """What the study relates, and the size of its grid | the grid | cells: retriever x ordering x k x seed | -."""
    grid, one = a.measured.grid, a.section
    cells = len(a.retrievers) * len(a.orderings) * len(a.ks) * len(grid["seeds"])
    closer = ("higher" if a.measured.judged else "closer") if a.baseline else ""
    designed = [name for name in a.retrievers if name not in a.rankings]
    named = [[one.dataset], [one.generator], a.rankings, ["oracle", *designed], a.orderings, [one.scorer]]
    sizes = joined(
        f"{len(designed)} {joined(names)}" if names[0] == "oracle" else f"{len(names)} {joined(names)}"
        for names in named if names != ["oracle"]
    )  # fmt: skip
    zero = "zero-shot" if a.baseline else ""
    return [closer, f"{sizes} {joined(a.ks)} {len(grid['seeds'])} {cells} {zero}"]


@says("findings.unscored")
def unscored(a: Again) -> list[str]:
    """Answers that a judge could not score | the section | answers | -."""
    return [f"{a.section.scorer} {sum(one['count'] for one in left_out(a.section))}"]


def left_out(section: Section) -> list[dict[str, Any]]:
    named = {"stage": "scoring", "dataset": section.dataset, "what": UNSCORED}
    detail = {"generator": section.generator, "scorer": section.scorer}
    return [{**named, "count": n, "detail": detail} for n in (3, 4)]


@says("lead.size")
def facts(a: Again) -> list[str]:
    """The study's size | the grid | most queries of a cell | -."""
    n = max(len(a.p(where) | a.p0(where)) for where in a.cells(("lenient",)))
    oracles = len(a.retrievers) - len(a.rankings)
    sizes = f"{n:,} {len(a.rankings)} {f'{oracles} oracles' if oracles else ''} {joined(a.ks)}"
    return [f"{sizes} {len(a.measured.grid['seeds'])} lm {a.section.scorer}"]


class Said(str):
    """A sentence of the page, and what says it."""

    kind = ""


def marked(made: Any, kind: str) -> Any:
    """The sentences in what a function has made, as its own, but those of another that it calls."""
    if isinstance(made, str):
        said = made if isinstance(made, Said) else Said(made)
        said.kind = said.kind or kind
        return said
    if isinstance(made, Findings):
        return replace(made, sentences=marked(made.sentences, kind), limits=marked(made.limits, kind))
    if isinstance(made, dict):
        return {key: marked(value, kind) for key, value in made.items()}
    if isinstance(made, Conclusion | Warned):
        return type(made)(*(marked(one, kind) for one in made))
    if isinstance(made, list | tuple):
        return type(made)(marked(one, kind) for one in made)
    return made


def saying(kind: str, says: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: marked(says(*given), kind)


def page_says(section: Section, judged: bool) -> list[Said]:
    """All sentences of the section on the page, but notes and captions, which have no numbers of a study."""
    judges = {section.scorer: "lm"} if judged else {}
    study = ReportedStudy("study", section.grid, (section,), left_out=left_out(section), judges=judges)
    facts = facts_of(section)
    with pytest.MonkeyPatch.context() as patch:
        for kind in KINDS:
            module, dot, name = kind.partition(".")
            if dot:
                patch.setattr(getattr(report, module), name, saying(kind, getattr(getattr(report, module), name)))
        found, of_answers = findings.findings(section), answer_findings.findings_on_answers(section)
        warnings: Any = lead_warnings.warnings(facts)
        return [
            *(marked(answer.sentence, answer.topic) for answer in lead_answers.answers(facts)),
            lead.scope(section),
            lead.figure_title(facts),
            *filter(None, [lead.figure_remark(facts)]),
            marked(lead_table.table(facts)["title"], "title of the table"),
            *filter(None, [marked(lead_table.table(facts)["remark"], "remark of the table")]),
            *part_headings.headings(facts).values(),
            part_headings.counted_where(section),
            *(marked(f"{head}: {text}", text.kind) for head, text, _ in warnings),
            *verdict_sentences.how_relayed(facts),
            *findings.summary(study),
            *findings.unscored(study, section),
            lead.size([section]),
            *(marked(text, "no function") for part in (found, of_answers) for text in [*part.sentences, *part.limits]),
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


def first_queries(found: Measured, n: int) -> Measured:
    kept = found.scores["qid"].unique().sort()[:n]
    parts = ("scores", "answers", "contexts", "retrieval", "qrels")
    some = {name: getattr(found, name).filter(pl.col("qid").is_in(kept)) for name in parts}
    return replace(found, cost=found.cost.clear(), **some)


def few() -> Measured:
    """The first queries of the demo: too few for words."""
    return first_queries(demo(), 10)


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


def followed(sign: int = 1) -> Measured:
    """The demo as if its oracles were rankings, with scores that follow the measure of the context."""
    found = demo()
    measure = found.retrieval.select("retriever", "k", "qid", "value")
    scores = found.scores.join(measure, on=["retriever", "k", "qid"], how="left", maintain_order="left")
    f1 = 0.5 + sign * 0.4 * (pl.col("value") - 0.5) + 0.1 * pl.col("f1")
    scores = scores.with_columns(f1=pl.when(ordering="none").then("f1").otherwise(f1).fill_null(pl.col("f1")))
    kinds = dict.fromkeys(found.grid["retrievers"], "run")
    return replace(found, scores=scores.drop("value"), grid={**found.grid, "kinds": kinds})


def avoided() -> Measured:
    """The same with scores that are low where the measure is high."""
    return followed(-1)


MAKES = [followed, avoided, demo, absolute, brought, few, refused, with_holes, pytest.param(pool, marks=no_pool)]
APPROVED = Path(__file__).parent / "approved"
Page = tuple[Measured, Section, list[Said]]


@pytest.fixture(scope="module", params=MAKES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Page:
    measured = request.param()
    section = section_of(measured, tmp_path_factory.mktemp("page"))
    return measured, section, page_says(section, measured.judged)


def test_the_page_says_what_the_scores_say(page: Page) -> None:
    measured, section, said = page
    again = Again(measured, section)
    assert {text.kind for text in said} <= KINDS.keys()
    for kind, functions in KINDS.items():
        claims = [claim for of in functions for claim in of(again)]
        agree([text for text in said if text.kind == kind], claims, again.names, kind)


def test_the_page_is_approved(page: Page, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["page"].__name__
    approve(APPROVED / f"{name}.txt", page[2])


def test_every_kind_says_what_it_claims() -> None:
    assert all(len(claimed(of)) == 4 for functions in KINDS.values() for of in functions)


@pytest.mark.parametrize(
    ("make", "n", "said"),
    [
        (demo, 4, "all 4 queries have contexts that differ, but 20 are needed"),
        (demo, 8, "all 8 queries have contexts that differ, but 20 are needed"),
        (demo, 16, "the slope adjusted for difficulty cannot be tested (all 16 queries have contexts that {})"),
        (brought, 8, "all 8 queries have contexts that differ, but 12 are needed"),
    ],
)
def test_relay_needs_the_same_number_of_queries_however_few_there_are(
    make: Callable[[], Measured], n: int, said: str, tmp_path: Path
) -> None:
    """An answer needs both slopes; without zero-shot answers, the adjusted one lacks more than queries."""
    section = section_of(first_queries(make(), n), tmp_path, resamples=30)
    said = said.format("differ, but 20 are needed")
    assert lead_answers.relayed(facts_of(section)).sentence == f"We cannot tell: {said}."
    rows = section["relay"].filter(retrievers="all rankings", k=5, ordering="descending", references="lenient")
    measured = rows.filter(adjusted=False)["reason"].item()
    assert measured == (None if n == 16 else f"all {n} queries have contexts that differ, but 12 are needed")


def without_some(retriever: str) -> Measured:
    """The demo without a retriever's answers to a quarter of the queries."""
    found = demo()
    gone = (pl.col("retriever") == retriever) & pl.col("qid").is_in(found.scores["qid"].unique().sort().gather_every(4))
    return replace(found, scores=found.scores.filter(~gone), answers=found.answers.filter(~gone))


@pytest.mark.parametrize("retriever", ["dense", "nrel", ""])
@pytest.mark.parametrize("baseline", [True, False])
def test_the_first_table_says_which_queries_its_rows_have(retriever: str, baseline: bool, tmp_path: Path) -> None:
    measured = without_some(retriever)
    if not baseline:
        measured = replace(
            measured, scores=measured.scores.filter(pl.col("retriever") != "zeroshot", ordering="descending")
        )
    section = section_of(measured, tmp_path, resamples=30)
    again, table = Again(measured, section), lead_table.table(facts_of(section))
    said = {row["name"]: row["queries"] for row in [*table["rows"], *table["designed"]]}
    sizes = {name: len(again.p(again.at(name))) for name in again.retrievers}
    if baseline:
        sizes |= {"zero-shot": 36, "dense − bm25": len(again.primary[0])}
    assert said == {name: f"{n} queries" if retriever else "" for name, n in sizes.items()}
    assert sizes.get(retriever, 27) == 27 and {*sizes.values()} == ({27, 36} if retriever else {36})
    both = {(True, "dense"): "27", (True, "nrel"): "36"}.get((baseline, retriever), "27 to 36")
    rest = "; each gain uses its row’s queries; nDCG@5 uses all queries with P or P₀" if baseline else ""
    remark = f"Differences between retrievers use the {both} queries that have P for both{rest}."
    assert (remark in table["remark"]) == bool(retriever)
    assert retriever or "Differences between" not in table["remark"]


def without_zeroshot() -> Measured:
    """The demo with low scores where the measure is high, and no answers without context."""
    found = avoided()
    scores = found.scores.filter(pl.col("retriever") != "zeroshot", pl.col("ordering") != "none")
    return replace(found, scores=scores, answers=found.answers.filter(pl.col("retriever") != "zeroshot"))


@pytest.mark.parametrize(("make", "first"), [(demo, "dense"), (avoided, "bm25"), (without_zeroshot, "dense")])
def test_answer_figure_and_table_show_one_direction(make: Callable[[], Measured], first: str, tmp_path: Path) -> None:
    """The winner less the other; without zero-shot answers, figure and table show all less the reference."""
    section = section_of(make(), tmp_path, resamples=30)
    facts = facts_of(section)
    table, (wide, narrow) = lead_table.table(facts), lead_figure(facts, 1, explored=False)
    assert wide["pair"] == narrow["pair"] and wide["pair"][0] == first
    if section.baseline:
        shown = next(row for row in table["rows"] if row["kind"] == "pair")
        answer = lead_answers.compared(facts)
        assert shown["name"] == " − ".join(wide["pair"]) and answer.names == wide["pair"]
        assert re.search(rf"differ(s by|ence) {re.escape(shown['gain'].lstrip('+'))}", answer.numbers)
    else:
        shown = next(row for row in table["rows"] if row["name"] == first)
        assert table["last"] == f"P − {wide['pair'][1]}’s"
    at = [count for _, count in wide["ks"]].index(str(section.lead["k"]))
    assert wide["paired"][at]["value"] == shown["gain"] and wide["paired"][at]["word"] in shown["verdict"]
    template = environment(FOLDER).from_string(
        '{% from "macros.html.j2" import lead_figure %}{% for one in drawn %}{{ lead_figure(one) }}{% endfor %}'
    )
    assert template.render(drawn=[wide, narrow]).count(f'data-of="{" − ".join(wide["pair"])}"') == 2


def test_the_figures_title_has_the_tables_word_for_too_few_queries(tmp_path: Path) -> None:
    section = section_of(demo(), tmp_path, resamples=30)
    word = pl.when(k=1).then(pl.lit("too few queries")).when(k=2).then(pl.lit("undecided")).otherwise("verdict")
    few = changed(section, systems=section["systems"].with_columns(verdict=word))
    assert lead.figure_title(facts_of(few)) == ("dense is ahead at k = 5; undecided at k = 2; too few queries at k = 1")
    cells = pl.col("retriever").is_in(section.rankings)
    gain = section["gain"].filter(cells, ordering="descending", references="lenient")
    words = pl.Series(["better"] * 3 + ["undecided", "too few queries", "too few queries"])
    assert part_headings.headings(facts_of(changed(section, gain=gain.with_columns(verdict=words))))["gain"] == (
        "Answers are better with passages in 3 of 6 combinations of retriever and k (undecided in 1, "
        "too few queries in 2)"
    )


@pytest.mark.parametrize("make", [demo, with_holes])
def test_the_first_table_has_the_share_of_unjudged_passages(make: Callable[[], Measured], tmp_path: Path) -> None:
    """Of every retriever, not of the primary pair alone: a pool that missed one's passages lowers its measure."""
    measured = make()
    section = section_of(measured, tmp_path)
    again, table = Again(measured, section), lead_table.table(facts_of(section))
    named = {row["name"]: row["unjudged"] for row in [*table["rows"], *table["designed"]]}
    shown = {name: named[name] for name in measured.grid["retrievers"]}
    shares = dict(zip(shown, unjudged_share(again, *shown), strict=True))
    assert shown == {name: f"{100 * value:.0f}%" for name, value in shares.items()}
    assert table["unjudged"] == (make is with_holes) == (max(shares.values()) > 0.05)


def test_the_words_of_other_verdicts_are_approved(tmp_path: Path) -> None:
    """Changed tables have the verdicts and states that no scores here lead to."""
    measured = with_holes()
    ranked = {**measured.grid, "kinds": dict.fromkeys(measured.grid["retrievers"], "run")}
    section = section_of(replace(measured, grid=ranked), tmp_path)
    some = pl.col("retriever").is_in(["bm25", "rel"])

    def having(name: str, **values: Any) -> Section:
        exprs = {column: value if isinstance(value, pl.Expr) else pl.lit(value) for column, value in values.items()}
        return changed(section, **{name: section[name].with_columns(**exprs)})

    said = [lead_answers.compared(facts_of(having("systems", verdict=word))).sentence for word in OF_DIFFERENCE]
    said.append(lead_answers.compared(facts_of(having("systems", verdict="equivalent", stands=False))).sentence)
    for word, adjusted in (("above zero",) * 2, ("below zero",) * 2, ("above zero", "undecided")):
        verdict = pl.when("adjusted").then(pl.lit(adjusted)).otherwise(pl.lit(word))
        relay = having("relay", low=pl.when("adjusted").then(-0.1).otherwise(0.1), verdict=verdict, p_value=0.001)
        facts = facts_of(relay)
        said += [lead_answers.relayed(facts).sentence, *lead_warnings.relay_left_open(facts)]
    alone = changed(relay, relay=relay["relay"].filter(~pl.col("adjusted")))
    said += lead_warnings.relay_left_open(facts_of(alone))
    few = {"low": None, "high": None, "verdict": "too few queries", "reason": "3.9 effective queries, but 6 are needed"}
    expressions = {name: pl.when("adjusted").then(pl.lit(value)).otherwise(pl.col(name)) for name, value in few.items()}
    said.append(lead_answers.relayed(facts_of(having("relay", **expressions))).sentence)
    for names in (["dense"], ["bm25", "dense"]):
        kinds = dict.fromkeys(["rel", "nrel"], "oracle") | dict.fromkeys(names, "processed")
        copied = replace(having("utility", share_best_in_context=0.6), grid=replace(section.grid, kinds=kinds))
        facts = facts_of(changed(copied, relay=section["relay"].clear()))
        said.append(lead_answers.relayed(facts).sentence)
        said += [one.text for one in lead_warnings.warnings(facts) if one.head == "Copying"]
    below = having("relay", low=-0.2, high=-0.1, verdict="below zero", p_value=0.02)
    said.append(lead_answers.relayed(facts_of(below)).sentence)
    first_warnings = [lead_warnings.warnings(facts_of(one))[0] for one in (section, replace(section, named_pair=True))]
    said += [f"{one.head}: {one.text}" for one in first_warnings]
    for first, second in combinations(("above zero", "below zero", "undecided", "above zero"), 2):
        verdict = pl.when(some).then(pl.lit(first)).otherwise(pl.lit(second))
        of_four = having("correlation", verdict=verdict, value=pl.col("value").fill_null(0.1))
        said.append(lead_answers.ranked_well(facts_of(of_four)).sentence)
        said.append(lead_answers.ranked_well(facts_of(having("correlation", verdict=verdict))).sentence)
    for other in ([], ["all relevant", "lowest slope"]):
        verdict = pl.when(pl.col("labelling").is_in(other)).then(pl.lit("above zero")).otherwise(pl.lit("undecided"))
        said += lead_warnings.relay_with_holes(facts_of(having("holes", verdict=verdict)))
    said += verdict_sentences.flags(having("gain", utility_disagrees=True))
    for word in ("equivalent", "not worse", "undecided"):
        of_cell = having("equivalence", verdict=word)["equivalence"].filter(
            k=5, ordering="descending", references="lenient"
        )
        said += verdict_sentences.equivalence(
            of_cell.with_columns(margin=None if word == "undecided" else "margin").to_dicts()
        )
    said += findings.findings(having("utility", n_without_results=2)).limits[-2:]
    said += answer_findings.findings_on_answers(having("lengths", stop=pl.col("stop") - 3, other=3)).limits[:1]
    sizes = {"queries": [36], "clusters": [9], "n_eff": [7.0], "largest": [10], "share_largest": [10 / 36]}
    clustered = changed(having("systems", verdict="too few queries"), clusters=pl.DataFrame(sizes))
    of_clusters = lead_warnings.clustered(facts_of(clustered))
    said.append(lead_answers.compared(facts_of(clustered)).sentence)
    said += [f"{one.head}: {one.text}" for one in of_clusters]
    one = replace(section.grid, kinds={**section.grid.kinds, **dict.fromkeys(("dense", "rel", "nrel"), "oracle")})
    alone = replace(changed(section, systems=section["systems"].clear(), relay=section["relay"].clear()), grid=one)
    said += [answer.sentence for answer in lead_answers.answers(facts_of(replace(alone, primary=None)))]
    said.append(lead.scope(replace(section, grid=one)))
    said += [answer.question for answer in lead_answers.answers(facts_of(section))]
    approve(APPROVED / "other-verdicts.txt", [*said, lead_table.table(facts_of(section))["last"]])


MODULES = ("verdict_sentences.py", "findings.py", "answer_findings.py", "lead.py", "lead_answers.py", "lead_table.py",
           "lead_warnings.py", "part_headings.py")  # fmt: skip
"""Where the sentences of a study's page are made."""


@pytest.mark.parametrize("module", MODULES)
def test_a_text_of_the_page_is_approved(module: str) -> None:
    assert not_approved(PACKAGE / "report" / module, APPROVED) == []
