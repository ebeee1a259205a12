"""Draw a comparison's figures: the mean change by k, and each query's values before and after."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from ragrelay.annexes.compare.compared import Compared
from ragrelay.annexes.compare.paired import DECIDES
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme


def change_by_k(compared: Compared, theme: Theme) -> Spec:
    """Draw the mean difference between the studies at each k, with a line per retriever and a panel per ordering."""
    looks, references = compared.looks, list(compared.references)
    tests = compared.tests.filter(pl.col("references").is_in(references))
    ks = sorted(tests["k"].unique().to_list())
    orderings = tests["ordering"].unique(maintain_order=True).to_list()
    cells = tests.with_columns(pl.col("ordering").alias("panel"), charts.dodged(list(looks), ks, "k")).select(
        "panel", "retriever", "k", "x", "references", "quantity", pl.col("mean_difference").alias("value"), "low",
        "high", "n", "up", "down",
    )  # fmt: skip
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"), alt.Tooltip("value:Q", title="change", format="+.3f"),
               alt.Tooltip("low:Q", format="+.3f"), alt.Tooltip("high:Q", format="+.3f"),
               alt.Tooltip("n:Q", title="queries"), alt.Tooltip("up:Q"), alt.Tooltip("down:Q")]  # fmt: skip
    lines = charts.interval_lines(
        charts.k_axis(ks), "mean change (after − before)", alt.Scale(zero=True), looks, tooltip
    )
    return charts.facetted(
        [charts.zero_line(theme), *lines],
        charts.rows(cells),
        charts.Panels(orderings, min(2, len(orderings))),
        f"Mean change from before to after against k; {compared.pair.title}",
        theme,
        _choices(tests, references),
    )


def before_after(compared: Compared, theme: Theme, most: int) -> Spec:
    """Plot each query's value in the later study against its value in the earlier study, with a panel per retriever.

    A line marks equal values. If there are more than ``most`` points, only an evenly spaced sample of queries is drawn.
    """
    looks, references = compared.looks, list(compared.references)
    queries = compared.queries.filter(pl.col("references").is_in(references))
    sampled = queries.height > most
    if sampled:
        step = -(-queries.height // most)
        queries = queries.filter(pl.col("qid").is_in(queries["qid"].unique().sort().gather_every(step).implode()))
    ks = sorted(queries["k"].unique().to_list())
    orderings = queries["ordering"].unique(maintain_order=True).to_list()
    points = queries.filter(pl.col("difference").is_not_null()).select(
        pl.col("retriever").alias("panel"), "retriever", "ordering", "k", "references", "quantity", "qid", "query",
        "before", "after", "difference",
    )  # fmt: skip
    x, y = (alt.X("before:Q", scale=alt.Scale(zero=False), axis=alt.Axis(grid=True)),
            alt.Y("after:Q", scale=alt.Scale(zero=False), axis=alt.Axis(grid=True)))  # fmt: skip
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("qid:N", title="id"), alt.Tooltip("query:N"),
               *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("before", "after", "difference"))]  # fmt: skip
    marks = (
        alt.Chart()
        .mark_point(size=32, filled=True, opacity=0.7, aria=False)
        .encode(x=x, y=y, color=charts.colour_of(looks), shape=charts.shape_of(looks), tooltip=tooltip)
    )
    # The line's ends are computed from the rows that the reader has chosen.
    equal = (
        alt.Chart()
        .mark_line(strokeWidth=1, opacity=0.5, color=charts.INK[theme], strokeDash=[4, 3], aria=False)
        .transform_aggregate(low="min(smaller)", high="max(larger)", groupby=["panel"])
        .transform_fold(["low", "high"], as_=["end", "value"])
        .encode(x=alt.X("value:Q", title="before"), y=alt.Y("value:Q", title="after"))
    )
    points = points.with_columns(
        pl.min_horizontal("before", "after").alias("smaller"), pl.max_horizontal("before", "after").alias("larger")
    )
    order = [Choice("k", "k", ks, ks[-1]), Choice("ordering", "ordering", orderings, orderings[0])]
    return charts.facetted(
        [equal, marks],
        charts.rows(points, 4),
        charts.Panels(list(looks), charts.columns_for(len(looks)), width=230, height=220),
        f"Every query before and after; {compared.pair.title}",
        theme,
        [*_choices(queries, references), *order],
        sampled=sampled,
    )


def _choices(frame: pl.DataFrame, references: Sequence[str]) -> list[Choice]:
    quantities = sorted(
        frame["quantity"].unique().to_list(), key=lambda name: (name != DECIDES, name != "utility", name)
    )
    return [Choice("quantity", "quantity", quantities, quantities[0], {"p": "P"}),
            Choice("references", "references", list(references), references[0])]  # fmt: skip
