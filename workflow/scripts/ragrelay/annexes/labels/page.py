"""Build the page's tables and figure on how well each annotation source's labels correlate with answer quality."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from ragrelay.analysis.within import ALL
from ragrelay.annexes.labels.sentences import QUANTITIES
from ragrelay.annexes.labels.study import AnnotationStudy
from ragrelay.base.vocabulary.names import PAPER_NAMES
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.numbers import count, number, p_value, with_interval
from ragrelay.report.display.palette import Look, looks
from ragrelay.report.display.tables import (
    FROM_CACHE,
    REMARK,
    Column,
    Table,
    between,
    depth,
    name,
    numeric,
    table_of,
    textual,
)

BEST, HOLDS = "•", "★"
COEFFICIENTS = {"kendall": "Kendall’s τ", "spearman": "Spearman’s ρ", "pearson": "Pearson’s r"}
CHOOSERS = {"quantity": "correlated with"}
WORDS = COEFFICIENTS | QUANTITIES | PAPER_NAMES
MEASURE = Column("measure", False, True, text=lambda row: PAPER_NAMES[row["measure"]])
CHOICES = ("k", "references", "quantity", "coefficient")


def label_within_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """Build the table of within-query correlations between P and measures computed from labels."""
    return table_of(
        shown.tables["annotation_within"], name("dataset"), name("generator"), depth(),
        name("references", chosen=shown.first["references"]), name("source"), MEASURE, name("retrievers", chosen=ALL),
        between("r", "r", 2), numeric("p", "p_value", p_value), textual("verdict", "verdict"),
        numeric("queries", "n_queries", count), numeric("answers", "n", count), REMARK, most=most_rows,
    )  # fmt: skip


def choice_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """Build the table that compares P and utility between contexts chosen by labels and random contexts."""
    return table_of(
        shown.tables["annotation_choices"], name("dataset"), name("generator"), depth(),
        name("references", chosen=shown.first["references"]), name("source"), replace(MEASURE, title="chosen by"),
        name("retrievers", chosen=ALL), Column("quantity", False, True, text=lambda row: QUANTITIES[row["quantity"]]),
        numeric("chosen", "mean_chosen"), numeric("random", "mean_any"), between("chosen − random", "mean_difference"),
        textual("verdict", "verdict"), numeric("p", "p_value", p_value), numeric("p, Holm", "p_holm", p_value),
        numeric("queries", "n", count), numeric("tied", "n_tied", count), REMARK, most=most_rows,
    )  # fmt: skip


def annotation_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """Build Salemi and Zamani's Table 1, with a row per source and measure, and a column per dataset and retriever."""
    defined = pl.col("value").is_not_null().any().over("generator", *CHOICES, "source", "measure")
    table = shown.table.filter(defined)
    columns = shown.table.select("dataset", "retriever").unique(maintain_order=True).rows()
    cells = {
        tuple(row[name] for name in ("generator", *CHOICES, "source", "measure", "dataset", "retriever")): row
        for row in table.iter_rows(named=True)
    }
    keys = table.select("generator", *CHOICES, "source", "measure").unique(maintain_order=True).rows()
    rows = [
        [generator, str(k), references, QUANTITIES[quantity], COEFFICIENTS[coefficient], source, PAPER_NAMES[measure],
         *(_cell(cells.get((generator, k, references, quantity, coefficient, source, measure, *column)))
           for column in columns)]
        for generator, k, references, quantity, coefficient, source, measure in keys[:most_rows]
    ]  # fmt: skip
    first = shown.first
    heads = [
        Column("generator", filtered=True, chosen=shown.table["generator"][0]),
        Column("k", True, True, str(first["k"])),
        Column("references", filtered=True, chosen=first["references"]),
        Column("correlated with", filtered=True, chosen=QUANTITIES[first["quantity"]]),
        Column("coefficient", filtered=True, chosen=COEFFICIENTS["kendall"]), Column("source", filtered=True),
        Column("measure", filtered=True), *(Column(" · ".join(column), True) for column in columns),
    ]  # fmt: skip
    return Table(heads, rows, len(keys) - len(rows))


