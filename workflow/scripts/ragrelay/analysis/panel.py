"""Compare a panel's results with and without each judge, and measure how well the judges agree."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.clusters import Clusters, of_queries
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.kappa import cohens_kappa, tables_by_query
from ragrelay.analysis.systems import PRIMARY
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.base.vocabulary.columns import INTERVAL, REASON, STUDY_PART, boolean, integer, number, schema_of, text
from ragrelay.base.vocabulary.names import NO_ORDERING, WITHOUT_JUDGE
from ragrelay.base.vocabulary.primary import Primary

SYSTEMS, RELAY = "systems", "relay"
YES = 0.5
"""A score of at least this counts as yes."""
UNIT = "the scorer's; for `relay`: P per unit of the measure"
TABLE = {
    "question": text(f"result in the row: `{SYSTEMS}` (the primary pair's difference in mean P) or "
        f"`{RELAY}` (the slope of P on the measure over all pairs of rankings), in the primary comparison's cell"),
    "adjusted": boolean("for `relay`: whether the slope is adjusted for P₀ and the query's mean value of the measure"),
    "without": text("name of the judge that is left out; empty in the row for all judges"),
    "n": integer("number of queries; for `relay`, only queries whose contexts differ", "queries"),
    "estimate": number("mean difference or slope, computed from the mean score of the remaining judges", UNIT),
    "low": number("lower end of the interval, computed as in `systems.csv` or `relay.csv`", UNIT),
    "high": number("upper end of the interval, computed as in `systems.csv` or `relay.csv`", UNIT),
    "verdict": text("verdict based on the remaining judges; in the row for all judges, the strongest verdict that all "
                    "rows support"),
    "alone": number("estimate based on the left-out judge's scores alone; empty for adjusted slopes", UNIT),
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of panel.csv."""
AGREEMENT = {
    "judge": text("name of the pair's first judge"),
    "other_judge": text("name of the pair's second judge"),
    "references": text("name of the primary comparison's reference set"),
    "n": integer("number of answers that both judges scored", "answers"),
    "n_queries": integer("number of queries that have an answer scored by both judges", "queries"),
    "kappa": number(f"Cohen's kappa between the two judges, counting a score of {YES} or more as yes"),
    **INTERVAL,
    "rho": number("Spearman's rho between the two judges' scores, over answers"),
    "mean": number("first judge's mean score", "0 to 1"),
    "other_mean": number("second judge's mean score", "0 to 1"),
    "reason": REASON,
}
AGREEMENT_SCHEMA = schema_of(AGREEMENT)
AGREEMENT_COLUMNS = {**STUDY_PART, **AGREEMENT}
"""Columns of panel_agreement.csv."""


def compare_judges(
    systems: Mapping[str, pl.DataFrame], slopes: Mapping[str, pl.DataFrame], judges: Sequence[str], primary: Primary
) -> pl.DataFrame:
    """Compute panel.csv: the primary comparison's results for all ``judges`` together, and with each judge left out.

    ``systems`` and ``slopes`` map scorers (the panel, and the panel without each judge) to systems.csv and relay.csv.
    Except for adjusted slopes, estimates are linear in P, so the panel's estimate is the mean of its judges' estimates.
    A left-out judge's estimate is therefore computed from the estimates with and without that judge.
    """
    cell = {"ordering": primary.ordering, "k": primary.k, "references": primary.references}
    over_all = {"retrievers": relay.ALL_RANKINGS, "measure": primary.measure, **cell}
    pair = {name: table.filter(role=PRIMARY) for name, table in systems.items()}
    rows = [*_rows({"question": SYSTEMS}, pair, "mean_difference", judges)]
    for adjusted in (False, True):
        chosen = {name: table.filter(adjusted=adjusted, **over_all) for name, table in slopes.items()}
        rows += _rows({"question": RELAY, "adjusted": adjusted}, chosen, "slope", judges)
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(
    of: Mapping[str, object], tables: Mapping[str, pl.DataFrame], estimate: str, judges: Sequence[str]
) -> Iterator[dict[str, object]]:
    """Yield the row for all judges, then the rows without each judge; ``tables`` have at most one row each."""
    found = {
        name.partition(WITHOUT_JUDGE)[2]: table.row(0, named=True) for name, table in tables.items() if table.height
    }
    for left_out in ("", *judges):
        if (row := found.get(left_out)) is None:
            continue
        value, by_all = row[estimate], found.get("", {}).get(estimate)
        alone = None
        if left_out and value is not None and by_all is not None and not of.get("adjusted"):
            alone = len(judges) * by_all - (len(judges) - 1) * value
        same = {name: row[name] for name in ("n", "low", "high", "verdict", "reason")}
        yield {**of, "without": left_out or None, "estimate": value, "alone": alone, **same}


def judge_agreement(
    scores: Mapping[str, pl.DataFrame], references: str, clusters: Clusters | None = None
) -> pl.DataFrame:
    """Compute panel_agreement.csv: how well each pair of judges agrees on the answers that both scored.

    ``scores`` holds each judge's score tables (retriever_table.SCORE_COLUMNS) with the column ``retriever``. If queries
    form ``clusters``, the jackknife for the intervals leaves out one cluster at a time.
    """
    answer = ["retriever", "qid", "ordering", "k", "seed"]
    own = (pl.col("ordering") != NO_ORDERING) | (pl.col("k") == 0)
    known = {
        judge: table.filter(own, pl.col("f1").is_not_null(), references=references).select(*answer, "f1")
        for judge, table in scores.items()
    }
    rows = [
        {"judge": one, "other_judge": other, "references": references,
         **_agreement(known[one].join(known[other], on=answer, maintain_order="left"), clusters)}
        for one, other in itertools.combinations(known, 2)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=AGREEMENT_SCHEMA)


def _agreement(both: pl.DataFrame, clusters: Clusters | None) -> dict[str, object]:
    x, y = both["f1"].to_numpy(), both["f1_right"].to_numpy()
    row: dict[str, object] = {"n": len(x), "n_queries": both["qid"].n_unique()}
    if not len(x):
        return row | {"reason": "no answer has a score from both judges"}
    row |= {"mean": float(x.mean()), "other_mean": float(y.mean())}
    if not is_constant(x) and not is_constant(y):
        row["rho"] = float(np.corrcoef(both["f1"].rank().to_numpy(), both["f1_right"].rank().to_numpy())[0, 1])
    numbers = of_queries(both["qid"], clusters)
    unit = both["qid"].rank("dense").to_numpy() - 1 if numbers is None else np.unique(numbers, return_inverse=True)[1]
    words, other_words = (x >= YES).astype(np.int64), (y >= YES).astype(np.int64)
    kappa = cohens_kappa(tables_by_query(unit.astype(np.int64), words, other_words, 2))
    if not np.isfinite(kappa.value):
        return row | {"reason": "both judges say the same word about every answer"}
    row["kappa"] = float(kappa.value)
    if unit.max() + 1 < QUERIES_AT_LEAST or not np.isfinite(kappa.low):
        return row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries, or only one with the other word"}
    return row | {"low": float(kappa.low), "high": float(kappa.high)}
