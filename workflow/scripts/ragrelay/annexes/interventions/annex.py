"""The annex for interventions, which change single passages in contexts."""

from collections.abc import Mapping
from typing import ClassVar

from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS
from ragrelay.annexes.interventions.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.interventions.settings import InterventionKeys
from ragrelay.base.annex import Annex, GenerationRule, LeftOut
from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.study_file import StudyFile


class Interventions(Annex):
    """Change single passages in contexts, and measure the effect on the answers (config key `interventions`)."""

    order = 10
    extends: ClassVar = {"Intervention": "ragrelay.annexes.interventions.intervention"}
    keys = InterventionKeys
    kinds: ClassVar = {"interventions": INTERVENTION_KINDS}
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    generates = ("generate_changed_answers",)
    shown = "analyse_interventions"
    template = "interventions.html.j2"
    link = ("interventions", "One passage")

    def check(self, study: CheckedStudy) -> None:
        from ragrelay.base.vocabulary.subtopic_measures import is_subtopic_measure  # loads ir_measures

        for name, definition in study.config.get("interventions", {}).items():
            INTERVENTION_KINDS.of(definition).check(f"config key 'interventions.{name}", study)
            if is_subtopic_measure(first := study.grid.measures[0]):
                found = f"{first!r} as the first measure, although changed contexts have no subtopics"
                raise InputError("config key 'grid.measures'", found, "a measure of judged passages in first place")

    def explored(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        return self.of_rules(study).passage_effects(section)

    def left_out(self, study: CheckedStudy) -> LeftOut:
        pattern = self.files.left_out_of_changes
        jobs = self.of_rules(study).jobs
        answers = self.files.left_out_of_changed_answers
        of_answers = [{**job, "generator": name} for job in jobs for name in study.asked]
        return (
            {
                "changes": ("interventions", pattern, pattern.each(jobs)),
                "changed_answers": ("interventions", answers, answers.each(of_answers)),
            }
            if jobs
            else {}
        )

    def page_modules(self, study: CheckedStudy) -> list[str]:
        modules: list[str] = self.of_rules(study).modules
        return modules

    def page_params(self, study: CheckedStudy) -> object:
        grid = study.grid
        return {
            name: {**one, "k": INTERVENTION_KINDS.of(one).depths(grid.k, grid.orderings)}
            for name, one in self.of_rules(study).definitions.items()
        }

    def generation(self, study: CheckedStudy) -> list[GenerationRule]:
        retrievers = self.of_rules(study).retrievers
        prompts, receipt = ("changed", self.files.changed_prompts), self.files.changed_receipt
        needed, rule = bool(retrievers), "generate_changed_answers"
        return [
            {"rule": rule, "prompts": prompts, "receipt": receipt, "leaves_out": True, "needed": needed,
             "retrievers": retrievers}
        ]  # fmt: skip
