"""The page's part on annotation sources: whose labels follow the answers, in tables and a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from ragrelay.analysis.within import ALL
from ragrelay.annotations.sentences import QUANTITIES
from ragrelay.annotations.study import AnnotationStudy
from ragrelay.display import charts
from ragrelay.display.charts import Choice, Spec, Theme
from ragrelay.display.numbers import count, number, p_value, share, with_interval
from ragrelay.display.palette import Look, looks
from ragrelay.display.tables import Column, Table
from ragrelay.vocabulary.names import PAPER_NAMES

BEST, HOLDS = "•", "★"
COEFFICIENTS = {"kendall": "Kendall’s tau", "spearman": "Spearman’s rho", "pearson": "Pearson’s r"}
CHOOSERS = {"quantity": "correlated with"}
WORDS = COEFFICIENTS | QUANTITIES | PAPER_NAMES
CHOICES = ("k", "references", "quantity", "coefficient")


def within_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """Correlations within queries, a row per source, measure, k, references and group of retrievers."""
    table = shown.tables["annotation_within"]
    rows = [
        [row["dataset"], row["generator"], str(row["k"] or "all"), row["references"], row["source"],
         PAPER_NAMES[row["measure"]], row["retrievers"], with_interval(row["r"], row["low"], row["high"], 2),
         p_value(row["p_value"]), row["verdict"], count(row["n_queries"]), count(row["n"]), row["reason"] or ""]
        for row in table.head(most_rows or table.height).iter_rows(named=True)
    ]  # fmt: skip
    heads = [
        Column("dataset", filtered=True), Column("generator", filtered=True), Column("k", True, True),
        Column("references", filtered=True, chosen=shown.first["references"]), Column("source", filtered=True),
        Column("measure", filtered=True), Column("retrievers", filtered=True, chosen=ALL), Column("r", True),
        Column("p", True), Column("verdict"), Column("queries", True), Column("answers", True), Column("remark"),
    ]  # fmt: skip
    return Table(heads, rows, table.height - len(rows))


def choice_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """P and utility with the context that a source chooses, a row per source, measure, k, references and quantity."""
    table = shown.tables["annotation_choices"]
    rows = [
        [row["dataset"], row["generator"], str(row["k"]), row["references"], row["source"], PAPER_NAMES[row["measure"]],
         row["retrievers"], QUANTITIES[row["quantity"]], number(row["mean_chosen"]), number(row["mean_any"]),
         with_interval(row["mean_difference"], row["low"], row["high"]), row["verdict"] or "", p_value(row["p_value"]),
         p_value(row["p_holm"]), count(row["n"]), count(row["n_tied"]), row["reason"] or ""]
        for row in table.head(most_rows or table.height).iter_rows(named=True)
    ]  # fmt: skip
    heads = [
        Column("dataset", filtered=True), Column("generator", filtered=True), Column("k", True, True),
        Column("references", filtered=True, chosen=shown.first["references"]), Column("source", filtered=True),
        Column("by", filtered=True), Column("retrievers", filtered=True, chosen=ALL), Column("of", filtered=True),
        Column("chosen", True), Column("any", True), Column("chosen − any", True), Column("verdict"), Column("p", True),
        Column("p, Holm", True), Column("queries", True), Column("tied", True), Column("remark"),
    ]  # fmt: skip
    return Table(heads, rows, table.height - len(rows))


def annotation_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """The paper's Table 1: a row per source and measure, a column per dataset and retriever."""
    defined = pl.col("value").is_not_null().any().over("generator", *CHOICES, "source", "measure")
    table = shown.table.filter(defined)
    columns = shown.table.select("dataset", "retriever").unique(maintain_order=True).rows()
    found = {
        tuple(row[name] for name in ("generator", *CHOICES, "source", "measure", "dataset", "retriever")): row
        for row in table.iter_rows(named=True)
    }
    places = table.select("generator", *CHOICES, "source", "measure").unique(maintain_order=True).rows()
    rows = [
        [generator, str(k), references, QUANTITIES[quantity], COEFFICIENTS[coefficient], source, PAPER_NAMES[measure],
         *(_cell(found.get((generator, k, references, quantity, coefficient, source, measure, *column)))
           for column in columns)]
        for generator, k, references, quantity, coefficient, source, measure in places[:most_rows]
    ]  # fmt: skip
    first = shown.first
    heads = [
        Column("generator", filtered=True, chosen=shown.table["generator"][0]),
        Column("k", True, True, str(first["k"])),
        Column("references", filtered=True, chosen=first["references"]),
        Column("with", filtered=True, chosen=QUANTITIES[first["quantity"]]),
        Column("coefficient", filtered=True, chosen=COEFFICIENTS["kendall"]), Column("source", filtered=True),
        Column("measure", filtered=True), *(Column(" · ".join(column), True) for column in columns),
    ]  # fmt: skip
    return Table(heads, rows, len(places) - len(rows))


