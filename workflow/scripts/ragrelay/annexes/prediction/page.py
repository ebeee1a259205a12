"""Write the prediction page, with a section per dataset, generator and scorer."""

from collections.abc import Sequence
from pathlib import Path

from ragrelay.annexes.prediction.outputs import PARTS, shown_outputs
from ragrelay.annexes.prediction.sentences import prediction_answers, prediction_sentences
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.base.io.atomic_files import write_text
from ragrelay.report.display.outputs import Table
from ragrelay.report.display.page import Page
from ragrelay.report.display.palette import looks

TEMPLATE = Path(__file__).with_name("templates") / "predict.html.j2"
MOST_ROWS = 6_000
"""Maximum number of rows of long tables on the page, shared by the page's sections."""


def report_predictions(
    name: str,
    studies: Sequence[PredictedStudy],
    path: str | Path,
    template: str | Path = TEMPLATE,
    notices: Sequence[str] = (),
) -> None:
    """Write the prediction page for the study ``name``. Styles and scripts come from the folder of ``template``.

    ``notices``: facts about the generators that readers need to know.
    """
    question = "Can utility be predicted without judgements?"
    retrievers = looks(list(dict.fromkeys(ranking for study in studies for ranking in study.rankings)))
    page = Page(name, question, prediction_answers(studies), {"main": "Predictions"}, notices, retrievers=retrievers)
    sections = []
    for place, study in enumerate(studies, 1):
        outputs, most = shown_outputs(study["prediction_transfer"].height > 0), {Table: MOST_ROWS // len(studies)}
        parts = page.parts(study, outputs, PARTS, f"p{place}", most)
        sections.append({"anchor": f"p{place}", "findings": prediction_sentences(study), "parts": parts})
    write_text(page.html(Path(template), sections=sections), path)
