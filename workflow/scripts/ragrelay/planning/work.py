"""What an engine job will be asked for: a row per distinct key, exact wherever the answers that it needs are there."""

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
"""Columns of what a job is asked for.

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
    """The jobs of a ``rule`` for one dataset (or set of claims), one generator and one retriever.

    ``retriever`` is empty where a job is for all of them. ``files``: the rule's inputs by name; ``shards``: the number
    of jobs; ``questions``: for judge_passages and check_passages, each source's prompts (the ``files`` of that name
    with the wildcards ``of``), its words, and what the answer begins with.
    ``judged``: for judge_answers, whose generator is the judge: the scorer's name and definition, its template's parts,
    grades and near_copy, the generator that ``answers_of`` are, the template of its ``prompts``, and under which name
    ``passages`` are in ``files``; for check_judge also the ``retrievers``. ``lists``: for write_nuggets: the template's
    parts, the limits, and how the ``passages`` of the files ``read_from`` (with the wildcards ``of``) are read.
    ``ks``: for score_contexts, the numbers of passages.
    """

    rule: str
    dataset: str
    generator: str
    retriever: str = ""
    shards: int = 1
    questions: Sequence[Mapping[str, Any]] = ()
    judged: Mapping[str, Any] = field(default_factory=dict)
    lists: Mapping[str, Any] = field(default_factory=dict)
    ks: Sequence[int] = ()
    files: Mapping[str, KeyedFiles] = field(default_factory=dict)

    def paths(self, name: str, **values: str) -> list[Path]:
        """The files called ``name`` whose wildcards have these ``values``."""
        return list(self.files[name].matching(**values).paths)

    def prompts(self, template: str, retriever: str) -> list[Path]:
        """The prompt files of a retriever of this dataset."""
        return self.paths("prompts", dataset=self.dataset, template=template, retriever=retriever)


def work(keys: pl.DataFrame, made: pl.DataFrame) -> pl.DataFrame:
    """WORK of ``keys`` (store, prompt_id, item, part, certain), where ``made`` has the figures of those not cached."""
    joined = keys.join(made, on=["prompt_id", "item"], how="left", maintain_order="left")
    cached = pl.col("requests").is_null()
    filled = [pl.col(name).cast(WORK[name]).fill_null(nothing) for name, nothing in NONE.items()]
    return joined.with_columns(cached.alias("cached"), *filled).select(*WORK)