def label_cost_table(shown: AnnotationStudy) -> Table:
    """The paper's Table 2: the cost of the labels compared with end-to-end answers."""
    rows = [
        [row["dataset"], row["generator"], row["what"], "all" if row["k"] is None else str(row["k"]),
         count(row["calls"]), count(row["prompt_tokens"]),
         share(row["cached_tokens"] / row["prompt_tokens"] if row["prompt_tokens"] else None),
         count(row["answer_tokens"]), number(row["device_seconds"], 1), count(row["peak_memory_mib"]),
         "" if row["gpu_memory_mib"] is None else count(row["gpu_memory_mib"]), row["made_by"]]
        for row in shown.cost.iter_rows(named=True)
    ]  # fmt: skip
    heads = [Column("dataset"), Column("generator"), Column("answers"), Column("k", True), Column("LLM calls", True),
             Column("prompt tokens", True), Column("from the cache", True), Column("answer tokens", True),
             Column("device-seconds", True), Column("peak memory, MiB", True), Column("memory of the GPU, MiB", True),
             Column("made by")]  # fmt: skip
    return Table(heads, rows)


def correlation_by_depth(shown: AnnotationStudy, theme: Theme) -> Spec:
    """The paper's Figure 1: correlation against the passages in the context, a line per source.

    A panel per dataset, retriever and generator, so that generators are next to each other (their Figures 2 and 3).
    The page lets its reader choose the measure, references, quantity and coefficient; a file shows the first of each.
    """
    chosen: dict[str, Any] = {"measure": shown.table["measure"][0]} | {
        name: value for name, value in shown.first.items() if name != "k"
    }
    cells = shown.table.with_columns(
        pl.concat_str("dataset", "retriever", "generator", separator=" · ").alias("panel")
    ).filter(pl.col("value").is_not_null())
    choices = []
    for name, value in chosen.items():
        if theme == "page":
            options = cells[name].unique(maintain_order=True).to_list()
            choices.append(Choice(name, CHOOSERS.get(name, name), options, value, WORDS))
        else:
            cells = cells.filter(pl.col(name) == value)
    ks = sorted(cells["k"].unique().to_list()) or [0]
    kept = cells.select("panel", "source", pl.col("k").alias("x"), "value", "low", "high", "n", *chosen)
    title = (
        "correlation"
        if choices
        else f"{COEFFICIENTS['kendall']} of {PAPER_NAMES[chosen['measure']]} and {QUANTITIES[chosen['quantity']]}"
    )
    panels = kept["panel"].unique(maintain_order=True).to_list()
    return charts.facetted(
        [charts.zero_line(theme), *_lines(title, ks, looks(shown.sources))],
        charts.rows(kept),
        panels,
        min(len(panels), 3) or 1,
        f"Correlation over queries of measures from labels with the end-to-end answers, against k; {shown.scorer}",
        theme,
        choices,
    )


def first_shown(shown: AnnotationStudy) -> str:
    """What is shown first, in words."""
    return f"k = {shown.first['k']}, {shown.first['references']} references, {COEFFICIENTS['kendall']}"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return number(None)
    mark = HOLDS if row["holds"] else BEST if row["best"] else ""
    return with_interval(row["value"], row["low"], row["high"], 2) + (f" {mark}" if mark else "")


def _lines(title: str, ks: Sequence[int], look: Mapping[str, Look]) -> list[alt.Chart]:
    y = alt.Y("value:Q", title=title, axis=alt.Axis(grid=True))
    colour = alt.Color("source:N", title="source", scale=charts.colours_of(look))
    shapes = alt.Scale(domain=list(look), range=[one.shape for one in look.values()])
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
