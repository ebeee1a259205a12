"""The page's main figure as an Altair chart, for notebooks: mean P of every retriever against k."""

from typing import Any

import altair as alt
import polars as pl

from ragrelay.display import charts
from ragrelay.display.palette import GREY
from ragrelay.display.sections import Section
from ragrelay.report.lead import figure_title, scope
from ragrelay.report.lead_figure import differences, means, zero_shot

ROWS = {
    "retriever": pl.String,
    "k": pl.Int64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}
FEWEST_TICKS = 4


def mean_quality(section: Section) -> Any:
    """Lines of mean P by retriever with Student's 95% intervals over queries, and the zero-shot answers' mean."""
    lines, baseline, grid = means(section), zero_shot(section), section.grid
    found = [{"retriever": name, **vars(mean)} for name, line in lines.items() for mean in line]
    rows = pl.DataFrame(found, schema=ROWS).with_columns(charts.dodged(grid.retrievers, grid.k, "k"))
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"), *(alt.Tooltip(f"{name}:Q", format=".3f")
               for name in ("value", "low", "high")), alt.Tooltip("n:Q", title="queries")]  # fmt: skip
    y = alt.Scale(zero=False)
    layers: list[Any] = charts.interval_lines(charts.k_axis(grid.k), "mean P", y, section.looks, tooltip)
    chart = alt.layer(*layers, data=alt.InlineData(values=charts.rows(rows)))
    if baseline:
        line = alt.Chart(alt.InlineData(values=[{"zero": baseline.value, "name": "zero-shot"}])).encode(y="zero:Q")
        chart += line.mark_rule(color=GREY, strokeDash=[4, 3])
        chart += line.mark_text(color=GREY, align="left", dx=4, dy=-7).encode(x=alt.value(0), text="name:N")
    title = alt.TitleParams(figure_title(section, differences(section)), subtitle=scope(section), anchor="start")
    return chart.properties(width=480, height=300, title=title)
