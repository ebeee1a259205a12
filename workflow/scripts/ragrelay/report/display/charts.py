"""Build charts with Altair and return them as Vega-Lite specifications (dicts).

There are two themes. ``page`` draws text and axes in the page's text colour (``currentColor``) on a transparent
background, so that charts follow the page's CSS in light mode, in dark mode and in print. ``paper`` draws text and axes
dark on white, for figure files.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import polars as pl

from ragrelay.report.display.palette import Look

Theme = Literal["page", "paper"]
Spec = dict[str, Any]
INK = {"page": "currentColor", "paper": "#1b1f24"}
GROUND = {"page": "transparent", "paper": "white"}
FONT = {
    "page": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "paper": "Figure Sans, Liberation Sans, Arial, Helvetica, sans-serif",
}
"""``Figure Sans`` is in workflow/report/fonts, so that figure files look the same on every machine."""
PANEL_HEIGHT = 220
DODGE = 0.012  # of the range of k, between neighbouring retrievers, so that their intervals don't hide each other


class Choice(NamedTuple):
    """A menu with which readers filter a chart: only rows whose ``field`` has the selected option are drawn."""

    field: str
    label: str
    options: Sequence[Any]
    chosen: Any
    """The option that is initially chosen."""
    words: Mapping[Any, str] = {}
    """Labels to display instead of the options."""


class Panels(NamedTuple):
    """A chart's panels: names in order, number of panels per row, and the width and height of a panel."""

    names: Sequence[str]
    columns: int
    width: int = 330
    height: int = PANEL_HEIGHT


def panel_name(first: str, second: str) -> str:
    return f"{first} · {second}"


def panel_column(first: str, second: str) -> pl.Expr:
    """Return an expression for the column ``panel``, which joins the values of two columns into a panel's name."""
    return pl.concat_str([pl.col(first), pl.col(second)], separator=" · ").alias("panel")


def dodged(retrievers: Sequence[str], places: Sequence[int], column: str) -> pl.Expr:
    """Return an expression for the x coordinate: ``column`` (values ``places``), shifted to keep retrievers apart."""
    step = DODGE * max(max(places) - min(places), 1)
    moves = {retriever: step * (place - (len(retrievers) - 1) / 2) for place, retriever in enumerate(retrievers)}
    shift = pl.col("retriever").replace_strict(list(moves), list(moves.values()), default=0.0, return_dtype=pl.Float64)
    return (pl.col(column) + shift).round(4).alias("x")


def columns_for(retrievers: int) -> int:
    """Return how many panels to draw per row: at most 5, and if possible a number that divides ``retrievers``."""
    return next((columns for columns in (5, 4, 3, 2) if retrievers % columns == 0), min(retrievers, 4))


def rows(frame: pl.DataFrame, digits: int = 5) -> list[dict[str, object]]:
    """Return the rows of ``frame`` as a chart's records, with floats rounded to ``digits`` decimals to save space."""
    floats = [column for column, kind in frame.schema.items() if kind.is_float()]
    return frame.with_columns(pl.col(floats).round(digits)).to_dicts()


def colours_of(looks: Mapping[str, Look]) -> alt.Scale:
    return _scale(looks, [look.colour for look in looks.values()])


def colour_of(looks: Mapping[str, Look], title: str = "retriever") -> alt.Color:
    return alt.Color("retriever:N", title=title, scale=colours_of(looks))


def dash_of(looks: Mapping[str, Look]) -> alt.StrokeDash:
    # No legend: it would dash the outlines of the symbols in the legend of colour and shape. Vega-Lite merges legends
    # with the same domain, and would drop that one too, so the domain is reversed here.
    reversed_looks = dict(reversed(list(looks.items())))
    dashes = [list(look.dash) for look in reversed_looks.values()]
    return alt.StrokeDash("retriever:N", legend=None, scale=_scale(reversed_looks, dashes))


def shape_of(looks: Mapping[str, Look], title: str = "retriever") -> alt.Shape:
    return alt.Shape("retriever:N", title=title, scale=_scale(looks, [look.shape for look in looks.values()]))


def k_axis(ks: Sequence[int], title: str = "k (passages in the context)") -> alt.X:
    """Return a linear x axis with a tick at each of ``ks``."""
    room = 0.06 * max(max(ks) - min(ks), 1)
    return alt.X(
        "x:Q",
        title=title,
        axis=alt.Axis(values=list(ks), format="d", grid=False, labelOverlap=True),
        scale=alt.Scale(domain=[min(ks) - room, max(ks) + room], zero=False, nice=False),
    )


def stacked_bars(
    y: alt.Y,
    kind: str,
    kinds: Sequence[str],
    title: str,
    looks: Mapping[str, Look],
    tooltip: list[alt.Tooltip],
    theme: Theme,
) -> alt.Chart:
    """For each retriever and k, draw a stacked bar in the retriever's colour, with a shade for each ``kind``."""
    pale = alt.Scale(domain=list(kinds), range=[1, 0.55, 0.2])
    bars: alt.Chart = (
        alt.Chart()
        .mark_bar(stroke=INK[theme], strokeWidth=0.6)
        .encode(
            x=alt.X("k:O", title="k", axis=alt.Axis(labelAngle=0)),
            y=y,
            color=alt.Color("retriever:N", scale=colours_of(looks), legend=None),
            opacity=alt.Opacity(f"{kind}:N", title=title, scale=pale, sort=list(kinds)),
            order=alt.Order("order:Q"),
            tooltip=tooltip,
        )
    )
    return bars


