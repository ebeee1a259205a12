"""What generating a study will ask of the engine, before any engine starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.generation.past_jobs import pace_of
from ragrelay.generation.prefixes import SCHEMA as LENGTHS
from ragrelay.generation.prefixes import block_tokens, prompt_lengths
from ragrelay.generation.requests import asked_keys, window_of
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.prompting.templates import Template
from ragrelay.prompting.truncation import Layout

NAMES = ["dataset", "generator", "retriever"]
TOTAL = "total"
ALONE = "(passages alone)"
"""In the place of a retriever: each passage alone before the generator, for labels; no cells of the grid."""


@dataclass(frozen=True)
class Unit:
    """What one row of the plan is about, and the files it is asked from.

    ``contexts`` is None for zero-shot answers and for passages alone.
    """

    dataset: str
    generator: str
    retriever: str
    prompts: Sequence[Path]
    queries: Path
    contexts: Path | None

    @classmethod
    def of(cls, names: Mapping[str, str], template: str, files: Mapping[str, KeyedFiles]) -> "Unit":
        """The unit ``names`` (NAMES), laid out by ``template``; ``files``: prompts, single, queries, contexts."""
        dataset, retriever = names["dataset"], names["retriever"]
        laid_out = files["single" if retriever == ALONE else "prompts"].matching(dataset=dataset, template=template)
        prompts = laid_out if retriever == ALONE else laid_out.matching(retriever=retriever)
        [queries] = files["queries"].matching(dataset=dataset).paths
        contexts = files["contexts"].matching(dataset=dataset, retriever=retriever).paths
        return cls(**names, prompts=prompts.paths, queries=queries, contexts=contexts[0] if contexts else None)


class Planner:
    """A generator with its store, tokenizer and pace, so that each is looked at once."""

    def __init__(
        self, generator: Mapping[str, Any], fingerprint: str, template: Template, cache_dir: str | Path, threads: int
    ) -> None:
        self.generator, self.fingerprint, self.template, self.threads = generator, fingerprint, template, threads
        self.store = AnswerStore(cache_dir, fingerprint)
        self.pace = pace_of(self.store, generator)

    def keys(self, unit: Unit, seeds: Sequence[int]) -> pl.DataFrame:
        """Every distinct key that ``unit`` asks for.

        Columns: fingerprint, prompt_id, seed, held, prompt_tokens and shared_tokens (null where held).
        """
        asked = asked_keys(unit.prompts, seeds, 0, 1)
        missing = asked.join(self.store.held(asked), on=KEY, how="anti", maintain_order="left")
        keys = asked.select(fingerprint=pl.lit(self.fingerprint), prompt_id="prompt_id", seed="seed")
        lengths = self._lengths(missing, unit).join(missing.select(KEY), on="prompt_id", maintain_order="right")
        first = pl.int_range(pl.len()).over("prompt_id") == 0
        shared = pl.when(first).then("shared_first").otherwise("shared_again")
        to_make = lengths.select(*KEY, "prompt_tokens", shared_tokens=shared)
        made = keys.join(to_make, on=KEY, how="left", maintain_order="left")
        return made.with_columns(held=pl.col("prompt_tokens").is_null())

    def _lengths(self, missing: pl.DataFrame, unit: Unit) -> pl.DataFrame:
        if missing.is_empty():
            return pl.DataFrame(schema=LENGTHS)
        block = block_tokens(self.generator, self.pace.device)
        layout = Layout(self.template, unit.queries, unit.contexts)
        return prompt_lengths(missing, self.generator, window_of(self.generator), layout, block, self.threads)


def plan_generation(units: Sequence[Unit], planners: Mapping[str, Planner], seeds: Sequence[int]) -> pl.DataFrame:
    """A row per unit and one in total (dataset `total`).

    Exact: cells (answer files), prompts (distinct), asked (distinct prompts and seeds), held (of them, in the store
    now), to_make, prompt_tokens (of those to make, as the engine gets them). A key that several units share counts in
    each of their rows and once in the total: whoever runs first makes it. Estimates: answer_tokens,
    prefix_shared_tokens (of the prompt tokens, served by the prefix cache), gpu_hours (null where no speed is known),
    disk_bytes (of new answers in the store, and of the answer files).
    Raises InputError where a prompt doesn't fit the window.
    """
    rows, asked, sizes = [], [], []
    for unit in units:
        planner = planners[unit.generator]
        keys = planner.keys(unit, seeds)
        lines = pl.scan_parquet(list(unit.prompts), glob=False).select(pl.len()).collect().item() * len(seeds)
        size = lines * planner.pace.bytes_per_answer
        cells = 0 if unit.retriever == ALONE else len(unit.prompts) * len(seeds)
        names = {"dataset": unit.dataset, "generator": unit.generator, "retriever": unit.retriever}
        rows.append({**names, "cells": cells, **_figures(keys, planners, size)})
        asked.append(keys)
        sizes.append(size)
    distinct = pl.concat(asked).unique(["fingerprint", *KEY], keep="first", maintain_order=True)
    total = dict.fromkeys(NAMES, "") | {"dataset": TOTAL, "cells": sum(row["cells"] for row in rows)}
    rows.append({**total, **_figures(distinct, planners, sum(sizes))})
    return pl.DataFrame(rows, schema_overrides={"gpu_hours": pl.Float64})


def _figures(keys: pl.DataFrame, planners: Mapping[str, Planner], files_size: float) -> dict[str, Any]:
    missing = keys.filter(~pl.col("held"))
    by_fingerprint = {planner.fingerprint: planner for planner in planners.values()}
    counts = [(by_fingerprint[name], count) for name, count in missing["fingerprint"].value_counts().iter_rows()]
    hours = [planner.pace.gpu_hours(count, planner.generator) for planner, count in counts]
    return {
        "prompts": keys.select("fingerprint", "prompt_id").n_unique(),
        "asked": len(keys),
        "held": len(keys) - len(missing),
        "to_make": len(missing),
        "prompt_tokens": missing["prompt_tokens"].sum(),
        "answer_tokens": round(sum(count * planner.pace.answer_tokens for planner, count in counts)),
        "prefix_shared_tokens": missing["shared_tokens"].sum(),
        "gpu_hours": None if None in hours else sum(hour for hour in hours if hour is not None),
        "disk_bytes": round(files_size + sum(count * planner.pace.bytes_per_answer for planner, count in counts)),
    }
