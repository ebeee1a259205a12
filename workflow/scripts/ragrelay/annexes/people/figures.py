"""Plot how well scorers agree with people."""

from pathlib import Path

import altair as alt
import polars as pl

from ragrelay.annexes.people.following import ORDER, ORDER_AP, RHO
from ragrelay.annexes.people.outputs import OUTPUTS
from ragrelay.annexes.people.page_tables import AGREED
from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Spec, Theme
from ragrelay.report.display.outputs import Figure
from ragrelay.report.figure_files import draw_figures

DRAWN = (RHO, ORDER, ORDER_AP)


def draw_people(study: PeopleStudy, folder: Path) -> None:
    """Draw the figure about human scores, and save it in ``folder``."""
    draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], folder)


def agreement_figure(study: PeopleStudy, theme: Theme) -> Spec:
    """Plot how well each scorer agrees with people, with intervals and one panel per quantity."""
    frame = study["people_agreement"].filter(pl.col("quantity").is_in(DRAWN)).drop_nulls("value")
    drawn = frame.select("scorer", "value", "low", "high", "n", panel=pl.col("quantity").replace_strict(AGREED))
    panels = [AGREED[name] for name in DRAWN if AGREED[name] in set(drawn["panel"])]
    tooltip = [
        alt.Tooltip("scorer:N"), alt.Tooltip("value:Q", format=".2f"), alt.Tooltip("low:Q", format=".2f"),
        alt.Tooltip("high:Q", format=".2f"), alt.Tooltip("n:Q", title="answers or systems"),
    ]  # fmt: skip
    ink, scale = charts.INK[theme], alt.Scale(domain=[-1, 1])
    y = alt.Y("scorer:N", title="scorer", sort=list(study.scorers))
    bars = alt.Chart().mark_rule(strokeWidth=1.5, color=ink, aria=False).encode(
        y=y, x=alt.X("low:Q", title="agreement with people", scale=scale), x2=alt.X2("high:Q")
    )  # fmt: skip
    points = alt.Chart().mark_point(size=60, filled=True, opacity=1, color=ink).encode(
        y=y, x=alt.X("value:Q", title="agreement with people", scale=scale), tooltip=tooltip
    )  # fmt: skip
    return charts.facetted(
        [bars.transform_filter("isValid(datum.low)"), points], charts.rows(drawn),
        charts.Panels(panels, len(panels) or 1, 200, 22 * max(len(study.scorers), 2)),
        f"Agreement between each scorer and people, with intervals; {study.title}", theme,
    )  # fmt: skip
