"""Format the plan for the terminal and as CSV, with the difference in P that the study can detect."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis import systems, variance
from ragrelay.analysis.systems import ASSUMED_SD, PRIMARY, detectable_difference, queries_for_margin
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.base.display.printed_tables import printed
from ragrelay.base.io.json_values import read_json
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.plan import ANSWERS
from ragrelay.report.display.numbers import count, counted, number

NAMES = ["dataset", "generator", "retriever", "job"]
EXACT = ["cells", "prompts", "asked", "cached", "to_make", "requests", "prompt_tokens", "engine_starts"]
ESTIMATES = ["answer_tokens", "prefix_shared_tokens", "gpu_hours", "disk_bytes"]
BASES = {
    "generator": pl.String,
    "job": pl.String,
    "answer_tokens_from": pl.String,
    "tokens_per_second": pl.Float64,
    "tokens_per_second_from": pl.String,
}


AS_INDEPENDENT = " This assumes independent queries; yours come in clusters, so you need more."


def csv_table(plan: pl.DataFrame, planned: Mapping[str, GeneratorPlan]) -> pl.DataFrame:
    """Append `_estimate` to the names of estimated columns, and add columns that say what estimates are based on."""
    rows: list[tuple[object, ...]] = []
    for name, job in plan.select("generator", "job").unique(maintain_order=True).iter_rows():
        if name and job in ANSWERS:
            pace = planned[name].pace
            rows.append((name, job, pace.answer_tokens_from, pace.tokens_per_second, pace.tokens_per_second_from))
        elif name:
            price = planned[name].price("likelihoods")
            speed = 1 / price.speed.prompt if price.speed and price.speed.prompt else None
            rows.append((name, job, None, speed, price.basis))
    bases = pl.DataFrame(rows, schema=BASES, orient="row")
    labelled = plan.rename({name: f"{name}_estimate" for name in ESTIMATES})
    return labelled.join(bases, on=["generator", "job"], how="left", maintain_order="left")


def printed_table(plan: pl.DataFrame, planned: Mapping[str, GeneratorPlan]) -> str:
    """Return the text to print: the plan's table, with ~ before estimates, and notes on the basis of the estimates."""
    shown = plan.select(
        *NAMES,
        *(pl.col(name).alias(name.replace("_", " ")) for name in EXACT),
        *(pl.col(name).alias("~" + name.replace("_", " ")) for name in ESTIMATES[:2]),
        pl.format("{}", pl.col("gpu_hours").round(2)).fill_null("?").alias("~GPU-hours"),
        (pl.col("disk_bytes") / 1e6).round(1).alias("~disk MB"),
    )
    notes = [
        "Numbers with ~ are estimates, all others are exact. A key that several rows share counts once in the total."
    ]
    if to_come := plan.filter(dataset="total")["of_answers_to_come"].item():
        jobs = " and ".join(plan.filter(pl.col("of_answers_to_come") > 0, pl.col("job") != "")["job"].unique().sort())
        notes.append(
            f"{jobs}: {to_come:,} of the keys depend on answers still to be generated. They are estimated for answers "
            "of mean length with one sentence, and for the passages of a first search."
        )
    return "\n".join([printed(shown), *notes, *_rests_on(plan, planned)])


def _rests_on(plan: pl.DataFrame, planned: Mapping[str, GeneratorPlan]) -> Sequence[str]:
    notes = []
    for name, generator in planned.items():
        jobs = set(plan.filter(generator=name)["job"])
        pace = generator.pace
        if jobs & {*ANSWERS}:
            rate = pace.tokens_per_second
            speed = "speed unknown" if rate is None else f"~{rate:,.0f} answer tokens/s"
            notes.append(
                f"{name}: ~{pace.answer_tokens:,.1f} tokens per answer ({pace.answer_tokens_from}); "
                f"{speed} ({pace.tokens_per_second_from})."
                + ("" if pace.prompts_counted else " Prompt tokens are estimated, because no tokenizer is set.")
            )
        if jobs - {*ANSWERS}:
            price = generator.price("likelihoods")
            prompt = price.speed.prompt if price.speed else 0
            speed = f"~{1 / prompt:,.0f} prompt tokens/s" if prompt else "speed unknown"
            notes.append(f"{name}, scoring texts: {speed} ({price.basis}).")
    judged = plan.filter(pl.col("judged_answers") > 0, pl.col("to_make") > 0, pl.col("job") != "")
    for row in judged.iter_rows(named=True):
        answers = row["judged_answers"] * row["to_make"] / row["asked"]
        each, shared = (row[name] / answers for name in ("prompt_tokens", "prefix_shared_tokens"))
        notes.append(
            f"{row['generator']}, {row['job']}: ~{each:,.0f} prompt tokens per judged answer, ~{shared:,.0f} of them "
            "from the prefix cache."
        )
    return notes


def processing_note(key: Mapping[str, Any], receipt: Path) -> str:
    """Return a line with the number and duration of a context processor's calls before this plan."""
    took = read_json(receipt)
    return (
        f"{key['dataset']}, {key['retriever']}: of {counted(took['asked'], 'call')} to its processor, "
        f"{count(took['cached'])} were cached and {count(took['made'])} were made before this plan, in "
        f"{number(took['seconds'], 1)} s."
    )


def size_note(part: Mapping[str, Any]) -> str:
    """Return a line that says which difference the primary comparison can detect for one dataset and generator.

    ``part``: a mapping with dataset, generator, margin, clustered (whether queries form clusters), queries (the path of
    the query table), systems and variance (paths of analysis tables, which may not exist yet), and primary (see
    base.vocabulary.primary.Primary).
    """
    name, margin, primary = f"{part['dataset']}, {part['generator']}", part["margin"], part["primary"]
    n = pl.scan_parquet(part["queries"]).select(pl.len()).collect().item()
    sd, basis, seeds = ASSUMED_SD, "assumed", ""
    if Path(part["systems"]).is_file():
        rows = read_table(part["systems"], systems.COLUMNS).filter(role=PRIMARY).drop_nulls("sd_difference")
        for row in rows.iter_rows(named=True):
            n, sd, basis = row["n"], row["sd_difference"], "this study's answers"
    if Path(part["variance"]).is_file():
        where = {key: primary[key] for key in ("retriever", "ordering", "k", "references")}
        needed = read_table(part["variance"], variance.COLUMNS).filter(**where)["seeds_for_reliable"].drop_nulls()
        seeds = f"; a reliability of 0.9 would take {counted(needed[0], 'seed')}" if len(needed) else ""
    if n < QUERIES_AT_LEAST:
        return f"{name}: {count(n)} queries are too few to compare retrievers."
    equivalent = "" if margin is None else (
        f"; equivalence at a margin of {number(margin, 2)} would take ~{count(queries_for_margin(margin, sd))} queries"
    )  # fmt: skip
    return (
        f"{name}: with {count(n)} queries, 80% of studies would detect a difference of "
        f"~{number(detectable_difference(n, sd))} in mean P{equivalent} (standard deviation of a difference "
        f"{number(sd, 2)}: {basis}){seeds}.{AS_INDEPENDENT if part['clustered'] else ''}"
    )
