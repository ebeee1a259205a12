"""Compute ids for continuations, and remove the chat template from a generator's definition."""

from collections.abc import Sequence

import polars as pl

from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry


def continuation_id(token_ids: Sequence[int]) -> str:
    """Return a continuation's id, which is a hash of its token ids (32 hex digits)."""
    return value_hash(list(token_ids), digits=32)


def with_continuation(asked: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``continuation``, an id computed from ``token_ids``, if ``asked`` doesn't have the column yet."""
    if "continuation" in asked.columns:
        return asked
    names = [continuation_id(ids) for ids in asked["token_ids"].to_list()]
    return asked.with_columns(pl.Series("continuation", names, dtype=pl.String))


def without_chat(generator: GeneratorEntry) -> GeneratorEntry:
    """Return the generator's definition without the chat template, so that texts are scored unchanged."""
    return {key: value for key, value in generator.items() if key != "date" and not key.startswith("chat")}  # type: ignore[return-value]
