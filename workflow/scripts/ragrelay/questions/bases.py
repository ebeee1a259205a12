"""Base classes of questions with one part per dataset, generator and retriever, which ask the generator itself."""

from typing import Any

from ragrelay.questions.question import Inputs, Key, Question, StudyOfRules


class AboutRetrievers(Question):
    """A question about each retriever's contexts."""

    key = "{dataset}/{generator}/{retriever}"

    def jobs(self, study: StudyOfRules) -> list[Key]:
        return study.retriever_jobs(study.asked_generators())

    def asker(self, study: StudyOfRules, key: Key) -> str:
        return key["generator"]

    def inputs(self, study: StudyOfRules, key: Key) -> Inputs:
        return {"queries": study.files.queries, "contexts": study.files.contexts}


class AboutAnswers(AboutRetrievers):
    """A question about each answer to a retriever's contexts. ``job.answers`` reads the answers."""

    def inputs(self, study: StudyOfRules, key: Key) -> Inputs:
        return {**self.planned_inputs(study, key), "answers": study.files.answers.each(study.cells)}

    def planned_inputs(self, study: StudyOfRules, key: Key) -> Inputs:
        prompts = study.files.prompts.at(template=study.generation.template_of(key["generator"]))
        return {**super().inputs(study, key), "prompts": prompts.each(study.contexts)}

    def planned_settings(self, study: StudyOfRules, key: Key) -> dict[str, Any]:
        return {**self.settings(study, key), "answers_of": key["generator"]}

    def patterns(self, study: StudyOfRules, key: Key) -> dict[str, str]:
        return {"answers": study.files.answers, "prompts": study.files.prompts}
