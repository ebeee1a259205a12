"""Draw P by round."""

from pathlib import Path

import altair as alt
import polars as pl

from ragrelay.annexes.rounds.outputs import OUTPUTS
from ragrelay.annexes.rounds.study import RoundsShown
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Spec, Theme
from ragrelay.report.display.outputs import Figure
from ragrelay.report.display.palette import looks
from ragrelay.report.figure_files import draw_figures


def draw_rounds(study: RoundsShown, folder: Path) -> None:
    """Draw the figures about search rounds, and save them in ``folder``."""
    draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], folder)


def p_by_round(study: RoundsShown, theme: Theme) -> Spec:
    """Draw mean P by round: a line for the reference retriever, and points for other retrievers' lists."""
    names = [study.asked["reference"], *study.asked["retrievers"]]
    zeroshot = study.by_round.filter(retriever=ZEROSHOT).with_columns(retriever=pl.lit(names[0]))
    known = pl.concat([zeroshot, study.by_round.filter(pl.col("retriever") != ZEROSHOT)]).drop_nulls("p")
    rounds = known["round"].unique().sort().to_list() or [1]
    drawn = known.select(
        "retriever", "round", "n", "low", "high", charts.dodged(names, rounds, "round"), value="p", panel=pl.lit(""),
        # A list of one round is followed by the reference's, so that no line joins the others' points.
        line=pl.when(retriever=names[0]).then(0).otherwise("round"),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("retriever:N"), alt.Tooltip("round:Q"), alt.Tooltip("value:Q", title="mean P", format=".3f"),
        alt.Tooltip("low:Q", format=".3f"), alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("n:Q", title="queries"),
    ]  # fmt: skip
    axis = charts.k_axis(rounds, "round (0: without context)")
    return charts.facetted(
        charts.interval_lines(axis, "mean P", alt.Scale(zero=False), looks(names), tooltip, line="line:N"),
        charts.rows(drawn), charts.Panels([""], 1),
        f"Mean P by round of the search, with intervals over queries; {study.title}", theme,
    )  # fmt: skip
