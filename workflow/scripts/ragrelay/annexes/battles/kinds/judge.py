"""Let a generator decide which of two answers is better."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ragrelay.annexes.battles.battle import Fought
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name
from ragrelay.collection.source import check_gold
from ragrelay.generation.generator import check_judge
from ragrelay.prompting.templates import Template
from ragrelay.questions.judging.templates import load_judge_template

PROMPT, ALONE = "pair_answers", "_alone"
PARTS = {"query", "first", "second"}
"""The placeholders that every template of a battle's judge must have."""


class Judge(Fought):
    """A generator sees the query and the two answers, once in each order. The vote is the most probable of the words
    first, second and tie. Identical answers tie and an empty answer loses, without a call to the generator."""

    generator: Name = Field(description="Name of the generator that votes; it must not write thoughts.")
    references: Literal["judged", "gold", "none"] = Field(
        "judged",
        description="What the judge sees besides the answers: the query's `judged` passages, its `gold` answers, or "
        "`none`.",
    )
    best: int = Field(
        3,
        ge=1,
        description="Number of references that the judge sees: those with the highest labels, with ties broken by "
        "docno.",
    )
    prompt: Name | None = Field(
        None,
        description="Name of a template in `config/judge_prompts/`; by default `pair_answers`, or `pair_answers_alone` "
        "with `references: none`.",
    )
    prefix: str = Field("", description="Text with which the reply must begin, before the word.")

    @property
    def template(self) -> str:
        """The name of the template that the judge uses."""
        return self.prompt or PROMPT + (ALONE if self.references == "none" else "")

    def placeholders(self) -> set[str]:
        """Return the placeholders that the judge's template must contain."""
        return PARTS if self.references == "none" else {*PARTS, "references"}

    def judges(self) -> list[str]:
        return [self.generator]

    def check(self, place: str, study: CheckedStudy) -> None:
        super().check(place, study)

        def template() -> Template:
            return Template(system_kshot=load_judge_template(self._path(study), self.placeholders()).system)

        check_judge(f"{place}.generator'", self.generator, template, study, self.prefix)
        load_judge_template(self._path(study), self.placeholders())
        if self.references == "gold":
            check_gold(study, "gold answers, which a battle with references: gold needs")

    def parts(self, study: CheckedStudy) -> Mapping[str, Any]:
        """Return the parts of the judge's template that are used to build prompts."""
        parts = vars(load_judge_template(self._path(study), self.placeholders()))
        return {name: part for name, part in parts.items() if name != "swapped"}

    def _path(self, study: CheckedStudy) -> Path:
        return study.template_path(self.template, "judge_prompts")
