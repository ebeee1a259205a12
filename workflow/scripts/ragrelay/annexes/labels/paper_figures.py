"""Draw Figures 1 to 3 of Salemi and Zamani (SIGIR 2024), which show how labels correlate with answer quality."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from ragrelay.annexes.labels.page import COEFFICIENTS
from ragrelay.annexes.labels.sentences import QUANTITIES
from ragrelay.annexes.labels.study import AnnotationStudy
from ragrelay.annexes.labels.study_tables import TABLE_COLUMNS
from ragrelay.base.vocabulary.columns import integer
from ragrelay.base.vocabulary.names import PAPER_NAMES
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.palette import looks

COLUMN = ["dataset", "generator", "retriever", "references", "quantity", "coefficient"]
ROW = [*COLUMN, "source"]
CHOICES = ("references", "quantity", "coefficient")
BEST_COLUMNS = {
    **{name: column for name, column in TABLE_COLUMNS.items() if name not in ("best", "holds")},
    "chosen_at": integer("largest k, at which the measure was chosen as the source's best", "passages"),
}
"""Columns of the table ``annotation_best``."""


def best_measures(shown: AnnotationStudy) -> pl.DataFrame:
    """Select each source's best measure at the largest k, and return that measure's correlations for every k.

    Returns the columns in BEST_COLUMNS. The choice is made per dataset, generator, retriever, reference set, quantity
    and coefficient; the first measure wins ties. A source without a correlation at the largest k has no rows.
    """
    table = shown.table.filter(pl.col("value").is_not_null())
    at_most = table.filter(pl.col("k") == pl.col("k").max().over(COLUMN))
    best = at_most.sort("value", descending=True, maintain_order=True).unique(ROW, keep="first", maintain_order=True)
    chosen = best.select(*ROW, "measure", pl.col("k").alias("chosen_at"))
    return table.join(chosen, on=[*ROW, "measure"], maintain_order="left").select(*BEST_COLUMNS)


def best_by_k(shown: AnnotationStudy, theme: Theme) -> Spec:
    """Draw Salemi and Zamani's Figure 1, with a line per source and a panel per dataset, retriever and generator."""
    rows = best_measures(shown).with_columns(
        pl.concat_str("dataset", "retriever", "generator", separator=" · ").alias("panel"), line=pl.col("source")
    )
    return _against_k(rows, shown, theme, "source", shown.sources, "measures from labels")


def readers_by_k(shown: AnnotationStudy, theme: Theme) -> Spec:
    """Draw Salemi and Zamani's Figures 2 and 3 for eRAG's labels, with a line per generator and a panel per retriever.

    With a single generator, the page's figure is empty, because Figure 1 shows the same data.
    """
    rows = best_measures(shown).filter(kind="erag")
    generators = rows["generator"].unique(maintain_order=True).to_list()
    if theme == "page" and len(generators) < 2:
        rows = rows.clear()
    rows = rows.with_columns(
        pl.concat_str("dataset", "retriever", "source", separator=" · ").alias("panel"), line=pl.col("generator")
    )
    return _against_k(rows, shown, theme, "generator", generators, "measures from eRAG’s labels")


def _against_k(
    rows: pl.DataFrame, shown: AnnotationStudy, theme: Theme, line: str, lines: Sequence[str], what: str
) -> Spec:
    """Draw correlations against k. Page readers choose references, quantity and coefficient; a file shows P and tau."""
    chosen = {"references": shown.first["references"], "quantity": "p", "coefficient": "kendall"}
    words = COEFFICIENTS | QUANTITIES
    choices = []
    for key, value in chosen.items():
        if theme == "page":
            choices.append(Choice(key, key, rows[key].unique(maintain_order=True).to_list(), value, words))
        else:
            rows = rows.filter(pl.col(key) == value)
    ks = sorted(rows["k"].unique().to_list()) or [0]
    drawn = rows.with_columns(
        retriever=pl.col("line"), of=pl.col("measure").replace_strict(PAPER_NAMES, return_dtype=pl.String)
    ).with_columns(charts.dodged(lines, ks, "k"))
    kept = drawn.select("panel", "retriever", "of", "k", "x", "value", "low", "high", "n", *CHOICES)
    title = "correlation" if choices else f"{COEFFICIENTS['kendall']} with {QUANTITIES['p']}"
    tooltip = [
        alt.Tooltip("retriever:N", title=line), alt.Tooltip("of:N", title="measure"), alt.Tooltip("k:Q"),
        alt.Tooltip("value:Q", title=title, format=".3f"), alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("n:Q", title="queries"),
    ]  # fmt: skip
    panels = kept["panel"].unique(maintain_order=True).to_list()
    scale, look = alt.Scale(zero=False), looks(lines)
    return charts.facetted(
        [charts.zero_line(theme), *charts.interval_lines(charts.k_axis(ks), title, scale, look, tooltip, legend=line)],
        charts.rows(kept),
        charts.Panels(panels, min(len(panels), 3) or 1),
        f"Correlation over queries between {what} and the end-to-end answers, against k, one line per {line}; "
        f"{shown.scorer}",
        theme,
        choices,
    )
