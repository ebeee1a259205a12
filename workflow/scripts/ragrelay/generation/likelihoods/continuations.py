"""Name the continuations of a prompt, and score texts without a chat template."""

from collections.abc import Sequence

import polars as pl

from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry


def continuation_id(token_ids: Sequence[int]) -> str:
    """Return a continuation's name: 32 hex digits of a hash of its token ids."""
    return value_hash(list(token_ids), digits=32)


def with_continuation(asked: pl.DataFrame) -> pl.DataFrame:
    """Add the key column ``continuation`` to ``asked``, made of its lists ``token_ids``, unless it has one."""
    if "continuation" in asked.columns:
        return asked
    names = [continuation_id(ids) for ids in asked["token_ids"].to_list()]
    return asked.with_columns(pl.Series("continuation", names, dtype=pl.String))


def without_chat(generator: GeneratorEntry) -> GeneratorEntry:
    """Return the generator's definition without its chat template, to score texts unchanged."""
    return {key: value for key, value in generator.items() if key != "date" and not key.startswith("chat")}  # type: ignore[return-value]
