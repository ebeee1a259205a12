"""The page of predictions: a section per dataset, generator and scorer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.display.charts import Spec
from ragrelay.display.outputs import Table
from ragrelay.display.page_parts import page_parts
from ragrelay.display.script_json import script_json
from ragrelay.display.templates import FOLDER, bundle, environment, inside
from ragrelay.io.atomic_files import write_text
from ragrelay.prediction.outputs import PARTS, shown_outputs
from ragrelay.prediction.sentences import sentences
from ragrelay.prediction.study import PredictedStudy

TEMPLATE = FOLDER / "predict.html.j2"
MOST_ROWS = 6_000
"""Of long tables on the whole page, shared by its sections."""


def section(study: PredictedStudy, place: int, most_rows: int, charts: dict[str, Spec]) -> dict[str, Any]:
    """What the template shows of one section; its charts are added to ``charts``."""
    anchor = f"p{place}"
    outputs = shown_outputs(study["prediction_transfer"].height > 0)
    return {
        "anchor": anchor,
        "findings": sentences(study),
        "parts": page_parts(study, outputs, PARTS, anchor, charts, {Table: most_rows}, {}),
    }


def report_predictions(
    name: str,
    studies: Sequence[PredictedStudy],
    page: str | Path,
    template: str | Path = TEMPLATE,
    notices: Sequence[str] = (),
) -> None:
    """Write the page of the study ``name``; styles and scripts are next to ``template``.

    ``notices``: what a reader must know of its generators.
    """
    charts: dict[str, Spec] = {}
    folder = Path(template).parent
    most = MOST_ROWS // len(studies)
    text = (
        environment(folder)
        .get_template(Path(template).name)
        .render(
            name=name,
            title=f"Predicting utility in {name}",
            sections=[section(study, place, most, charts) for place, study in enumerate(studies, 1)],
            notices=notices,
            style=inside(folder, "page.css", "print.css"),
            script=inside(folder, "tables.js", "charts.js"),
            bundle=bundle(),
            charts=Markup(script_json(charts)),
        )
    )
    write_text(text, page)
