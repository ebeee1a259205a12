"""Draw the figures of a claims study: ACU by stance, correlations with ACU, and means of characteristics."""

import altair as alt
import polars as pl

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.annexes.acu.characteristic_columns import NAMES
from ragrelay.annexes.acu.correlations import COEFFICIENTS
from ragrelay.annexes.acu.stances import STANCES
from ragrelay.annexes.acu.study import ClaimsStudy
from ragrelay.annexes.acu.usage import ALL, SUFFICIENT
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.numbers import number
from ragrelay.report.display.palette import looks

ROWS = [*STANCES, SUFFICIENT, ALL]
LABELS: Spec = {"usermeta": {"axis": 215}}
"""Width, in pixels, that the page reserves for the labels beside the first panel."""
WORDS = {"spearman": "Spearman’s rho", "pearson": "Pearson’s r"}
DARK_FROM = 0.55
"""Coefficients at least this far from 0 are written in white, because their cells are dark."""


def usage_by_stance(study: ClaimsStudy, theme: Theme) -> Spec:
    """Draw mean ACU by stance and template, with intervals and one panel per claim set and generator."""
    templates = list(dict.fromkeys(template for _, _, template in study.units))
    cells = study.usage.with_columns(charts.panel_column("claims", "generator")).select(
        "panel", "template", "stance", pl.col("mean_acu").alias("value"), "low", "high", "n", "n_claims"
    )
    look = looks(templates)
    colour = alt.Color("template:N", scale=alt.Scale(domain=templates, range=[look[t].colour for t in templates]))
    shape = alt.Shape("template:N", scale=alt.Scale(domain=templates, range=[look[t].shape for t in templates]))
    base = alt.Chart().encode(
        y=alt.Y("stance:N", sort=ROWS, title=None, axis=alt.Axis(grid=True, labelLimit=200)),
        yOffset=alt.YOffset("template:N", sort=templates),
        color=colour,
    )
    x = alt.X("value:Q", title="mean ACU")
    tooltip = [alt.Tooltip("template:N"), alt.Tooltip("stance:N"), alt.Tooltip("value:Q", title="ACU", format="+.3f"),
               alt.Tooltip("low:Q", format="+.3f"), alt.Tooltip("high:Q", format="+.3f"),
               alt.Tooltip("n:Q", title="pairs"), alt.Tooltip("n_claims:Q", title="claims")]  # fmt: skip
    nothing = alt.Chart().mark_rule(strokeWidth=1, opacity=0.5, color=charts.INK[theme], aria=False)
    panels = cells["panel"].unique(maintain_order=True).to_list()
    return LABELS | charts.facetted(
        [
            nothing.transform_aggregate(rows="count()").encode(x=alt.datum(0)),
            base.mark_rule(strokeWidth=1.5, opacity=0.7, aria=False).encode(
                x=alt.X("low:Q", title="mean ACU"), x2="high:Q"
            ),
            base.mark_point(size=60, filled=True, opacity=1).encode(x=x, shape=shape, tooltip=tooltip),
        ],
        charts.rows(cells),
        charts.Panels(panels, min(2, len(panels)), height=26 * len(ROWS)),
        "Mean ACU by the evidence's stance, with intervals",
        theme,
    )


