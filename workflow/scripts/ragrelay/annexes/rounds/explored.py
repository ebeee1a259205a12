"""Prepare each query's later rounds for the query explorer."""

from collections.abc import Mapping

import polars as pl

from ragrelay.annexes.rounds.queries import STATE
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.report.query_explorer.reading import BLOCK


def round_states(
    queries: pl.DataFrame, contexts: pl.DataFrame, answers: pl.DataFrame, scores: pl.DataFrame
) -> pl.DataFrame:
    """Join a retriever's tables for a round into one row per question and seed, with a list of ``scores``.

    The column ``seeds`` lists all seeds with the same query and the same passages shown so far.
    """
    seeds = pl.col("seed").cast(pl.String).str.join(", ").over("qid", "query", "shown")
    states = queries.with_columns(seeds=seeds)
    for frame in (contexts, answers.drop("docnos"), scores.group_by(STATE).agg(scores=pl.struct("references", "p"))):
        states = states.join(frame, on=STATE, how="left", maintain_order="left")
    return states


def explore_rounds(
    rounds: Mapping[tuple[int, str], pl.DataFrame],
    qrels: pl.DataFrame,
    texts: Mapping[str, str],
    reference: str,
    listing: Mapping[str, object],
) -> pl.DataFrame:
    """Describe the later rounds (columns BLOCK): the query, and each retriever's new passages, answer and scores.

    ``rounds``: results of round_states, keyed by round and retriever. ``texts``: the passages' texts, keyed by docno.
    """
    labels = {(qid, docno): label for qid, docno, label in qrels.select("qid", "docno", "label").iter_rows()}
    rows = []
    for (number, retriever), states in rounds.items():
        for state in states.iter_rows(named=True):
            facts = ["reference"] if retriever == reference else []
            facts += [] if state["value"] is None else [f"{listing['measure']} {state['value']:.3f}"]
            facts.append(f"{state['repeated']} of {state['found']} passages repeated")
            new = [(docno, labels.get((state["qid"], docno)), texts[docno]) for docno in state["docnos"]]
            row = {
                "block": f"Later rounds of the search ({listing['ordering']}, k = {listing['k']})",
                "title": f"Round {number} searches for (seed{'s' if ',' in state['seeds'] else ''} {state['seeds']})",
                "text": state["query"],
                "retriever": retriever,
                "note": " · ".join(facts),
                "passages": [dict(zip(("docno", "label", "text"), passage, strict=True)) for passage in new],
                "finish_reason": state["finish_reason"] or "the window",
                "answer_tokens": state["answer_tokens"] if state["finish_reason"] else 0,
                "scores": state["scores"] or [],
            }
            rows.append({name: row[name] if name in row else state[name] for name in BLOCK})
    return pl.DataFrame(rows, schema=schema_of(BLOCK))
