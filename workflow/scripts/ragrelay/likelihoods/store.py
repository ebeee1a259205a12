"""The likelihood store: all log-probabilities ever computed, by prompt and continuation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import DECODING, PENALTIES
from ragrelay.generation.store import AT_MOST
from ragrelay.io.parquet_parts import PartStore
from ragrelay.likelihoods.continuations import raw

SCHEMA = {"prompt_id": pl.String, "continuation": pl.String, "tokens": pl.Int64, "logprob": pl.Float64}
KEY = ["prompt_id", "continuation"]
# Sampling, and the treatment of prompts that are too long, have no effect on likelihoods.
INDIFFERENT = (*DECODING, *PENALTIES, "repetition_window", "over_window", "thinking")


class LikelihoodStore(PartStore):
    """The likelihoods of one fingerprint, in folder ``<cache_dir>/likelihoods/<fingerprint>``.

    Columns: prompt_id, continuation (see continuation_id), tokens (of the continuation that were scored), logprob (sum
    over them, nats, of the model without temperature, softmax over its whole vocabulary).
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "likelihoods" / fingerprint, SCHEMA, KEY, at_most=AT_MOST)

    def append(self, rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, str]) -> Path:
        """Write ``rows``, a mapping of the columns each, as one more part with ``metadata``; returns its path."""
        return self.add(pl.DataFrame(list(rows), schema=SCHEMA), metadata)

    def look_up(self, keys: pl.DataFrame) -> pl.DataFrame:
        """The stored rows of ``keys`` (prompt_id, continuation), each once, without order."""
        return self.read(self.held(keys))


def likelihood_fingerprint(generator: Mapping[str, Any], cache_dir: str | Path | None = None) -> str:
    """The fingerprint of a generator without its decoding, which has no effect on teacher-forced scores."""
    return fingerprint(decisive(generator), cache_dir=cache_dir)


def decisive(generator: Mapping[str, Any]) -> dict[str, Any]:
    """A generator's definition without the keys that have no effect on teacher-forced scores."""
    return {key: value for key, value in generator.items() if key not in INDIFFERENT}


def text_store(generator: Mapping[str, Any], cache_dir: str | Path) -> LikelihoodStore:
    """The store of likelihoods of texts that are scored without a chat template."""
    return LikelihoodStore(cache_dir, likelihood_fingerprint(raw(generator), cache_dir=cache_dir))
