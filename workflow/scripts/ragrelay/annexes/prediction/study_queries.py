"""Read a study's queries with all the data that predictors need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragrelay.annexes.prediction.model_scores import OF_PASSAGES, ModelScores
from ragrelay.annexes.prediction.subject import Answer, Array, Query, Settings
from ragrelay.annexes.prediction.table import Context
from ragrelay.annexes.prediction.terms import read_terms, terms
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.generation.answer_files import read_answers
from ragrelay.generation.store import KEY, TOKEN_SCORES, AnswerStore
from ragrelay.retrieval.contexts import shown_texts
from ragrelay.retrieval.trec import ranked, read_run

File = str | Path
ANSWER = ("qid", "prompt_id", "seed", "answer", "answer_tokens", "logprob")


@dataclass(frozen=True)
class Vectors:
    """Dense vectors of ``queries``, keyed by qid, and of ``passages``, keyed by docno."""

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
    scores_of_models: ModelScores | None = None,
    shown: Mapping[str, Mapping[Context, Sequence[str]]] | None = None,
    processed: Mapping[str, Mapping[int, Mapping[str, str]]] | None = None,
) -> Iterator[tuple[Query, Mapping[Context, Sequence[Answer]]]]:
    """Yield each query in ``queries`` (qid, query) with all answers, including zero-shot, keyed by ordering and k.

    ``run``: columns qid, docno, rank, score; ``contexts``: columns qid, rank, docno, score (null if not in the run),
    text; ``receipt``: the word statistics' receipt; ``answers``: as returned by answers_of; ``scores_of_models``:
    models' scores for the contexts; ``shown``: docnos in each context, keyed by qid, for imported answers and processed
    texts; ``processed``: processed texts, keyed by qid, k and docno (only scores in OF_PASSAGES apply to them).
    """
    made_texts = [text for of_k in (processed or {}).values() for some in of_k.values() for text in some.values()]
    texts = [*queries["query"], *contexts["text"], *made_texts]
    statistics = read_terms(receipt, cache_dir, {word for text in texts for word in terms(text)})
    ranking = _by_query(run.sort("rank"), "docno", "score")
    passages = _by_query(contexts.sort("rank"), "docno", "text", "score")
    scores_of_models = scores_of_models or ModelScores()
    for qid, text in queries.select("qid", "query").iter_rows():
        docnos, scores = ranking.get(qid, ([], []))
        names, own_texts, context_scores = passages.get(qid, ([], [], []))
        of_run = [score for score in context_scores if score is not None]
        models = scores_of_models.passages.get(qid, {})
        made = answers.get(qid, {})
        without = [some for (ordering, k), some in made.items() if k == 0]
        query = Query(
            qid,
            text,
            statistics,
            docnos,
            np.array(scores),
            own_texts[: len(of_run)],
            np.array(of_run),
            without[0] if without else (),
            vectors.queries.get(qid),
            vectors.passages,
            settings,
            {name: each[: len(of_run)] for name, each in models.items()},
            scores_of_models.wholes.get(qid, {}),
            scores_of_models.consistencies.get(qid, {}),
        )
        if shown is not None:
            place = {docno: number for number, docno in enumerate(names)}
            contexts_of = {}
            for context, own in shown.get(qid, {}).items():
                of_own = _at([place[docno] for docno in own], own_texts, models)
                if processed is None:
                    contexts_of[context] = query.with_context(own, *of_own)
                else:
                    of_k = processed[qid][context[1]]
                    contexts_of[context] = query.with_context(own, *_processed(own, of_k, of_own[1]))
            query = replace(query, shown=contexts_of)
        yield query, made


def _at(
    places: Sequence[int], texts: Sequence[str], models: Mapping[str, Sequence[float | None]]
) -> tuple[list[str], dict[str, list[float | None]]]:
    """Return the ``texts`` at ``places``, and the models' scores for them."""
    return [texts[place] for place in places], {name: [each[at] for at in places] for name, each in models.items()}


def _processed(
    docnos: Sequence[str], texts: Mapping[str, str], models: Mapping[str, Sequence[float | None]]
) -> tuple[list[str], dict[str, Sequence[float | None]]]:
    """Return the processed ``texts`` of ``docnos`` and the models' scores, except scores that depend on the text."""
    return [texts[docno] for docno in docnos], {
        name: each if name in OF_PASSAGES else () for name, each in models.items()
    }


