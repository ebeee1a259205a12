"""What a page's sentences claim, read off them, and the numbers that they claim computed a second way."""

import functools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import getdoc
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy import optimize, stats

from tests.support.measured_study import POOL, Measured
from tests.support.measured_study import demo as make_demo
from tests.support.measured_study import pool as make_pool
from tests.support.sandbox import ROOT

Array = npt.NDArray[np.float64]
PACKAGE = ROOT / "workflow" / "scripts" / "ragrelay"
WORDS = (
    "answers improve more where rankings improve more", "answers improve less where rankings improve more", "at most",
    "by more than the margin", "by less than the margin", "not worse", "not better", "better", "worse",
    "equally good", "equivalent", "undecided", "we do not know", "not known", "cannot", "they do",
    "contexts differ", "above zero", "below zero", "above", "below", "higher", "lower", "highest", "lowest", "closer",
    "ahead", "behind", "beats?", "too few", "fewer than", "less than", "more than", "none", "all of them",
    "not significant", "significant", "would change", "adjusted", "unseen", "missing", "cut",
    "blank", "constant", "undefined", "zero-shot", "oracles?", "primary pair", "would overturn",
)  # fmt: skip
"""What a sentence claims, with names and numbers; a phrase before those in it."""
SAME = {"we do not know": "undecided", "not known": "undecided", "beats": "beat", "oracles": "oracle"}
NUMBER = r"(?:[−+±]|< ?)?(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?%?"


def told(text: str, names: Collection[str]) -> tuple[list[str], str]:
    """The names, numbers (an interval is one) and words of a verdict in ``text``, in its order; and what is left."""
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    named = [rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])"] if names else []
    words, drawn, interval = rf"\b(?:{'|'.join(WORDS)})\b", r"\{[^}]*\}", rf"\[{NUMBER}, {NUMBER}\]"
    pattern = re.compile("|".join([*named, drawn, interval, NUMBER, words]), re.IGNORECASE)
    found = [match.group().lower() for match in pattern.finditer(text)]
    return [SAME.get(one, one) for one in found], pattern.sub("", text)


def agree(texts: Sequence[str], claims: Sequence[str], names: Collection[str] = (), kind: str = "") -> None:
    """Each text tells what the claim in its place does, which has nothing else; ``{0.12~0.03}`` is 0.12 or near it."""
    assert len(texts) == len(claims), f"{kind}\non the page:     {texts}\nfrom the scores: {claims}"
    for text, claim in zip(texts, claims, strict=True):
        (said, _), (expected, rest) = told(text, names), told(claim, names)
        assert not re.search(r"\w", rest), f"{kind} claims {rest!r}, which is no name, number or word of a verdict"
        same = len(said) == len(expected) and all(map(near, said, expected))
        assert same, f"{kind}\non the page:     {text}\n{said}\nfrom the scores: {expected}"


def near(said: str, expected: str) -> bool:
    if not expected.startswith("{"):
        return said == expected
    value, _, within = expected.strip("{}").partition("~")
    return abs(read(said) - read(value)) <= float(within)


def read(text: str) -> float:
    return 0.0005 if text.startswith("<") else float(text.replace("−", "-"))


def drawn(value: float, within: float, digits: int = 2) -> str:
    return "{" + f"{num(value, digits)}~{within}" + "}"


Claims = Callable[[Any], list[str]]


def claimed(of: Claims) -> list[str]:
    """What the docstring of a function says of its sentences: estimand | rows | n | test."""
    return [part for part in re.split(r"\s+\|\s+", (getdoc(of) or "").rstrip(".")) if part]


def num(value: float, digits: int = 3) -> str:
    text = f"{abs(value):,.{digits}f}"
    return ("−" if value < 0 and float(text.replace(",", "")) else "") + text


def ends(value: float, between: tuple[float, float] | None, digits: int = 3, margin: float = 0.0) -> str:
    """At least ``digits`` decimals, and so many that no end, or a value alone, looks like zero or the margin."""
    written = [end for end in between or (value,) if abs(end) > 1e-9]
    while digits < 6 and any(float(f"{abs(end):.{digits}f}") in (0.0, margin) for end in written):
        digits += 1
    return num(value, digits) + (f" [{num(between[0], digits)}, {num(between[1], digits)}]" if between else "")


def short(value: float, between: tuple[float, float] | None, margin: float = 0.0) -> str:
    return ends(value, between, 2, margin)


def plus(text: str) -> str:
    return text if text.startswith("−") or not float(text) else f"+{text}"


def percent(value: float) -> str:
    return f"{value:.0%}"


def joined(words: Iterable[object]) -> str:
    return " ".join(map(str, words)) or "none"


