"""Draw the effect of one relevant passage by its position in the prompt."""

from pathlib import Path

import altair as alt
import polars as pl

from ragrelay.annexes.interventions.effects import AT_PLACE, OVERALL
from ragrelay.annexes.interventions.outputs import OUTPUTS
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.outputs import Figure
from ragrelay.report.display.palette import looks
from ragrelay.report.figure_files import draw_figures

TITLE = "effect on P"


def draw_interventions(study: EffectStudy, folder: Path) -> None:
    """Draw the figures about interventions, and save them in ``folder``."""
    draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], folder)


def effects_by_place(study: EffectStudy, theme: Theme) -> Spec:
    """Draw effects and intervals by position, with a line per k and a panel per intervention and retriever.

    With k = 1, there is only one position, which shows the overall effect.
    """
    one = (pl.col("part") == OVERALL) & (pl.col("k") == 1) & pl.col("p_relevant").is_not_null()
    known = (
        study.effects.filter((pl.col("part") == AT_PLACE) | one)
        .drop_nulls("effect")
        .with_columns(
            pl.col("place").fill_null(1), charts.panel_column("intervention", "retriever"),
            retriever=pl.lit("k = ") + pl.col("k").cast(pl.String),
        )
        .select("panel", "k", "retriever", "place", "references", "n", "low", "high", value="effect")
    )  # fmt: skip
    if theme != "page":
        known = known.filter(pl.col("references").eq_missing(pl.lit(study.references)))
    names = [f"k = {k}" for k in known["k"].unique().sort()]
    places = known["place"].unique().sort().to_list() or [1]
    drawn = known.drop("k").with_columns(charts.dodged(names, places, "place"))
    panels = drawn["panel"].unique(maintain_order=True).to_list()
    tooltip = [
        alt.Tooltip("retriever:N", title="context"), alt.Tooltip("place:Q"),
        alt.Tooltip("value:Q", title=TITLE, format=".3f"), alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("n:Q", title="queries"),
    ]  # fmt: skip
    axis = charts.k_axis(places, "position in the prompt (1 = first)")
    sets = drawn["references"].unique(maintain_order=True).to_list()
    choices = [Choice("references", "references", sets, study.references)] if study.references else []
    return charts.facetted(
        [charts.zero_line(theme), *charts.interval_lines(axis, TITLE, alt.Scale(zero=True), looks(names), tooltip,
                                                         legend="context")],
        charts.rows(drawn),
        charts.Panels(panels, min(2, len(panels)) or 1),
        f"Effect of one relevant passage on P, by its position in the prompt, with intervals over queries; "
        f"{study.title}",
        theme,
        choices if theme == "page" else (),
    )  # fmt: skip
