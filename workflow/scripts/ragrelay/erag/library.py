"""Evaluate a run with eRAG (Salemi and Zamani, SIGIR 2024), using your own functions to generate and score answers."""

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
    """The passages' labels, and the measures computed from these labels."""

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
    """Label each passage with the score of an answer generated from only that passage (Salemi and Zamani 2024, eq. 1).

    ``generate`` and ``score`` are each called once, with all distinct pairs, so that an engine can batch the pairs.

    Args:
        run: The run to label, with columns qid, docno and rank (from 1).
        queries: Query texts, keyed by qid.
        texts: Passage texts, keyed by docno.
        generate: Function that returns an answer for each (query text, passage text) pair.
        score: Function that returns a score from 0 to 1 for each (qid, answer) pair.
        depth: Last rank to label; None means all ranks.

    Returns:
        A table with columns qid, docno, rank and label (from 0 to 1).

    Raises:
        InputError: A text is missing, a docno is repeated, or a function returns too few results or an invalid score.
    """
    ranking = run.select("qid", "docno", pl.col("rank").cast(pl.Int64)).sort("qid", "rank")
    ranking = ranking if depth is None else ranking.filter(pl.col("rank") <= depth)
    twice = ranking.filter(ranking.select("qid", "docno").is_duplicated())
    if twice.height:
        raise InputError(f"run, qid {twice['qid'][0]!r}", f"duplicate docno {twice['docno'][0]!r}", "unique docnos")
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
    """Label a run's passages with eRAG, and compute measures from the labels.

    Args:
        run: The run to label, with columns qid, docno and rank (from 1).
        queries: Query texts, keyed by qid.
        texts: Passage texts, keyed by docno.
        generate: Function that returns an answer for each (query text, passage text) pair.
        score: Function that returns a score from 0 to 1 for each (qid, answer) pair.
        measures: Names of the measures to compute.
        ks: Cutoffs of the measures.
        depth: Last rank to label; None means all ranks.

    Returns:
        The labels, each query's values of the measures, and the means over queries.

    Raises:
        InputError: A text is missing, a docno is repeated, or a function returns too few results or an invalid score.
    """
    labels = label_passages(run, queries, texts, generate, score, depth)
    values = measure_labels(labels, labels, measures, ks)
    means = values.group_by("measure", "k", maintain_order=True).agg(pl.col("value").mean().alias("mean"))
    return Evaluation(labels, values, means)


def _check_texts(name: str, keys: pl.Series, texts: Mapping[str, str]) -> None:
    missing = next((key for key in keys if key not in texts), None)
    if missing is not None:
        raise InputError(f"run, {name} {missing!r}", "no text", f"a text for each {name}")


def _as_many(name: str, results: Sequence[object], pairs: Sequence[object]) -> Sequence:  # type: ignore[type-arg]
    if len(results) != len(pairs):
        raise InputError(f"function {name}", f"{len(results)} results for {len(pairs)} pairs", "one per pair, in order")
    return results
