"""Compute retrieval measures at every k with ir_measures (MacAvaney et al., ECIR 2022)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import ir_measures
import polars as pl

from ragrelay.vocabulary.columns import QID, real, schema_of, text, whole

COLUMNS = {
    "qid": QID,
    "measure": text("retrieval measure, as ir_measures names it"),
    "k": whole("cutoff", "passages"),
    "value": real("the measure at the cutoff, of the ranking that is prompted"),
}


def measure_ranking(
    ranking: pl.DataFrame,
    qrels: pl.DataFrame,
    measures: list[str],
    ks: list[int],
    relevant: int = 1,
    qids: Sequence[str] = (),
) -> pl.DataFrame:
    """Compute ``measures`` at the cutoffs ``ks`` for each query of ``ranking`` (qid, docno, rank).

    Scores are computed from ranks, since trec_eval would reorder passages whose scores are equal as float32. Binary
    measures count labels from ``relevant`` on, unless they name their own (``P(rel=3)``). Judged ``qids`` without a
    result get 0. Returns qid, measure, k, value, in the order of ``measures``, ``ks`` and the ranking's queries.
    """
    run = _by_query(ranking, -pl.col("rank").cast(pl.Float64))
    judged = _by_query(qrels, pl.col("label"))
    # Keyed by measure, not name: AP and MAP are the same measure in ir_measures.
    wanted = {(name, k): _measure(name, relevant) @ k for name in measures for k in ks}
    values: dict[ir_measures.Measure, dict[str, float]] = defaultdict(dict)
    for result in ir_measures.iter_calc(list(set(wanted.values())), judged, run):
        values[result.measure][result.query_id] = float(result.value)
    empty = sorted(judged.keys() & set(qids) - run.keys())
    rows: list[tuple[str, str, int, float]] = []
    for (name, k), measure in wanted.items():
        of_measure = values[measure] | dict.fromkeys(empty, 0.0)
        rows += [(qid, name, k, of_measure[qid]) for qid in [*run, *empty] if qid in of_measure]
    return pl.DataFrame(rows, schema=schema_of(COLUMNS), orient="row")


def _by_query(table: pl.DataFrame, value: pl.Expr) -> dict[str, dict[str, Any]]:
    """Return ``value`` by query and passage, as ir_measures takes it without a conversion."""
    values: dict[str, dict[str, Any]] = defaultdict(dict)
    for qid, docno, number in table.select("qid", "docno", value.alias("value")).iter_rows():
        values[qid][docno] = number
    return dict(values)


def _measure(name: str, relevant: int) -> ir_measures.Measure:
    measure = ir_measures.parse_measure(name)
    # Graded measures have no parameter rel, or one without a default (RBP).
    parameter = measure.SUPPORTED_PARAMS.get("rel")
    unsaid = parameter is not None and parameter.default == 1 and "rel" not in measure.params
    return measure(rel=relevant) if unsaid else measure