def needed_docnos(
    run: pl.DataFrame,
    settings: Settings,
    ks: Sequence[int],
    shown: Mapping[str, Mapping[Context, Sequence[str]]] | None = None,
) -> list[str]:
    """Return the ids of the passages that need dense vectors: top results, and passages in ``shown``."""
    depth = max(settings.vector_depth, *ks)
    retrieved = run.filter(pl.col("rank") <= depth)["docno"].to_list()
    own = [docno for of_query in (shown or {}).values() for docnos in of_query.values() for docno in docnos]
    return list(dict.fromkeys([*retrieved, *own]))


def read_contexts(path: File) -> pl.DataFrame:
    """Read a file's contexts (qid, rank, docno, score, text); passages that aren't in the run are ranked last."""
    table = pl.read_parquet(path, columns=["qid", "rank", "docno", "score", "text"])
    after = pl.col("rank").max().over("qid").fill_null(0) + pl.col("rank").is_null().cum_sum().over("qid")
    return table.with_columns(pl.col("rank").fill_null(after))


def processed_texts(path: File, ks: Sequence[int]) -> dict[str, dict[int, dict[str, str]]] | None:
    """Read the processed texts, keyed by qid, k and docno (best first). Return None if the study has no processor."""
    if "shown" not in pl.read_parquet_schema(path):
        return None
    contexts = pl.read_parquet(path).sort("rank")
    texts: dict[str, dict[int, dict[str, str]]] = {qid: {k: {} for k in ks} for qid in contexts["qid"]}
    for k in ks:
        for qid, docno, text in shown_texts(contexts, k).select("qid", "docno", "text").iter_rows():
            texts[qid][k][docno] = text
    return texts


def shown_contexts(files: KeyedFiles) -> dict[str, dict[Context, list[str]]] | None:
    """Read contexts' docnos in prompt order, keyed by qid, then ordering and k. Return None if there are no files."""
    if not files.paths:
        return None
    contexts: dict[str, dict[Context, list[str]]] = {}
    rows = read_answers(files, ("qid", "docnos"))
    for qid, ordering, k, docnos in rows.select("qid", "ordering", "k", "docnos").iter_rows():
        contexts.setdefault(qid, {})[ordering, k] = docnos
    return contexts


def read_ranking(run: File, queries: pl.DataFrame) -> pl.DataFrame:
    """Read a run file into a table with columns qid, docno, rank and score."""
    return ranked(read_run(run), queries)


def answers_of(
    files: KeyedFiles, store: AnswerStore, uses: pl.DataFrame | None = None
) -> dict[str, dict[Context, list[Answer]]]:
    """Read answers, keyed by qid, then by ordering and k; token scores come from the answer ``store``.

    Answers are sorted by seed. ``uses``: context use (ordering, k, qid, seed, context_use), if the study computes it.
    """
    read = read_answers(files, ANSWER).drop_nulls("answer")
    of_tokens = store.look_up(read.select(KEY).unique(), TOKEN_SCORES).select(*KEY, *TOKEN_SCORES)
    rows = read.join(of_tokens, on=KEY, how="left", maintain_order="left")
    if uses is None:
        rows = rows.with_columns(context_use=pl.lit(None, pl.Float64))
    else:
        keys = ["ordering", "k", "qid", "seed"]
        rows = rows.join(uses.select(*keys, "context_use"), on=keys, how="left", maintain_order="left")
    by_query: dict[str, dict[Context, list[Answer]]] = {}
    columns = ("qid", "ordering", "k", "seed", "answer", "answer_tokens", "logprob", *TOKEN_SCORES, "context_use")
    for qid, ordering, k, *answer in rows.sort("seed", maintain_order=True).select(columns).iter_rows():
        by_query.setdefault(qid, {}).setdefault((ordering, k), []).append(Answer(*answer))
    return by_query


def _by_query(frame: pl.DataFrame, *columns: str) -> dict[str, list[list[Any]]]:
    grouped = frame.group_by("qid", maintain_order=True).agg(columns)
    return {qid: list(values) for qid, *values in grouped.select("qid", *columns).iter_rows()}
