"""Score an answer's tokens: their log-probabilities and entropies, and the margin at the first token."""

from collections.abc import Sequence

import numpy as np

CANDIDATES = 20
"""Number of likeliest tokens in an entropy (vLLM's default ``max_logprobs``, and the maximum in OpenAI's chat API)."""


def token_scores(sampled: Sequence[float] | None, candidates: np.ndarray | None) -> dict[str, object]:
    """Return the store's columns token_logprobs, token_entropies and first_token_margin.

    ``sampled``: the log-probability of each of the answer's tokens; ``candidates`` (tokens × CANDIDATES): the
    log-probabilities of the likeliest tokens at each position. Either is None if an endpoint doesn't return it.
    """
    return {
        "token_logprobs": None if sampled is None else list(sampled),
        "token_entropies": None if candidates is None else entropies(candidates).tolist(),
        "first_token_margin": None if candidates is None else first_margin(candidates),
    }


def entropies(candidates: np.ndarray) -> np.ndarray:
    """Return the entropy in nats of each row of log-probabilities l: H = −Σ p_i ln p_i, p_i = exp l_i / Σ_j exp l_j.

    Candidates' probabilities are normalised, so H is from 0 to ln CANDIDATES (3.0). Values of −inf add nothing.
    """
    logits = candidates.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logits)
    sums = weights.sum(axis=1)
    return np.log(sums) - (weights * np.where(weights > 0, logits, 0.0)).sum(axis=1) / sums


def first_margin(candidates: np.ndarray) -> float | None:
    """Return ln p_1 − ln p_2 (nats) for the two likeliest candidates for the first token; None without tokens."""
    if not len(candidates):
        return None
    second, first = np.partition(candidates[0].astype(np.float64), -2)[-2:]
    return float(first - second)
