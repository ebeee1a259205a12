"""What earlier jobs of a fingerprint show: how long answers are, how fast they were made, how much room they take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.store import AnswerStore

# Parts whose time is looked at, the latest: a minute of work each.
TIMED_PARTS = 60
# Where no answer is held: Parquet's bytes per answer and per token of it (some 4 characters and two scores of 4 bytes,
# of which zstd keeps half).
BYTES_PER_ANSWER, BYTES_PER_TOKEN = 60, 6


@dataclass(frozen=True)
class Pace:
    """Estimates per answer and per second, and where each comes from, in words."""

    answer_tokens: float
    """Tokens of an answer."""
    answer_tokens_from: str
    tokens_per_second: float | None
    """Answer tokens per second of one engine, the time of their prompts included."""
    tokens_per_second_from: str
    bytes_per_answer: float
    device: str | None
    """What the latest answers were made on."""
    prompts_counted: bool = True
    """Whether prompts' tokens are counted by a tokenizer, else they are estimated by their characters."""

    def gpu_hours(self, answers: int, generator: Mapping[str, Any]) -> float | None:
        """Hours of GPUs (of the whole machine on CPU) for so many answers, engine starts not counted."""
        if self.tokens_per_second is None:
            return None
        seconds = answers * self.answer_tokens / self.tokens_per_second
        return seconds / 3600 * generator["tensor_parallel_size"]


def pace_of(store: AnswerStore, generator: Mapping[str, Any]) -> Pace:
    """The pace of a generator's definition, from what ``store`` holds and its key ``tokens_per_second``."""
    parts = store.parts()
    mean, count = None, 0
    if parts:
        lengths = store.scan(parts, ["answer_tokens"]).select(mean=pl.col("answer_tokens").mean(), count=pl.len())
        mean, count = lengths.collect(engine="streaming").row(0)
    if mean is None:
        tokens, source = float(generator["max_tokens"]), "max_tokens, an upper bound"
        size = BYTES_PER_ANSWER + BYTES_PER_TOKEN * tokens
    else:
        tokens, source = mean, f"mean of {count:,} answers held"
        size = sum(part.stat().st_size for part in parts) / count
    measured, device = _measured(store, parts[-TIMED_PARTS:])
    if "tokens_per_second" in generator:
        measured, speed_from = generator["tokens_per_second"], "the configuration"
    else:
        speed_from = f"earlier jobs on {device}" if measured else "no earlier job, no key tokens_per_second"
    counted = GENERATOR_KINDS[generator["engine"]].in_job or "tokenizer" in generator
    return Pace(tokens, source, measured, speed_from, size, device, counted)


def _measured(store: AnswerStore, parts: list[Any]) -> tuple[float | None, str | None]:
    """Answer tokens per second over those of ``parts`` that were made on the device of the last, and that device."""
    described = {str(part): store.metadata(part) for part in parts}
    device = next((made.get("device") for made in reversed(described.values())), None)
    seconds = {part: float(made.get("seconds", 0)) for part, made in described.items() if made.get("device") == device}
    timed = [part for part, duration in seconds.items() if duration > 0]
    if not timed:
        return None, device
    tokens = store.scan(timed, ["answer_tokens"]).select(pl.col("answer_tokens").sum()).collect().item()
    return tokens / sum(seconds[part] for part in timed) or None, device
