"""Estimate how closely each retrieval measure tracks answer quality, and compare every pair of measures."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import special

from ragrelay.analysis import mean_tests, relay
from ragrelay.analysis.clusters import effective_number
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.panel_verdicts import bounded
from ragrelay.analysis.verdicts import ABOVE, BELOW, QUERIES_AT_LEAST, TOO_FEW, UNDECIDED, few
from ragrelay.base.vocabulary.columns import REASON, REFERENCES, STUDY_PART, integer, number, schema_of, text

MOST_CLOSELY, NOT_BEATEN, BEATEN, CLOSER = "most closely", "not beaten", "beaten", "beats the declared measure"
WITHOUT_RELAY = "no known relay"
COMPARED_AT_LEAST = 20
"""Minimum number of queries, or clusters of queries, with different contexts that a verdict needs."""
COMPARED_IN = {"ordering": relay.TABLE["ordering"], "k": integer("number of passages in the context", "passages"),
        "references": REFERENCES}  # fmt: skip
LEVEL_OF_ENDS = number(
    "confidence level of the interval, chosen so that all of a cell's intervals in this table hold jointly at 95%",
    "0 to 1",
)
FIT = {
    **COMPARED_IN,
    "measure": relay.TABLE["measure"],
    "n": integer("number of queries whose contexts differ between the rankings of at least one pair", "queries"),
    "r": number("correlation between the difference in P and the difference in the measure, as in "
                "`relay.csv`", "−1 to 1"),
    "low": number("lower end of the interval for `r`", "−1 to 1"),
    "high": number("upper end of the interval for `r`", "−1 to 1"),
    "level": LEVEL_OF_ENDS,
    "r2": number("cross-validated R²: the share of the variation in P between rankings that is explained by the "
                 "measure; each query is predicted with the slope fitted on the other queries", "at most 1"),
    "relay": text("whether better rankings are relayed to better answers, according to the plain and the adjusted "
                  "slope in `relay.csv`: `it is`, `it is not`, `not known` or `too few queries`"),
    "share_tied": number("share of ranking pairs in which the measure has the same value for both rankings, among "
        "pairs with different contexts", "0 to 1"),
    "verdict": text(f"verdict on how closely the measure tracks answer quality: `{MOST_CLOSELY}`, `{NOT_BEATEN}`, "
                    f"`{BEATEN}`, `{WITHOUT_RELAY}` or `too few queries`; if a measure was declared, also `{CLOSER}`"),
    "reason": REASON,
}  # fmt: skip
PAIRS = {
    **COMPARED_IN,
    "measure": relay.TABLE["measure"],
    "against_measure": text("name of the other measure"),
    "n": FIT["n"],
    "difference": number("`r2` of the measure minus `r2` of the other measure", "at most 2"),
    "low": number("lower end of the interval for the difference", "at most 2"),
    "high": number("upper end of the interval for the difference", "at most 2"),
    "level": LEVEL_OF_ENDS,
    "p_value": number("two-sided p-value for the null hypothesis that the difference is 0, with queries as the unit of "
                      "analysis, not corrected for the number of pairs"),
    "verdict": text("verdict on the difference at `level`: `above zero`, `below zero`, `undecided` or `too few "
                    "queries`; a measure can only be called better if its `relay` in `measure_fit.csv` is `it is`"),
    "verdict_alone": text("verdict on the difference at a confidence level of 95%, as if this were the only pair"),
    "reason": REASON,
}  # fmt: skip
FIT_COLUMNS, PAIR_COLUMNS = {**STUDY_PART, **FIT}, {**STUDY_PART, **PAIRS}
"""Columns of measure_fit.csv and measure_pairs.csv."""


class Losses(NamedTuple):
    """Several measures' losses on the U queries (or clusters of queries) for which the rankings' contexts differ."""

    n: int
    """The number of queries whose contexts differ."""
    of_measure: Mapping[str, Array]
    """Each measure's squared residuals of the differences in P, (U,), given the slope from the other queries."""
    products: Mapping[str, Array]
    """Each measure's sums of xx, xp and pp, (3, U), as in relay.Sums."""
    without: Array
    """The squared differences in P, (U,)."""
    tied: Mapping[str, float]
    """Each measure's share of pairs of rankings with equal values."""
    units: str
    """What the independent units are called, such as queries."""


