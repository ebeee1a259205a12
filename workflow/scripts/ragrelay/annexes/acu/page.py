"""Show a claims study as a section of a study's page, or as a separate page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ragrelay.annexes.acu.outputs import OUTPUTS, PARTS
from ragrelay.annexes.acu.sentences import claim_answer, claim_sentences
from ragrelay.annexes.acu.study import ClaimsStudy
from ragrelay.base.io.atomic_files import write_text
from ragrelay.report.display.page import Page

TEMPLATE = Path(__file__).with_name("templates") / "acu.html.j2"
ANCHOR = "acu"


def claims_section(study: ClaimsStudy, page: Page) -> dict[str, object]:
    """Return the variables for the template ``acu_section.html.j2``, and add the study's charts to ``page``."""
    return {
        "anchor": ANCHOR,
        "answers": [claim_answer(study, unit) for unit in study.units],
        "units": [claim_sentences(study, unit) for unit in study.units],
        "parts": page.parts(study, OUTPUTS, PARTS, ANCHOR),
    }


def report_acu(
    name: str,
    study: ClaimsStudy,
    path: str | Path,
    template: str | Path = TEMPLATE,
    notices: Sequence[str] = (),
    beside: Mapping[str, tuple[Any, Any]] = MappingProxyType({}),
) -> None:
    """Write the claims page of the study ``name``; styles and scripts are read from the folder of ``template``.

    ``notices``: facts about the generators that readers need to know. ``beside``: sections of other annexes, keyed by
    template; each value is a pair of the annex's module ``page_part`` and the data returned by that module's ``read``.
    """
    question = "How far does evidence move the model?"
    page = Page(name, question, [claim_answer(study, unit) for unit in study.units], {"main": "Context use"}, notices)
    values = {name: value for module, part in beside.values() for name, value in module.values(part, page, 0).items()}
    html = page.html(Path(template), acu=claims_section(study, page), annex_templates=list(beside), **values)
    write_text(html, path)
