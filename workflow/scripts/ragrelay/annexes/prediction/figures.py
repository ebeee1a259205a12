"""Draw the figure on selective retrieval."""

import json

import altair as alt
import polars as pl

from ragrelay.annexes.prediction.decisions import CHANCE, ENSEMBLE, ORACLE
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.palette import Look, looks


def selective_retrieval(study: PredictedStudy, theme: Theme) -> Spec:
    """Plot mean P against the share of queries with context (chance, oracle, regression and best predictor).

    The figure has a panel for each retriever that ranks passages, at the largest k. Readers choose the reference set.
    """
    best = study["prediction_best"].filter(target="gain", k=study.k).select("retriever", "references", "predictor")
    curve = study["prediction_curve"].filter(pl.col("k") == study.k, pl.col("retriever").is_in(list(study.rankings)))
    marked = curve.join(best.rename({"predictor": "best"}), on=["retriever", "references"], how="left")
    named = marked.with_columns(
        line=pl.when(pl.col("predictor").is_in([ORACLE, CHANCE, ENSEMBLE])).then("predictor")
        .when(pl.col("predictor") == pl.col("best")).then(pl.lit(BEST))
    ).drop_nulls("line")  # fmt: skip
    references = named["references"].unique(maintain_order=True).to_list() or [""]
    choices = [Choice("references", "references", references, references[0])]
    if theme == "paper":
        choices, named = [], named.filter(references=references[0])
    rows = named.select(
        pl.col("retriever").alias("panel"), pl.col("line").alias("retriever"), "references", pl.col("share").alias("x"),
        pl.col("mean_p").alias("value"), "low", "high", "predictor", "n",
    )  # fmt: skip
    tooltip = [alt.Tooltip("predictor:N"), alt.Tooltip("x:Q", title="share", format=".1f"),
               alt.Tooltip("value:Q", title="mean P", format=".3f"), alt.Tooltip("n:Q", title="queries")]  # fmt: skip
    panels = [name for name in study.rankings if name in set(rows["panel"])]
    axis = alt.X("x:Q", title="share of queries with context", scale=alt.Scale(domain=[0, 1]))
    spec = charts.facetted(
        charts.interval_lines(axis, "mean P", alt.Scale(zero=False), LOOKS, tooltip),
        charts.rows(rows),
        charts.Panels(panels, charts.columns_for(len(panels)) if panels else 1),
        f"Mean P against the share of queries that use their context; {study.title}",
        theme,
        choices,
    )
    titled: Spec = json.loads(json.dumps(spec).replace('"title": "retriever"', f'"title": "{LEGEND}"'))
    return titled


BEST, LEGEND = "best predictor", "queries sorted by"
LOOKS: dict[str, Look] = looks((BEST, ENSEMBLE, ORACLE, CHANCE))
