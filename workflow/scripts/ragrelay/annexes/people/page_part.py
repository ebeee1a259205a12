"""The part of a study's page on people's scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.people.outputs import OUTPUTS, PARTS
from ragrelay.annexes.people.sentences import people_answer, people_sentences
from ragrelay.annexes.people.study import TABLES, PeopleStudy, read_people
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.outputs import Table
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: Any, params: Any) -> list[PeopleStudy]:
    """Return a study per dataset, or none. ``params``: People.drawn of the rules."""
    return read_people({name: files[name] for name in TABLES if name in files}, params)


def values(part: Sequence[PeopleStudy], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables of ``people.html.j2``. Charts are added to those of ``page``."""
    most = {Table: most_rows // 6 // len(part)}
    units = [
        {
            "anchor": f"people{place}",
            "where": study.title,
            "answer": people_answer(study),
            "sentences": people_sentences(study),
            "parts": page.parts(study, OUTPUTS, PARTS, f"people{place}", most),
        }
        for place, study in enumerate(part, 1)
    ]
    return {"people": units}


def opening(part: Sequence[PeopleStudy]) -> list[str]:
    """Return no sentences."""
    return []


def warnings(part: Sequence[PeopleStudy]) -> list[str]:
    """Return no warnings: the counts of missing scores give them."""
    return []
