"""The page: one HTML file with its styles, scripts, charts and tables inside, that asks the network for nothing."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.claims.page import section as claims_section
from ragrelay.display.charts import Spec
from ragrelay.display.packing import packed
from ragrelay.display.palette import Look, looks
from ragrelay.display.script_json import script_json
from ragrelay.display.templates import FOLDER, bundle, environment, inside
from ragrelay.report import (
    annotations,
    answer_findings,
    answer_tables,
    cost,
    distribution,
    findings,
    lengths,
    lines,
    position,
    scatter,
    spread,
    statistics_tables,
    tables,
)
from ragrelay.report.context_use_table import used_table
from ragrelay.report.explorer import explorer, explorer_json
from ragrelay.report.origin import origin
from ragrelay.report.study import Section, Study
from ragrelay.report.table1 import legend, table1

TEMPLATE = FOLDER / "page.html.j2"
STYLES = ("page.css", "explorer.css", "print.css")
SCRIPTS = ("tables.js", "charts.js", "explorer.js")

MOST_POINTS = 18_000
MOST_ROWS = 9_000
"""Points of scatter plots and rows of long tables on the whole page, shared by its sections: it stays below 10 MB."""


def render_page(study: Study, template: Path = TEMPLATE, page: Path = Path("index.html")) -> str:
    """The page as HTML, to be written to ``page``.

    What comes from data is escaped: in text by Jinja, in scripts by ``script_json``.
    """
    charts: dict[str, Spec] = {}
    shown = [_section(study, section, place, charts) for place, section in enumerate(study.sections, 1)]
    labelled = [annotations.part(one, place, MOST_ROWS // 3) for place, one in enumerate(study.annotations, 1)]
    charts |= {f"{one['anchor']}-depth": packed(one["spec"]) for one in labelled}
    used = claims_section(study.claims_study, charts) if study.claims_study else None
    found = explorer(study, page)
    return (
        environment(template.parent)
        .get_template(template.name)
        .render(
            study=study,
            summary=findings.summary(study),
            sections=shown,
            annotations=labelled,
            acu=used,
            explorer=found,
            explorer_index=explorer_json(found),
            **origin(study),
            style=inside(template.parent, *STYLES),
            script=inside(template.parent, *SCRIPTS),
            bundle=bundle(),
            charts=Markup(script_json(charts)),
        )
    )


def _section(study: Study, section: Section, place: int, charts: dict[str, Spec]) -> dict[str, Any]:
    anchor = f"s{place}"
    points, rows = MOST_POINTS // len(study.sections) // 2, MOST_ROWS // len(study.sections) // 5
    look: dict[str, Look] = looks(section.grid.retrievers)
    drawn = {
        "utility": lines.utility_by_k(section, look, "page"),
        "distribution": distribution.utility_by_query(section, look, "page", points),
        "scatter": scatter.utility_by_measure(section, look, "page", points),
        "correlation": lines.correlation_by_k(section, look, "page", 2 * points),
        "position": position.utility_by_position(section, look, "page"),
        "spread": spread.spread_by_k(section, look, "page"),
        "lengths": lengths.length_by_k(section, look, "page"),
        "ends": lengths.ends_by_k(section, look, "page"),
        "cost": cost.tokens_by_k(section, look, "page"),
    }
    charts |= {f"{anchor}-{name}": packed(spec) for name, spec in drawn.items()}
    return {
        "anchor": anchor,
        "section": section,
        "findings": findings.findings(section, study.reference_retriever),
        "of_answers": answer_findings.findings(section),
        "legend": legend(study.reference_retriever, section.grid.orderings),
        "legend_unseen": legend(study.reference_retriever, section.grid.orderings, unseen=True),
        "table1": table1(section, section.grades),
        "table1_unseen": table1(section, section.unseen),
        "thinned": scatter.queries_of(section).height > points,
        "correlation": tables.correlation_table(section, rows),
        "differences": statistics_tables.differences_table(section, rows),
        "significance": tables.significance_table(section, rows),
        "copying": tables.copying_table(section),
        "variance": statistics_tables.variance_table(section, rows // 2),
        "lengths": answer_tables.length_table(section, rows),
        "cost": answer_tables.cost_table(section),
        "cells": tables.cell_table(section, rows),
        "used": used_table(section),
    }
