"""Plot how much P varies between seeds, against k."""

import altair as alt
import polars as pl

from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.sections import Section


def spread_by_k(section: Section, theme: Theme) -> Spec:
    """Plot the median and quartiles (over queries) of P's standard deviation over seeds against k.

    On the page, readers select the grade; a file shows the first grade.
    """
    grid, grade = section.grid, section.grades[0]
    cells = section.drawn("spread").filter(pl.col("n") > 0)
    choices = [Choice("references", "references", section.grades, grade)]
    if theme == "paper":
        choices, cells = [], cells.filter(references=grade)
    cells = cells.select(
        pl.col("ordering").alias("panel"), "retriever", "references", "k", charts.dodged(grid.retrievers, grid.k, "k"),
        pl.col("median").alias("value"), pl.col("q25").alias("low"), pl.col("q75").alias("high"), "n",
    )  # fmt: skip
    title = "SD of P over seeds" if theme == "page" else f"SD of P over seeds ({grade})"
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"),
               *(alt.Tooltip(f"{name}:Q", title=title, format=".3f") for name, title in (
                   ("value", "median SD over seeds"), ("low", "first quartile"), ("high", "third quartile"))),
               alt.Tooltip("n:Q", title="queries")]  # fmt: skip
    return charts.facetted(
        charts.interval_lines(charts.k_axis(grid.k), title, alt.Scale(zero=True), section.looks, tooltip),
        charts.rows(cells),
        charts.Panels(list(grid.drawn), min(2, len(grid.drawn))),
        f"Standard deviation of a query’s P over seeds, as median and quartiles over queries; {section.title}",
        theme,
        choices,
    )
