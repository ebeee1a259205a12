"""The job that scores claims: one start of the engine for all templates and for the evidence itself."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.acu.asked import Asked
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.fingerprint import checked_start
from ragrelay.likelihoods.job import fill_likelihoods
from ragrelay.likelihoods.store import LikelihoodStore, decisive, likelihood_fingerprint


def raw(generator: Mapping[str, Any]) -> dict[str, Any]:
    """The generator without its chat: texts are scored as they stand, without a template's turns."""
    return {key: value for key, value in generator.items() if not key.startswith("chat")}


def score_claims(
    asked: Asked, generator: Mapping[str, Any], fingerprint: str, cache_dir: str | Path, threads: int
) -> dict[str, Any]:
    """Fill the store of likelihoods with what ``asked`` lacks there; returns the receipts of both parts and the tokens.

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


def text_store(generator: Mapping[str, Any], cache_dir: str | Path) -> LikelihoodStore:
    """The store of the likelihoods of texts without a prompt."""
    return LikelihoodStore(cache_dir, likelihood_fingerprint(raw(generator), cache_dir=cache_dir))


def one_engine(
    generator: Mapping[str, Any], fingerprint: str, cache_dir: str | Path, threads: int
) -> Callable[[Mapping[str, Any], int], VllmEngine]:
    """A function that starts the engine when it is called first, and gives the same one after that."""
    started: list[VllmEngine] = []

    def start(definition: Mapping[str, Any], window: int) -> VllmEngine:
        if not started:

            def load() -> VllmEngine:
                return VllmEngine(definition, window, threads)

            started.append(checked_start(decisive(generator), fingerprint, load, cache_dir))
        return started[0]

    return start
