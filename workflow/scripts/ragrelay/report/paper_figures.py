"""Draw figures for a paper (one or two columns wide): mean P, differences per query, and P by relevance dose."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import altair as alt
import polars as pl

from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.outputs import TWO_COLUMNS
from ragrelay.report.display.palette import Look, looks
from ragrelay.report.display.sections import Dose, Section
from ragrelay.report.facts import Mean, facts_of, mean_of
from ragrelay.report.lead_figure import apart
from ragrelay.report.scatter import ends_of, fitted_points, thinned
from ragrelay.report.verdict_tables import slope_with_interval

MOST_POINTS, MOST_PAIRS = 8_000, 6
HEIGHT, LINE = 200, 13
ZERO_SHOT = "zero-shot"
ROW = {"panel": pl.String, "retriever": pl.String, "place": pl.Int64, "set_by_design": pl.Boolean} | {
    name: pl.Int64 if name in ("k", "n") else pl.Float64 for name in Mean.__annotations__
}


def mean_quality(section: Section, theme: Theme, points: int = 0) -> Spec:
    """Plot each retriever's mean P against k, with Student's 95% intervals, and the zero-shot answers' mean P."""
    panel = f"{section.lead['ordering']} order, {section.lead['references']} references"
    rows = [
        {"panel": panel, "retriever": name, "place": mean.k, "set_by_design": name not in section.rankings} | vars(mean)
        for name, line in facts_of(section).means.items() for mean in line
    ]  # fmt: skip
    return _lines(section, theme, points, rows, section.looks, charts.k_axis(section.grid.k), "Mean P against k")


def doses(section: Section, theme: Theme, points: int = 0) -> Spec:
    """Plot mean P against the number of relevant passages in the context, with a line per k and a panel per ordering.

    If the other passages are of several kinds, there is a line per kind and a panel per ordering and k. All points in a
    panel use the same queries, because queries without a P at every point are left out. If two retrievers' contexts
    differ only in the sampling seed, P is averaged over the two retrievers.
    """
    doses, grid = section.grid.doses, section.grid
    sorts = list(dict.fromkeys(dose.others for dose in doses.values()))
    one, of_k = len(sorts) < 2, pl.format("k = {}", "k")
    dose = {name: pl.col("retriever").replace_strict({key: getattr(value, name) for key, value in doses.items()})
            for name in Dose._fields}  # fmt: skip
    here = section["per_query"].filter(
        pl.col("retriever").is_in(list(doses)), pl.col("ordering").is_in(grid.drawn),
        references=section.lead["references"],
    ).drop_nulls("p")  # fmt: skip
    rows: list[dict[str, Any]] = []
    levels: dict[str, float] = {}
    if doses:
        here = here.with_columns(
            panel=pl.col("ordering") if one else pl.format("{}, {}", "ordering", of_k),
            line=of_k if one else dose["others"], place=pl.min_horizontal(dose["relevant"], "k"),
        )  # fmt: skip
    cell = pl.struct("retriever", "k")
    panels = here.group_by("panel", maintain_order=True) if doses else ()
    for (panel,), part in panels:
        kept = part.filter(cell.n_unique().over("qid") == part.select(cell.n_unique()).item())
        if level := mean_of(0, kept["p0"]):
            levels[str(panel)] = level.value
        for (line, place, k), point in kept.group_by("line", "place", "k", maintain_order=True):
            of_query = point.group_by("qid", maintain_order=True).agg(pl.col("p").mean())
            if mean := mean_of(int(str(k)), of_query["p"]):
                rows.append(dict(zip(ROW, (panel, line, place, False), strict=False)) | vars(mean))
    x = charts.k_axis(sorted({row["place"] for row in rows} or {0}), "relevant passages in the context")
    look = looks([f"k = {k}" for k in grid.k] if one else sorts)
    legend = "passages" if one else "other passages"
    return _lines(section, theme, points, rows, look, x, "Mean P against doses of relevance", legend, levels)


def _lines(
    section: Section,
    theme: Theme,
    points: int,
    rows: Sequence[dict[str, object]],
    look: Mapping[str, Look],
    x: alt.X,
    what: str,
    legend: str = "",
    levels: Mapping[str, float] | None = None,
) -> Spec:
    """Draw lines of means, with names at their ends or a ``legend``, and the zero-shot level.

    ``levels``: the zero-shot level, keyed by panel; by default the level over all queries.
    """
    base, width = facts_of(section).zero_shot, 600 if points == TWO_COLUMNS else 260
    frame = pl.DataFrame(rows, schema=ROW).sort("place", maintain_order=True)
    of_panel = levels or {}
    if levels is None and base:
        of_panel = dict.fromkeys(frame["panel"], base.value)
    level = list(of_panel.values())
    ends = ends_of(pl.concat([frame[name] for name in ("low", "value", "high")]), *(level or frame["value"].head(1)))
    frame = frame.with_columns(charts.dodged(list(look), frame["place"].unique().to_list() or [0], "place"))
    named: list[dict[str, object]] = []
    for (panel,), part in frame.group_by("panel", maintain_order=True):
        last = {} if legend else dict(part.select("retriever", "value").iter_rows())
        labels = [
            {"panel": panel, "name": name, "value": value, "y": (ends[1] - value) / (ends[1] - ends[0]) * HEIGHT}
            for name, value in (last | ({ZERO_SHOT: of_panel[panel]} if panel in of_panel else {})).items()
        ]
        apart(labels, HEIGHT, LINE)
        named += labels
    scale, ink = alt.Scale(domain=list(ends), nice=False), charts.INK[theme]
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"), *(alt.Tooltip(f"{name}:Q", format=".3f")
               for name in ("value", "low", "high")), alt.Tooltip("n:Q", title="queries")]  # fmt: skip
    pale = alt.Opacity("set_by_design:N", legend=None, scale=alt.Scale(domain=[False, True], range=[1, 0.5]))
    lines = [
        layer.encode(opacity=pale) for layer in charts.interval_lines(x, "mean P", scale, look, tooltip, legend=legend)
    ]
    rule = alt.Chart().mark_rule(strokeDash=[2, 2], color=ink).encode(y=alt.Y("value:Q", scale=scale))
    text = alt.Chart().mark_text(align="left", dy=-6 if legend else 0, fontSize=11, color=ink).encode(
        x=alt.value(6 if legend else width + 6), y=alt.Y("y:Q", scale=None, axis=None), text="name:N"
    )  # fmt: skip
    spec = charts.facetted(
        [rule.transform_filter(f"datum.name == '{ZERO_SHOT}'"),
         *(layer.transform_filter("datum.n > 0") for layer in lines), text.transform_filter("isValid(datum.name)")],
        charts.rows(pl.concat([frame, pl.DataFrame(named)], how="diagonal")) if named else [],
        charts.Panels(frame["panel"].unique(maintain_order=True).to_list(), 1, width, HEIGHT),
        f"{what}; {section.title}", theme, points=points,
    )  # fmt: skip
    spec["config"]["legend"]["disable"] = not legend
    return spec