def out_of(n: int, total: int) -> str:
    return f"{n} {total}" if total < 3 or 0 < n < total else f"{'' if n else 'none'} {total}"


def chance(tests: int) -> str:
    return f"{round(tests * 0.05):,}" if round(tests * 0.05) else "less than 1"


def both_statistics(values: Array, null: float, cautious: bool = True, inflation: float = 1.0) -> tuple[float, float]:
    """Student's t, and Hall's; where words follow, with 1.75 times the skewness (docs/methods.md)."""
    n, g = len(values), (1.75 if cautious else 1.0) * float(stats.skew(values))
    t = (values.mean() - null) / values.std(ddof=1) / np.sqrt(inflation)
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


def p_cautious(values: Array, cautious: bool = True, inflation: float = 1.0) -> float:
    low, high = (sign * np.array(both_statistics(values, 0.0, cautious, inflation)) for sign in (-1, 1))
    return float(2 * min(stats.t.sf(side.min(), (len(values) - 1) / inflation) for side in (low, high)))


def of_ratio(above: Array, below: Array, inflation: float = 1.0) -> tuple[float, float] | None:
    """Fieller's interval by the same test, by stepping outwards and solving."""
    q, centre, found = stats.t.ppf(0.975, (len(above) - 1) / inflation), above.mean() / below.mean(), []
    for side in (-1, 1):

        def rest(ratio: float, side: int = side) -> float:
            differences = above - ratio * below
            one, other = (-side * value for value in both_statistics(differences, 0.0, inflation=inflation))
            return min(one, other) - q

        step = max(abs(centre), 1.0) / 64
        while rest(centre + side * step) < 0:
            step *= 1.5
            if step > 1e6:
                return None
        found.append(float(optimize.brentq(rest, centre, centre + side * step, xtol=1e-12)))
    return found[0], found[1]


def word_of(values: Array, low: float | None, high: float | None, margin: float | None = None) -> str:
    """The word of a mean difference, by docs/methods.md."""
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


def undone(values: Array, word: str, level: float = 0.95, margin: float | None = None) -> bool | None:
    """Whether a query with a difference of 0.25 against ``word`` undoes it; None of a word that says nothing."""
    if word in ("undecided", "too few queries"):
        return None
    plus, minus = (between(np.append(values, query), level) for query in (0.25, -0.25))
    assert plus and minus
    if word.startswith(("better", "worse")):
        return minus[0] <= 0 if word.startswith("better") else plus[1] >= 0
    assert margin
    falls = {"not worse": minus[0] <= -margin, "not better": plus[1] >= margin}
    return any(falls.values()) if word == "equivalent" else falls[word]


def needed(values: Array) -> str:
    """The counts of differences that are too few for a word: how many there are, or differ, and are needed."""
    different = int((values != 0).sum())
    return f"{len(values)} 12" if len(values) < 12 else f"{different} {len(values)} 8" if different < 8 else ""


def unlike(values: Array, word: str, level: float = 0.95) -> str:
    """What is said beside a word that is neither better nor worse, where Student's t alone finds one: p, and counts."""
    if needed(values) or word.startswith(("better", "worse")) or np.ptp(values) < 1e-12:
        return ""
    p_value, other = stats.ttest_1samp(values, 0.0).pvalue, int((values * values.mean() < 0).sum())
    counts = f" {other} {len(values)}" if other else ""
    return "" if p_value >= 1 - level else f"significant {'< 0.001' if p_value < 0.001 else num(p_value)}{counts}"


def remark(fallen: Iterable[object]) -> str:
    """What a page claims of verdicts that do not stand: their names, their k or the number of cells."""
    return f"0.25 would overturn {' '.join(map(str, named))}" if (named := list(fallen)) else ""


def per_query(measured: Measured) -> pl.DataFrame:
    """retriever, ordering, k, references, qid, p, p0, utility: means over seeds, without the analysis."""
    means = measured.scores.group_by("retriever", "ordering", "k", "references", "qid").agg(p=pl.col("f1").mean())
    zero = means.filter(retriever="zeroshot").select("references", "qid", p0="p")
    found = means.filter(pl.col("k") > 0, pl.col("ordering") != "none").join(zero, on=["references", "qid"])
    relative = pl.when(pl.col("p0") > 0).then((pl.col("p") - pl.col("p0")) / pl.col("p0"))
    return found.with_columns(utility=relative).sort("retriever", "ordering", "k", "references", "qid")


no_pool = pytest.mark.skipif(not POOL.is_dir(), reason="no TREC DL 2019 passages next to the project")
demo, pool = functools.cache(make_demo), functools.cache(make_pool)
MADE = [demo, pytest.param(pool, marks=no_pool)]
