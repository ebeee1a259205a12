"""Describe an engine job's requests, a row per store key. They are exact if the answers that they depend on exist."""

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
"""Columns of a job's requests.

- store: kind and fingerprint of the store
- prompt_id, item: the key there; the item is a seed or a continuation
- part: the shard, or another part of the job that starts its own engine
- cached: whether the store has the key now; if so, all following columns are 0
- certain: whether the job will certainly request this key
- requests: number of requests to the engine; one request can serve several continuations of a prompt
- prompt_tokens: tokens sent to the engine
- shared_tokens: estimate of the prompt tokens that the prefix cache serves
- answer_tokens: estimate of the generated tokens
"""


@dataclass(frozen=True)
class Job:
    """A line of the plan: the jobs of a ``rule`` for one dataset (or set of claims), generator and maybe retriever."""

    rule: str
    dataset: str
    generator: str
    retriever: str = ""
    """Empty if a job serves all retrievers."""
    shards: int = 1
    """The number of jobs, if they generate answers."""
    files: Mapping[str, KeyedFiles] = field(default_factory=dict)
    """The plan's inputs by name, if the jobs generate answers."""
    prompts: str = "prompts"
    """The prompts that they answer, among ``files``."""
    of_cells: bool = True
    """Whether their answers are cells of the grid, rather than others, such as those to single passages."""
    wildcards: Mapping[str, str] = field(default_factory=dict)
    """Further wildcards of these prompts."""
    real: str = ""
    """If ``prompts`` are estimates: the real prompts' path, by ``{retriever}``."""
    leaves_out: bool = False
    """Whether prompts over the window are left out if the generator truncates others."""
    counts: Sequence[str] = ()
    """Files of the jobs' counts of missing keys, by part, or one with the wildcard `shard`."""
    question: str = ""
    parts: Sequence[Sequence[Mapping[str, Any]]] = ()
    """Files, settings and wildcards of each part of a ``question``, by the job that asks."""

    def paths(self, name: str, **values: str) -> list[Path]:
        """Return the files called ``name`` whose wildcards have these ``values``."""
        return list(self.files[name].matching(**values).paths)

    def count_file(self, part: int) -> str:
        """Return the file with the number of missing keys for the job of ``part``."""
        return self.counts[min(part, len(self.counts) - 1)].replace("{shard}", str(part))


def work(keys: pl.DataFrame, missing: pl.DataFrame) -> pl.DataFrame:
    """Return WORK for ``keys`` (store, prompt_id, item, part, certain); ``missing``: the figures of keys not cached."""
    joined = keys.join(missing, on=["prompt_id", "item"], how="left", maintain_order="left")
    cached = pl.col("requests").is_null()
    filled = [pl.col(name).cast(WORK[name]).fill_null(zero) for name, zero in NONE.items()]
    return joined.with_columns(cached.alias("cached"), *filled).select(*WORK)
