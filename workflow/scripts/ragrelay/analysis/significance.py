"""Compare cells with paired tests: retrievers with the reference retriever (†), descending with ascending order (‡)."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import multiplicity, paired_tests
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.correlation import CONSTANT, is_constant
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.transmission import Transmission
from ragrelay.base.vocabulary.columns import (
    CELL_COLUMNS,
    INTERVAL,
    REASON,
    STUDY_PART,
    TEST_FAMILY,
    adjusted,
    boolean,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.orderings import DESCENDING

AGAINST_REFERENCE = "†"
AGAINST_ASCENDING = "‡"
ASCENDING = "ascending"
QUANTITIES = ("p", "utility")
FAMILY = ("mark", "quantity", "references")
CELLS = ("retriever", "ordering", "against_retriever")
P_VALUES = {"p_value": "p", "p_wilcoxon": "p_wilcoxon", "p_permutation": "p_permutation"}
TABLE = {
    "mark": text("mark for the comparison: † compares the retriever with the reference retriever, in descending "
        "order; ‡ compares descending with ascending order"),
    **CELL_COLUMNS,
    "against_retriever": text("name of the retriever in the other cell of the comparison"),
    "against_ordering": text("ordering in the other cell of the comparison"),
    "quantity": text("quantity that is compared: `p` or `utility`"),
    "n": integer("number of queries with a value in both cells", "queries"),
    "n_unpaired": integer("number of queries with a value in only one of the two cells", "queries"),
    "same_references": boolean("whether the answers in both cells were scored against the same references"),
    "mean_difference": number("mean over queries of the value in this row's cell minus the value in the other cell"),
    **INTERVAL,
    "sd_difference": number("standard deviation of the differences over queries"),
    "detectable_difference": number("smallest mean difference that can be detected at α = .05 and 80% power, given n "
        "queries and `sd_difference`"),
    "d_z": number("Cohen's d_z: `mean_difference` / `sd_difference`", "standard deviations"),
    "d_z_low": number("lower end of the 95% interval for d_z", "standard deviations"),
    "d_z_high": number("upper end of the 95% interval for d_z", "standard deviations"),
    "t": number("t statistic of the paired t-test"),
    "p_value": number("uncorrected two-sided p-value of the paired t-test"),
    "p_wilcoxon": number("uncorrected two-sided p-value of Wilcoxon's signed-rank test"),
    "p_permutation": number("uncorrected two-sided p-value of the permutation test"),
    "permutations": integer("number of random sign patterns in the permutation test; if fewer patterns exist, the "
        "test uses all of them", "permutations"),
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
# ``with_adjusted`` adds the adjusted p-values and the family to the table of all retrievers.
COLUMNS = {
    **STUDY_PART,
    **{name: column for name, column in TABLE.items() if name != "reason"},
    **{name: column for name, column in adjusted(P_VALUES).items() if name not in TEST_FAMILY},
    **TEST_FAMILY,
    "significant": boolean("whether the uncorrected `p_value` is below 0.05, as in Tian et al."),
    "reason": REASON,
}
"""Columns of significance.csv."""
BY_QUERY = ("low", "high", "detectable_difference", "d_z_low", "d_z_high", "t", "permutations", "significant",
            *(name for name in COLUMNS if name.startswith("p_")))  # fmt: skip
"""The columns that assume independent queries (see analyse_transmission)."""


@dataclass(frozen=True)
class Side:
    """One of the two cells in a comparison: whether each query has a row (n,), and each quantity's values (n,)."""

    retriever: str
    ordering: str
    has: np.ndarray
    values: dict[str, np.ndarray]


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of significance.csv from the answers in ``given``."""
    parts = (
        comparisons(utility, given.reference, given.resamples, given.seed) for utility, _ in given.each_retriever()
    )
    return with_adjusted(pl.concat(parts))


def comparisons(
    utility: pl.DataFrame,
    reference: pl.DataFrame | None,
    permutations: int = paired_tests.PERMUTATIONS,
    seed: int = 0,
) -> pl.DataFrame:
    """Compare one retriever's cells, with one row (``SCHEMA``) per comparison and quantity (p or utility).

    ``utility`` has the retriever's rows of the utility table, and ``reference`` has the reference retriever's rows. †
    compares each ordering with the reference retriever's descending order at the same k and references. ‡ compares
    descending with ascending order. Differences (first cell minus second) are paired by qid.

    The columns from ``low`` on are computed with paired_tests.all_tests. ``same_references`` is false if two retrievers
    are compared on unseen references, which differ between retrievers.
    """
    rows: list[dict[str, Any]] = []
    differences: list[np.ndarray] = []
    for mark, k, references, first, second in _pairs(utility, reference):
        for quantity in QUANTITIES:
            row, difference = _compare(first, second, quantity)
            same = first.retriever == second.retriever or not references.endswith(UNSEEN)
            names = {"mark": mark, "k": k, "references": references, "quantity": quantity, "same_references": same}
            rows.append(names | row)
            differences.append(difference)
    by_n: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if "reason" not in row:
            by_n[row["n"]].append(place)
    for places in by_n.values():
        tests = paired_tests.all_tests([differences[place] for place in places], permutations, seed)
        for place, test in zip(places, tests, strict=True):
            rows[place] |= {**test, "permutations": permutations}
    of_p = all(scaled(table, "p") for table in (utility, reference) if table is not None) & (pl.col("quantity") == "p")
    return cut(pl.DataFrame(rows, schema=SCHEMA), of_p)


def with_adjusted(tests: pl.DataFrame) -> pl.DataFrame:
    """Add the columns family, family_size, significant, p_holm and p_bh to ``tests`` (columns SCHEMA).

    ``tests`` must contain all retrievers' tests. Tests with equal mark, quantity and references form a family. p_holm
    and p_bh are t-test p-values adjusted within families; ``significant`` (Tian et al.) means unadjusted p < 0.05.
    """
    added = multiplicity.with_adjusted(tests, FAMILY, P_VALUES, CELLS).with_columns(
        (pl.col("p_value") < ALPHA).alias("significant")
    )
    return added.select(*(name for name in COLUMNS if name not in STUDY_PART))


def _pairs(utility: pl.DataFrame, reference: pl.DataFrame | None) -> Iterator[tuple[str, int, str, Side, Side]]:
    tables = [utility] if reference is None else [utility, reference]
    places = pl.concat([table.select("qid") for table in tables]).unique().sort("qid").with_row_index("place")
    cells, *others_of = (_sides(table, places) for table in tables)
    others = others_of[0] if others_of else {}
    for (ordering, k, references), side in cells.items():
        second = others.get((DESCENDING, k, references))
        if second is not None and second.retriever != side.retriever:
            yield AGAINST_REFERENCE, k, references, side, second
        ascending = cells.get((ASCENDING, k, references))
        if ordering == DESCENDING and ascending is not None:
            yield AGAINST_ASCENDING, k, references, side, ascending


def _sides(utility: pl.DataFrame, places: pl.DataFrame) -> dict[tuple[str, int, str], Side]:
    """Return one retriever's cells by ordering, k and references; ``places`` (qid, place) numbers the queries."""
    keys, sides = ["retriever", "ordering", "k", "references"], {}
    placed = utility.join(places, on="qid").sort([*keys, "qid"])
    for (retriever, ordering, k, references), (place, *numbers) in by_cell(placed, keys, ["place", *QUANTITIES]):
        at = place.astype(np.intp)
        has, values = np.zeros(len(places), dtype=bool), np.full((len(QUANTITIES), len(places)), np.nan)
        has[at] = True
        values[:, at] = numbers
        sides[ordering, k, references] = Side(retriever, ordering, has, dict(zip(QUANTITIES, values, strict=True)))
    return sides


def _compare(first: Side, second: Side, quantity: str) -> tuple[dict[str, Any], np.ndarray]:
    """Return a comparison's row without tests (with a reason if it can't be tested), and the differences (n,)."""
    paired = np.isfinite(first.values[quantity]) & np.isfinite(second.values[quantity])
    a, b = (side.values[quantity][paired] for side in (first, second))
    differences = a - b
    # The means of equal answers may differ by rounding, which must not affect ranks and signs.
    differences[np.abs(differences) <= CONSTANT * np.maximum(1.0, np.abs(a))] = 0.0
    n = len(differences)
    row: dict[str, Any] = {
        "retriever": first.retriever,
        "ordering": first.ordering,
        "against_retriever": second.retriever,
        "against_ordering": second.ordering,
        "n": n,
        "n_unpaired": int((first.has | second.has).sum()) - n,
        "mean_difference": float(differences.mean()) if n else None,
    }
    if n < 2:
        return row | {"reason": "fewer than 2 pairs"}, differences
    if is_constant(differences):
        return row | {"reason": "all differences are equal"}, differences
    return row, differences
