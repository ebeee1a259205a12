"""Compute all predictions for a retriever and generator."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.prediction.model_scores import model_scores
from ragrelay.annexes.prediction.predictor import predictors
from ragrelay.annexes.prediction.study_queries import (
    Vectors,
    answers_of,
    needed_docnos,
    processed_texts,
    read_contexts,
    read_ranking,
    shown_contexts,
    study_queries,
)
from ragrelay.annexes.prediction.subject import Settings
from ragrelay.annexes.prediction.table import Context, predictions
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.generation.store import AnswerStore
from ragrelay.retrieval.retrievers.dense import Dense

File = str | Path


def predict_utility(
    files: Mapping[str, Any],
    answers: KeyedFiles,
    store: AnswerStore,
    contexts: Sequence[Context],
    settings: Mapping[str, Any],
    dense: tuple[Mapping[str, Any], Path] | None,
    cache_dir: File,
    threads: int,
    consistency: Mapping[str, File],
    shown: KeyedFiles,
) -> pl.DataFrame:
    """Compute every predictor for a retriever's queries and contexts, and return the table of predictions.

    ``files``: the files queries, run, contexts and terms; optionally, uses (context use) and files with models' scores.
    ``consistency``: files with self-consistency, keyed by scorer; ``answers``: files with the retriever's answers and
    the zero-shot answers; ``contexts``: all pairs of ordering and k; ``dense``: definition and index of the retriever
    that provides dense vectors, or None; ``shown``: files that list the passages in imported answers' contexts.
    """
    known = Settings(**settings)
    queries = pl.read_parquet(files["queries"])
    run = read_ranking(files["run"], queries)
    uses = pl.read_parquet(files["uses"]) if files.get("uses") else None
    own, processed = shown_contexts(shown), processed_texts(files["contexts"], sorted({k for _, k in contexts}))
    if processed is not None:
        of_k = {qid: {k: list(texts) for k, texts in of_query.items()} for qid, of_query in processed.items()}
        own = {qid: {context: docnos[context[1]] for context in contexts} for qid, docnos in of_k.items()}
    vectors = Vectors()
    if dense is not None:
        definition, index = dense
        docnos = needed_docnos(run, known, [k for _, k in contexts], own)
        keys = {key: value for key, value in definition.items() if key != "kind"}
        vectors = Vectors(*Dense(**keys).vectors(queries, docnos, index, threads))
    passages = read_contexts(files["contexts"])
    of_study = study_queries(
        queries, run, passages, files["terms"], cache_dir, answers_of(answers, store, uses), vectors, known,
        model_scores(passages, files, consistency), own, processed,
    )  # fmt: skip
    return predictions(of_study, contexts, predictors({"scorers": list(consistency)}))
