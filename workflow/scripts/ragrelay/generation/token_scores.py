"""Compute the log-probability and entropy of each token in an answer, and the margin at the first token."""

from collections.abc import Sequence

import numpy as np

CANDIDATES = 20
"""Number of likeliest tokens in an entropy (vLLM's default ``max_logprobs``, and the maximum in OpenAI's chat API)."""


def token_scores(sampled: Sequence[float] | None, candidates: np.ndarray | None) -> dict[str, object]:
    """Compute the answer store's columns token_logprobs, token_entropies and first_token_margin.

    ``sampled``: the log-probabilities of the answer's tokens. ``candidates`` (tokens × CANDIDATES): the
    log-probabilities of the likeliest tokens at each position. Values that the endpoint doesn't return are None.
    """
    return {
        "token_logprobs": None if sampled is None else list(sampled),
        "token_entropies": None if candidates is None else entropies(candidates).tolist(),
        "first_token_margin": None if candidates is None else first_margin(candidates),
    }


def entropies(candidates: np.ndarray) -> np.ndarray:
    """Return the entropy (nats) of each row of log-probabilities l: H = −Σ p_i ln p_i, p_i = exp l_i / Σ_j exp l_j.

    The candidates' probabilities are normalised, so H is between 0 and ln CANDIDATES (3.0). Values of −inf add 0.
    """
    logits = candidates.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logits)
    sums = weights.sum(axis=1)
    return np.log(sums) - (weights * np.where(weights > 0, logits, 0.0)).sum(axis=1) / sums


def first_margin(candidates: np.ndarray) -> float | None:
    """Return the log-probability difference (nats) between the two likeliest first tokens; None for an empty answer."""
    if not len(candidates):
        return None
    second, first = np.partition(candidates[0].astype(np.float64), -2)[-2:]
    return float(first - second)
