"""The plan as a table for the terminal and as CSV: what is exact, and what is labelled an estimate."""

from collections.abc import Mapping, Sequence

import polars as pl

from ragrelay.generation.past_jobs import Pace

EXACT = ["cells", "prompts", "asked", "held", "to_make", "prompt_tokens"]
ESTIMATES = ["answer_tokens", "prefix_shared_tokens", "gpu_hours", "disk_bytes"]


def csv_table(plan: pl.DataFrame, paces: Mapping[str, Pace]) -> pl.DataFrame:
    """``plan`` with estimates' columns named so, and per generator where its estimates come from."""
    sources = pl.DataFrame(
        [
            (name, pace.answer_tokens_from, pace.tokens_per_second, pace.tokens_per_second_from)
            for name, pace in paces.items()
        ],
        schema={
            "generator": pl.String,
            "answer_tokens_from": pl.String,
            "tokens_per_second": pl.Float64,
            "tokens_per_second_from": pl.String,
        },
        orient="row",
    )
    labelled = plan.rename({name: f"{name}_estimate" for name in ESTIMATES})
    return labelled.join(sources, on="generator", how="left", maintain_order="left")


def printed_table(plan: pl.DataFrame, paces: Mapping[str, Pace], uncounted: Sequence[str]) -> str:
    """Lines to print: the table, estimates marked ~, what the estimates stand on, and the rules left ``uncounted``."""
    shown = plan.select(
        "dataset",
        "generator",
        "retriever",
        *(pl.col(name).alias(name.replace("_", " ")) for name in EXACT),
        *(pl.col(name).alias("~" + name.replace("_", " ")) for name in ESTIMATES[:2]),
        pl.format("{}", pl.col("gpu_hours").round(2)).fill_null("?").alias("~GPU-hours"),
        (pl.col("disk_bytes") / 1e6).round(1).alias("~disk MB"),
    )
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=1000,
        thousands_separator=",",
        tbl_cell_numeric_alignment="RIGHT",
        fmt_str_lengths=80,
    ):
        table = str(shown)
    notes = ["Without ~: exact. With ~: an estimate. The total counts a key that several rows share once."]
    for name, pace in paces.items():
        speed = "speed unknown" if pace.tokens_per_second is None else f"~{pace.tokens_per_second:,.0f} answer tokens/s"
        notes.append(
            f"{name}: ~{pace.answer_tokens:,.1f} tokens per answer ({pace.answer_tokens_from}); "
            f"{speed} ({pace.tokens_per_second_from})."
            + ("" if pace.prompts_counted else " Prompt tokens: an estimate here, since no tokenizer is named.")
        )
    if uncounted:
        notes.append(
            f"Not counted: {', '.join(uncounted)}, whose jobs start an engine too. They make no answers: "
            "one pass over each prompt that is not held."
        )
    return "\n".join([table, *notes])