def interval_lines(
    x: alt.X,
    title: str,
    scale: alt.Scale,
    looks: Mapping[str, Look],
    tooltip: list[alt.Tooltip],
    band: bool = False,
    line: str | None = None,
    legend: str = "retriever",
) -> list[alt.Chart]:
    """Draw points with intervals, joined by lines, from the columns x, value, low and high.

    ``band``: whether to shade the area between the intervals' ends. ``line``: a column; each retriever has a line per
    value of this column. ``legend``: the legend's title.
    """
    y = alt.Y("value:Q", title=title, scale=scale, axis=alt.Axis(grid=True))
    base = alt.Chart().encode(x=x, color=colour_of(looks, legend))
    ends = {"y": alt.Y("low:Q", title=title, scale=scale, axis=alt.Axis(grid=True)), "y2": alt.Y2("high:Q")}
    intervals = [base.mark_rule(strokeWidth=1.5, opacity=0.7, aria=False).encode(**ends)]
    if band:
        intervals = [base.mark_area(opacity=0.1, aria=False).encode(**ends),
                     base.mark_rule(strokeWidth=1, opacity=0.35, aria=False).encode(**ends)]  # fmt: skip
    broken = {"detail": alt.Detail(line)} if line else {}
    return [
        *intervals,
        base.mark_line(strokeWidth=2, aria=False).encode(y=y, strokeDash=dash_of(looks), **broken),
        base.mark_point(size=60, filled=True, opacity=1).encode(y=y, shape=shape_of(looks, legend), tooltip=tooltip),
    ]


def zero_line(theme: Theme) -> alt.Chart:
    line = alt.Chart().mark_rule(strokeWidth=1, opacity=0.5, color=INK[theme], aria=False)
    # One line, not one per row of the panel.
    drawn: alt.Chart = line.transform_aggregate(rows="count()").encode(y=alt.datum(0))
    return drawn


def facetted(
    layers: Sequence[alt.Chart],
    records: list[dict[str, object]],
    panels: Panels,
    description: str,
    theme: Theme,
    choices: Sequence[Choice] = (),
    sampled: bool = False,
    points: int = 0,
) -> Spec:
    """Draw ``layers`` in each of ``panels``, with shared scales, and return the chart's specification.

    ``sampled``: whether ``records`` is only a sample of the queries. ``points``: the width in points (0: default).
    """
    chart: Any = (
        alt.layer(*(layers or [alt.Chart().mark_point()]), data=alt.InlineData(values=[]))  # Vega refuses no layer
        .properties(width=panels.width, height=panels.height)
        .facet(facet=alt.Facet("panel:N", sort=list(panels.names), title=None), columns=panels.columns)
    )
    for field, label, options, chosen, words in (choice for choice in choices if len(choice.options) > 1):
        select = alt.binding_select(
            options=list(options), labels=[words.get(option, str(option)) for option in options], name=f"{label} "
        )
        chart = chart.add_params(alt.param(name=f"chosen_{field}", value=chosen, bind=select))
        chart = chart.transform_filter(f"datum.{field} == chosen_{field}")
    chart = chart.properties(description=description).configure(**_config(theme))
    spec: Spec = chart.to_dict()
    spec["data"] = {"values": records}  # added last: Altair would check every row against its schema
    if sampled or points:
        spec["usermeta"] = {"sampled": sampled, "points": points}
    return spec


def _scale(looks: Mapping[str, Look], values: list[Any]) -> alt.Scale:
    return alt.Scale(domain=list(looks), range=values)


def _config(theme: Theme) -> dict[str, object]:
    # Use a single font weight: vl-convert writes a PDF's fonts in random order, so bytes would differ with two.
    ink, font = INK[theme], FONT[theme]
    text = {"labelColor": ink, "titleColor": ink, "labelFontWeight": "normal", "titleFontWeight": "normal"}
    return {
        "background": GROUND[theme],
        "font": font,
        "axis": text
        | {"gridColor": ink, "gridOpacity": 0.14, "domainColor": ink, "domainOpacity": 0.5, "tickColor": ink,
           "tickOpacity": 0.5, "labelFontSize": 11, "titleFontSize": 12},
        "header": text | {"labelFontSize": 12, "labelPadding": 6},
        "legend": text
        | {"orient": "top", "symbolSize": 90, "symbolStrokeWidth": 2, "symbolOpacity": 1, "labelFontSize": 12,
           "titleFontSize": 12, "columnPadding": 18, "labelLimit": 240},
        "view": {"stroke": ink, "strokeOpacity": 0.2},
        "text": {"color": ink, "fontWeight": "normal"},
    }  # fmt: skip
