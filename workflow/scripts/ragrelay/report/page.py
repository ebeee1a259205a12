"""The page: one HTML file with its styles, scripts, charts and tables inside, that asks the network for nothing."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
import yaml
from markupsafe import Markup

from ragrelay.report import findings, lines, scatter, tables
from ragrelay.report.charts import Spec
from ragrelay.report.numbers import count, number
from ragrelay.report.packing import packed
from ragrelay.report.palette import Look, looks
from ragrelay.report.study import Section, Study
from ragrelay.report.table1 import legend, table1

TEMPLATE = Path(__file__).parents[3] / "report" / "page.html.j2"
"""The template of a checkout; page.css and page.js stand beside it."""

MOST_POINTS = 18_000
MOST_ROWS = 9_000
"""Points of scatter plots and rows of long tables on the whole page, shared by its sections: it stays below 10 MB."""

LEFT_OUT = ("stage", "dataset", "what", "count", "detail")
KNOWN = ("config", "versions", "generators", "jobs")
TOTALS = ("asked", "held", "made", "prompt_tokens", "cached_tokens", "answer_tokens", "seconds")


def render_page(study: Study, template: Path = TEMPLATE) -> str:
    """The page as HTML. What comes from data is escaped: in text by Jinja, in scripts by ``script_json``."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = number
    charts: dict[str, Spec] = {}
    shown = [_section(study, section, place, charts) for place, section in enumerate(study.sections, 1)]
    found = [record for record in study.left_out if record.get("count")]
    return environment.get_template(template.name).render(
        study=study,
        summary=findings.summary(study),
        sections=shown,
        left_out=tables.records_table("What was left out, by stage", found, LEFT_OUT),
        nothing_found=len(study.left_out) - len(found),
        **_provenance(study.provenance),
        style=_inside(template.with_name("page.css")),
        script=_inside(template.with_name("page.js")),
        bundle=Markup(_bundle()),
        charts=script_json(charts),
    )


def script_json(value: Any) -> Markup:
    """JSON that may stand in a script element: no ``<`` in it, so nothing in a name can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _section(study: Study, section: Section, place: int, charts: dict[str, Spec]) -> dict[str, Any]:
    anchor = f"s{place}"
    points, rows = MOST_POINTS // len(study.sections), MOST_ROWS // len(study.sections) // 3
    look: dict[str, Look] = looks(section.grid.retrievers)
    charts[f"{anchor}-utility"] = packed(lines.utility_by_k(section, look, "page"))
    charts[f"{anchor}-scatter"] = packed(scatter.utility_by_measure(section, look, "page", points))
    charts[f"{anchor}-correlation"] = packed(lines.correlation_by_k(section, look, "page", points))
    return {
        "anchor": anchor,
        "section": section,
        "findings": findings.findings(section, study.reference_retriever),
        "legend": legend(study.reference_retriever, section.grid.orderings),
        "legend_unseen": legend(study.reference_retriever, section.grid.orderings, unseen=True),
        "table1": table1(section, section.grades),
        "table1_unseen": table1(section, section.unseen),
        "thinned": scatter.queries_of(section).height > points,
        "correlation": tables.correlation_table(section, rows),
        "significance": tables.significance_table(section, rows),
        "copying": tables.copying_table(section),
        "cells": tables.cell_table(section, rows),
    }


def _provenance(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of provenance.json; what the file lacks is left out."""
    jobs = provenance.get("jobs") or []
    sums = {name: sum(job.get(name) or 0 for job in jobs) for name in TOTALS if any(name in job for job in jobs)}
    generators = [{"generator": name} | dict(about) for name, about in (provenance.get("generators") or {}).items()]
    config = provenance.get("config")
    return {
        "facts": [(name, str(value)) for name, value in provenance.items() if name not in KNOWN and value is not None],
        "generators": tables.records_table("Generators", generators),
        "jobs": tables.records_table("Generation, per job", jobs, ("dataset", "generator", "retriever")),
        "totals": [
            (name.replace("_", " "), count(value) if isinstance(value, int) else number(value, 1))
            for name, value in sums.items()
        ],
        "versions": tables.records_table(
            "Versions", [{"package": name, "version": str(v)} for name, v in (provenance.get("versions") or {}).items()]
        ),
        "config": yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100) if config else "",
    }


def _inside(path: Path) -> Markup:
    """A file of this project, to stand in the page as it is."""
    return Markup(path.read_text(encoding="utf-8"))


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, from vl-convert (their licence: BSD-3-Clause)."""
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
