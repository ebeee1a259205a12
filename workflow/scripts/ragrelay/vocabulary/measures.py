"""Retrieval measures at every k, by ir_measures (MacAvaney et al., ECIR 2022)."""

import ir_measures
import polars as pl

SCHEMA = {"qid": pl.String, "measure": pl.String, "k": pl.Int64, "value": pl.Float64}


def measure_ranking(ranking: pl.DataFrame, qrels: pl.DataFrame, measures: list[str], ks: list[int]) -> pl.DataFrame:
    """Each of ``measures`` at each cutoff of ``ks`` for each query of ``ranking`` (qid, docno, rank).

    The ranking's order is what counts: places stand in for scores, since those that are equal as float32 would be
    reordered by trec_eval. Returns qid, measure, k, value, by ``measures``, ``ks`` and the ranking's queries.
    """
    run = pl.DataFrame(
        {"query_id": ranking["qid"], "doc_id": ranking["docno"], "score": -ranking["rank"].cast(pl.Float64)}
    )
    judged = qrels.rename({"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    # By measure, not by name: AP and MAP are one measure to ir_measures.
    wanted = {(name, k): ir_measures.parse_measure(name) @ k for name in measures for k in ks}
    values = {
        (found.measure, found.query_id): float(found.value)
        for found in ir_measures.iter_calc(list(set(wanted.values())), judged.to_pandas(), run.to_pandas())
    }
    qids = ranking["qid"].unique(maintain_order=True).to_list()
    rows = [
        (qid, name, k, values[wanted[name, k], qid])
        for name in measures
        for k in ks
        for qid in qids
        if (wanted[name, k], qid) in values
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
