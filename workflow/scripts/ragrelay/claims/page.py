"""The part on claims of a study's page, or a page of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.claims.outputs import OUTPUTS, PARTS
from ragrelay.claims.sentences import sentences
from ragrelay.claims.study import ClaimsStudy
from ragrelay.display.charts import Spec
from ragrelay.display.page_parts import page_parts
from ragrelay.display.script_json import script_json
from ragrelay.display.templates import FOLDER, bundle, environment, inside
from ragrelay.io.atomic_files import write_text

TEMPLATE = FOLDER / "acu.html.j2"
ANCHOR = "acu"


def section(study: ClaimsStudy, charts: dict[str, Spec]) -> dict[str, Any]:
    """What ``acu_section.html.j2`` is filled with; its charts are added to ``charts``."""
    return {
        "anchor": ANCHOR,
        "units": [sentences(study, unit) for unit in study.units],
        "parts": page_parts(study, OUTPUTS, PARTS, ANCHOR, charts, {}, {}),
    }


def report_acu(
    name: str,
    study: ClaimsStudy,
    page: str | Path,
    template: str | Path = TEMPLATE,
    notices: Sequence[str] = (),
    reproduction: Mapping[str, Any] | None = None,
) -> None:
    """Write the page of context use of the study ``name``; styles and scripts are in the folder of ``template``.

    ``notices``: what a reader must know of its generators. ``reproduction``: what ``reproduction.html.j2`` is filled
    with, if the study is compared with published means.
    """
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
            reproduction=reproduction,
            notices=notices,
            style=inside(folder, "page.css", "print.css"),
            script=inside(folder, "tables.js", "charts.js"),
            bundle=bundle(),
            charts=Markup(script_json(charts)),
        )
    )
    write_text(text, page)
