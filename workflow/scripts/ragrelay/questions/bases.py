"""Define base classes for questions to the grid's generators, with one part per dataset, generator and retriever."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.questions.question import Inputs, Key, Question

if TYPE_CHECKING:
    from ragrelay.questions.question import StudyOfRules


class AboutRetrievers(Question):
    """A question about each retriever's contexts."""

    key = "{dataset}/{generator}/{retriever}"

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return study.retriever_jobs(study.asked_generators())

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        return key["generator"]

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        return {"queries": study.files.queries, "contexts": study.files.contexts}


class AboutAnswers(AboutRetrievers):
    """A question about each answer generated from a retriever's contexts. ``job.answers`` reads the answers."""

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        return {**self.planned_inputs(study, key), "answers": study.files.answers.each(study.cells)}

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        prompts = study.files.prompts.at(template=study.generation.template_of(key["generator"]))
        return {**super().inputs(study, key), "prompts": prompts.each(study.contexts)}

    def planned_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {**self.settings(study, key), "answers_of": key["generator"]}

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        return {"answers": study.files.answers, "prompts": study.files.prompts}


class AboutPairs(AboutRetrievers):
    """A question about pairs of answers to the same query: a retriever's answer and an opponent's answer.

    Use ``answers.pair_answers`` to read the retriever's or the opponent's answers. By default, the opponent is the
    reference retriever of the primary comparison.
    """

    key = "{dataset}/{generator}/{retriever}/{against}"
    ask_key = "{dataset}/{generator}"

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        pairs = ((job, study.primary(job["dataset"])) for job in super().jobs(study))
        return [
            {**job, "against": primary["reference"]}
            for job, primary in pairs
            if primary is not None and job["retriever"] != primary["reference"]
        ]

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        answers = study.files.answers.each(_of_sides(key, study.cells, study.zeroshot_cells))
        return {**self.planned_inputs(study, key), "answers": answers}

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        prompts = study.files.prompts.at(template=study.generation.template_of(key["generator"]))
        contexts = _of_sides(key, study.contexts, study.zeroshot_cells[:1])
        inputs: Inputs = {"queries": study.files.queries, "prompts": prompts.each(contexts)}
        if key["generator"] not in study.generation.imported:
            return inputs
        return {**inputs, "answers": study.files.answers.each(_of_sides(key, study.cells, study.zeroshot_cells))}

    def planned_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {**self.settings(study, key), "answers_of": key["generator"]}

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        return {"answers": study.files.answers, "prompts": study.files.prompts}


def _of_sides(
    key: Key, cells: Sequence[Mapping[str, str | int]], zeroshot: Sequence[Mapping[str, str | int]]
) -> list[Mapping[str, str | int]]:
    """Return the retriever's and the opponent's cells."""
    return [
        {**cell, "retriever": name}
        for name in (key["retriever"], key["against"])
        for cell in (zeroshot if name == ZEROSHOT else cells)
    ]
