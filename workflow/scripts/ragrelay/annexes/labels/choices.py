"""Test whether contexts chosen by an annotation source's labels give better answers than random contexts."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests, multiplicity, within
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.remarks import REMARK, remark
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.standing import STANDS, stands
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, TOO_FEW, of_difference
from ragrelay.annexes.labels.within_queries import CONSTANT
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    STUDY_PART,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN, ZEROSHOT
from ragrelay.base.vocabulary.orderings import DESCENDING

CHOICE = ["source", "measure", "k", "references"]
# A family of tests covers all datasets and sources.
FAMILY = ("generator", "measure", "k", "references", "retrievers", "quantity")
DECIDES = "p"
"""The only quantity that has verdicts."""
# Values whose difference is smaller differ only by rounding, so they count as equal.
EQUAL = 1e-9
TABLE = {
    "source": text("name of the annotation source"),
    "measure": text("name of the retrieval measure, computed from the source's labels, by which the context is chosen: "
                    "the context with the highest value is chosen"),
    "k": CONTEXT_COLUMNS["k"],
    "references": REFERENCES,
    "retrievers": within.TABLE["retrievers"],
    "n_retrievers": within.TABLE["n_retrievers"],
    "quantity": text("quantity that is averaged for the answers with the chosen contexts: `p` (on unseen references, P "
                     "− P₀) or `utility`"),
    "n": integer("number of queries with at least two contexts", "queries"),
    "n_tied": integer("number of queries for which the choice is random, because all contexts have the same value of "
        "the measure", "queries"),
    "mean_chosen": number("mean of the quantity over queries with the chosen context; tied contexts are "
                          "averaged", "the scorer's"),
    "mean_any": number("mean of the quantity over queries with a randomly chosen context, which is what uninformative "
        "labels would achieve", "the scorer's"),
    "mean_difference": number("`mean_chosen` minus `mean_any`, paired by query", "the scorer's"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the mean difference is 0, from the "
                      "test behind the verdict"),
    "verdict": text("for `p`: verdict on the chosen context compared with a random one (`better`, `worse`, `undecided` "
                    "or `too few queries`); otherwise empty"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
    "stands": STANDS,
    "remark": REMARK,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of choices.csv."""
CHOICES_COLUMNS = {**COLUMNS, **adjusted()}
"""Columns of the report's table ``annotation_choices``."""


def label_choices(
    values: pl.DataFrame, utility: pl.DataFrame, kinds: Mapping[str, str], constant: Collection[str]
) -> pl.DataFrame:
    """Compare the context chosen by a source's labels with a random context, in P and in utility.

    Returns the columns in SCHEMA. A query's contexts come from all retrievers, in descending order and at the same k.
    The chosen context has the highest measure, computed from the source's labels; tied contexts are averaged. If a
    source's labels are ``constant`` within a query, like zero-shot P_0, all contexts are tied, and their mean is the
    null that other sources must beat. The difference is tested over queries, in the same way as a gain. Only P has a
    verdict. A row without a test has a ``reason``. For the arguments, see within_queries.label_within.
    """
    answer = pl.when(pl.col("references").str.ends_with(UNSEEN)).then(pl.col("p") - pl.col("p0")).otherwise("p")
    keys = ["retriever", "k", "references", "qid"]
    ends = utility.filter(pl.col("retriever") != ZEROSHOT, ordering=DESCENDING)
    ends = ends.select(*keys, answer.alias("p"), "utility")
    # The null must not distinguish a query's contexts, although a short one would have a lower measure.
    null = pl.col("source").is_in(list(constant))
    known = values.with_columns(value=pl.when(null).then(pl.lit(0.0)).otherwise("value"))
    joined = known.join(ends, on=keys).with_columns(place=pl.col("qid").rank("dense"))
    joined = joined.sort(*CHOICE, "place", "retriever")
    rows = [
        dict(zip(CHOICE, key, strict=True)) | {"retrievers": group, "n_retrievers": len(names), "quantity": quantity}
        | _row(numbers, str(key[1]), quantity == DECIDES) | ({"reason": CONSTANT} if key[0] in constant else {})
        for group, names in within.members(kinds).items() if len(names) > 1
        for quantity in ("p", "utility")
        for key, numbers in by_cell(
            joined.filter(pl.col("retriever").is_in(names)), CHOICE, ["place", "value", quantity]
        )
    ]  # fmt: skip
    of_p = (pl.col("quantity") == "p") & ~pl.col("references").str.ends_with(UNSEEN)
    return cut(pl.DataFrame(rows, schema=SCHEMA), of_p & scaled(utility, "p"))


def with_adjusted(table: pl.DataFrame) -> pl.DataFrame:
    """Add family, family_size, p_holm and p_bh to the rows that label_choices returned for all datasets."""
    return multiplicity.with_adjusted(table, FAMILY, {"p_value": "p"})


def _row(numbers: Array, measure: str, decides: bool) -> dict[str, object]:
    """Compute one row; ``numbers`` (3, contexts) has the query's index, the measure and the quantity."""
    row: dict[str, Any] = {"verdict": TOO_FEW, "remark": mean_tests.few(np.zeros(0))} if decides else {}
    if not np.isfinite(numbers[1]).any():
        return row | {"n": 0, "reason": f"{measure} is not defined for these labels"}
    place, value, quantity = numbers[:, np.isfinite(numbers).all(axis=0)]
    _, query, contexts = np.unique(place, return_inverse=True, return_counts=True)
    highest = np.full(len(contexts), -np.inf)
    np.maximum.at(highest, query, value)
    best = value >= highest[query] - EQUAL
    chosen = np.bincount(query, quantity * best) / np.bincount(query, best)
    of_all, several = np.bincount(query, quantity) / contexts, contexts > 1
    tied = np.bincount(query, best) == contexts
    chosen[tied] = of_all[tied]
    chosen, of_all = chosen[several], of_all[several]
    row |= {"n": len(chosen), "n_tied": int(tied[several].sum())}
    if decides:
        row["remark"] = mean_tests.few(_moved(chosen - of_all))
    if len(chosen) < QUERIES_AT_LEAST:
        return row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries with two contexts"}
    row |= {"mean_chosen": chosen.mean(), "mean_any": of_all.mean(), "mean_difference": (chosen - of_all).mean()}
    return row | _test(chosen - of_all, decides)


def _test(difference: Array, decides: bool) -> dict[str, object]:
    if is_constant(difference):
        return {"reason": "all differences are equal"}
    means = mean_tests.Means.cautious(difference[:, None])
    (low,), (high,), (p_value,) = *means.interval(), means.p_value()
    row = {"low": low, "high": high, "p_value": p_value, "method": mean_tests.METHOD}
    if not decides:
        return row
    verdict = of_difference(_moved(difference), float(low), float(high))
    return row | {"verdict": verdict, "stands": stands(difference, verdict), "remark": remark(difference, verdict)}


def _moved(difference: Array) -> Array:
    return np.where(np.abs(difference) <= EQUAL, 0.0, difference)
