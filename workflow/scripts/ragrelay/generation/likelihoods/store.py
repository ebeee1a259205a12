"""Store computed log-probabilities by prompt and continuation, and measure how fast they were computed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import DECODING, PENALTIES
from ragrelay.generation.likelihoods.continuations import without_chat
from ragrelay.generation.past_jobs import TIMED_PARTS, Pace, Speed, Timed
from ragrelay.generation.store import AT_MOST

SCHEMA = {"prompt_id": pl.String, "continuation": pl.String, "tokens": pl.Int64, "logprob": pl.Float64}
KEY = ["prompt_id", "continuation"]
# Keys that don't affect likelihoods: sampling, and what to do with prompts that are too long.
INDIFFERENT = (*DECODING, *PENALTIES, "repetition_window", "over_window", "thinking")


class LikelihoodStore(PartStore):
    """The likelihoods stored under one fingerprint, in the folder ``<cache_dir>/likelihoods/<fingerprint>``.

    Columns: prompt_id, continuation (an id), tokens (number of scored tokens), logprob (the tokens' total
    log-probability in nats, computed without temperature over the complete vocabulary).
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "likelihoods" / fingerprint, SCHEMA, KEY, at_most=AT_MOST)

    def append(self, rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, str]) -> Path:
        """Write ``rows`` and ``metadata`` as a new part; return the part's path."""
        return self.add(pl.DataFrame(list(rows), schema=SCHEMA), metadata)

    def look_up(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Return the stored rows for ``keys`` (prompt_id, continuation), without duplicates, in no particular order."""
        return self.read(self.held(keys))


def likelihood_fingerprint(generator: GeneratorEntry, cache_dir: str | Path | None = None) -> str:
    """Return a generator's fingerprint without decoding keys, which don't affect teacher-forced scores."""
    return fingerprint(decisive(generator), cache_dir=cache_dir)


def decisive(generator: GeneratorEntry) -> GeneratorEntry:
    """Return a generator's definition without the keys that don't affect teacher-forced scores."""
    return {key: value for key, value in generator.items() if key not in INDIFFERENT}  # type: ignore[return-value]


def text_store(generator: GeneratorEntry, cache_dir: str | Path) -> LikelihoodStore:
    """Return the likelihood store for texts that are scored without a chat template."""
    return LikelihoodStore(cache_dir, likelihood_fingerprint(without_chat(generator), cache_dir=cache_dir))


def scoring_speed(store: LikelihoodStore, answers: Pace) -> tuple[Speed | None, str, float]:
    """Return the scoring speed, a description of its source, and an engine's start-up time in seconds.

    The speed is measured on the latest parts of ``store`` that record token counts. If there are none, the prompt speed
    in ``answers`` is used or, as a lower bound, the speed of answer tokens.
    """
    timed = Timed.latest(store, store.parts(latest=TIMED_PARTS))
    counted = {name: part for name, part in timed.parts.items() if "prompt_tokens" in part}
    start = timed.start_seconds or answers.start_seconds
    tokens = sum(int(part["prompt_tokens"]) - int(part["cached_tokens"]) for part in counted.values())
    if tokens:
        seconds = sum(timed.seconds()[name] for name in counted)
        return Speed(prompt=seconds / tokens, answer=0.0).of(answers.engines), f"earlier jobs on {timed.device}", start
    if answers.speed is None:
        return None, answers.tokens_per_second_from, start
    if answers.speed.prompt:
        return Speed(answers.speed.prompt, 0.0), "the prompts of answers", start
    return Speed(answers.speed.answer, 0.0), "the speed of answer tokens, an upper bound", start
