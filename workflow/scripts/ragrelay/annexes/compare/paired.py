"""Test the changes between two studies in each cell, paired by query."""

import numpy as np
import polars as pl

from ragrelay.analysis.clusters import Clusters, of_queries
from ragrelay.analysis.equivalence import testable, untestable
from ragrelay.analysis.mean_tests import cautious, end, few, unbounded
from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.analysis.paired_tests import PERMUTATIONS, all_tests
from ragrelay.analysis.remarks import REMARK, remark
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.standing import STANDS, stands
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, TOO_FEW, of_interval
from ragrelay.base.vocabulary.columns import CELL, CELL_COLUMNS, integer, number, schema_of, text

TESTED = [*CELL, "quantity"]
FAMILY = ("quantity", "references")
DECIDES = "p"
"""P is the only quantity with verdicts, because changes in mean utility and in mean P can have different signs."""
STILL = "no query moved"
SAME = 1e-9
"""Smaller differences are rounding errors: the query's value counts as unchanged."""
SIDES = {"study": text("name of the `after` study; preceded by the folder if two studies have the same name")} | {
    f"{section}_{side}": text(f"name of the {section} in the `{side}` study")
    for section in ("dataset", "generator", "scorer")
    for side in ("before", "after")
}
CELL_OF_BOTH = {
    **CELL_COLUMNS,
    "retriever": text("name of the retriever; `before → after` if the names differ"),
}
QUANTITY = text("quantity that is compared, such as `p` or a retrieval measure")
TABLE = {
    **CELL_OF_BOTH,
    "quantity": QUANTITY,
    "n": integer("number of queries with values in both studies", "queries"),
    "n_unpaired": integer("number of queries with a value in only one of the studies", "queries"),
    "mean_before": number("mean of the quantity in the `before` study", "the quantity's"),
    "mean_after": number("mean of the quantity in the `after` study", "the quantity's"),
    "mean_difference": number("mean over queries of the value in the `after` study minus the value in the `before` "
                              "study", "the quantity's"),
    "low": number("lower end of the 95% interval for `mean_difference`, from the same test as "
                  "`p_verdict`", "the quantity's"),
    "high": number("upper end of the 95% interval for `mean_difference`", "the quantity's"),
    "d_z": number("Cohen's d_z: mean difference divided by the standard deviation of the differences"),
    "up": integer("number of queries whose value rose", "queries"),
    "down": integer("number of queries whose value fell", "queries"),
    "same": integer("number of queries whose value didn't change", "queries"),
    "p_verdict": number("uncorrected p-value of the test behind the verdict, which is the same test as in `gain.csv`"),
    "verdict": text("for `p`: verdict on the `after` study (`better`, `worse`, `undecided` or `too few queries`); "
        "empty for other quantities"),
    "p_t": number("uncorrected p-value of the paired t-test"),
    "p_wilcoxon": number("uncorrected p-value of Wilcoxon's signed-rank test"),
    "p_permutation": number("uncorrected p-value of the sign-flip permutation test"),
    "reason": text("why there is no test; otherwise empty"),
    "stands": STANDS,
    "remark": REMARK,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {
    **SIDES,
    **TABLE,
    "family": text("name of the family of tests within which the p-values are corrected"),
    "p_holm": number("`p_verdict` after Holm's correction within the family"),
    "p_bh": number("`p_verdict` after Benjamini and Hochberg's correction within the family"),
    "family_size": integer("number of tests in the family", "tests"),
}
"""Columns of tests.csv."""


def paired_tests(queries: pl.DataFrame, seed: int = 0, clusters: Clusters | None = None) -> pl.DataFrame:
    """Test whether the mean changed, for each cell and quantity; returns columns SCHEMA and adjusted p-values.

    ``queries``: the result of paired_queries. Differences are after minus before, over the queries that have both
    values. ``p_verdict``, ``low``, ``high`` and, for P, ``verdict`` come from the same test as gains in gain.csv;
    ``d_z`` and the other p-values come from analysis.paired_tests. ``p_holm`` and ``p_bh`` are p_verdict adjusted over
    all tests of the same quantity and reference set; orderings with the same prompts at a k count as a single test.
    Rows without a test have a ``reason``. With ``clusters`` (each query's cluster number), the test uses sums over
    clusters; d_z and the other p-values assume independent queries and are therefore null.
    """
    rows = [
        dict(zip(TESTED, key, strict=True)) | _test(part, seed, clusters)
        for key, part in queries.group_by(TESTED, maintain_order=True)
    ]
    known = [str(name) for (name,), part in queries.group_by("quantity") if scaled(part, "before", "after")]
    table = cut(pl.DataFrame(rows, schema=SCHEMA), pl.col("quantity").is_in(known) & (pl.col("quantity") != "utility"))
    of_p = {"verdict": pl.col("verdict").fill_null(TOO_FEW), "stands": pl.col("stands"), "remark": pl.col("remark")}
    table = table.with_columns(**{name: pl.when(quantity=DECIDES).then(column) for name, column in of_p.items()})
    return with_adjusted(table, FAMILY, {"p_verdict": "p"}, cells=("retriever", "ordering"))


def _test(part: pl.DataFrame, seed: int, clusters: Clusters | None) -> dict[str, object]:
    pairs = part.filter(pl.col("difference").is_not_null())
    differences = pairs["difference"].to_numpy()
    row: dict[str, object] = {
        "n": len(differences),
        "n_unpaired": part.height - len(differences),
        "mean_before": pairs["before"].mean(),
        "mean_after": pairs["after"].mean(),
        "mean_difference": pairs["difference"].mean(),
        "up": int((differences > SAME).sum()),
        "down": int((differences < -SAME).sum()),
        "same": int((np.abs(differences) <= SAME).sum()),
    }
    moved, cluster = np.where(np.abs(differences) <= SAME, 0.0, differences), of_queries(pairs["qid"], clusters)
    row["remark"] = few(moved, cluster)
    if len(differences) and row["same"] == len(differences):
        return row | {"reason": STILL}
    if len(differences) < QUERIES_AT_LEAST:
        return row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    if np.ptp(differences) <= SAME:
        return row | {"reason": "all differences are equal"}
    if not testable(differences, cluster):
        return row | {"reason": untestable(differences, cluster)}
    if cluster is None:
        test = all_tests([differences], PERMUTATIONS, seed)[0]
        row |= {name: test[name] for name in ("d_z", "p_wilcoxon", "p_permutation")} | {"p_t": test["p_value"]}
    means = cautious(differences, cluster)
    (low,), (high,), (p_verdict,) = *means.interval(), means.p_value()
    ends = {"low": end(low), "high": end(high)}
    verdict = TOO_FEW if row["remark"] else of_interval(**ends)
    reason = unbounded(ends["low"], differences, cluster)
    words = {"verdict": verdict, "stands": stands(differences, verdict, cluster=cluster), "reason": reason}
    words["remark"] = remark(moved, verdict, cluster=cluster)
    return row | ends | {"p_verdict": float(p_verdict)} | words
