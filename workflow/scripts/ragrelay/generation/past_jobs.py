"""Estimate answer length, speed and disk space from earlier jobs with the same fingerprint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.store import AnswerStore

# How many of the latest parts are timed. Each is about a minute of work.
TIMED_PARTS = 60
# Used if no answer is cached: Parquet's bytes per answer and per token (about 4 characters and two scores of 4 bytes,
# halved by zstd).
BYTES_PER_ANSWER, BYTES_PER_TOKEN = 60, 6
# How many prompt tokens take as long as one answer token, if parts are too similar to measure it. Computed from
# TensorRT-LLM's published 3,538 answer tokens/s with 2,048 tokens in and 128 out, and 17,744 with 1,000 and 1,000
# (Llama 3.1 8B, FP8, one H200).
PROMPT_TOKENS_PER_ANSWER_TOKEN = 2.7
# Weight of this ratio relative to the measured parts: almost nothing.
PRIOR_WEIGHT = 1e-3
PRICED = ["prompt_tokens", "cached_tokens", "answer_tokens"]


@dataclass(frozen=True)
class Speed:
    """An engine's time in seconds per answer token, and per prompt token that isn't in the prefix cache."""

    prompt: float
    answer: float

    def seconds(self, prompt_tokens: float, answer_tokens: float) -> float:
        """Return the time in seconds for these tokens, assuming that none of them come from the prefix cache."""
        return self.prompt * prompt_tokens + self.answer * answer_tokens

    def of(self, engines: int) -> "Speed":
        """Return the combined speed of several ``engines`` that run side by side at this speed."""
        return Speed(self.prompt / engines, self.answer / engines)


@dataclass(frozen=True)
class Pace:
    """Estimates of a generator's answer length, speed and disk space, with the source of each estimate."""

    answer_tokens: float
    """Mean tokens per answer."""
    answer_tokens_from: str
    tokens_per_second: float | None
    """A job's answer tokens per second, including the time for the prompts."""
    tokens_per_second_from: str
    bytes_per_answer: float
    device: str | None
    """The device that generated the latest answers."""
    prompts_counted: bool = True
    """Whether a tokenizer counts the prompts' tokens; otherwise they are estimated from characters."""
    speed: Speed | None = None
    """The engine's seconds per token; None if unknown."""
    start_seconds: float = 0.0
    """Seconds that an engine takes to start; 0 if no part records a start-up time."""
    engines: int = 1
    """Number of engines side by side in a job."""


def pace_of(store: AnswerStore, generator: GeneratorEntry) -> Pace:
    """Estimate answer length, speed and disk space from the answers in ``store`` and the generator's definition."""
    parts = store.parts()
    mean, count = None, 0
    if parts:
        lengths = store.scan(parts, ["answer_tokens"]).select(mean=pl.col("answer_tokens").mean(), count=pl.len())
        mean, count = lengths.collect(engine="streaming").row(0)
    if mean is None:
        tokens = float(generator["max_tokens"] + GENERATOR_KINDS[generator["engine"]].thought_budget(generator))
        basis = f"max_tokens{' and thinking.budget' if tokens > generator['max_tokens'] else ''}, an upper bound"
        size = BYTES_PER_ANSWER + BYTES_PER_TOKEN * tokens
    else:
        tokens, basis = mean, f"mean of {count:,} cached answers"
        size = sum(part.stat().st_size for part in parts) / count
    timed = Timed.latest(store, parts)
    priced = _priced(store, timed)
    rate, fit, engines = _rate(priced), fitted(priced), generator.get("engines_per_job", 1)
    measured, speed = rate and rate * engines, fit and fit.of(engines)
    speed_from = f"earlier jobs on {timed.device}" if speed else "no earlier job, no key tokens_per_second"
    if "tokens_per_second" in generator:
        measured, speed_from = generator["tokens_per_second"] * engines, "the configuration"
        speed = Speed(prompt=0.0, answer=1 / measured)
    counted = GENERATOR_KINDS[generator["engine"]].in_job or "tokenizer" in generator
    return Pace(tokens, basis, measured, speed_from, size, timed.device, counted, speed, timed.start_seconds, engines)


def speed_of(store: AnswerStore) -> Speed | None:
    """Measure the engine's speed on the latest parts of ``store``; return None if no part records its time."""
    return fitted(_priced(store, Timed.latest(store, store.parts(latest=TIMED_PARTS))))


