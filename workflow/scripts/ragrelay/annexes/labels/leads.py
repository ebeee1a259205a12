"""Find the source whose labels correlate best with answer quality, and test its lead over the runner-up."""

from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import multiplicity
from ragrelay.analysis.bootstrap import STATISTICS, percentile_interval, resample_counts
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import RESAMPLES_AT_MOST, no_coefficient
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.annexes.labels.correlation import ROW
from ragrelay.annexes.labels.correlation import TABLE as CORRELATIONS
from ragrelay.base.vocabulary.columns import INTERVAL, REASON, RESAMPLES, STUDY_PART, integer, number, schema_of, text
from ragrelay.base.vocabulary.orderings import DESCENDING

COLUMN = ["retriever", "k", "references", "quantity", "coefficient"]
# A family covers the columns of the paper's Table 1, dataset x retriever; for leads over the null also all sources.
FAMILY = ("comparison", "generator", "k", "references", "quantity", "coefficient")
BEST, NULL = "best", "null"
TABLE = {
    "comparison": text("type of comparison: `best` compares the best source with the best of the other sources; `null` "
        "compares a source with the null source, whose labels carry no information about the passage"),
    **{name: CORRELATIONS[name] for name in (*COLUMN, *ROW)},
    "against_source": text("name of the other annotation source in the comparison"),
    "against_measure": text("name of the retrieval measure, computed from the labels of `against_source`"),
    "value": number("correlation between the quantity and the measure in `measure`, computed from the labels of "
                    "`source`", "−1 to 1"),
    "against_value": number("correlation between the quantity and the measure in `against_measure`, computed from the "
                            "labels of `against_source`", "−1 to 1"),
    "lead": number("`value` minus `against_value`, over the queries with values for both correlations"),
    **INTERVAL,
    "n": integer("number of queries with values for both correlations", "queries"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the lead is 0, from the paired "
                      "bootstrap"),
    "resamples": RESAMPLES,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of leads.csv."""


def leads(
    correlations: pl.DataFrame,
    values: pl.DataFrame,
    utility: pl.DataFrame,
    resamples: int,
    seed: int,
    nulls: Collection[str] = (),
) -> pl.DataFrame:
    """Test the best source's lead over the runner-up in each column of the eRAG paper's Table 1.

    Returns the columns in SCHEMA. Each column of Table 1 is a combination of retriever, k, reference set, quantity and
    coefficient. If there are ``nulls`` (sources whose labels are constant within a query), every other source's best
    row is also compared with the nulls' best row. ``correlations``: columns correlation.SCHEMA; ``values``: columns
    values.SCHEMA. ``lead`` is the difference between the two coefficients on the queries with values for both measures.
    ``low`` and ``high`` bound the 95% percentile interval, with levels expanded for small samples; both coefficients
    use the same resamples. For the two-sided p-value, the sample itself counts as one of the resamples. The best source
    and the runner-up are chosen on the tested queries, so leads are slightly overestimated.
    """
    ends = utility.filter(ordering=DESCENDING)
    rows = []
    for key, column in correlations.drop_nulls("value").group_by(COLUMN, maintain_order=True):
        # Ties go to the source that comes first in the configuration, so that reruns agree.
        ranked = column.sort("value", descending=True, maintain_order=True)
        best = ranked.unique("source", keep="first", maintain_order=True).to_dicts()
        null = [row for row in best if row["source"] in nulls][:1]
        pairs = [(BEST, best[0], best[1])] if len(best) > 1 else []
        pairs += [(NULL, row, other) for other in null for row in best if row["source"] not in nulls]
        names = dict(zip(COLUMN, key, strict=True))
        rows += [
            {"comparison": comparison} | _lead(names, first, second, values, ends, resamples, seed)
            for comparison, first, second in pairs
        ]
    return pl.DataFrame(rows, schema=SCHEMA)


def with_holds(table: pl.DataFrame) -> pl.DataFrame:
    """Add p_holm and ``holds`` to the rows that ``leads`` returned for all datasets.

    A lead holds if p_holm is below 0.05; the best source's lead must also be above 0. A ``family`` of tests includes
    all datasets and retrievers and, for leads over the null, all sources.
    """
    adjusted = multiplicity.with_adjusted(table, FAMILY, {"p_value": "p"})
    # The row that is best on its queries may not lead on the queries that both rows have.
    leading = (pl.col("lead") > 0) | (pl.col("comparison") == NULL)
    return adjusted.with_columns(((pl.col("p_holm") < ALPHA) & leading).fill_null(False).alias("holds"))


def _lead(
    names: dict[str, Any],
    best: dict[str, Any],
    second: dict[str, Any],
    values: pl.DataFrame,
    ends: pl.DataFrame,
    resamples: int,
    seed: int,
) -> dict[str, object]:
    cell = {name: names[name] for name in ("retriever", "k", "references")}
    pairs = ends.filter(**cell).select("qid", names["quantity"]).sort("qid")
    for place, row in (("first", best), ("second", second)):
        of_row = values.filter(**cell, **{name: row[name] for name in ROW}).select("qid", pl.col("value").alias(place))
        pairs = pairs.join(of_row, on="qid", maintain_order="left")
    pairs = pairs.drop_nulls()
    compared = names | {name: best[name] for name in ROW} | {f"against_{name}": second[name] for name in ROW}
    compared |= {"value": best["value"], "against_value": second["value"], "n": pairs.height}
    end, first, other = (pairs[name].to_numpy() for name in (names["quantity"], "first", "second"))
    for measured, row in ((first, best), (other, second)):
        reason = no_coefficient(end, measured, row["measure"], names["quantity"])
        if reason is not None:
            return compared | {"reason": reason}
    named = names["quantity"], best["measure"], f"the other {second['measure']}"
    return compared | lead_of(names["coefficient"], end, first, other, resamples, seed, named)


def lead_of(
    coefficient: str, end: Array, first: Array, other: Array, resamples: int, seed: int,
    named: tuple[str, str, str] = ("utility", "first", "other"),
) -> dict[str, object]:  # fmt: skip
    """Test whether ``first`` correlates more strongly with ``end`` than ``other`` does. All three are arrays (n,).

    ``named``: the names of ``end``, ``first`` and ``other``, for the text of ``reason``.
    """
    statistic, drawn = STATISTICS[coefficient], min(resamples, RESAMPLES_AT_MOST.get(coefficient, resamples))
    chunks = resample_counts(len(end), drawn, seed)
    draws = np.concatenate([statistic(weights, first, end) - statistic(weights, other, end) for weights in chunks])
    whole = np.ones((1, len(end)))
    lead = float((statistic(whole, first, end) - statistic(whole, other, end))[0])
    low, high, reason = percentile_interval(draws, len(end), columns=dict(zip(named, (end, first, other), strict=True)))
    if reason is not None:
        return {"lead": lead, "resamples": drawn, "reason": reason}
    defined = draws[np.isfinite(draws)]
    side = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    p_value = min(1.0, 2.0 * (side + 1) / (len(defined) + 1))
    return {"lead": lead, "low": low, "high": high, "p_value": p_value, "resamples": drawn}
