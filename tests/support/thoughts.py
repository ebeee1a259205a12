"""Tell thoughts from answers in tables that tests write down, as the store's are."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from ragrelay.generation.store import SCHEMA, THOUGHT
from ragrelay.generation.thought_marks import without_thinking


def told(rows: Sequence[dict[str, Any]], marks: Sequence[str] | None) -> pl.DataFrame:
    """Stored ``rows`` (answer, finish_reason and maybe more) after without_thinking."""
    needed = ("answer", "finish_reason", "answer_tokens", *THOUGHT)
    return without_thinking(pl.DataFrame(list(rows), schema={name: SCHEMA[name] for name in needed}), marks)
