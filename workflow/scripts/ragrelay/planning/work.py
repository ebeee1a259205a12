"""The requests of an engine job, one row per store key: exact where the answers they depend on exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.io.keyed_files import KeyedFiles

NONE = {"requests": 0, "prompt_tokens": 0.0, "shared_tokens": 0.0, "answer_tokens": 0.0}
WORK = {
    "store": pl.String,
    "prompt_id": pl.String,
    "item": pl.String,
    "part": pl.Int64,
    "cached": pl.Boolean,
    "certain": pl.Boolean,
    "requests": pl.Int64,
    "prompt_tokens": pl.Float64,
    "shared_tokens": pl.Float64,
    "answer_tokens": pl.Float64,
}
"""Columns of a job's requests.

- store: kind and fingerprint of the store
- prompt_id, item: the key there; the item is a seed or a continuation
- part: the shard, or another part of the job that starts an engine of its own
- cached: whether the store has it now; what follows is 0 then
- certain: whether it is known that this key will be asked for
- requests: to the engine; one asks for several continuations of a prompt
- prompt_tokens: that the engine gets
- shared_tokens: of these, an estimate of those that the prefix cache serves
- answer_tokens: an estimate
"""


@dataclass(frozen=True)
class Job:
    """A line of the plan: the jobs of a ``rule`` for one dataset (or set of claims), one generator and one retriever.

    ``retriever`` is empty where a job is for all of them. Of jobs that generate answers, ``shards`` is their number and
    ``files`` the plan's inputs by name. Of jobs of a ``question``, ``parts`` has the files, settings and wildcards of
    each.
    """

    rule: str
    dataset: str
    generator: str
    retriever: str = ""
    shards: int = 1
    files: Mapping[str, KeyedFiles] = field(default_factory=dict)
    question: str = ""
    parts: Sequence[Mapping[str, Any]] = ()

    def paths(self, name: str, **values: str) -> list[Path]:
        """Return the files called ``name`` whose wildcards have these ``values``."""
        return list(self.files[name].matching(**values).paths)

    def prompts(self, template: str, retriever: str) -> list[Path]:
        """Return the prompt files of a retriever."""
        return self.paths("prompts", dataset=self.dataset, template=template, retriever=retriever)


def work(keys: pl.DataFrame, made: pl.DataFrame) -> pl.DataFrame:
    """Return WORK for ``keys`` (store, prompt_id, item, part, certain); ``made`` has the figures of keys not cached."""
    joined = keys.join(made, on=["prompt_id", "item"], how="left", maintain_order="left")
    cached = pl.col("requests").is_null()
    filled = [pl.col(name).cast(WORK[name]).fill_null(nothing) for name, nothing in NONE.items()]
    return joined.with_columns(cached.alias("cached"), *filled).select(*WORK)
