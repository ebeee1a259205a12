"""The section of context use, in the study's page or on one of its own, and its figures as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.claims.figures import FIGURES
from ragrelay.claims.page_tables import correlation_table, said_table, token_table, usage_table
from ragrelay.claims.sentences import sentences
from ragrelay.claims.study import ClaimsStudy
from ragrelay.display.charts import Spec
from ragrelay.display.packing import packed
from ragrelay.display.script_json import script_json
from ragrelay.display.templates import FOLDER, bundle, environment, inside
from ragrelay.io.atomic_files import write_text
from ragrelay.report.draw import draw

TEMPLATE = FOLDER / "acu.html.j2"
ANCHOR = "acu"


def section(study: ClaimsStudy, charts: dict[str, Spec]) -> dict[str, Any]:
    """What ``acu_section.html.j2`` is filled with; its charts are added to ``charts``."""
    charts |= {name: packed(figure(study, "page")) for name, figure in FIGURES.items()}
    return {
        "anchor": ANCHOR,
        "units": [sentences(study, unit) for unit in study.units],
        "usage": usage_table(study),
        "said": said_table(study),
        "correlations": correlation_table(study),
        "tokens": token_table(study),
    }


def write_page(name: str, study: ClaimsStudy, page: str | Path, template: str | Path = TEMPLATE) -> None:
    """Write the page of context use of the study ``name``; styles and scripts stand beside ``template``."""
    charts: dict[str, Spec] = {}
    folder = Path(template).parent
    shown = section(study, charts)
    text = (
        environment(folder)
        .get_template(Path(template).name)
        .render(
            name=name,
            title=f"Context use in {name}",
            acu=shown,
            style=inside(folder, "page.css", "print.css"),
            script=inside(folder, "tables.js", "charts.js"),
            bundle=bundle(),
            charts=Markup(script_json(charts)),
        )
    )
    write_text(text, page)


def draw_figures(study: ClaimsStudy, paths: Mapping[str, Sequence[str | Path]]) -> None:
    """Draw the figures of FIGURES to files, whose suffix names the format."""
    for name, files in paths.items():
        spec = FIGURES[name](study, "paper")
        for path in files:
            draw(spec, Path(path))