def compare_measures(
    cells: Iterable[tuple[Mapping[str, object], Mapping[int, relay.Cell]]],
    relayed: pl.DataFrame,
    declared: str | None = None,
    parts: Mapping[str, pl.DataFrame] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare all measures in each cell, on the same answers.

    For each pair of rankings, p is the difference in P and x the difference in the measure, both centred as in relay. A
    measure's loss on a query is the sum of (p - b x)^2 over pairs, with b estimated from all other queries; r2 is 1 -
    (sum of losses) / (sum of p^2). Differences in mean loss are tested with mean_tests.Means.cautious. The difference
    in r2 is a ratio, so its interval is Fieller's (1954). Only queries with values for all measures are used.

    Args:
        cells: Pairs of names (references, measure, ordering) and cells (keyed by k), as returned by relay.cells_of.
        relayed: The table relay.csv. Only measures whose slopes are above zero in this table can be called better.
        declared: The measure chosen in advance, to compare with all others; if None, all pairs are compared.
        parts: For a panel, the PAIRS tables computed without each judge in turn, keyed by the judge left out.

    Returns:
        Two tables, with columns FIT and PAIRS. The confidence level in PAIRS is 1 - 5%/m for m comparisons in the cell.
        A measure tracks answer quality most closely if it is better than every other measure at the 95% level.
    """
    groups: dict[tuple[object, int, object], dict[str, relay.Cell]] = {}
    for names, of_k in cells:
        for k, cell in of_k.items():
            groups.setdefault((names["ordering"], k, names["references"]), {})[str(names["measure"])] = cell
    found = []
    for key, of_measure in groups.items():
        names = dict(zip(COMPARED_IN, key, strict=True))
        answers = {measure: relay.answer(relayed, str(key[0]), key[1], str(key[2]), measure) for measure in of_measure}
        found.append((names, losses_of(of_measure), answers))
    rows = [names | row for names, losses, answers in found for row in _pairs(losses, answers, declared)]
    pairs = _bounded(pl.DataFrame(rows, schema=schema_of(PAIRS)), parts or {})
    fits = [
        names | row
        for names, losses, answers in found
        for row in _fits(losses, answers, pairs.filter(**names), declared)
    ]
    return pl.DataFrame(fits, schema=schema_of(FIT)), pairs


def losses_of(cells: Mapping[str, relay.Cell]) -> Losses:
    """Compute each measure's losses in a cell, over the queries that have values for every measure."""
    known = np.all([np.isfinite(cell.x) for cell in cells.values()], axis=0)
    of_measure, products, tied = {}, {}, {}
    for measure, cell in cells.items():
        masked = cell._replace(x=np.where(known, cell.x, np.nan), by_seed=None)
        sums = relay.all_pairs(of_pair for _, of_pair in relay.pair_sums(masked, adjusted=False))
        products[measure] = sums.of_units
        xx, xp, pp = products[measure]
        rest = xx.sum() - xx
        slope = np.divide(xp.sum() - xp, rest, out=np.zeros_like(xp), where=rest > ROUNDING * xx.sum())
        of_measure[measure] = pp - 2 * slope * xp + slope**2 * xx
        equal = [
            (masked.x[pair.first] == masked.x[pair.second])[pair.differs]
            for pair in relay.pairs(masked, adjusted=False)
            if pair.residuals is not None
        ]
        tied[measure] = float(np.concatenate(equal).mean()) if equal else np.nan
    return Losses(int(sums.differs.sum()), of_measure, products, pp, tied, sums.units)


def _few(losses: Losses) -> str | None:
    """Return why a cell has no verdicts, or None."""
    n = len(losses.without)
    if n < COMPARED_AT_LEAST:
        return f"{n} {losses.units} have contexts that differ, but {COMPARED_AT_LEAST} are needed"
    if not losses.without.any():
        return "the differences in P are the same for all queries"
    return few(np.ones(n), effective_number(losses.without), (losses.units, losses.units))


def _pairs(losses: Losses, answers: Mapping[str, str], declared: str | None) -> Iterator[dict[str, object]]:
    measures = list(losses.of_measure)
    pairs = [pair for pair in itertools.combinations(measures, 2) if declared in (None, *pair)]
    for measure, other in pairs if declared is None else [_first(declared, pair) for pair in pairs]:
        level = 1 - ALPHA / len(pairs)
        row = {"measure": measure, "against_measure": other, "n": losses.n, "level": level}
        yield row | _difference(losses, measure, other, level, answers)


def _first(declared: str, pair: tuple[str, str]) -> tuple[str, str]:
    return pair if pair[0] == declared else pair[::-1]


def _difference(
    losses: Losses, measure: str, other: str, level: float, answers: Mapping[str, str]
) -> dict[str, object]:
    """Test the difference between the measure's r2 and the other's."""
    total, few_queries = losses.without.sum(), _few(losses)
    lead = losses.of_measure[other] - losses.of_measure[measure]
    lead[np.abs(lead) <= ROUNDING * losses.without.max(initial=0.0)] = 0.0
    row: dict[str, object] = {"difference": float(lead.sum() / total) if total > 0 else None}
    undecided = {"verdict": UNDECIDED, "verdict_alone": UNDECIDED}
    p = 1.0
    if len(lead) >= QUERIES_AT_LEAST and not is_constant(lead):
        row["p_value"] = p = float(mean_tests.Means.cautious(lead[:, None]).p_value()[0])
        ends = mean_tests.ratio_interval(lead, losses.without, 1.0, mean_tests.SKEWNESS, level=level)
        row |= dict(zip(("low", "high"), ends, strict=True)) if ends else {}
    if few_queries:
        return row | {"verdict": TOO_FEW, "verdict_alone": TOO_FEW, "reason": few_queries}
    if reason := few(lead, units=(losses.units, losses.units)):
        return row | undecided | {"reason": reason}
    word, ahead = (ABOVE, measure) if lead.mean() > 0 else (BELOW, other)
    if p < ALPHA and answers[ahead] != relay.IT_IS:
        return row | undecided | {"reason": f"{ahead} is ahead, but relay is not demonstrated for it"}
    return row | {"verdict": word if p < 1 - level else UNDECIDED, "verdict_alone": word if p < ALPHA else UNDECIDED}


def _bounded(pairs: pl.DataFrame, parts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Limit both verdicts of a panel's ``pairs`` to those that all its parts support."""
    for column in ("verdict_alone", "verdict"):
        others = [name for name in ("verdict", "verdict_alone") if name != column]
        of_parts = {judge: part.drop("p_value", *others).rename({column: "verdict"}, strict=False)
                    for judge, part in parts.items()}  # fmt: skip
        own = bounded(pairs.drop(others).rename({column: "verdict"}, strict=False), of_parts)
        pairs = pairs.with_columns(own["verdict"].alias(column), own["reason"])
    return pairs


def _fits(
    losses: Losses, answers: Mapping[str, str], pairs: pl.DataFrame, declared: str | None
) -> Iterator[dict[str, object]]:
    level, reason = 1 - ALPHA / len(losses.of_measure), _few(losses)
    for measure, loss in losses.of_measure.items():
        explained, total = losses.without - loss, losses.without.sum()
        row: dict[str, object] = {
            "measure": measure, "n": losses.n, "level": level, "relay": answers[measure],
            "r2": float(explained.sum() / total) if total > 0 else None, "reason": reason,
            "share_tied": None if np.isnan(losses.tied[measure]) else losses.tied[measure],
        }  # fmt: skip
        row |= correlation(losses.products[measure], level)
        yield row | {"verdict": TOO_FEW if reason else _standing(measure, answers[measure], pairs, declared)}


def correlation(products: Array, level: float) -> dict[str, object]:
    """Return r with an interval, computed from a jackknife of Fisher's z over queries or clusters.

    Args:
        products: The sums of x^2, x p and p^2 for each query or cluster, as an array (3, units).
        level: The confidence level, from 0 to 1.

    Returns:
        A dictionary with r, low and high; values that can't be computed are left out.
    """
    total, n = products.sum(axis=1), products.shape[1]
    left = np.column_stack([total, total[:, None] - products])
    with np.errstate(invalid="ignore", divide="ignore"):
        r = left[1] / np.sqrt(left[0] * left[2])
        z = np.arctanh(r)
    if not np.isfinite(r[0]):
        return {}
    if n < QUERIES_AT_LEAST or not np.isfinite(z).all():
        return {"r": float(r[0])}
    values = n * z[0] - (n - 1) * z[1:]
    reach = special.stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / np.sqrt(n)
    return {"r": float(r[0]), "low": float(np.tanh(z[0] - reach)), "high": float(np.tanh(z[0] + reach))}


def _standing(measure: str, answer: str, pairs: pl.DataFrame, declared: str | None) -> str:
    """Return the verdict on one measure from the comparisons in its cell."""
    if answer != relay.IT_IS:
        return WITHOUT_RELAY
    own = [(row["verdict"], row["verdict_alone"], ABOVE, BELOW) for row in pairs.filter(measure=measure).to_dicts()]
    others = pairs.filter(against_measure=measure).to_dicts()
    turned = [(row["verdict"], row["verdict_alone"], BELOW, ABOVE) for row in others]
    compared = [*own, *turned]
    if declared in (None, measure) and all(alone == ahead for _, alone, ahead, _ in compared):
        return MOST_CLOSELY
    if any(verdict == behind for verdict, _, _, behind in compared):
        return BEATEN
    return CLOSER if turned and declared and turned[0][0] == turned[0][2] else NOT_BEATEN


def names_of(rows: Iterable[Mapping[str, object]], *verdicts: str) -> Sequence[str]:
    """Return the names of the measures in ``rows`` whose verdict is in ``verdicts``."""
    return [str(row["measure"]) for row in rows if row["verdict"] in verdicts]
