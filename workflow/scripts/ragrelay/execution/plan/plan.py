"""Count a study's requests to its engines before any engine starts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.annex import annexes
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.execution.plan.counted_requests import PlanAsker, PlannedJob
from ragrelay.execution.plan.generator_plan import GeneratorPlan, Price
from ragrelay.execution.plan.work import WORK, Job, work
from ragrelay.generation.requests import (
    LENGTHS,
    TRUNCATE,
    block_tokens,
    over_window,
    prompt_lengths,
    sharded_keys,
    window_of,
)
from ragrelay.generation.store import KEY
from ragrelay.prompting.layout import Layout
from ragrelay.questions.question import question_module

NAMES = ["dataset", "generator", "retriever", "job"]
TOTAL = "total"
ANSWERS = ("generate_answers", *(rule for annex in annexes() for rule in annex.generates))
"""The rules that generate answers."""
Prices = Mapping[str, Price]
"""Prices by store, with names as in WORK."""


def plan_jobs(
    jobs: Sequence[Job],
    planned: Mapping[str, GeneratorPlan],
    seeds: Sequence[int],
    missing: dict[str, int] | None = None,
) -> pl.DataFrame:
    """Return one row per job, followed by a total row, whose dataset is `total`.

    Exact columns: cells (answer files), judged_answers (answers that a judge rates), prompts (distinct), asked
    (distinct keys: an answer's prompt and seed, or a likelihood's prompt and continuation), cached (keys in the store),
    to_make (keys missing from the store), requests and prompt_tokens (sent to the engine), engine_starts. A key that
    several jobs share is counted in each job's row but only once in the total, because only the first job computes it.
    `of_answers_to_come` is the number of likelihoods for answers that haven't been generated yet. Estimated columns:
    answer_tokens, prefix_shared_tokens (prompt tokens served from the prefix cache), gpu_hours (null if no speed is
    known), disk_bytes (for new rows in the stores, and for answer files). Each job's number of missing keys is added to
    ``missing``, under the path of the job's count file. Raises InputError if a prompt exceeds the window.
    """
    rows, asked, sizes = [], [], []
    prices: dict[str, Price] = {}
    for number, job in enumerate(jobs):
        generator = planned[job.generator]
        keys, judged = question_work(job, planned, seeds) if job.question else (answer_work(job, planned, seeds), 0)
        keys = keys.with_columns(job=pl.lit(number))
        if missing is not None and job.counts:
            to_make = keys.group_by("part").agg((~pl.col("cached")).sum())
            missing |= {job.count_file(part): count for part, count in to_make.iter_rows()}
        prices |= {store: generator.price(store.partition("/")[0]) for store in keys["store"].unique()}
        lines, cells = _answer_files(job, generator, seeds)
        size = lines * generator.pace.bytes_per_answer
        names = dict(zip(NAMES, (job.dataset, job.generator, job.retriever, job.rule), strict=True))
        rows.append({**names, "cells": cells, "judged_answers": judged, **_figures(keys, prices, size)})
        asked.append(keys)
        sizes.append(size)
    distinct = pl.concat(asked).unique(["store", "prompt_id", "item"], keep="first", maintain_order=True)
    total = dict.fromkeys(NAMES, "") | {
        "dataset": TOTAL,
        **{n: sum(row[n] for row in rows) for n in ("cells", "judged_answers")},
    }
    rows.append({**total, **_figures(distinct, prices, sum(sizes))})
    return pl.DataFrame(rows, schema_overrides={"gpu_hours": pl.Float64})


def question_work(job: Job, planned: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> tuple[pl.DataFrame, int]:
    """Return the requests of a question's jobs (columns WORK), and the number of answers that a judge will rate."""
    question, works, judged = question_module(job.question), [pl.DataFrame(schema=WORK)], 0
    for number, parts in enumerate(job.parts):
        asker = PlanAsker(planned[job.generator], number)
        for part in parts:
            told = question.plan(PlannedJob(planned, seeds, **part), asker)
            judged += told[1].get("answers", 0) if told else 0
        works.append(asker.work)
    return pl.concat(works), judged


def _answer_files(job: Job, generator: GeneratorPlan, seeds: Sequence[int]) -> tuple[int, int]:
    """Return the number of rows in a job's answer files, and the number of files that are cells."""
    if job.question:
        return 0, 0
    prompts = [path for paths in prompt_files(job, generator).values() for path in paths]
    of_prompt = 1 if job.real else len(seeds)
    lines = sum(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item() for path in prompts) * of_prompt
    return lines, len(prompts) * len(seeds) if job.of_cells else 0


