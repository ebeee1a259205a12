"""Describe an engine job's requests, one row per key in a store. Numbers are exact if the required answers exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.keyed_files import KeyedFiles

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
"""The columns that describe a job's requests.

- store: kind and fingerprint of the store
- prompt_id, item: the key in that store; the item is a seed or a continuation
- part: the shard, or another part of the work that starts its own engine
- cached: whether the store already has the key; if so, the numbers below are 0
- certain: whether the job will certainly request this key
- requests: number of requests to the engine; one request can serve several continuations of a prompt
- prompt_tokens: tokens sent to the engine
- shared_tokens: estimated prompt tokens that the prefix cache serves
- answer_tokens: estimated generated tokens
"""


@dataclass(frozen=True)
class Job:
    """A row of the plan: a rule's jobs for one dataset (or set of claims), generator and, optionally, retriever."""

    rule: str
    dataset: str
    generator: str
    retriever: str = ""
    """The retriever; empty if one job covers all retrievers."""
    shards: int = 1
    """Number of jobs in this line, if the jobs generate answers."""
    files: Mapping[str, KeyedFiles] = field(default_factory=dict)
    """The plan's input files by name, if the jobs generate answers."""
    prompts: str = "prompts"
    """The name, in ``files``, of the prompts that the jobs answer."""
    of_cells: bool = True
    """Whether the jobs' answers belong to the grid's cells, unlike answers from single passages, for example."""
    wildcards: Mapping[str, str] = field(default_factory=dict)
    """Additional wildcards in the paths of ``prompts``, with their values."""
    real: str = ""
    """If ``prompts`` are estimates, the path pattern of the real prompts, with the wildcard ``{retriever}``."""
    leaves_out: bool = False
    """Whether prompts that exceed the window are left out even if the generator truncates other prompts."""
    counts: Sequence[str] = ()
    """The files with the jobs' numbers of missing keys: one per part, or a path pattern with the wildcard `shard`."""
    question: str = ""
    parts: Sequence[Sequence[Mapping[str, Any]]] = ()
    """For each job that asks a ``question``, the files, settings and wildcards of its parts."""

    def paths(self, name: str, **values: str) -> list[Path]:
        """Return the paths in ``files[name]`` that have these wildcard ``values``."""
        return list(self.files[name].matching(**values).paths)

    def count_file(self, part: int) -> str:
        """Return the path of the file with the number of missing keys for job number ``part``."""
        return self.counts[min(part, len(self.counts) - 1)].replace("{shard}", str(part))


def work(keys: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    """Add the counts in ``missing`` to ``keys`` (store, prompt_id, item, part, certain), with 0 for stored keys."""
    joined = keys.join(missing, on=["prompt_id", "item"], how="left", maintain_order="left")
    cached = pl.col("requests").is_null()
    filled = [pl.col(name).cast(WORK[name]).fill_null(zero) for name, zero in NONE.items()]
    return joined.with_columns(cached.alias("cached"), *filled).select(*WORK)
