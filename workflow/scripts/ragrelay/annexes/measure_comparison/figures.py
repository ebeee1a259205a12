"""Plot how closely each measure tracks answer quality."""

from pathlib import Path

import altair as alt
import polars as pl

from ragrelay.analysis import relay
from ragrelay.annexes.measure_comparison.outputs import OUTPUTS
from ragrelay.annexes.measure_comparison.study import MeasuresShown
from ragrelay.report.display import charts
from ragrelay.report.display.charts import INK, Panels, Spec, Theme
from ragrelay.report.display.outputs import Figure
from ragrelay.report.figure_files import draw_figures

COLOUR, TITLE = "#1b6ca8", "r"
ROW, BAR = 24, 0.03
"""The height of a measure's row in pixels, and the distance between bars as a share of the axis."""


def draw_measures(study: MeasuresShown, folder: Path) -> None:
    """Draw the figure that compares measures, and save it in ``folder``."""
    draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], folder)


def fit_of_measures(study: MeasuresShown, theme: Theme) -> Spec:
    """Draw each measure's r with its interval, and bars that join measures that don't differ significantly."""
    known = study.fits.drop_nulls("r").with_columns(panel=pl.lit(""))
    shown = known.select("panel", "measure", "r", "r2", "low", "high", "relay", "verdict", "n", "share_tied")
    order = shown["measure"].to_list()
    ends = pl.concat([shown["low"], shown["high"], shown["r"]]).drop_nulls()
    least, most = (float(ends.min() or 0), float(ends.max() or 0)) if len(ends) else (0.0, 1.0)  # type: ignore[arg-type]
    runs, room = study.joined, BAR * (most - least)
    bars = [
        {"panel": "", "measure": run[0], "last": run[-1], "bar": round(most + room * place, 5)}
        for place, run in enumerate(runs, 1)
    ]
    y = alt.Y("measure:N", title=None, scale=alt.Scale(type="point", domain=order, padding=0.6))
    scale = alt.Scale(domain=[min(least, 0.0) - room, most + room * (len(runs) + 1)], nice=False)
    x = alt.X("r:Q", title=TITLE, scale=scale)
    tooltip = [
        alt.Tooltip("measure:N"), alt.Tooltip("r:Q", format=".3f"), alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("verdict:N"), alt.Tooltip("relay:N"),
        alt.Tooltip("share_tied:Q", title="tied", format=".0%"), alt.Tooltip("n:Q", title="queries"),
    ]  # fmt: skip
    ink = INK[theme]
    base = alt.Chart().transform_filter("isValid(datum.r)")
    zero = alt.Chart().mark_rule(strokeWidth=1, opacity=0.5, color=ink, aria=False).transform_aggregate(rows="count()")
    layers = [
        zero.encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=1.5, opacity=0.7, color=ink, aria=False).encode(
            y=y, x=alt.X("low:Q", title=TITLE, scale=scale), x2="high:Q"
        ),
        base.mark_point(size=70, opacity=1, stroke=COLOUR, fill=COLOUR).encode(
            y=y, x=x, tooltip=tooltip,
            fillOpacity=alt.condition(f"datum.relay == '{relay.IT_IS}'", alt.value(1), alt.value(0)),
        ),
        alt.Chart().transform_filter("isValid(datum.bar)")
        .mark_rule(strokeWidth=3, opacity=0.6, color=ink, aria=False)
        .encode(y=y, y2="last:N", x=alt.X("bar:Q", scale=scale)),
    ]  # fmt: skip
    return charts.facetted(
        layers, [*charts.rows(shown), *bars], Panels([""], 1, 460, ROW * max(len(order), 2)),
        f"r of each retrieval measure with simultaneous intervals; {study.title}", theme,
    )  # fmt: skip
