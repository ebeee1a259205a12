"""Score answers by a generator's grades."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from ragrelay.base.settings import Name
from ragrelay.scoring.judge_scorer import JudgeCase, JudgeQuestion, JudgeScorer

HIGHEST = 3
"""The best grade."""
PROMPTS = {"yes_no": "answer_yes_no", "grades": "answer_grades"}
ALONE = "_alone"
"""Suffix of the names of templates without references."""


class LlmJudge(JudgeScorer):
    """A generator judges how well the answer answers the query, given references. The score is its probability of yes,
    divided by its probability of yes or no; or its expected grade from 0 to 3, divided by 3. Empty answers score 0."""

    references: Literal["judged", "gold", "none"] = Field(  # type: ignore[assignment]
        "judged",
        description="What the judge sees besides query and answer: `judged`, the best of the dataset's judged passages "
        "at or above a grade, `gold`, the query's gold answers, or `none`.",
    )
    best: int = Field(
        3,
        ge=1,
        description="How many references the judge sees: those with the highest label, ties broken by docno.",
    )
    scale: Literal["yes_no", "grades"] = Field("yes_no", description="Judge by yes or no, or by grades from 0 to 3.")
    prompt: Name | None = Field(  # type: ignore[assignment]
        None,
        description="Name of a template in `config/judge_prompts/`; by default `answer_yes_no` or `answer_grades`, "
        "to which `references: none` adds the suffix `_alone`.",
    )

    @classmethod
    def completed(cls, definition: Mapping[str, object], folder: Path) -> dict[str, object]:
        """Fill in the default template for the scale."""
        filled = super().completed(definition, folder)
        ending = ALONE if filled.get("references") == "none" else ""
        return {**filled, "prompt": filled.get("prompt") or PROMPTS[filled.get("scale", "yes_no")] + ending}

    def placeholders(self) -> set[str]:
        """Return query, answer and, if the judge sees them, references."""
        return {"query", "answer"} | ({"references"} if self.references != "none" else set())

    def words(self) -> list[str]:
        """Return yes and no, or the digits."""
        return ["yes", "no"] if self.scale == "yes_no" else [str(grade) for grade in range(HIGHEST + 1)]

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Return one question; none about an empty answer."""
        if not case.answer.strip():
            return []
        return [JudgeQuestion({"query": case.query, "answer": case.answer, "references": case.references[: self.best]})]

    def measured(self) -> list[pl.Expr]:
        """Return the share of yes, or the grades' mean weighted by their shares; 0 for an empty answer."""
        worth = [1.0, 0.0] if self.scale == "yes_no" else [grade / HIGHEST for grade in range(HIGHEST + 1)]
        value = pl.sum_horizontal(pl.col("shares").list.get(place) * credit for place, credit in enumerate(worth))
        asked = pl.col("shares").first().is_not_null()
        return [pl.when(asked).then(value.first()).otherwise(0.0).alias("f1")]
