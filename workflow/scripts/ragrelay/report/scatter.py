"""Plot each query's utility against a retrieval measure (the paper's Figure 4)."""

import math

import altair as alt
import polars as pl

from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.numbers import with_interval
from ragrelay.report.display.sections import Section

MOST_POINTS = 8_000
"""The maximum points in a file; the page has its own limit."""
CONTEXT = ["retriever", "ordering", "k", "references"]


def utilities(section: Section) -> pl.DataFrame:
    """Return every query's utility, with columns retriever, ordering, k, references, qid and utility.

    Without zero-shot answers, the column ``utility`` contains P.
    """
    return (
        section.drawn("per_query")
        .select(*CONTEXT, "qid", pl.col("utility" if section.baseline else "p").alias("utility"))
        .drop_nulls("utility")
    )


def queries_of(section: Section) -> pl.DataFrame:
    """Return the queries that have both a utility and a measure value, with columns CONTEXT, qid, measured, utility."""
    ranked = section["retrieval"].filter(pl.col("measure") == section.grid.measure)
    return (
        utilities(section)
        .join(ranked.select("retriever", "qid", "k", pl.col("value").alias("measured")), on=["retriever", "qid", "k"])
        .filter(pl.col("measured").is_not_null())
        .select(*CONTEXT, "qid", pl.col("measured"), "utility")
        .sort(*CONTEXT, "qid")
    )


def fits_of(queries: pl.DataFrame) -> pl.DataFrame:
    """Fit a least-squares line of utility on the measure in each cell, and return both ends of every line.

    There is no line if all queries have the same value of the measure.
    """
    x, y = pl.col("measured"), pl.col("utility")
    slope = pl.cov(x, y) / x.var()
    lines = (
        queries.group_by(CONTEXT, maintain_order=True)
        .agg(x.min().alias("left"), x.max().alias("right"), x.mean().alias("centre"), y.mean().alias("level"),
             pl.when(x.max() > x.min()).then(slope).alias("slope"))
        .filter(pl.col("slope").is_not_null(), pl.col("slope").is_finite())
    )  # fmt: skip
    return pl.concat(
        [
            lines.select(
                *CONTEXT,
                pl.col(end).alias("measured"),
                (pl.col("level") + pl.col("slope") * (pl.col(end) - pl.col("centre"))).alias("utility"),
            )
            for end in ("left", "right")
        ]
    )


def labels_of(section: Section) -> pl.DataFrame:
    """Return the text to display in each panel: Pearson's r with interval and n, or the reason why there is no r."""
    chosen = {"coefficient": "pearson", "subset": "all", "measure": section.grid.measure}
    rows = section.drawn("correlation").filter(pl.lit(section.baseline), **chosen)
    texts = [
        f"no r: {row['reason'] or 'not given'}"
        if row["value"] is None
        else f"r = {with_interval(row['value'], row['low'], row['high'], 2)}, n = {row['n']}"
        for row in rows.iter_rows(named=True)
    ]
    return rows.select(CONTEXT).with_columns(pl.Series("label", texts, dtype=pl.String))


