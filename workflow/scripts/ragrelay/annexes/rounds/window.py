"""Check, before any answer is generated, that the passages of all rounds fit a generator's window."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.rounds.prompts import longest_prompts
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.requests import asked_keys, over_window, window_of
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template


def check_rounds(
    queries: pl.DataFrame,
    contexts: Sequence[pl.DataFrame],
    template: Template,
    generator: GeneratorEntry,
    passages: int,
) -> dict[str, object]:
    """Check that each query's ``passages`` longest passages fit the generator's window; raises InputError otherwise.
    Returns ``passages`` and the window. ``contexts`` has a table per retriever.
    """
    window = window_of(generator)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "longest.parquet"
        longest_prompts(queries, contexts, template, passages).write_parquet(path)
        keys = asked_keys({"": [path]}, [0])
        layout = Layout(template, path, {})
        refused = over_window(keys, {**generator, "over_window": "error"}, window, layout)
    if refused:
        place, found, expected = next(iter(refused.values())).parts
        raise InputError(
            "config key 'rounds'", f"k × rounds = {passages} passages, which may not fit: {place} has {found}",
            f"{expected}; use fewer rounds or a smaller k"
        )  # fmt: skip
    return {"passages": passages, "window": window}