def differences_by_query(section: Section, theme: Theme, limit: int = MOST_POINTS) -> Spec:
    """Plot, for each query, the difference in P against the difference in the measure between two rankings.

    Each pair of rankings has a panel, with a line that has relay's slope and passes through the mean differences.
    Queries for which both differences are 0 aren't drawn. On the page, readers select k, and ``limit`` is the maximum
    number of points. A file shows the primary comparison's k, and ``limit`` is the figure's width.
    """
    ordering, k, references, measure = section.lead.values()
    page, where = theme == "page", {"ordering": ordering, "references": references}
    ks = section.grid.k if page else (k,)
    slopes = section["relay"].filter(pl.col("k").is_in(ks), adjusted=False, measure=measure, **where)
    answered = section["per_query"].filter(pl.col("k").is_in(ks), **where).select("retriever", "k", "qid", "p")
    ranked = section["retrieval"].filter(measure=measure).select("retriever", "k", "qid", measured="value")
    joined = answered.join(ranked, on=["retriever", "k", "qid"]).drop_nulls().filter(pl.col("measured").is_not_nan())
    primary = section.primary[:2] if section.primary else ()
    pairs = [primary, *(pair for pair in combinations(section.rankings, 2) if {*pair} != {*primary})] if primary else []
    parts: list[pl.DataFrame] = []
    panels: list[str] = []
    for pair in pairs:
        rows = slopes.filter(pl.col("retrievers").is_in([", ".join(pair), ", ".join(pair[::-1])])).drop_nulls("slope")
        if rows.is_empty() or len(panels) == MOST_PAIRS:
            continue
        panels.append(" − ".join(pair))
        minuend, subtrahend = (joined.filter(retriever=name).drop("retriever") for name in pair)
        queries = minuend.join(subtrahend, on=["k", "qid"], suffix="_less").select(
            "k", "qid", measured=pl.col("measured") - pl.col("measured_less"), utility=pl.col("p") - pl.col("p_less"),
        ).filter((pl.col("measured") != 0) | (pl.col("utility") != 0)).sort("k", "qid")  # fmt: skip
        at = pl.col("measured")
        sums = queries.group_by("k").agg(
            pl.col("utility").sum(), centre=at.sum(), measured=pl.concat_list(at.min(), at.max())
        )
        level = pl.col("utility") / pl.col("n") + pl.col("slope") * (at - pl.col("centre") / pl.col("n"))
        fits = (
            rows.select("k", "slope", "n").join(sums, on="k").explode("measured").select("k", "measured", utility=level)
        )
        texts = [f"{slope_with_interval(row)} per 0.1, n = {row['n']}" for row in rows.to_dicts()]
        labels = rows.select("k", label=pl.Series(texts, dtype=pl.String))
        parts += [
            part.with_columns(kind=pl.lit(kind), retriever=pl.lit(pair[0]), panel=pl.lit(panels[-1]))
            for kind, part in (("query", queries), ("fit", fits), ("label", labels))
        ]
    drawn = pl.concat(parts, how="diagonal") if parts else pl.DataFrame(schema={"kind": pl.String})
    queries = drawn.filter(kind="query")
    points = thinned(queries, limit if page else MOST_POINTS)
    wide = not page and limit == TWO_COLUMNS
    choices = [Choice("k", "k", ks, k)] if page else []
    titles = f"difference in {measure}@{'k' if page else k}", "difference in P"
    columns = min(len(panels) or 1, 3 if wide or page else 2 if len(panels) > 1 else 1)
    width = (600 - 40 * columns) // columns if wide else 260 // columns if not page else 210
    spec = charts.facetted(
        fitted_points(section, theme, queries, len(points) > 150 * len(panels), titles) if parts else [],
        charts.rows(pl.concat([points, drawn.filter(pl.col("kind") != "query")]), 4) if parts else [],
        charts.Panels(panels, columns, width, height=190),
        f"Differences in P and in {measure} between two rankings, for each query; {section.title}", theme, choices,
        sampled=points.height < queries.height, points=0 if page else limit,
    )  # fmt: skip
    spec["config"]["legend"]["disable"] = True  # a panel's title names both retrievers
    return spec
