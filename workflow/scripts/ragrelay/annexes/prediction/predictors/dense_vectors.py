"""Define predictors computed from dense vectors of the query and its first results."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ragrelay.annexes.prediction.predictor import AFTER_RETRIEVAL, Predictor
from ragrelay.annexes.prediction.subject import Array, Query, Subject, UndefinedError
from ragrelay.base.io.hashing import text_hash

TOP, TAIL = 0.1, 0.2
"""Shares of the first results: the top ends at the first share, and the tail begins at the second."""
NOISE, DRAWS, PERSISTENCE = 0.1, 20, 0.9
"""For perturbed queries: noise length relative to the query vector, number of draws, and p of rank-biased overlap."""


def query_vector(query: Query) -> Array:
    """Return the query's dense vector. Raises UndefinedError if the study has no dense retriever."""
    if query.vector is None:
        raise UndefinedError("no dense retriever in the study")
    return np.asarray(query.vector, dtype=np.float64)


def vectors(query: Query, depth: int) -> Array:
    """Return the dense vectors (results, dimensions) of the first ``depth`` results.

    Raises UndefinedError if the study has no dense retriever, or if nothing was retrieved.
    """
    query_vector(query)
    if not query.docnos:
        raise UndefinedError("nothing retrieved")
    return np.array([query.vectors[docno] for docno in query.docnos[:depth]], dtype=np.float64)


def cosines(rows: Array) -> Array:
    """Return the (n, n) matrix of cosines between all pairs of rows."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


def top_over_tail(matrix: Array) -> float:
    """Divide the mean of ``matrix`` (n, n) over pairs of top results by the mean over pairs of results in the tail."""
    n = len(matrix)
    top, tail = math.ceil(TOP * n), int(TAIL * n)
    mean = float(matrix[tail:, tail:].mean())
    if mean == 0.0:
        raise UndefinedError("the tail's mean is 0")
    return float(matrix[:top, :top].mean()) / mean


class ARatio(Predictor):
    """Mean cosine among the top 10% of the first `vector_depth` results, divided by the mean cosine in the bottom 80%.

    Vlachou and Macdonald 2024.
    """

    name, stage = "a_ratio", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        return top_over_tail(cosines(vectors(subject.query, subject.query.settings.vector_depth)))


class APairRatio(Predictor):
    """`a_ratio` of the matrix C · s sᵀ, where C contains the cosines between results, and s the results' scores.

    Vlachou and Macdonald 2024, with the matrix product from Tian et al.'s code (2026).
    """

    name, stage = "a_pair_ratio", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        rows = vectors(subject.query, subject.query.settings.vector_depth)
        scores = subject.query.scores[: len(rows)]
        return top_over_tail(cosines(rows) @ np.outer(scores, scores))


def reciprocal_volume(rows: Array) -> float:
    """Return −Σ ln(max − min) over dimensions: the negative log volume of the box around ``rows`` (n, dimensions)."""
    spans = rows.max(axis=0) - rows.min(axis=0)
    if not spans.all():
        raise UndefinedError("all vectors agree in a dimension")
    return float(-np.log(spans).sum())


class DenseQpp(Predictor):
    """−Σ ln(max − min) over vector dimensions, where max and min are taken over the query and the first k results.

    Reciprocal Volume (Faggioli et al., SIGIR 2023) is 1 / Σ ln(max − min), which ranks queries in the same order if
    this sum is negative. Computed as in Tian et al.'s code (2026), where the predictor is called Dense-QPP.
    """

    name, stage, of_k, of_context = "dense_qpp", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        return reciprocal_volume(np.vstack([vectors(subject.query, subject.k), query_vector(subject.query)]))


class DiscountedMatryoshka(Predictor):
    """Σ dᵢ / log₂(i + 1) over i = 1 … k, where dᵢ is `dense_qpp` with the first i results.

    Based on Discounted Matryoshka (Faggioli et al., SIGIR 2023), a sum over nested boxes around the query and the first
    i results. We assume log volumes, as in `dense_qpp`, and nDCG's discount.
    """

    name, stage, of_k, of_context = "discounted_matryoshka", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        rows = np.vstack([query_vector(subject.query), vectors(subject.query, subject.k)])
        return sum(reciprocal_volume(rows[: i + 1]) / math.log2(i + 1) for i in range(1, len(rows)))


def rank_biased_overlap(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """Return the rank-biased overlap of two orders of n items, scaled to at most 1 (Webber, Moffat and Zobel 2010)."""
    depths = range(1, len(one) + 1)
    weights = [PERSISTENCE ** (depth - 1) for depth in depths]
    shared = [len(np.intersect1d(one[:depth], other[:depth])) / depth for depth in depths]
    return float(np.dot(weights, shared) / np.sum(weights))


class DensePerturbation(Predictor):
    """Mean rank-biased overlap (p = 0.9) of two rankings of the first `vector_depth` results: one uses the query's
    vector, the other a noisy copy of it (20 draws of Gaussian noise, a tenth as long as the vector).

    After Dense-QPP (Arabzadeh et al., CIKM 2023), which repeats the search with the noisy query and uses equal weights.
    """

    name, stage = "dense_perturbation", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        asked = query_vector(subject.query)
        rows = vectors(subject.query, subject.query.settings.vector_depth)
        draws = np.random.default_rng(int(text_hash(subject.query.qid)[:16], 16))
        size = NOISE * np.linalg.norm(asked) / math.sqrt(len(asked))
        own = np.argsort(-(rows @ asked), kind="stable")
        noisy = asked + size * draws.standard_normal((DRAWS, len(asked)))
        return float(np.mean([rank_biased_overlap(own, np.argsort(-(rows @ moved), kind="stable")) for moved in noisy]))


class PairwiseCosine(Predictor):
    """Mean cosine over all pairs of passages in the context.

    A simple measure of similarity between the passages.
    """

    name, stage, of_k, of_context = "pairwise_cosine", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        rows = vectors(subject.query, subject.k)
        if len(rows) < 2:
            raise UndefinedError("fewer than two passages")
        return float(cosines(rows)[np.triu_indices(len(rows), 1)].mean())
