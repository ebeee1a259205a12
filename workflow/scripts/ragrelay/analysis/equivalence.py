"""Equivalence of retrievers' P to the reference retriever's, within a margin: two one-sided tests per cell."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests, multiplicity
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import EQUIVALENT, NOT_WORSE, QUERIES_AT_LEAST, UNDECIDED
from ragrelay.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    CELL_OF_RETRIEVER,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    TEST_FAMILY,
    adjusted,
    real,
    schema_of,
    text,
    whole,
)
from ragrelay.vocabulary.names import UNSEEN

FAMILY = ("ordering", "k", "references")
P_VALUES = {"p_value": "p", "p_not_worse": "p_not_worse"}
LEVEL = 1.0 - 2.0 * ALPHA
# One-sided tests at 5% need more of Hall's correction: few queries show less skewness than there is.
SKEWNESS = 1.75
TESTED = {
    **CELL_COLUMNS,
    "against_retriever": text("the reference retriever"),
    "n": whole("queries with a P of both", "queries"),
    "n_unpaired": whole("queries with a P of one alone", "queries"),
    "margin": real("`equivalence_margin` of the configuration", "the scorer's"),
    "mean_difference": real("mean over queries of the retriever's P less the reference retriever's", "the scorer's"),
    "low": real("lower end of the 90% interval", "the scorer's"),
    "high": real("upper end of the 90% interval", "the scorer's"),
    "method": INTERVAL_METHOD,
    "p_not_worse": real("one-sided p-value of a mean difference above −margin, uncorrected"),
    "p_not_better": real("one-sided p-value of a mean difference below margin, uncorrected"),
    "p_value": real("the larger of the two: p-value of equivalence, uncorrected"),
    "reason": REASON,
}
COLUMNS = {
    **STUDY_PART,
    **{name: column for name, column in TESTED.items() if name != "reason"},
    **{name: column for name, column in adjusted(P_VALUES).items() if name.endswith("_holm")},
    **TEST_FAMILY,
    "verdict": text("`equivalent`, `not worse` or `undecided`"),
    "reason": REASON,
}
"""Those of equivalence.csv."""


def equivalences(utility: pl.DataFrame, reference_retriever: str | None, margin: float) -> pl.DataFrame:
    """Test P_k - P_k of ``reference_retriever`` over the same queries, ordering, k and references.

    ``utility``: retriever, ordering, k, references, qid, p. A row per cell of every other retriever; unseen references
    have none, since either retriever has its own there. ``p_not_worse`` is of "the mean difference is above -margin",
    p_not_better of "it is below margin", p_value of both (the larger: Schuirmann 1987); one-sided tests of mean_tests
    with 1.75 times the skewness, ``low`` and ``high`` their 90% interval. Holm's p_holm and p_not_worse_holm are over
    the retrievers of a cell (``family``). ``verdict`` is equivalent where p_holm is below 0.05, not worse where only
    p_not_worse_holm is, else undecided. A row without a test has a ``reason``.
    """
    seen = utility.filter(~pl.col("references").str.ends_with(UNSEEN)).select(*CELL, "qid", "p")
    reference = seen.filter(pl.col("retriever").eq_missing(pl.lit(reference_retriever))).drop("retriever")
    paired = (
        seen.filter(pl.col("retriever").ne_missing(pl.lit(reference_retriever)))
        .join(reference.rename({"p": "against"}), on=[*CELL_OF_RETRIEVER, "qid"], how="left")
        .filter(
            pl.struct(CELL_OF_RETRIEVER).is_in(
                reference.select(pl.struct(CELL_OF_RETRIEVER).unique()).to_series().implode()
            )
        )
        .sort(*CELL, "qid")
    )
    tests = multiplicity.with_adjusted(pl.DataFrame(_rows(paired, margin), schema=schema_of(TESTED)), FAMILY, P_VALUES)
    verdict = (
        pl.when(pl.col("p_holm") < ALPHA).then(pl.lit(EQUIVALENT))
        .when(pl.col("p_not_worse_holm") < ALPHA).then(pl.lit(NOT_WORSE))
        .otherwise(pl.lit(UNDECIDED))
    )  # fmt: skip
    named = tests.with_columns(verdict=verdict, against_retriever=pl.lit(reference_retriever, pl.String))
    return named.select(name for name in COLUMNS if name not in STUDY_PART)


def one_sided_means(differences: Array) -> mean_tests.Means:
    """Means of columns of ``differences`` (n, columns) as the one-sided tests take them."""
    means = mean_tests.Means.of(differences)
    return means._replace(skewness=SKEWNESS * means.skewness)


def _rows(paired: pl.DataFrame, margin: float) -> Iterator[dict[str, Any]]:
    for key, (p, against) in by_cell(paired, CELL, ["p", "against"]):
        both = np.isfinite(p) & np.isfinite(against)
        difference = (p - against)[both]
        row = dict(zip(CELL, key, strict=True)) | {"n": len(difference), "n_unpaired": int((~both).sum())}
        yield row | {"margin": margin} | _test(difference, margin)


def _test(difference: Array, margin: float) -> dict[str, Any]:
    if len(difference) < QUERIES_AT_LEAST:
        return {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    row: dict[str, Any] = {"mean_difference": float(difference.mean())}
    if is_constant(difference):
        return row | {"reason": "all differences are equal"}
    means = one_sided_means(difference[:, None])
    (low,), (high,) = means.interval(LEVEL)
    not_worse, not_better = float(means.p_greater(-margin)[0]), float(means.p_less(margin)[0])
    return row | {
        "low": float(low),
        "high": float(high),
        "method": mean_tests.METHOD,
        "p_not_worse": not_worse,
        "p_not_better": not_better,
        "p_value": max(not_worse, not_better),
    }
