"""Estimate mean human scores, gains, and differences between retrievers, with the help of each scorer's scores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.prediction_powered import DIFFERENT_AT_LEAST, different
from ragrelay.analysis.verdicts import EFFECTIVE_AT_LEAST, of_interval
from ragrelay.annexes.people.layout import CONTEXT, Laid
from ragrelay.annexes.people.powered import (
    DIFFERENT_OF_CELL,
    LABELS_AT_LEAST,
    LABELS_OF_SLOPE,
    METHOD,
    OF_CELL_AT_LEAST,
    QUERIES_AT_LEAST,
    PartlyScored,
    influences,
    means_of,
    powered,
)
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import ZEROSHOT

MEAN, GAIN, DIFFERENCE, SLOPE = "P", "gain", "difference", "slope"
PER = 0.1
"""Slopes are stated per this increase in the retrieval measure."""
UNLIKE = 0.2
"""Level of the test that compares assessors' shares; it is high, because few scores reveal only large differences."""
UNLIKE_ASSESSORS = "different people scored the two cells"
CELLS = "in the first cell", "in the second"
Measures = Mapping[tuple[str, int], Mapping[str, float]]
"""Each query's retrieval measure, keyed by retriever and k."""
TABLE = {
    "people": text("name of the scorer with the human scores; the scorer in `scorer` scores all answers"),
    "quantity": text(f"estimated quantity of human scores: `{MEAN}`, a cell's mean; `{GAIN}`, the cell's mean minus "
        f"the mean of the zero-shot answers; `{DIFFERENCE}`, the cell's mean minus the mean with another retriever; "
        f"`{SLOPE}`, the increase in the difference between the two retrievers per {PER:g} of difference in the first "
        "measure, over all queries"),
    **CONTEXT_COLUMNS,
    "against_retriever": text("name of the other retriever in a difference or slope; `zeroshot` for a gain"),
    "value": number("estimated quantity over all answers", "human scores, from 0 to 1"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the quantity is 0; empty for `P`"),
    "verdict": text("verdict on a gain or difference: `better`, `worse` or `undecided`; empty if there is no interval"),
    "alone": number("quantity estimated from human scores alone; for a gain or difference, the difference between the "
                    "two means over all scored answers, not paired by query", "human scores, from 0 to 1"),
    "alone_low": number("lower end of the 95% interval for `alone`"),
    "alone_high": number("upper end of the 95% interval for `alone`"),
    "width": number("width of the interval from `low` to `high`, divided by the width of the interval from human "
                    "scores alone"),
    "as_many": number("factor by which the number of human scores would have to grow to reach this width without the "
                      "scorer", "times"),
    "weight": number("weight given to the scorer's scores; 0 if they would widen the interval"),
    "r": number("Pearson's r between human scores and the scorer's scores, over the answers in the row's cells that "
                "have both"),
    "n_scores": integer("number of answers in the row's cells that have a human score", "answers"),
    "n_queries": integer("number of queries that have an answer with a human score in the row's cells", "queries"),
    "n_answers": integer("number of answers in the row's cells that have a score from the scorer", "answers"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
ESTIMATED = ("value", "low", "high", "weight", "alone_low", "alone_high")
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of people_estimates.csv."""


def estimates(laid: Laid, people: str, pairs: Sequence[tuple[str, str]], measures: Measures) -> pl.DataFrame:
    """Estimate each cell's mean human score and gain, and differences and slopes for ``pairs`` of retrievers.

    Columns: scorer and TABLE. A row with too few scores for a reliable interval has a ``reason`` and no interval.
    """
    rows = [
        {"scorer": name, "people": people, **row}
        for name, scores in laid.scorers.items()
        for row in _of_scorer(laid, scores, pairs, measures)
    ]
    return pl.DataFrame(rows, schema=schema_of({"scorer": STUDY_PART["scorer"], **TABLE}))


def _of_scorer(
    laid: Laid, scores: Array, pairs: Sequence[tuple[str, str]], measures: Measures
) -> Iterator[dict[str, object]]:
    cells = laid.columns.select(CONTEXT).unique(maintain_order=True).to_dicts()
    by_name = {(cell["retriever"], cell["ordering"], cell["k"]): cell for cell in cells}
    baseline = next((cell for cell in cells if cell["retriever"] == ZEROSHOT), None)
    compared: list[tuple[str, Mapping[str, Any], Mapping[str, Any] | None]] = [(MEAN, cell, None) for cell in cells]
    if baseline:
        compared += [(GAIN, cell, baseline) for cell in cells if cell is not baseline]
    for (retriever, ordering, k), cell in by_name.items():
        compared += [
            (quantity, cell, by_name[other, ordering, k])
            for quantity in (DIFFERENCE, SLOPE)
            for first, other in pairs
            if first == retriever and (other, ordering, k) in by_name
        ]
    answers = PartlyScored(laid.people, scores, laid.weights)
    for quantity, of, against in compared:
        cell = dict(of)
        contrast = [laid.row(1.0, **cell), *([laid.row(-1.0, **against)] if against else [])]
        named = {"quantity": quantity, **cell, "against_retriever": against["retriever"] if against else None}
        x = None
        if quantity == SLOPE:
            of_pair = [measures.get((each["retriever"], each["k"]), {}) for each in (cell, against or cell)]
            x = np.array([of_pair[0].get(q, np.nan) - of_pair[1].get(q, np.nan) for q in laid.qids]) / PER
        row = estimate(answers, contrast, laid.cluster, x, laid.assessors)
        if quantity == MEAN:
            row["p_value"] = None
        if quantity in (GAIN, DIFFERENCE) and row.get("low") is not None:
            row["verdict"] = of_interval(row["low"], row["high"])
        yield named | row


def estimate(
    answers: PartlyScored,
    contrast: Sequence[Sequence[float]],
    cluster: npt.NDArray[np.intp],
    x: Array | None = None,
    assessors: Mapping[str, Array] | None = None,
) -> dict[str, Any]:
    """Estimate a weighted sum of cells' means, or of cells' slopes on ``x`` (queries,); returns columns of TABLE.

    A difference has no interval if different people scored its two cells, because some people are stricter than others;
    strictness doesn't affect slopes. For ``assessors``, see Laid.
    """
    cells = np.array(contrast) != 0
    used = cells.any(axis=0) & (np.ones(len(cluster), bool) if x is None else np.isfinite(x))[:, None]
    answers = answers._replace(scorer=np.where(used, answers.scorer, np.nan))
    known = answers.known
    values, others = answers.people[known], answers.scorer[known]
    row: dict[str, Any] = {
        "n_scores": int(known.sum()),
        "n_queries": int(known.any(axis=1).sum()),
        "n_answers": int(np.isfinite(answers.scorer).sum()),
    }
    if len(values) > 2 and not is_constant(values) and not is_constant(others):
        row["r"] = float(np.corrcoef(values, others)[0, 1])
    if any(not (known & cell).any() for cell in cells):
        return row | {"reason": "no human score in one of the cells"}
    if x is not None and any(is_constant(x[(known & cell).any(axis=1)]) for cell in cells):
        return row | {"reason": "the measures differ by the same amount for every query"}
    given = influences(answers, contrast, cluster, None if x is None else np.nan_to_num(x))
    row["alone"] = float(given.alone)
    if reason := too_few(values, row["n_queries"], LABELS_AT_LEAST if x is None else LABELS_OF_SLOPE):
        return row | {"reason": reason}
    if len(cells) > 1:
        parts = {name: [part[known & cell].sum() for cell in cells] for name, part in (assessors or {}).items()}
        few = few_of_a_cell([answers.people[known & cell] for cell in cells])
        if reason := few or (unlike_assessors(parts) if x is None else ""):
            return row | {"reason": reason}
    if not (given.of_people**2).sum() > 0:
        return row | {"reason": "people gave all answers of a cell the same score"}
    if not given.df + 1.0 >= EFFECTIVE_AT_LEAST:
        return row | {"reason": f"fewer than {EFFECTIVE_AT_LEAST:g} queries or clusters dominate the estimate"}
    found = powered(given)
    width, alone = (float(found.high - found.low), float(found.alone_high - found.alone_low))
    row |= {name: float(getattr(found, name)) for name in ESTIMATED}
    row["p_value"] = float(means_of(given, found.weight).p_value())
    return row | {"width": width / alone, "as_many": (alone / width) ** 2, "method": METHOD}


def few_of_a_cell(cells: Sequence[Array]) -> str:
    """Return why one of ``cells`` has too few human scores (n,), or an empty string if every cell has enough."""
    if min(map(len, cells)) < OF_CELL_AT_LEAST:
        return f"fewer than {OF_CELL_AT_LEAST} human scores in one of the cells"
    alike = min(map(different, cells)) < DIFFERENT_OF_CELL
    return f"in one cell, fewer than {DIFFERENT_OF_CELL} scores differ from the most frequent score" if alike else ""


def unlike_assessors(parts: Mapping[str, Sequence[float]]) -> str:
    """Return how the assessors of two cells differ, or an empty string if a chi-squared test finds no difference.

    ``parts``: the number of scores that each assessor gave in each of the two cells, keyed by assessor.
    """
    counts = {name: np.array(of_cells) for name, of_cells in parts.items() if sum(of_cells) > 0}
    if len(counts) < 2 or stats.chi2_contingency(list(counts.values()), correction=False).pvalue >= UNLIKE:
        return ""
    shares = {name: of_cells / sum(counts.values()) for name, of_cells in counts.items()}
    name, (one, other) = max(shares.items(), key=lambda each: np.ptp(each[1]))
    return f"{UNLIKE_ASSESSORS}: {name} gave {one:.0%} of the scores {CELLS[0]} and {other:.0%} {CELLS[1]}"


def too_few(values: Array, queries: int, least: int = LABELS_AT_LEAST, what: str = "human scores") -> str:
    """Return why ``values`` (n,) or ``queries`` are too few for an interval, or an empty string if there are enough.

    ``what``: a plural noun for the scores. ``least``: the minimum number of scores.
    """
    if len(values) < least:
        return f"fewer than {least} {what}"
    if queries < QUERIES_AT_LEAST:
        return f"human scores for fewer than {QUERIES_AT_LEAST} queries"
    if different(values) < DIFFERENT_AT_LEAST:
        return f"fewer than {DIFFERENT_AT_LEAST} human scores differ from the most frequent score"
    return ""
