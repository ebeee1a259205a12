"""Paired tests of what changed from one study to the other, per cell, over queries."""

from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.analysis.paired_tests import PERMUTATIONS, all_tests
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, UNDECIDED, of_gain
from ragrelay.vocabulary.columns import CELL

TESTED = [*CELL, "quantity"]
FAMILY = ("quantity", "references")
DECIDES = "p"
"""The quantity that verdicts are on: a mean of utilities can have another sign than the mean of P."""
STILL = "no query moved"
SAME = 1e-9
"""Differences nearer to 0 than this are of rounding: the query didn't move."""
SCHEMA: dict[str, type[pl.DataType]] = {
    "retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "references": pl.String, "quantity": pl.String,
    "n": pl.Int64, "n_unpaired": pl.Int64, "mean_before": pl.Float64, "mean_after": pl.Float64,
    "mean_difference": pl.Float64, "low": pl.Float64, "high": pl.Float64, "d_z": pl.Float64, "up": pl.Int64,
    "down": pl.Int64, "same": pl.Int64, "p_verdict": pl.Float64, "verdict": pl.String, "p_t": pl.Float64,
    "p_wilcoxon": pl.Float64, "p_permutation": pl.Float64, "reason": pl.String,
}  # fmt: skip


def paired_tests(queries: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Test each cell and quantity of ``queries`` (as paired_queries gives them): SCHEMA, and adjusted p-values.

    Differences are after minus before, of the queries with both values; the others are counted (n_unpaired).
    ``p_verdict``, and ``low`` and ``high``, its 95% interval of the mean difference, are of the test that a study's
    gains have (mean_tests); so is the ``verdict`` better, worse or undecided, which P alone has. d_z: Cohen's, mean /
    sd of differences; p_t, of the paired t-test, and the other p-values are those of analysis.paired_tests. ``p_holm``
    and ``p_bh`` adjust p_verdict within a family, which is quantity x references; orderings that give the same prompts
    at a k count once (analysis.multiplicity). A row without a test has a ``reason``.
    """
    rows = [
        dict(zip(TESTED, key, strict=True)) | _test(part, seed)
        for key, part in queries.group_by(TESTED, maintain_order=True)
    ]
    table = pl.DataFrame(rows, schema=SCHEMA)
    table = table.with_columns(verdict=pl.when(quantity=DECIDES).then(pl.col("verdict").fill_null(UNDECIDED)))
    return with_adjusted(table, FAMILY, {"p_verdict": "p"}, cells=("retriever", "ordering"))


def _test(part: pl.DataFrame, seed: int) -> dict[str, Any]:
    pairs = part.filter(pl.col("difference").is_not_null())
    differences = pairs["difference"].to_numpy()
    row: dict[str, Any] = {
        "n": len(differences),
        "n_unpaired": part.height - len(differences),
        "mean_before": pairs["before"].mean(),
        "mean_after": pairs["after"].mean(),
        "mean_difference": pairs["difference"].mean(),
        "up": int((differences > SAME).sum()),
        "down": int((differences < -SAME).sum()),
        "same": int((np.abs(differences) <= SAME).sum()),
    }
    if len(differences) and row["same"] == len(differences):
        return row | {"reason": STILL}
    if len(differences) < QUERIES_AT_LEAST:
        return row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    if np.ptp(differences) <= SAME:
        return row | {"reason": "all differences are equal"}
    test = all_tests([differences], PERMUTATIONS, seed)[0]
    kept = {name: test[name] for name in ("d_z", "p_wilcoxon", "p_permutation")}
    means = Means.of(differences[:, None])
    (low,), (high,), (p_verdict,) = *means.interval(), means.p_value()
    verdict = of_gain(row["mean_difference"], float(p_verdict))
    return row | kept | {
        "low": float(low), "high": float(high), "p_verdict": float(p_verdict), "verdict": verdict,
        "p_t": test["p_value"],
    }  # fmt: skip