def label_cost_table(shown: AnnotationStudy) -> Table:
    """Build Salemi and Zamani's Table 2, which compares the cost of labels with the cost of end-to-end answers."""
    return table_of(
        shown.cost, textual("dataset", "dataset"), textual("generator", "generator"), textual("answers", "what"),
        replace(depth(), filtered=False), numeric("LLM calls", "calls", count),
        numeric("prompt tokens", "prompt_tokens", count), FROM_CACHE,
        numeric("answer tokens", "answer_tokens", count), numeric("device-seconds", "device_seconds", number, 1),
        numeric("peak memory, MiB", "peak_memory_mib", count),
        numeric("GPU memory, MiB", "gpu_memory_mib", count), textual("generated by", "made_by"),
    )  # fmt: skip


def correlation_by_depth(shown: AnnotationStudy, theme: Theme) -> Spec:
    """Draw Salemi and Zamani's Figure 1: correlation against the number of passages, with a line per source.

    There is one panel per dataset, retriever and generator, so generators can be compared as in Figures 2 and 3. On the
    page, readers can choose the measure, references, quantity and coefficient; image files show the first of each.
    """
    chosen: dict[str, Any] = {"measure": shown.table["measure"][0]} | {
        name: value for name, value in shown.first.items() if name != "k"
    }
    cells = shown.table.with_columns(
        pl.concat_str("dataset", "retriever", "generator", separator=" · ").alias("panel")
    ).filter(pl.col("value").is_not_null())
    choices = []
    for key, value in chosen.items():
        if theme == "page":
            options = cells[key].unique(maintain_order=True).to_list()
            choices.append(Choice(key, CHOOSERS.get(key, key), options, value, WORDS))
        else:
            cells = cells.filter(pl.col(key) == value)
    ks = sorted(cells["k"].unique().to_list()) or [0]
    kept = cells.select("panel", "source", pl.col("k").alias("x"), "value", "low", "high", "n", *chosen)
    title = (
        "correlation"
        if choices
        else f"{COEFFICIENTS['kendall']} between {PAPER_NAMES[chosen['measure']]} and {QUANTITIES[chosen['quantity']]}"
    )
    panels = kept["panel"].unique(maintain_order=True).to_list()
    return charts.facetted(
        [charts.zero_line(theme), *_lines(title, ks, looks(shown.sources))],
        charts.rows(kept),
        charts.Panels(panels, min(len(panels), 3) or 1),
        f"Correlation over queries between measures from labels and the end-to-end answers, against k; {shown.scorer}",
        theme,
        choices,
    )


def first_shown(shown: AnnotationStudy) -> str:
    """Describe the selection that the page shows when it is opened."""
    return f"k = {shown.first['k']}, {shown.first['references']} references, {COEFFICIENTS['kendall']}"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return number(None)
    mark = HOLDS if row["holds"] else BEST if row["best"] else ""
    return with_interval(row["value"], row["low"], row["high"], 2) + (f" {mark}" if mark else "")


def _lines(title: str, ks: Sequence[int], look: Mapping[str, Look]) -> list[alt.Chart]:
    y = alt.Y("value:Q", title=title, axis=alt.Axis(grid=True))
    colour = alt.Color("source:N", title="source", scale=charts.colours_of(look))
    shapes = alt.Scale(domain=list(look), range=[style.shape for style in look.values()])
    base = alt.Chart().encode(x=charts.k_axis(ks), color=colour)
    tooltip = [
        alt.Tooltip("source:N"), alt.Tooltip("x:Q", title="k"), alt.Tooltip("value:Q", title=title, format=".3f"),
        alt.Tooltip("low:Q", format=".3f"), alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("n:Q", title="queries"),
    ]  # fmt: skip
    return [
        base.mark_area(opacity=0.1, aria=False).encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=2, aria=False).encode(y=y),
        base.mark_point(size=60, filled=True, opacity=1).encode(
            y=y, shape=alt.Shape("source:N", title="source", scale=shapes), tooltip=tooltip
        ),
    ]
