"""Compute retrieval measures at every k with ir_measures (MacAvaney et al., ECIR 2022)."""

from collections.abc import Sequence

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
    run = pl.DataFrame(
        {"query_id": ranking["qid"], "doc_id": ranking["docno"], "score": -ranking["rank"].cast(pl.Float64)}
    )
    judged = qrels.rename({"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    # Keyed by measure, not name: AP and MAP are the same measure in ir_measures.
    wanted = {(name, k): _measure(name, relevant) @ k for name in measures for k in ks}
    values = {
        (result.measure, result.query_id): float(result.value)
        for result in ir_measures.iter_calc(list(set(wanted.values())), judged.to_pandas(), run.to_pandas())
    }
    ranked = ranking["qid"].unique(maintain_order=True).to_list()
    empty = sorted(set(qids).intersection(qrels["qid"]).difference(ranked))
    values |= {(measure, qid): 0.0 for measure in set(wanted.values()) for qid in empty}
    rows = [
        (qid, name, k, values[wanted[name, k], qid])
        for name in measures
        for k in ks
        for qid in ranked + empty
        if (wanted[name, k], qid) in values
    ]
    return pl.DataFrame(rows, schema=schema_of(COLUMNS), orient="row")


def _measure(name: str, relevant: int) -> ir_measures.Measure:
    measure = ir_measures.parse_measure(name)
    # Graded measures have no parameter rel, or one without a default (RBP).
    parameter = measure.SUPPORTED_PARAMS.get("rel")
    unsaid = parameter is not None and parameter.default == 1 and "rel" not in measure.params
    return measure(rel=relevant) if unsaid else measure