def _figures(keys: pl.DataFrame, prices: Prices, files_size: float) -> dict[str, Any]:
    missing = keys.filter(~pl.col("cached"))
    sums = missing.group_by("store").agg(
        pl.len().alias("made"),
        pl.col("prompt_tokens", "shared_tokens", "answer_tokens").sum(),
        pl.struct("job", "part").n_unique().alias("starts"),
    )
    # An engine that fills two stores starts once. Count the start for the first store, which takes longer.
    starts = missing.select("job", "part").n_unique()
    hours, size, counted = [], files_size, 0
    for row in sorted(sums.iter_rows(named=True), key=lambda row: (-prices[row["store"]].start_seconds, row["store"])):
        price = prices[row["store"]]
        own = min(row["starts"], starts - counted)
        counted += own
        hours.append(price.gpu_hours(row["prompt_tokens"] - row["shared_tokens"], row["answer_tokens"], own))
        size += row["made"] * price.bytes_each
    return {
        "prompts": keys.select("store", "prompt_id").n_unique(),
        "asked": len(keys),
        "cached": len(keys) - len(missing),
        "to_make": len(missing),
        "of_answers_to_come": len(missing.filter(~pl.col("certain"))),
        "requests": missing["requests"].sum(),
        "prompt_tokens": round(missing["prompt_tokens"].sum()),
        "engine_starts": starts,
        "answer_tokens": round(missing["answer_tokens"].sum()),
        "prefix_shared_tokens": round(missing["shared_tokens"].sum()),
        "gpu_hours": None if None in hours else sum(hour for hour in hours if hour is not None),
        "disk_bytes": round(size),
    }


def answer_work(job: Job, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """Return the requests (columns WORK) for all cells of a dataset and generator, or for answers from single passages.

    Raises InputError if a prompt exceeds the window, unless the job leaves such prompts out.
    """
    planned = generators[job.generator]
    [queries] = job.paths("queries", dataset=job.dataset)
    contexts = job.files["contexts"].matching(dataset=job.dataset).by("retriever")
    layout = Layout(planned.template, queries, contexts if job.of_cells else {})
    asked = sharded_keys(prompt_files(job, planned), seeds, job.shards)
    missing = asked.join(planned.store.held(asked), on=KEY, how="anti", maintain_order="left")
    if job.leaves_out and planned.generator["over_window"] == TRUNCATE and len(missing):
        refused = over_window(missing, planned.generator, window_of(planned.generator), layout)
        asked, missing = (keys.filter(~pl.col("prompt_id").is_in(list(refused))) for keys in (asked, missing))
    lengths = _lengths(missing, planned, layout).join(missing.select(KEY), on="prompt_id", maintain_order="right")
    first = pl.int_range(pl.len()).over("prompt_id") == 0
    made = lengths.select(
        "prompt_id",
        "prompt_tokens",
        item=pl.col("seed").cast(pl.String),
        requests=pl.lit(1, pl.Int64),
        shared_tokens=pl.when(first).then("shared_first").otherwise("shared_again"),
        answer_tokens=pl.lit(planned.pace.answer_tokens),
    )
    estimates = job.files[job.prompts].paths if job.real else ()
    keys = asked.select(
        "prompt_id",
        part="shard",
        item=pl.col("seed").cast(pl.String),
        store=pl.lit(f"answers/{planned.store.folder.name}"),
        certain=~pl.col("path").cast(pl.String).is_in([str(path) for path in estimates]),
    )
    return work(keys, made)


def prompt_files(job: Job, planned: GeneratorPlan) -> dict[str, list[Path]]:
    """Return the prompt files of a generation job, grouped by retriever, in request order (zero-shot first)."""
    of_job = job.files[job.prompts].matching(dataset=job.dataset, template=planned.generator["prompt"], **job.wildcards)
    by_retriever = of_job.grouped("retriever")
    zeroshot = {ZEROSHOT: by_retriever[ZEROSHOT]} if ZEROSHOT in by_retriever else {}
    if job.real:  # used once they are built
        real = {name: Path(job.real.replace("{retriever}", name)) for name in by_retriever}
        by_retriever |= {name: [path] for name, path in real.items() if path.is_file()}
    return {**zeroshot, **by_retriever}


def _lengths(missing: pl.DataFrame, planned: GeneratorPlan, layout: Layout) -> pl.DataFrame:
    if missing.is_empty():
        return pl.DataFrame(schema=LENGTHS)
    generator = planned.generator
    block = block_tokens(generator, planned.pace.device)
    return prompt_lengths(missing, generator, window_of(generator), layout, block, planned.threads)
