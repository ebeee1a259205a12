"""The queries of a study with all that predictors look at, read from its files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragrelay.generation.answer_files import read_answers
from ragrelay.generation.store import KEY, PER_TOKEN, AnswerStore
from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.prediction.given import GivenScores
from ragrelay.prediction.subject import Answer, Array, Query, Settings
from ragrelay.prediction.table import Context
from ragrelay.prediction.terms import read_terms, terms
from ragrelay.retrieval.trec import ranked, read_run

File = str | Path
ANSWER = ("qid", "prompt_id", "seed", "answer", "answer_tokens", "logprob")


@dataclass(frozen=True)
class Vectors:
    """Dense vectors: ``queries`` by qid, ``passages`` by docno."""

    queries: Mapping[str, Array] = field(default_factory=dict)
    passages: Mapping[str, Array] = field(default_factory=dict)


def study_queries(
    queries: pl.DataFrame,
    run: pl.DataFrame,
    contexts: pl.DataFrame,
    receipt: File,
    cache_dir: File,
    answers: Mapping[str, Mapping[Context, Sequence[Answer]]],
    vectors: Vectors,
    settings: Settings,
    given: GivenScores | None = None,
) -> Iterator[tuple[Query, Mapping[Context, Sequence[Answer]]]]:
    """Each of ``queries`` (qid, query) with its answers by ordering and k; those without context are of zero-shot's.

    ``run``: qid, docno, rank, score; ``contexts``: qid, rank, score, text; ``receipt``: of the words' statistics;
    ``answers``: by qid, as answers_of returns them; ``given``: what models say of the contexts.
    """
    texts = [*queries["query"], *contexts["text"]]
    statistics = read_terms(receipt, cache_dir, {word for text in texts for word in terms(text)})
    ranking = _by_query(run.sort("rank"), "docno", "score")
    shown = _by_query(contexts.sort("rank"), "text", "score")
    given = given or GivenScores()
    for qid, text in queries.select("qid", "query").iter_rows():
        docnos, scores = ranking.get(qid, ([], []))
        passages, context_scores = shown.get(qid, ([], []))
        made = answers.get(qid, {})
        without = [some for (ordering, k), some in made.items() if k == 0]
        yield (
            Query(
                qid,
                text,
                statistics,
                docnos,
                np.array(scores),
                passages,
                np.array(context_scores),
                without[0] if without else (),
                vectors.queries.get(qid),
                vectors.passages,
                settings,
                given.passages.get(qid, {}),
                given.wholes.get(qid, {}),
                given.agreements.get(qid, {}),
            ),
            made,
        )


def needed_docnos(run: pl.DataFrame, settings: Settings, ks: Sequence[int]) -> list[str]:
    """Of the results whose vectors predictors look at."""
    depth = max(settings.vector_depth, *ks)
    return run.filter(pl.col("rank") <= depth)["docno"].unique(maintain_order=True).to_list()


def read_ranking(run: File, queries: pl.DataFrame) -> pl.DataFrame:
    """qid, docno, rank, score of a run file."""
    return ranked(read_run(run), queries)


def answers_of(
    files: KeyedFiles, store: AnswerStore, uses: pl.DataFrame | None = None
) -> dict[str, dict[Context, list[Answer]]]:
    """Answers by qid, then by ordering and k, of answer files, with the per-token values of ``store``, seeds rising.

    ``uses``: context use (ordering, k, qid, seed, context_use), where the study has it.
    """
    read = read_answers(files, ANSWER)
    per_token = store.look_up(read.select(KEY).unique(), PER_TOKEN).select(*KEY, *PER_TOKEN)
    rows = read.join(per_token, on=KEY, how="left", maintain_order="left")
    if uses is None:
        rows = rows.with_columns(context_use=pl.lit(None, pl.Float64))
    else:
        keys = ["ordering", "k", "qid", "seed"]
        rows = rows.join(uses.select(*keys, "context_use"), on=keys, how="left", maintain_order="left")
    found: dict[str, dict[Context, list[Answer]]] = {}
    columns = ("qid", "ordering", "k", "seed", "answer", "answer_tokens", "logprob", *PER_TOKEN, "context_use")
    for qid, ordering, k, *answer in rows.sort("seed", maintain_order=True).select(columns).iter_rows():
        found.setdefault(qid, {}).setdefault((ordering, k), []).append(Answer(*answer))
    return found


def _by_query(frame: pl.DataFrame, *columns: str) -> dict[str, list[list[Any]]]:
    grouped = frame.group_by("qid", maintain_order=True).agg(columns)
    return {qid: list(values) for qid, *values in grouped.select("qid", *columns).iter_rows()}
