"""Measure how well scorers agree with people about answers and about systems, compare scorers, and measure bias."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

from ragrelay.analysis.bootstrap import fisher_jackknife, jackknife_error, without_each
from ragrelay.analysis.clusters import Clusters, clustered_slope, effective_number
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.orders import DECIMALS, TAU, TAU_AP, Families, Order, order_agreement, order_difference
from ragrelay.annexes.people.estimates import too_few
from ragrelay.base.vocabulary.columns import INTERVAL, INTERVAL_METHOD, REASON, STUDY_PART, integer, number, text
from ragrelay.scoring.score_files import ANSWER, OF_CELL

R, RHO, ORDER, ORDER_AP, LENGTH, GENERATOR = "r", "rho", "tau", "tau_ap", "length", "generator"
ORDERS: Mapping[str, Order] = {ORDER: TAU, ORDER_AP: TAU_AP}
COEFFICIENTS = (R, RHO)
SYSTEM = [name for name in OF_CELL if name != "seed"]
SCORES_OF_SYSTEM = 5
"""Minimum number of a system's answers with human scores for the system to be included."""
DATASET = {name: STUDY_PART[name] for name in ("dataset", "scorer")}
SYSTEMS = "a system is a generator with a retriever, ordering and k, or without context"
FAMILIES = "pairs of generator and retriever"
"""The name for families of systems; systems in the same family differ only in ordering and k."""
NO_INTERVAL = "intervals of r fail where scores are skewed: see ρ"
TABLE = {
    "people": text("name of the scorer with the human scores"),
    "quantity": text(f"quantity in `value`: `{R}` or `{RHO}`, Pearson's or Spearman's correlation between human "
        f"scores and the scorer's scores over answers (with an interval only for `{RHO}`); `{ORDER}` or `{ORDER_AP}`, "
        f"Kendall's tau-b or tau_AP between the mean human scores and the scorer's mean scores of systems ({SYSTEMS}); "
        f"`{LENGTH}`, the length bias: by how many standard deviations the scorer, compared with people, favours an "
        f"answer with twice as many words; `{GENERATOR}`, the bias towards a generator: by how many standard "
        "deviations the scorer, compared with people, favours answers from this generator over answers from the "
        "others"),
    "of": text("for `generator`: name of the generator; otherwise empty"),
    "value": number("value of the quantity"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the bias is 0; only for `length` and "
                      "`generator`"),
    "n": integer("number of answers with a human score and a score from the scorer; for `tau` and `tau_ap`, number of "
                 "systems"),
    "n_queries": integer("number of queries that have an answer with both scores", "queries"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
AGREEMENT_COLUMNS = {**DATASET, **TABLE}
"""Columns of people_agreement.csv."""
COMPARISON = {
    "people": TABLE["people"],
    "against": text("name of the other scorer"),
    "quantity": text(f"quantity that is compared: `{RHO}`, `{ORDER}` or `{ORDER_AP}`, as in `people_agreement.csv`"),
    "difference": number("value for the scorer minus value for the other scorer, on the same answers or systems"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the difference is 0"),
    "n": TABLE["n"],
    "n_queries": TABLE["n_queries"],
    "method": INTERVAL_METHOD,
    "reason": REASON,
}
COMPARISON_COLUMNS = {**DATASET, **COMPARISON}
"""Columns of people_comparisons.csv."""


def paired_answers(
    people: pl.DataFrame, scores: Mapping[str, pl.DataFrame], words: pl.DataFrame, clusters: Clusters | None
) -> dict[str, pl.DataFrame]:
    """Pair human scores with each scorer's scores, in a table per scorer (ANSWER, people, scorer, words and cluster).

    ``people`` and each table in ``scores`` have columns ANSWER and value; ``words`` has columns ANSWER and words.
    """
    own = people.select(*ANSWER, people="value").join(words, on=ANSWER, how="left", maintain_order="left")
    tables = {}
    for name, frame in scores.items():
        both = own.join(frame.select(*ANSWER, scorer="value"), on=ANSWER, maintain_order="left").sort(ANSWER)
        number_of = pl.col("qid").rank("dense") if clusters is None else pl.col("qid").replace_strict(clusters)
        tables[name] = both.with_columns(cluster=(number_of.rank("dense") - 1).cast(pl.Int64))
    return tables


def agreement(paired: Mapping[str, pl.DataFrame], scores: Mapping[str, pl.DataFrame]) -> Iterator[dict[str, object]]:
    """Yield each scorer's agreement with people, as rows with columns TABLE and scorer."""
    for name, table in paired.items():
        counts = {"n": table.height, "n_queries": table["qid"].n_unique()}
        x, y, cluster = _columns(table)
        for quantity in COEFFICIENTS:
            yield {"scorer": name, "quantity": quantity, **counts, **coefficient(quantity, x, y, cluster)}
        of_people, of_scorer, families = _systems(table, scores[name])
        for quantity, order in ORDERS.items():
            row = order_agreement(of_people, of_scorer, order, "system", families=families)
            yield {"scorer": name, "quantity": quantity, "n": len(of_people), "n_queries": counts["n_queries"], **row}
        yield {"scorer": name, "quantity": LENGTH, **counts, **_length_bias(table)}
        generators = table["generator"].unique(maintain_order=True).to_list()
        for generator in generators if len(generators) > 1 else []:
            is_of = (table["generator"] == generator).to_numpy()
            row = bias(x, y, is_of.astype(np.float64), cluster)
            yield {"scorer": name, "quantity": GENERATOR, "of": generator, **counts, "n": int(is_of.sum()), **row}


def comparisons(paired: Mapping[str, pl.DataFrame], scores: Mapping[str, pl.DataFrame]) -> Iterator[dict[str, object]]:
    """Compare each pair of scorers; yields rows with columns COMPARISON and scorer."""
    for other, name in itertools.combinations(paired, 2):
        both = paired[name].join(paired[other].select(*ANSWER, other="scorer"), on=ANSWER, maintain_order="left")
        named = {"scorer": name, "against": other, "n_queries": both["qid"].n_unique()}
        x, y, cluster = _columns(both)
        row = rho_difference(x, y, both["other"].to_numpy(), cluster)
        yield {**named, "quantity": RHO, "n": both.height, **row}
        known = both.drop("other")
        of_people, of_scorer, families = _systems(known, scores[name])
        _, of_other, _ = _systems(known, scores[other])
        for quantity, order in ORDERS.items():
            row = order_difference(of_people, of_scorer, of_other, order, families=families)
            yield {**named, "quantity": quantity, "n": len(of_people), **row}


def _columns(table: pl.DataFrame) -> tuple[Array, Array, npt.NDArray[np.intp]]:
    return table["people"].to_numpy(), table["scorer"].to_numpy(), table["cluster"].to_numpy().astype(np.intp)


def _few(*columns: Array, queries: int) -> str:
    if reason := too_few(columns[0], queries):
        return reason
    return "the scorer's scores are all equal" if any(map(is_constant, columns[1:])) else ""


def coefficient(quantity: str, x: Array, y: Array, cluster: npt.NDArray[np.intp]) -> dict[str, object]:
    """Correlate human scores ``x`` (n,) with a scorer's scores ``y``. ``quantity``: RHO or R; R has no interval."""
    if len(x) < 3 or is_constant(x) or is_constant(y):
        return {"reason": "too few scores, or all scores are equal"}
    if quantity == R:
        return {"value": float(np.corrcoef(x, y)[0, 1]), "reason": NO_INTERVAL}
    row: dict[str, Any] = {"value": _rho(x, y)}
    sizes = np.bincount(cluster)
    if reason := _few(x, y, queries=len(sizes)):
        return row | {"reason": reason}
    tested = fisher_jackknife(row["value"], without_each("spearman", x, y, cluster), effective_number(sizes) - 1.0)
    if tested.low is None:
        return row | {"reason": "leaving out any one query changes nothing"}
    return row | {"low": tested.low, "high": tested.high, "method": "jackknife over queries or clusters, Fisher's z"}


def _rho(x: Array, y: Array) -> float:
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(column: Array) -> Array:
    _, group, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - counts / 2)[group])


def rho_difference(people: Array, one: Array, other: Array, cluster: npt.NDArray[np.intp]) -> dict[str, object]:
    """Test whether scorers ``one`` and ``other`` correlate equally well with ``people`` (rho over the same answers)."""
    sizes = np.bincount(cluster)
    if reason := _few(people, one, other, queries=len(sizes)):
        return {"reason": reason}
    values = [_rho(people, column) for column in (one, other)]
    left_out = without_each("spearman", people, one, cluster) - without_each("spearman", people, other, cluster)
    row: dict[str, Any] = {"difference": values[0] - values[1]}
    error, df = jackknife_error(left_out), effective_number(sizes) - 1.0
    if not np.isfinite(error) or not error > ROUNDING:
        return row | {"reason": "leaving out any one query changes nothing"}
    reach = float(special.stdtrit(df, 0.975)) * error
    return row | {
        "low": row["difference"] - reach, "high": row["difference"] + reach,
        "p_value": float(2.0 * special.stdtr(df, -abs(row["difference"]) / error)),
        "method": "jackknife over queries or clusters, Student's t",
    }  # fmt: skip


def _systems(table: pl.DataFrame, scores: pl.DataFrame) -> tuple[Array, Array, Families]:
    """Return systems' mean human scores (scored answers), mean scorer scores (all answers), and families."""
    by_people = table.group_by(SYSTEM).agg(pl.col("people").mean(), pl.len()).filter(pl.col("len") >= SCORES_OF_SYSTEM)
    by_scorer = scores.group_by(SYSTEM).agg(pl.col("value").mean())
    both = by_people.join(by_scorer, on=SYSTEM).sort(SYSTEM)
    x, y = (both[name].to_numpy().round(DECIMALS) for name in ("people", "value"))
    number_of = pl.struct("generator", "retriever").rank("dense") - 1
    return x, y, Families(both.select(number_of).to_series().to_numpy().astype(np.intp), FAMILIES)


def _length_bias(table: pl.DataFrame) -> dict[str, object]:
    x, y, cluster = _columns(table)
    return bias(x, y, np.log2(1.0 + table["words"].to_numpy()), cluster)


def bias(people: Array, scorer: Array, of: Array, cluster: npt.NDArray[np.intp]) -> dict[str, object]:
    """Regress the scorer's scores minus the human scores, both standardised, on the variable ``of`` (n,)."""
    if reason := _few(people, scorer, of, queries=int(cluster.max()) + 1 if len(cluster) else 0):
        return {"reason": reason if not is_constant(of) else "all answers have the same value"}
    z = [(column - column.mean()) / column.std(ddof=1) for column in (scorer, people)]
    y = z[0] - z[1]
    centred = of - of.mean()
    row: dict[str, Any] = {"value": float(centred @ y / (centred @ centred))}
    tested = clustered_slope(of, y, cluster)
    if tested.p_value is None or tested.df is None or tested.error is None:
        return row | {"reason": "leaving out any one query changes nothing"}
    reach = float(special.stdtrit(tested.df, 0.975)) * tested.error
    return row | {
        "low": row["value"] - reach, "high": row["value"] + reach, "p_value": tested.p_value,
        "method": "jackknife over queries or clusters, Student's t",
    }  # fmt: skip


def order_of(names: Sequence[str], table: pl.DataFrame, quantity: str) -> list[str]:
    """Sort ``names`` by each scorer's ``quantity`` in ``table``, highest first; scorers without a value are omitted."""
    values = dict(table.filter(quantity=quantity).drop_nulls("value").select("scorer", "value").iter_rows())
    return sorted((name for name in names if name in values), key=lambda name: -values[name])
