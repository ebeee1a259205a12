"""Plot how long answers are, and how answers end, against k."""

import altair as alt
import polars as pl

from ragrelay.report.display import charts
from ragrelay.report.display.charts import Spec, Theme
from ragrelay.report.display.sections import Section

ENDS = {"stop": "ended by itself", "length": "cut at max_tokens", "other": "other"}


def length_by_k(section: Section, theme: Theme) -> Spec:
    """Plot the median and quartiles of answer length (in tokens) against k, with a panel per ordering."""
    grid = section.grid
    cells = section.drawn("lengths").select(
        pl.col("ordering").alias("panel"), "retriever", "k", charts.dodged(grid.retrievers, grid.k, "k"),
        pl.col("median").alias("value"), pl.col("q25").alias("low"), pl.col("q75").alias("high"), "mean_tokens", "n",
    )  # fmt: skip
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"),
               *(alt.Tooltip(f"{name}:Q", title=title, format=".1f") for name, title in (
                   ("value", "median tokens"), ("low", "first quartile"), ("high", "third quartile"),
                   ("mean_tokens", "mean"))),
               alt.Tooltip("n:Q", title="answers")]  # fmt: skip
    return charts.facetted(
        charts.interval_lines(charts.k_axis(grid.k), "tokens per answer", alt.Scale(zero=True), section.looks, tooltip),
        charts.rows(cells),
        charts.Panels(list(grid.drawn), min(2, len(grid.drawn))),
        f"Answer length in tokens, as median and quartiles, against k; {section.title}",
        theme,
    )


def ends_by_k(section: Section, theme: Theme) -> Spec:
    """Draw how answers end, as a stacked bar of shares at each k, with a panel per retriever and ordering."""
    grid = section.grid
    cells = (
        section.drawn("lengths")
        .unpivot(list(ENDS), index=["retriever", "ordering", "k", "n"], variable_name="end", value_name="answers")
        .filter(pl.col("answers") > 0)
        .with_columns(
            charts.panel_column("retriever", "ordering"),
            (pl.col("answers") / pl.col("n")).alias("share"),
            pl.col("end").replace_strict(list(ENDS), list(range(len(ENDS))), return_dtype=pl.Int64).alias("order"),
            pl.col("end").replace_strict(ENDS),
        )
        .select("panel", "retriever", "k", "end", "order", "answers", "share")
    )
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:O"), alt.Tooltip("end:N", title="answers that"),
               alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("answers:Q")]  # fmt: skip
    y = alt.Y("share:Q", title="share of answers", axis=alt.Axis(format="%", grid=True), scale=alt.Scale(domain=[0, 1]))
    bars = charts.stacked_bars(y, "end", list(ENDS.values()), "answers", section.looks, tooltip, theme)
    return charts.facetted(
        [bars],
        charts.rows(cells),
        charts.Panels(
            [charts.panel_name(retriever, ordering) for ordering in grid.drawn for retriever in grid.retrievers],
            charts.columns_for(len(grid.retrievers)),
            width=210,
            height=150,
        ),
        f"How answers end, by retriever, ordering and k; {section.title}",
        theme,
    )
