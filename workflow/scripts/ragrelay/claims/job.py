"""The job that scores claims: one start of the engine for all templates and for the evidence itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.claims.requests import Asked
from ragrelay.likelihoods.continuations import raw
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods
from ragrelay.likelihoods.store import LikelihoodStore, text_store


def score_claims(
    asked: Asked, generator: Mapping[str, Any], fingerprint: str, cache_dir: str | Path, threads: int
) -> dict[str, Any]:
    """Add to the store of likelihoods what is missing of ``asked``; returns the receipts of both parts and the tokens.

    ``fingerprint`` is the generator's for likelihoods; the model is checked against it before and after it is loaded.
    """
    start = one_engine(generator, fingerprint, cache_dir, threads)
    texts = raw(generator)
    stores = [LikelihoodStore(cache_dir, fingerprint), text_store(generator, cache_dir)]
    return {
        "generator": generator["model"],
        "words": asked.spelled(),
        "prompts": fill_likelihoods(asked.of_words, stores[0], generator, start),
        "evidence": fill_likelihoods(asked.of_evidence, stores[1], texts, start),
    }