def utility_by_measure(section: Section, theme: Theme, most_points: int = MOST_POINTS) -> Spec:
    """Plot each query's utility against the measure, with a least-squares line and a panel per ordering and retriever.

    On the page, readers select k and the grade; the figure file shows the largest k and the first grade. If there
    are more than ``most_points`` points, a sample of the queries is drawn, but lines and r always use all queries.
    """
    grid = section.grid
    k, grade = max(grid.k), section.grades[0]
    queries, labels = queries_of(section), labels_of(section)
    choices = [Choice("k", "k", grid.k, k), Choice("references", "references", section.grades, grade)]
    if theme == "paper":
        choices = []
        queries, labels = (frame.filter(pl.col("k") == k, pl.col("references") == grade) for frame in (queries, labels))
    points = thinned(queries, most_points)
    kinds = {"query": points, "fit": fits_of(queries), "label": labels}
    frame = pl.concat(
        [part.with_columns(pl.lit(kind).alias("kind")) for kind, part in kinds.items()], how="diagonal"
    ).with_columns(charts.panel_column("retriever", "ordering"))
    crowd = points.group_by(CONTEXT).len()["len"].max()
    page = theme == "page"  # on the page, the reader chooses k and grade; a file says which it shows
    titles = f"{grid.measure}@{'k' if page else k}", section.quantity if page else f"{section.quantity} ({grade})"
    return charts.facetted(
        fitted_points(section, theme, queries, isinstance(crowd, int) and crowd > 150, titles),
        charts.rows(frame, 4),
        charts.Panels(
            [charts.panel_name(retriever, ordering) for ordering in grid.drawn for retriever in grid.retrievers],
            charts.columns_for(len(grid.retrievers)),
            width=210,
            height=190,
        ),
        f"{grid.measure}@k against {section.quantity} for each query, with a fitted line, in a panel per retriever and "
        f"ordering; {section.title}",
        theme,
        choices,
        sampled=points.height < queries.height,
    )


def thinned(queries: pl.DataFrame, most_points: int) -> pl.DataFrame:
    """Return all rows or, if there are more than ``most_points``, the rows of an evenly spaced sample of queries."""
    if queries.height <= most_points:
        return queries
    step = math.ceil(queries.height / most_points)
    return queries.filter(pl.col("qid").is_in(queries["qid"].unique().sort().gather_every(step).implode()))


def fitted_points(
    section: Section, theme: Theme, shown: pl.DataFrame, crowded: bool, titles: tuple[str, str]
) -> list[alt.Chart]:
    """Return layers that draw queries as points, fits as lines and labels as text. ``titles``: the axes' titles."""
    low, high = ends_of(shown["utility"])
    room = 0.16 * (high - low)  # space above the points for the line of text with r
    across = alt.Scale(domain=list(ends_of(shown["measured"])), nice=False)
    up = alt.Scale(domain=[low, high + room], nice=False)
    x = alt.X("measured:Q", title=titles[0], scale=across, axis=alt.Axis(grid=False, tickCount=8))
    y = alt.Y("utility:Q", title=titles[1], scale=up, axis=alt.Axis(grid=True))
    colour = charts.colour_of(section.looks)
    base = alt.Chart().encode(x=x, y=y, color=colour)
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("qid:N", title="query"), alt.Tooltip("k:Q"),
               alt.Tooltip("measured:Q", title="measure", format=".3f"),
               alt.Tooltip("utility:Q", title=titles[1].partition(" (")[0], format=".3f")]  # fmt: skip
    points = base.mark_point(size=26, filled=True, opacity=0.3 if crowded else 0.7, aria=False).encode(
        shape=charts.shape_of(section.looks), tooltip=tooltip
    )
    fit = base.mark_line(strokeWidth=2, aria=False).encode(strokeDash=charts.dash_of(section.looks))
    text = alt.Chart().mark_text(align="left", baseline="top", fontSize=11, color=charts.INK[theme])
    label = text.encode(x=alt.value(5), y=alt.value(4), text="label:N")
    return [
        charts.zero_line(theme),
        *(
            layer.transform_filter(f"datum.kind == '{kind}'")
            for layer, kind in ((points, "query"), (fit, "fit"), (label, "label"))
        ),
    ]


def ends_of(values: pl.Series, *others: float) -> tuple[float, float]:
    """Return an axis range that includes ``values`` and ``others`` (default: 0), with a small margin on both sides."""
    ends = [float(value) for value in (values.min(), values.max()) if isinstance(value, int | float)]
    low, high = min([*(others or (0.0,)), *ends]), max([*(others or (0.0,)), *ends])
    room = 0.04 * (high - low or 1.0)
    return low - room, high + room
