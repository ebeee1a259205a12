"""Paired comparisons of cells: † against the reference retriever, ‡ descending against ascending."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ragrelay.analysis.correlation import is_constant

AGAINST_REFERENCE = "†"
AGAINST_ASCENDING = "‡"
DESCENDING = "descending"
ASCENDING = "ascending"
QUANTITIES = ("p", "utility")
ALPHA = 0.05
# The columns that hold a test's result; the adjusted p-values and the family are added to the whole table.
SCHEMA: dict[str, type[pl.DataType]] = {
    "mark": pl.String,
    "retriever": pl.String,
    "ordering": pl.String,
    "k": pl.Int64,
    "references": pl.String,
    "against_retriever": pl.String,
    "against_ordering": pl.String,
    "quantity": pl.String,
    "n": pl.Int64,
    "n_unpaired": pl.Int64,
    "mean_difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "d_z": pl.Float64,
    "t": pl.Float64,
    "p_value": pl.Float64,
    "reason": pl.String,
}


@dataclass(frozen=True)
class Side:
    """One cell in a comparison: who it is, and its rows of the utility table."""

    retriever: str
    ordering: str
    rows: pl.DataFrame


def comparisons(utility: pl.DataFrame, reference: pl.DataFrame | None) -> pl.DataFrame:
    """Test one retriever's cells; columns ``SCHEMA``, a row per comparison and quantity (p, utility).

    ``utility`` and ``reference`` are rows of the utility table of one retriever each; without a reference, and for
    the reference itself, there are no † rows. † compares every ordering with the reference's descending cell of the
    same k and references; ‡ compares descending with ascending. Differences are first minus second, by qid.
    """
    rows = [
        {"mark": mark, "k": k, "references": references, "quantity": quantity, **_compare(first, second, quantity)}
        for mark, k, references, first, second in _pairs(utility, reference)
        for quantity in QUANTITIES
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def with_adjusted(tests: pl.DataFrame) -> pl.DataFrame:
    """Add family, family_size, p_holm, p_bh and significant to all of a study's ``tests`` (``SCHEMA``).

    A family is mark x quantity x references; its size counts its tests that have a p-value. Holm (1979) bounds the
    chance of any false mark in the family, Benjamini and Hochberg (1995) the expected share of false marks.
    ``significant`` is p < 0.05 uncorrected, as in Tian et al.; null where there is no test.
    """
    tests = tests.with_columns(family=pl.concat_str("mark", "quantity", "references", separator=" "))
    holm, benjamini_hochberg = np.full((2, tests.height), np.nan)
    sizes = np.zeros(tests.height, dtype=np.int64)
    p_values = tests["p_value"].cast(pl.Float64).to_numpy()
    families = tests["family"].to_numpy()
    for family in tests["family"].unique():
        members = families == family
        tested = members & np.isfinite(p_values)
        sizes[members] = tested.sum()
        if tested.any():
            holm[tested] = multipletests(p_values[tested], alpha=ALPHA, method="holm")[1]
            benjamini_hochberg[tested] = multipletests(p_values[tested], alpha=ALPHA, method="fdr_bh")[1]
    added = tests.with_columns(
        pl.Series("family_size", sizes),
        pl.Series("p_holm", holm).fill_nan(None),
        pl.Series("p_bh", benjamini_hochberg).fill_nan(None),
        (pl.col("p_value") < ALPHA).alias("significant"),
    )
    before_reason = [name for name in SCHEMA if name != "reason"]
    return added.select(*before_reason, "p_holm", "p_bh", "family", "family_size", "significant", "reason")


def _pairs(utility: pl.DataFrame, reference: pl.DataFrame | None) -> Iterator[tuple[str, int, str, Side, Side]]:
    cells = _sides(utility)
    others = _sides(reference) if reference is not None else {}
    for (ordering, k, references), side in cells.items():
        second = others.get((DESCENDING, k, references))
        if second is not None and second.retriever != side.retriever:
            yield AGAINST_REFERENCE, k, references, side, second
        ascending = cells.get((ASCENDING, k, references))
        if ordering == DESCENDING and ascending is not None:
            yield AGAINST_ASCENDING, k, references, side, ascending


def _sides(utility: pl.DataFrame) -> dict[tuple[str, int, str], Side]:
    keys = ["retriever", "ordering", "k", "references"]
    groups = utility.sort([*keys, "qid"]).partition_by(keys, as_dict=True, maintain_order=True)
    return {
        (ordering, k, references): Side(retriever, ordering, rows)
        for (retriever, ordering, k, references), rows in groups.items()
    }


def _compare(first: Side, second: Side, quantity: str) -> dict[str, Any]:
    """Student's paired t-test of ``quantity`` (scipy), its 95% interval, and Cohen's d_z = mean / sd of differences."""
    ours, theirs = (side.rows.select("qid", quantity).drop_nulls() for side in (first, second))
    pairs = ours.join(theirs, on="qid", how="inner", maintain_order="left", suffix="_second")
    a, b = pairs[quantity].to_numpy(), pairs[f"{quantity}_second"].to_numpy()
    everyone = pl.concat([first.rows["qid"], second.rows["qid"]]).n_unique()
    row: dict[str, Any] = {
        "retriever": first.retriever,
        "ordering": first.ordering,
        "against_retriever": second.retriever,
        "against_ordering": second.ordering,
        "n": len(a),
        "n_unpaired": everyone - len(a),
        "mean_difference": float((a - b).mean()) if len(a) else None,
    }
    if len(a) < 2:
        return row | {"reason": "fewer than 2 pairs"}
    if is_constant(a - b):
        return row | {"reason": "all differences are equal"}
    test = stats.ttest_rel(a, b)
    low, high = test.confidence_interval(0.95)
    return row | {
        "low": float(low),
        "high": float(high),
        "d_z": float((a - b).mean() / (a - b).std(ddof=1)),
        "t": float(test.statistic),
        "p_value": float(test.pvalue),
    }
