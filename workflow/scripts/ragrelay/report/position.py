"""Plot utility against the position of a relevant passage in the prompt."""

import altair as alt
import polars as pl

from ragrelay.analysis.positions import ANY, NO_POSITION, ONE
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.sections import Section


def position_chart(section: Section, theme: Theme) -> Spec:
    """Plot each retriever's mean utility against the position of a relevant passage, with a panel per ordering.

    On the page, readers select k, the grade, and whether the context may contain other relevant passages. A file shows
    the largest k and the first grade, for contexts with any number of relevant passages.
    """
    grid = section.grid
    k, grade = max(grid.k), section.grades[0]
    cells = section.drawn("positions")
    choices = [Choice("k", "k", grid.k, k), Choice("references", "references", section.grades, grade),
               Choice("relevant", "relevant passages in the context", (ANY, ONE), ANY)]  # fmt: skip
    if theme == "paper":
        choices = []
        cells = cells.filter(k=k, references=grade, relevant=ANY)
    places = list(range(NO_POSITION, k + 1))
    shift = charts.dodged(grid.retrievers, places, "position")
    lined = pl.when(pl.col("position") == NO_POSITION).then(pl.lit("none")).otherwise(pl.lit("some")).alias("line")
    cells = cells.with_columns(shift, lined, pl.col("ordering").alias("panel"), pl.col("mean_utility").alias("value"))
    title = "mean utility" if theme == "page" else f"mean utility (k = {k}, {grade})"
    axis = alt.Axis(values=places, labelExpr=f"datum.value == {NO_POSITION} ? 'none' : datum.value", grid=False)
    x = alt.X("x:Q", title="position of a relevant passage in the prompt", axis=axis,
              scale=alt.Scale(domain=[-0.5, k + 0.5], nice=False))  # fmt: skip
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("position:Q"), alt.Tooltip("k:Q"),
               alt.Tooltip("value:Q", title="mean utility", format=".3f"), alt.Tooltip("low:Q", format=".3f"),
               alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("n:Q", title="queries")]  # fmt: skip
    columns = ["panel", "retriever", "position", "x", "line", "value", "low", "high", "n", "k"]
    return charts.facetted(
        [
            charts.zero_line(theme),
            *charts.interval_lines(x, title, alt.Scale(zero=False), section.looks, tooltip, line="line:N"),
        ],
        charts.rows(cells.select(*columns, *(choice.field for choice in choices if choice.field != "k"))),
        charts.Panels(list(grid.drawn), min(2, len(grid.drawn))),
        f"Mean utility by the position of a relevant passage in the prompt; {section.title}",
        theme,
        choices,
    )
