"""Run eRAG (Salemi and Zamani, SIGIR 2024) on a run and texts, with your functions to generate and score answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from ragrelay.annexes.labels.measures import measure_labels
from ragrelay.base.errors import InputError

Generate = Callable[[Sequence[tuple[str, str]]], Sequence[str]]
"""Answers pairs of (query text, passage text); returns one answer per pair."""
Score = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Scores pairs of (qid, answer); returns one number from 0 to 1 per pair."""
LABELS: dict[str, type[pl.DataType]] = {"qid": pl.String, "docno": pl.String, "rank": pl.Int64, "label": pl.Float64}


class Evaluation(NamedTuple):
    """Passages' labels, and the measures computed from them."""

    labels: pl.DataFrame
    """Columns qid, docno, rank, label."""
    values: pl.DataFrame
    """Columns as in ``annexes.labels.measures.SCHEMA``."""
    means: pl.DataFrame
    """Columns measure, k, mean (over queries)."""


def label_passages(
    run: pl.DataFrame,
    queries: Mapping[str, str],
    texts: Mapping[str, str],
    generate: Generate,
    score: Score,
    depth: int | None = None,
) -> pl.DataFrame:
    """Label each passage with the score of the answer generated from it alone (Salemi and Zamani, SIGIR 2024, eq. 1).

    ``generate`` and ``score`` are called once, with all distinct pairs, so that an engine can batch them.

    Args:
        run: Columns qid, docno, rank (from 1).
        queries: Query texts, keyed by qid.
        texts: Passage texts, keyed by docno.
        generate: Answers (query text, passage text) pairs.
        score: Scores (qid, answer) pairs, from 0 to 1.
        depth: The last rank to label; None labels all.

    Returns:
        Columns qid, docno, rank, label (from 0 to 1).

    Raises:
        InputError: A query or passage has no text, a ranking has a passage twice, a function returns too few or too
            many results, or a score is outside 0 to 1.
    """
    ranking = run.select("qid", "docno", pl.col("rank").cast(pl.Int64)).sort("qid", "rank")
    ranking = ranking if depth is None else ranking.filter(pl.col("rank") <= depth)
    twice = ranking.filter(ranking.select("qid", "docno").is_duplicated())
    if twice.height:
        raise InputError(f"run, qid {twice['qid'][0]!r}", f"duplicate docno {twice['docno'][0]!r}", "each passage once")
    _check_texts("qid", ranking["qid"], queries)
    _check_texts("docno", ranking["docno"], texts)
    rows = [(qid, queries[qid], texts[docno]) for qid, docno, _ in ranking.iter_rows()]
    pairs = list(dict.fromkeys((query, text) for _, query, text in rows))
    answers = dict(zip(pairs, _as_many("generate", generate(pairs), pairs), strict=True))
    answered = [(qid, answers[query, text]) for qid, query, text in rows]
    distinct = list(dict.fromkeys(answered))
    scores = dict(zip(distinct, map(float, _as_many("score", score(distinct), distinct)), strict=True))
    for (qid, _), value in scores.items():
        if not 0.0 <= value <= 1.0:
            raise InputError(f"score of an answer to qid {qid!r}", f"{value}", "a number from 0 to 1")
    labels = pl.Series("label", [scores[pair] for pair in answered], dtype=pl.Float64)
    return ranking.with_columns(labels).select(*LABELS)


def evaluate(
    run: pl.DataFrame,
    queries: Mapping[str, str],
    texts: Mapping[str, str],
    generate: Generate,
    score: Score,
    measures: Sequence[str] = ("P", "Success", "nDCG"),
    ks: Sequence[int] = (5, 10),
    depth: int | None = None,
) -> Evaluation:
    """Label passages (see label_passages) and compute measures from the labels (see measure_labels).

    Args:
        run: Columns qid, docno, rank (from 1).
        queries: Query texts, keyed by qid.
        texts: Passage texts, keyed by docno.
        generate: Answers (query text, passage text) pairs.
        score: Scores (qid, answer) pairs, from 0 to 1.
        measures: Names of the measures to compute from the labels.
        ks: The cutoffs of the measures.
        depth: The last rank to label; None labels all.

    Returns:
        The labels, each query's values, and their means.

    Raises:
        InputError: In the same cases as label_passages.
    """
    labels = label_passages(run, queries, texts, generate, score, depth)
    values = measure_labels(labels, labels, measures, ks)
    means = values.group_by("measure", "k", maintain_order=True).agg(pl.col("value").mean().alias("mean"))
    return Evaluation(labels, values, means)


def _check_texts(name: str, keys: pl.Series, texts: Mapping[str, str]) -> None:
    missing = next((key for key in keys if key not in texts), None)
    if missing is not None:
        raise InputError(f"run, {name} {missing!r}", "no text", "a text for each")


def _as_many(name: str, results: Sequence[object], pairs: Sequence[object]) -> Sequence:  # type: ignore[type-arg]
    if len(results) != len(pairs):
        raise InputError(f"function {name}", f"{len(results)} results for {len(pairs)} pairs", "one per pair, in order")
    return results
