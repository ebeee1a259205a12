"""A generator in the plan: its stores, its template, and the cost of its work."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.past_jobs import Pace, Speed, pace_of
from ragrelay.generation.store import AnswerStore
from ragrelay.likelihoods.past_jobs import scoring_speed
from ragrelay.likelihoods.store import LikelihoodStore, likelihood_fingerprint
from ragrelay.prompting.templates import Template

LIKELIHOOD_BYTES = 60
"""Parquet's bytes of a likelihood in its store: two hashes and two numbers."""


@dataclass(frozen=True)
class Price:
    """The cost of work for one store; ``speed`` is None if unknown, ``source`` says where it comes from."""

    speed: Speed | None
    source: str
    start_seconds: float
    gpus: int
    bytes_each: float

    def gpu_hours(self, prompt_tokens: float, answer_tokens: float, starts: int) -> float | None:
        """Hours of GPUs (of the whole machine on CPU) for tokens, and for as many ``starts`` of an engine.

        None where the speed is not known; an endpoint takes none.
        """
        if not self.gpus:
            return 0.0
        if self.speed is None:
            return None
        seconds = self.speed.seconds(prompt_tokens, answer_tokens) + starts * self.start_seconds
        return seconds / 3600 * self.gpus


class GeneratorPlan:
    """A generator with its stores and pace, each read once."""

    def __init__(
        self, generator: Mapping[str, Any], fingerprint: str, template: Template, cache_dir: str | Path, threads: int
    ) -> None:
        self.generator, self.template, self.cache_dir, self.threads = generator, template, cache_dir, threads
        self.store = AnswerStore(cache_dir, fingerprint)

    @functools.cached_property
    def pace(self) -> Pace:
        """The expected length and speed of its answers, measured on the stored ones where there are any."""
        return pace_of(self.store, self.generator)

    @functools.cached_property
    def likelihoods(self) -> LikelihoodStore:
        """Its store of likelihoods."""
        fingerprint = likelihood_fingerprint(self.generator, cache_dir=self.cache_dir)
        return LikelihoodStore(self.cache_dir, fingerprint)

    def price(self, kind: str) -> Price:
        """Return what work for the store of ``answers`` or of ``likelihoods`` costs."""
        pace, gpus = self.pace, GENERATOR_KINDS.of(self.generator).gpus()
        if kind == "answers":
            return Price(pace.speed, pace.tokens_per_second_from, pace.start_seconds, gpus, pace.bytes_per_answer)
        return Price(*scoring_speed(self.likelihoods, pace), gpus, LIKELIHOOD_BYTES)
