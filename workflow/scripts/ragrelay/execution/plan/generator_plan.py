"""Provide the plan with a generator's stores, template, speed and cost."""

import functools
from dataclasses import dataclass
from pathlib import Path

from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.likelihoods.store import LikelihoodStore, likelihood_fingerprint, scoring_speed
from ragrelay.generation.past_jobs import Pace, Speed, pace_of
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.templates import Template

LIKELIHOOD_BYTES = 60
"""Bytes per likelihood in a store's Parquet files (two hashes and two numbers)."""


@dataclass(frozen=True)
class Price:
    """The cost of computing new rows for one store. ``basis`` says how ``speed`` (None if unknown) was determined."""

    speed: Speed | None
    basis: str
    start_seconds: float
    gpus: int
    bytes_each: float

    def gpu_hours(self, prompt_tokens: float, answer_tokens: float, starts: int) -> float | None:
        """Return the GPU-hours (machine-hours on CPU) needed for these numbers of tokens and engine ``starts``.

        The result is None if the speed is unknown, and 0 for an endpoint.
        """
        if not self.gpus:
            return 0.0
        if self.speed is None:
            return None
        seconds = self.speed.seconds(prompt_tokens, answer_tokens) + starts * self.start_seconds
        return seconds / 3600 * self.gpus


class GeneratorPlan:
    """A generator's stores, and the expected length and speed of the generator's answers. All values are cached."""

    def __init__(
        self, generator: GeneratorEntry, fingerprint: str, template: Template, cache_dir: str | Path, threads: int
    ) -> None:
        self.generator, self.template, self.cache_dir, self.threads = generator, template, cache_dir, threads
        self.store = AnswerStore(cache_dir, fingerprint)

    @functools.cached_property
    def pace(self) -> Pace:
        """The expected length and speed of this generator's answers, based on stored answers if there are any."""
        return pace_of(self.store, self.generator)

    @functools.cached_property
    def likelihoods(self) -> LikelihoodStore:
        """This generator's likelihood store."""
        fingerprint = likelihood_fingerprint(self.generator, cache_dir=self.cache_dir)
        return LikelihoodStore(self.cache_dir, fingerprint)

    def price(self, kind: str) -> Price:
        """Return the cost of requests whose results go into the store of a ``kind``: ``answers`` or ``likelihoods``."""
        pace, gpus = self.pace, GENERATOR_KINDS.of(self.generator).gpus()
        if pace.device == "cpu":
            gpus = min(gpus, 1)  # one machine, even if engines share it
        if kind == "answers":
            return Price(pace.speed, pace.tokens_per_second_from, pace.start_seconds, gpus, pace.bytes_per_answer)
        return Price(*scoring_speed(self.likelihoods, pace), gpus, LIKELIHOOD_BYTES)
