"""The report's data about human scores of a dataset's answers."""

from collections.abc import Mapping
from typing import ClassVar

from ragrelay.annexes.people.assessors import COLUMNS as ASSESSORS
from ragrelay.annexes.people.estimates import COLUMNS as ESTIMATES
from ragrelay.annexes.people.following import AGREEMENT_COLUMNS, COMPARISON_COLUMNS
from ragrelay.report.display.shown_tables import ShownTables


class PeopleStudy(ShownTables):
    """Human scores of a dataset's answers. ``params``: values for the page (see rules.People.drawn)."""

    COLUMNS: ClassVar = {
        "people_estimates": ESTIMATES,
        "people_agreement": AGREEMENT_COLUMNS,
        "people_comparisons": COMPARISON_COLUMNS,
        "assessors": ASSESSORS,
    }

    @property
    def people(self) -> str:
        """Name of the scorer with the human scores."""
        return str(self.params["people"])

    @property
    def scorers(self) -> tuple[str, ...]:
        """The grid's scorers, except the scorer with the human scores."""
        return tuple(self.params["scorers"])

    @property
    def primary(self) -> Mapping[str, object] | None:
        """The primary comparison, or None if the study has only one retriever."""
        primary: Mapping[str, object] | None = self.params["primary"][self.keys["dataset"]]
        return primary

    @property
    def title(self) -> str:
        return f"{self.keys['dataset']}, scores of {self.people}"

    @property
    def generators(self) -> list[str]:
        """The names of the generators, in the order of the tables."""
        return self["people_estimates"]["generator"].unique(maintain_order=True).to_list()
