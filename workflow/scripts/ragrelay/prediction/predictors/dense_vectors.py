"""Predictors from dense vectors of the query and of the first passages: after retrieval."""

import math

import numpy as np

from ragrelay.prediction.predictor import AFTER_RETRIEVAL, Predictor
from ragrelay.prediction.subject import Array, Query, Subject, UndefinedError

TOP, TAIL = 0.1, 0.2
"""Shares of the results: those above the first are the top, those below the second the tail."""


def question(query: Query) -> Array:
    """The query's own. Raises UndefinedError where the study has none."""
    if query.vector is None:
        raise UndefinedError("no dense retriever in the study")
    return np.asarray(query.vector, dtype=np.float64)


def vectors(query: Query, depth: int) -> Array:
    """Of the first ``depth`` results (results, dimensions). Raises UndefinedError where the study has none."""
    question(query)
    if not query.docnos:
        raise UndefinedError("nothing retrieved")
    return np.array([query.vectors[docno] for docno in query.docnos[:depth]], dtype=np.float64)


def cosines(rows: Array) -> Array:
    """Of every two rows (n, n)."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


def top_over_tail(matrix: Array) -> float:
    """Mean of ``matrix`` (n, n) among the top results over that among the tail."""
    n = len(matrix)
    top, tail = math.ceil(TOP * n), int(TAIL * n)
    mean = float(matrix[tail:, tail:].mean())
    if mean == 0.0:
        raise UndefinedError("the tail's mean is 0")
    return float(matrix[:top, :top].mean()) / mean


class ARatio(Predictor):
    """Mean cosine among the first tenth of the first `vector_depth` results over that among the last four fifths.

    Vlachou and Macdonald 2024.
    """

    name, stage = "a_ratio", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        return top_over_tail(cosines(vectors(subject.query, subject.query.settings.vector_depth)))


class APairRatio(Predictor):
    """The same of the matrix C · s sᵀ, of cosines C and scores s of the results.

    Vlachou and Macdonald 2024, with the matrix product of Tian et al.'s code (2026).
    """

    name, stage = "a_pair_ratio", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        rows = vectors(subject.query, subject.query.settings.vector_depth)
        scores = subject.query.scores[: len(rows)]
        return top_over_tail(cosines(rows) @ np.outer(scores, scores))


class DenseQpp(Predictor):
    """−Σ ln(max − min) over the dimensions of the vectors of the query and of the first k results.

    Faggioli et al., SIGIR 2023 (Reciprocal Volume); as in Tian et al.'s code (2026), which calls it Dense-QPP.
    """

    name, stage, of_k, of_context = "dense_qpp", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        rows = np.vstack([vectors(subject.query, subject.k), question(subject.query)])
        spans = rows.max(axis=0) - rows.min(axis=0)
        if not spans.all():
            raise UndefinedError("all vectors agree in a dimension")
        return float(-np.log(spans).sum())


class PairwiseCosine(Predictor):
    """Mean cosine of every two of the context's k passages.

    A plain measure of how alike they are.
    """

    name, stage, of_k, of_context = "pairwise_cosine", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        rows = vectors(subject.query, subject.k)
        if len(rows) < 2:
            raise UndefinedError("fewer than two passages")
        return float(cosines(rows)[np.triu_indices(len(rows), 1)].mean())
