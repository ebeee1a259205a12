"""The human-scores section of a study's page."""

from collections.abc import Mapping, Sequence

from ragrelay.annexes.people.outputs import OUTPUTS, PARTS
from ragrelay.annexes.people.sentences import people_answer, people_sentences, people_warnings
from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[PeopleStudy]:
    """Return the tables for each dataset with human scores. ``params``: the value of rules.People.drawn."""
    return PeopleStudy.each(files, params)


def values(part: Sequence[PeopleStudy], page: Page, most_rows: int) -> dict[str, object]:
    """Return the variables for the template ``people.html.j2``, and add the charts about human scores to ``page``."""
    return {"people": page.units("people", part, people_answer, people_sentences, OUTPUTS, PARTS, most_rows)}


def warnings(part: Sequence[PeopleStudy]) -> list[str]:
    """Warn about each dataset with comparisons in which different people scored the two sides."""
    return [warning for study in part for warning in people_warnings(study)]
