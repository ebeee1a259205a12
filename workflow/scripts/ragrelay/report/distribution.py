"""Draw how utility is distributed over queries, with a point per query and a box plot per retriever."""

import altair as alt
import polars as pl

from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.script_json import script_json
from ragrelay.report.display.sections import Section
from ragrelay.report.scatter import CONTEXT, MOST_POINTS, thinned, utilities

SHIFT = 0.05  # the distance between points that are moved aside, as a share of a retriever's width
QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}


def boxes(queries: pl.DataFrame) -> pl.DataFrame:
    """Compute each cell's quantiles of utility over queries, and the number of queries."""
    quantiles = [pl.col("utility").quantile(at, "linear").alias(name) for name, at in QUANTILES.items()]
    return queries.group_by(CONTEXT, maintain_order=True).agg(*quantiles, pl.len().alias("n"))


def utility_by_query(section: Section, theme: Theme, most_points: int = MOST_POINTS) -> Spec:
    """Draw each retriever's utility for every query, as points and a box plot, with a panel per ordering.

    On the page, readers select k and the grade; files show the largest k and the first grade. If there are more than
    ``most_points`` points, only a sample is drawn, but the box plots still use all queries.
    """
    grid = section.grid
    k, grade = max(grid.k), section.grades[0]
    queries = utilities(section)
    choices = [Choice("k", "k", grid.k, k), Choice("references", "references", section.grades, grade)]
    if theme == "paper":
        choices, queries = [], queries.filter(pl.col("k") == k, pl.col("references") == grade)
    # Move points aside in turn, in order of utility, so that neighbours rarely cover each other.
    rank = pl.col("utility").rank("ordinal").over(CONTEXT).cast(pl.Int64)
    points = thinned(queries, most_points).with_columns(((rank * 7) % 11 - 5).alias("aside"))
    kinds = {"query": points, "box": boxes(queries)}
    place = pl.col("retriever").replace_strict(
        list(grid.retrievers), list(range(len(grid.retrievers))), return_dtype=pl.Float64
    )
    frame = (
        pl.concat([part.with_columns(pl.lit(kind).alias("kind")) for kind, part in kinds.items()], how="diagonal")
        .with_columns(pl.col("ordering").alias("panel"), (place + SHIFT * pl.col("aside").fill_null(0)).alias("x"))
        .drop("aside")
    )
    ends = [float(value) for value in (queries["utility"].min(), queries["utility"].max()) if isinstance(value, float)]
    return charts.facetted(
        _layers(section, theme, alt.Scale(domain=[min([0.0, *ends]), max([0.0, *ends])], nice=True)),
        charts.rows(frame, 4),
        charts.Panels(list(grid.drawn), min(2, len(grid.drawn))),
        f"Each query’s utility by retriever, with quantiles, in a panel per ordering; {section.title}",
        theme,
        choices,
        sampled=points.height < queries.height,
    )


def _layers(section: Section, theme: Theme, up: alt.Scale) -> list[alt.Chart]:
    grid = section.grid
    title = section.quantity if theme == "page" else f"{section.quantity} (k = {max(grid.k)}, {section.grades[0]})"
    places = list(range(len(grid.retrievers)))
    names = f"{script_json(grid.retrievers)}[datum.value]"
    axis = alt.Axis(
        values=places, labelExpr=names, labelAngle=0 if len(places) < 6 else -40, labelLimit=120, grid=False
    )
    x = alt.X("x:Q", title=None, axis=axis, scale=alt.Scale(domain=[-0.5, len(places) - 0.5], nice=False))
    colour = charts.colour_of(section.looks)

    def y(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", title=title, scale=up, axis=alt.Axis(grid=True))

    base = alt.Chart().encode(x=x, color=colour)
    box = base.transform_filter("datum.kind == 'box'")
    about = [alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"), alt.Tooltip("n:Q", title="queries"),
             *(alt.Tooltip(f"{name}:Q", title=f"{at:.0%} quantile", format=".3f")
               for name, at in QUANTILES.items())]  # fmt: skip
    outline = alt.Stroke("retriever:N", scale=charts.colours_of(section.looks), legend=None)
    points = base.transform_filter("datum.kind == 'query'").mark_point(size=20, filled=True, opacity=0.55, aria=False)
    return [
        charts.zero_line(theme),
        points.encode(
            y=y("utility"),
            shape=charts.shape_of(section.looks),
            tooltip=[alt.Tooltip("retriever:N"), alt.Tooltip("qid:N", title="query"), alt.Tooltip("k:Q"),
                     alt.Tooltip("utility:Q", title=section.quantity, format=".3f")],
        ),
        box.mark_rule(strokeWidth=1.5, aria=False).encode(y=y("low"), y2="high:Q"),
        box.mark_bar(width=34, fillOpacity=0.18, strokeWidth=1.5, cornerRadius=2).encode(
            y=y("q1"), y2="q3:Q", stroke=outline, tooltip=about
        ),
        box.mark_tick(width=34, thickness=3, aria=False).encode(y=y("median")),
    ]  # fmt: skip