def prompt_speed(store: PartStore) -> Speed | None:
    """Measure the seconds per prompt token (cached or not) on the latest parts of a likelihood store."""
    timed = Timed.latest(store, store.parts(latest=TIMED_PARTS))
    tokens = sum(int(data.get("prompt_tokens", 0)) for data in timed.parts.values())
    return Speed(sum(timed.seconds().values()) / tokens, 0.0) if tokens else None


@dataclass(frozen=True)
class Timed:
    """Metadata of a store's latest parts, keyed by path. All parts were computed on the same device."""

    device: str | None
    parts: Mapping[str, Mapping[str, str]]

    @classmethod
    def latest(cls, store: PartStore, parts: Sequence[Path]) -> "Timed":
        """Read the metadata of the last TIMED_PARTS of ``parts``; omit untimed parts and parts from other devices."""
        described = {str(part): store.metadata(part) for part in parts[-TIMED_PARTS:]}
        device = next((metadata.get("device") for metadata in reversed(described.values())), None)
        kept = {
            part: metadata
            for part, metadata in described.items()
            if metadata.get("device") == device and float(metadata.get("seconds", 0)) > 0
        }
        return cls(device, kept)

    def seconds(self) -> dict[str, float]:
        """Return how many seconds a single engine would have taken for each part, keyed by path."""
        return {part: float(data["seconds"]) * int(data.get("engines", 1)) for part, data in self.parts.items()}

    @property
    def start_seconds(self) -> float:
        """The median start-up time of an engine in seconds; 0 if no part records a start-up time."""
        starts = [float(data["start_seconds"]) for data in self.parts.values() if "start_seconds" in data]
        # A job that fills two stores starts its engine only once.
        taken = [seconds for seconds in starts if seconds > 0]
        return float(np.median(taken)) if taken else 0.0


def fitted(parts: pl.DataFrame) -> Speed | None:
    """Fit the seconds per prompt token and per answer token to ``parts`` by non-negative least squares.

    ``parts``: columns PRICED and seconds; if there are no rows, the result is None. If the parts don't determine both
    values, an answer token is assumed to take as long as PROMPT_TOKENS_PER_ANSWER_TOKEN prompt tokens.
    """
    if parts.is_empty() or not parts["seconds"].sum():
        return None
    tokens = parts.select(prompt=pl.col("prompt_tokens") - pl.col("cached_tokens"), answer="answer_tokens").to_numpy()
    ratio, weight = PROMPT_TOKENS_PER_ANSWER_TOKEN, PRIOR_WEIGHT * np.sqrt((tokens**2).sum())
    rows = np.vstack([tokens, [-ratio * weight, weight]])
    seconds = np.append(parts["seconds"].to_numpy(), 0.0)
    both = np.linalg.lstsq(rows, seconds, rcond=None)[0]
    if both.min() >= 0:
        return Speed(*map(float, both))
    alone = [max(0.0, float(column @ seconds / (column @ column))) for column in rows.T if column.any()]
    errors = [np.sum((rows[:, place] * value - seconds) ** 2) for place, value in enumerate(alone)]
    best = int(np.argmin(errors))
    return Speed(*(value if place == best else 0.0 for place, value in enumerate(alone)))


def _priced(store: AnswerStore, timed: Timed) -> pl.DataFrame:
    """Return the sums of PRICED, and the seconds, for each part of ``timed`` whose tokens are all known."""
    seconds = timed.seconds()
    if not seconds:
        return pl.DataFrame(schema={**dict.fromkeys(PRICED, pl.Int64), "seconds": pl.Float64})
    counted = pl.all_horizontal(pl.col(PRICED).is_not_null().all())
    parts = store.scan(list(seconds), PRICED).group_by("part").agg(pl.col(PRICED).sum(), counted=counted)
    sums = parts.filter("counted").drop("counted").collect()
    return sums.with_columns(seconds=pl.col("part").replace_strict(seconds, return_dtype=pl.Float64)).drop("part")


def _rate(parts: pl.DataFrame) -> float | None:
    """Return the answer tokens per second over all ``parts``."""
    seconds = parts["seconds"].sum()
    return float(parts["answer_tokens"].sum()) / float(seconds) or None if seconds else None
