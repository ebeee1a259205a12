"""Prepare each query's battles for the query explorer."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.annexes.battles.votes import KEY
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.report.query_explorer.reading import BLOCK

OUTCOMES = {1.0: "wins", 0.5: "ties", 0.0: "loses"}


def explore_battles(
    votes: Mapping[str, pl.DataFrame], answers: pl.DataFrame, battle: str, cell: Mapping[str, object]
) -> pl.DataFrame:
    """Return the compared answers and the votes on them, pair by pair.

    Args:
        votes: The votes in a cell (columns VOTES), keyed by judge.
        answers: The cell's answers and zero-shot answers (retriever, qid, seed, answer, finish_reason, answer_tokens).
        battle: The battle's name.
        cell: The cell's ordering and k.

    Returns:
        Two rows per pair of answers, with columns BLOCK.
    """
    texts = {row[:3]: row[3:] for row in answers.select("retriever", "qid", "seed", "answer", "finish_reason",
                                                        "answer_tokens").iter_rows()}  # fmt: skip
    told: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for name, table in votes.items():
        for row in table.sort(KEY).iter_rows(named=True):
            told.setdefault(tuple(row[key] for key in KEY), []).append(row | {"judge": name})
    rows = []
    for (retriever, against, _, _, qid, seed), voted in told.items():
        for system, is_own in ((retriever, True), (against, False)):
            answer, finish_reason, tokens = texts.get((system, qid, seed), (None, None, None))
            row = {
                "qid": qid,
                "block": f"Battle {battle} ({cell['ordering']}, k = {cell['k']})",
                "title": f"{retriever} against {against} (seed {seed})",
                "text": "",
                "retriever": system,
                "note": " · ".join(_note(vote, is_own, len(votes) > 1) for vote in voted),
                "passages": [],
                "seed": seed,
                "answer": answer,
                "finish_reason": finish_reason or "missing",
                "answer_tokens": tokens or 0,
                "scores": [],
            }
            rows.append({name: row[name] for name in BLOCK})
    return pl.DataFrame(rows, schema=schema_of(BLOCK))


def _note(vote: Mapping[str, Any], is_own: bool, named: bool) -> str:
    """Describe a side's result in each order."""
    orders = ("score_first", "score_second") if is_own else ("score_second", "score_first")
    scores = [None if vote[name] is None else vote[name] if is_own else 1 - vote[name] for name in orders]
    told = [f"{_outcome(score)} as the {place}" for place, score in zip(("first", "second"), scores, strict=True)
            if score is not None]  # fmt: skip
    said = ", ".join(told) if vote["asked"] or not told else f"{_outcome(scores[0])} without a question"
    return f"{vote['judge']}: {said or 'no vote'}" if named else said or "no vote"


def _outcome(score: float | None) -> str:
    """Name a score; scores between the named ones are means over assessors."""
    if score is None:
        return "no vote"
    return OUTCOMES.get(score, f"scores {score:.2f}")