def correlation_by_stance(study: ClaimsStudy, theme: Theme) -> Spec:
    """Draw a heat map of correlations with ACU by characteristic and stance; a star marks Holm-adjusted p < 0.05.

    There is one panel for each combination of claim set, generator and template. Readers of the HTML page can choose
    the coefficient; image files show Spearman's rho.
    """
    frame = study.correlations.filter(pl.col("value").is_not_null())
    written = [
        number(value, 2) + ("*" if p is not None and p < ALPHA else "")
        for value, p in frame.select("value", "p_claims_holm").iter_rows()
    ]
    cells = frame.select(
        pl.concat_str("claims", "generator", "template", separator=" · ").alias("panel"), "stance", "characteristic",
        "coefficient", "value", "low", "high", "n", "p_claims", "p_claims_holm", pl.Series("shown", written),
    )  # fmt: skip
    if theme == "paper":
        cells = cells.filter(coefficient=COEFFICIENTS[0])
    drawn = set(cells["characteristic"])
    base = alt.Chart().encode(
        x=alt.X("stance:N", sort=ROWS, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=200)),
        y=alt.Y("characteristic:N", sort=[name for name in NAMES if name in drawn], title=None,
                axis=alt.Axis(labelLimit=240)),
    )  # fmt: skip
    tooltip = [alt.Tooltip("characteristic:N"), alt.Tooltip("stance:N"), alt.Tooltip("coefficient:N"),
               *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")),
               alt.Tooltip("n:Q", title="pairs"), alt.Tooltip("p_claims:Q", title="p", format=".3f"),
               alt.Tooltip("p_claims_holm:Q", title="p, Holm", format=".3f")]  # fmt: skip
    colour = alt.Color("value:Q", title="coefficient", scale=alt.Scale(scheme="blueorange", domain=[-1, 1]))
    ink = alt.condition(f"abs(datum.value) > {DARK_FROM}", alt.value("white"), alt.value("#1b1f24"))
    panels = cells["panel"].unique(maintain_order=True).to_list()
    return LABELS | charts.facetted(
        [
            base.mark_rect(aria=False).encode(color=colour, tooltip=tooltip),
            base.mark_text(fontSize=10, aria=False).encode(text="shown:N", color=ink, tooltip=tooltip),
        ],
        charts.rows(cells),
        charts.Panels(panels, min(2, len(panels)), width=46 * len(ROWS), height=20 * max(1, len(drawn))),
        "Correlation between the evidence's characteristics and ACU, by stance",
        theme,
        [Choice("coefficient", "coefficient", COEFFICIENTS, COEFFICIENTS[0], WORDS)] if theme == "page" else [],
    )


def means_by_dataset(study: ClaimsStudy, theme: Theme) -> Spec:
    """Draw each characteristic's mean and interval for every set of claims.

    There is one panel per characteristic. Characteristics that depend on a generator appear only in the table.
    """
    known = study.means.filter(pl.col("mean").is_not_null(), pl.col("generator").is_null())
    cells = known.select(
        pl.col("characteristic").alias("panel"),
        "claims",
        pl.col("mean").alias("value"), "low", "high", "n", "n_missing",
        # A separate axis needs a range. A mean without an interval gets a bar of length 0.
        start=pl.col("low").fill_null(pl.col("mean")), end=pl.col("high").fill_null(pl.col("mean")),
    )  # fmt: skip
    tooltip = [alt.Tooltip("claims:N"), alt.Tooltip("value:Q", title="mean", format=".3f"),
               alt.Tooltip("low:Q", format=".3f"), alt.Tooltip("high:Q", format=".3f"),
               alt.Tooltip("n:Q", title="pairs"), alt.Tooltip("n_missing:Q", title="without a value")]  # fmt: skip
    base = alt.Chart().encode(y=alt.Y("claims:N", sort=None, title=None, axis=alt.Axis(grid=True, labelLimit=160)))
    drawn = set(cells["panel"])
    spec = charts.facetted(
        [
            base.mark_rule(strokeWidth=1.5, opacity=0.7, aria=False).encode(
                x=alt.X("start:Q", title=None, scale=alt.Scale(zero=False)), x2="end:Q"
            ),
            base.mark_point(size=60, filled=True, opacity=1).encode(x=alt.X("value:Q", title=None), tooltip=tooltip),
        ],
        charts.rows(cells),
        charts.Panels(
            [name for name in NAMES if name in drawn], 2, width=200, height=22 * max(1, known["claims"].n_unique())
        ),
        "Mean characteristics of the evidence, by set of claims",
        theme,
    )
    return spec | {"usermeta": {"axis": 170}, "resolve": {"scale": {"x": "independent"}}}
