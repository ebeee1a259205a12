"""Scores of an answer's tokens: their log-probabilities and entropies, and the margin at the first token."""

from collections.abc import Sequence
from typing import Any

import numpy as np

CANDIDATES = 20
"""How many of the likeliest tokens an entropy is over (vLLM's ``max_logprobs``, and the most of OpenAI's chat)."""


def token_scores(sampled: Sequence[float] | None, candidates: np.ndarray | None) -> dict[str, Any]:
    """Return the store's columns token_logprobs, token_entropies and first_token_margin.

    ``sampled``: the log-probability of each token of the answer; ``candidates`` (tokens by CANDIDATES): those of the
    likeliest at its place. None for what an endpoint doesn't give.
    """
    return {
        "token_logprobs": None if sampled is None else list(sampled),
        "token_entropies": None if candidates is None else entropies(candidates).tolist(),
        "first_token_margin": None if candidates is None else first_margin(candidates),
    }


def entropies(candidates: np.ndarray) -> np.ndarray:
    """Entropy in nats of each row of log-probabilities l: H = −Σ p_i ln p_i with p_i = exp(l_i) / Σ_j exp(l_j).

    The candidates' probabilities are made to add up to 1, so that H is between 0 and ln CANDIDATES, 3.0. One of −inf
    counts nothing.
    """
    logits = candidates.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logits)
    sums = weights.sum(axis=1)
    return np.log(sums) - (weights * np.where(weights > 0, logits, 0.0)).sum(axis=1) / sums


def first_margin(candidates: np.ndarray) -> float | None:
    """ln p_1 − ln p_2 of the two likeliest candidates for the answer's first token, in nats, whichever was sampled.

    None where there is no token.
    """
    if not len(candidates):
        return None
    second, first = np.partition(candidates[0].astype(np.float64), -2)[-2:]
    return float(first - second)
