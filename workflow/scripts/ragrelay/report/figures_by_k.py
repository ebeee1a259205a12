"""Plot mean utility (the paper's Figure 3) and correlations over and within queries (Figure 5) against k."""

import math
from collections.abc import Mapping

import altair as alt
import polars as pl

from ragrelay.base.vocabulary.names import PAPER_NAMES
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Choice, Spec, Theme
from ragrelay.report.display.palette import Look, looks
from ragrelay.report.display.sections import Section

COEFFICIENTS = {"pearson": "Pearson’s r", "spearman": "Spearman’s rho", "kendall": "Kendall’s tau-b"}

LABELS = {"coefficient": "coefficient", "measure": "measure", "subset": "queries"}
SUBSETS = {"all": "all queries", "p0>=0.1": "queries with P₀ of at least 0.1"}
WORDS = COEFFICIENTS | SUBSETS | PAPER_NAMES


def utility_by_k(section: Section, theme: Theme) -> Spec:
    """Plot each retriever's mean utility against k, with intervals and a panel per grade and ordering."""
    grid = section.grid
    cells = (
        section.drawn("utility")
        .drop_nulls("mean_utility")
        .with_columns(charts.panel_column("ordering", "references"), charts.dodged(grid.retrievers, grid.k, "k"))
        .select("panel", "retriever", "k", "x", pl.col("mean_utility").alias("value"), "low", "high", "n")
    )
    title = f"mean {'relative ' if section.relative else ''}utility"
    return charts.facetted(
        [charts.zero_line(theme), *_lines(title, alt.Scale(zero=False), section, band=False)],
        charts.rows(cells),
        _panels(section),
        f"Mean utility against k for each retriever, with intervals over queries; {section.title}",
        theme,
    )


def correlation_by_k(section: Section, theme: Theme, most: int | None = None) -> Spec:
    """Plot the correlation over queries between a measure and utility against k, with an interval band per retriever.

    Files show Pearson's r for the grid's first measure over all queries. On the page, readers can select another
    coefficient, measure or subset of queries, unless this would require more than twice ``most`` rows of data.
    """
    grid = section.grid
    cells = section.drawn("correlation").filter(pl.col("measure").is_in(grid.measures)).drop_nulls("value")
    chosen = {"coefficient": "pearson", "measure": grid.measure, "subset": "all"}
    offered = {
        "coefficient": [name for name in COEFFICIENTS if name in set(cells["coefficient"])],
        "measure": [name for name in grid.measures if name in set(cells["measure"])],
        "subset": cells["subset"].unique(maintain_order=True).to_list(),
    }  # fmt: skip
    choices = []
    few = most is None or cells.height <= 2 * most
    for name, value in chosen.items():
        if theme == "page" and few and len(offered[name]) > 1:
            choices.append(Choice(name, LABELS[name], offered[name], value, WORDS))
        else:
            cells = cells.filter(pl.col(name) == value)
    cells = cells.with_columns(
        charts.panel_column("ordering", "references"), charts.dodged(grid.retrievers, grid.k, "k")
    ).select("panel", "retriever", "k", "x", "value", "low", "high", "n", *(choice.field for choice in choices))
    title = "correlation with utility" if choices else f"Pearson’s r between {grid.measure}@k and utility"
    return charts.facetted(
        [charts.zero_line(theme), *_lines(title, _coefficients_scale(cells), section, band=True)],
        charts.rows(cells),
        _panels(section),
        f"Correlation between {grid.measure}@k and utility over queries, against k; {section.title}",
        theme,
        choices,
    )


def within_by_k(section: Section, theme: Theme) -> Spec:
    """Plot the correlation within queries between the first measure and P against k, with a line per retriever group.

    On the page, readers select the references (including unseen references); files show the first grade.
    """
    grid = section.grid
    cells = section["within"].filter(
        pl.col("measure") == grid.measure, pl.col("ordering").is_in(grid.drawn), pl.col("r").is_not_null()
    )
    sets, groups = (cells[name].unique(maintain_order=True).to_list() for name in ("references", "retrievers"))
    first = next(iter([*sets, section.grades[0]]))
    choices = [Choice("references", "references", sets, first)] if theme == "page" and len(sets) > 1 else []
    cells = cells if choices else cells.filter(references=first)
    cells = cells.rename({"retrievers": "retriever", "ordering": "panel"})
    title = f"within-query r between {grid.measure}@k and P"
    lines = cells.with_columns(charts.dodged(groups, grid.k, "k")).select(
        "panel", "retriever", "references", "k", "x", pl.col("r").alias("value"), "low", "high",
        pl.col("n_queries").alias("n"),
    )  # fmt: skip
    return charts.facetted(
        [charts.zero_line(theme), *_lines(title, _coefficients_scale(lines), section, band=False, look=looks(groups))],
        charts.rows(lines),
        charts.Panels(list(grid.drawn), min(2, len(grid.drawn))),
        f"{title} against k, with a line per group of retrievers and intervals over queries; {section.title}",
        theme,
        choices,
    )


def _coefficients_scale(cells: pl.DataFrame) -> alt.Scale:
    """Return a scale between multiples of 0.25 that contains all coefficients, their intervals and 0."""
    ends = [float(value) for name in ("value", "low", "high") for value in cells[name].drop_nulls()]
    return alt.Scale(domain=[math.floor(4 * min([0.0, *ends])) / 4, math.ceil(4 * max([0.25, *ends])) / 4])


def _lines(
    title: str, scale: alt.Scale, section: Section, band: bool, look: Mapping[str, Look] | None = None
) -> list[alt.Chart]:
    tooltip = [
        alt.Tooltip("retriever:N"), alt.Tooltip("k:Q"), alt.Tooltip("value:Q", title=title, format=".3f"),
        alt.Tooltip("low:Q", format=".3f"), alt.Tooltip("high:Q", format=".3f"), alt.Tooltip("n:Q", title="queries"),
    ]  # fmt: skip
    return charts.interval_lines(charts.k_axis(section.grid.k), title, scale, look or section.looks, tooltip, band)


def _panels(section: Section) -> charts.Panels:
    """Return a panel per ordering and grade."""
    drawn, grades = section.grid.drawn, section.grades
    names = [charts.panel_name(ordering, grade) for grade in grades for ordering in drawn]
    return charts.Panels(names, len(drawn) if len(drawn) > 1 else len(grades))
