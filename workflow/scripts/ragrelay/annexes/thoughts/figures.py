"""Plot the length of a generator's thoughts, in tokens, against k."""

from pathlib import Path

import altair as alt
import polars as pl

from ragrelay.annexes.thoughts.outputs import OUTPUTS
from ragrelay.annexes.thoughts.study import CENSORED_SHARE, ThoughtStudy
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Spec, Theme
from ragrelay.report.display.outputs import Figure
from ragrelay.report.figure_files import draw_figures

TITLE = "tokens per thought"


def draw_thoughts(study: ThoughtStudy, folder: Path) -> None:
    """Draw the figure about thoughts, and save it in ``folder``."""
    draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], folder)


def thoughts_by_k(study: ThoughtStudy, theme: Theme) -> Spec:
    """Draw mean tokens per thought with intervals over queries: a line per retriever, and a panel per ordering.

    A dotted line shows the mean without a context, and a band around it shows the interval.
    """
    grid = study.grid
    known = (
        study["thoughts"]
        .drop_nulls("mean_tokens")
        .select("retriever", "ordering", "k", pl.col("mean_tokens").alias("value"), "low", "high",
                pl.col("n_queries").alias("n"), CENSORED_SHARE.alias("censored"))
    )  # fmt: skip
    cells = known.filter(pl.col("retriever").is_in(grid.retrievers), pl.col("ordering").is_in(grid.drawn))
    panels = [name for name in grid.drawn if name in set(cells["ordering"])]
    level = known.filter(retriever=ZEROSHOT).drop("ordering").join(pl.DataFrame({"ordering": panels}), how="cross")
    drawn = pl.concat(
        [cells.with_columns(charts.dodged(grid.retrievers, grid.k, "k")),
         level.with_columns(x=pl.lit(None, pl.Float64))], how="diagonal",
    ).rename({"ordering": "panel"})  # fmt: skip
    tooltip = [
        alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"), alt.Tooltip("value:Q", title=TITLE, format=".1f"),
        alt.Tooltip("low:Q", format=".1f"), alt.Tooltip("high:Q", format=".1f"), alt.Tooltip("n:Q", title="queries"),
        alt.Tooltip("censored:Q", title="cut or unfinished", format=".0%"),
    ]  # fmt: skip
    scale, ink = alt.Scale(zero=True), charts.INK[theme]
    lines = charts.interval_lines(charts.k_axis(grid.k), TITLE, scale, study.looks, tooltip)
    band = alt.Chart().mark_rect(opacity=0.08, color=ink, aria=False).encode(
        y=alt.Y("low:Q", title=TITLE, scale=scale), y2=alt.Y2("high:Q")
    )  # fmt: skip
    rule = alt.Chart().mark_rule(strokeDash=[2, 2], strokeWidth=1.5, color=ink).encode(
        y=alt.Y("value:Q", title=TITLE, scale=scale), tooltip=tooltip
    )  # fmt: skip
    without = f"datum.retriever === '{ZEROSHOT}'"
    return charts.facetted(
        [*(layer.transform_filter(without) for layer in (band, rule)),
         *(layer.transform_filter(f"!({without})") for layer in lines)],
        charts.rows(drawn),
        charts.Panels(panels, min(2, len(panels)) or 1),
        f"Mean tokens per thought against k for each retriever, with intervals over queries; {study.title}",
        theme,
    )  # fmt: skip
