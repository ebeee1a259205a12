"""The annex for human scores."""

from ragrelay.annexes.people.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.people.settings import PeopleKeys
from ragrelay.base.annex import Annex
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy


class People(Annex):
    """Compare scorers with human scores of some answers, and estimate mean human scores over all answers (key `people`,
    target `to_score`).
    """

    order = 10
    keys = PeopleKeys
    reserved = ("to_score",)
    kept = ("to_score",)
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    hashes = "ragrelay.annexes.people.data_hashes:score_hashes"
    shown = "compare_people"
    template = "people.html.j2"
    link = ("people", "Human scores")

    def check(self, study: CheckedStudy) -> None:
        name, place = study.config.get("people", {}).get("scorer"), "config key 'people.scorer'"
        if name is None:
            return
        from ragrelay.scoring.scorer import SCORER_KINDS

        from_file = [one for one in study.grid.scorers if SCORER_KINDS.of(study.config["scorers"][one]).from_file]
        if name not in from_file:
            known = one_of(from_file, name, what="a scorer of kind file in grid.scorers")
            raise InputError(place, repr(name), known)

    def planned(self, study: CheckedStudy) -> list[str]:
        return self.of_rules(study).width_lines()

    def data(self, study: CheckedStudy) -> list[str]:
        return list(self.of_rules(study).from_files)

    def page_params(self, study: CheckedStudy) -> object:
        return self.of_rules(study).drawn
