"""Score answers by asking a generator how good the answers are."""

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
    """A generator judges how well the answer answers the query, given references. The score is the judge's probability
    of yes, divided by the judge's probability of yes or no; with `scale: grades`, the score is the expected grade from
    0 to 3, divided by 3. Empty answers score 0.
    """

    references: Literal["judged", "gold", "none"] = Field(  # type: ignore[assignment]
        "judged",
        description="What the judge sees besides query and answer: the query's best passages among those judged at "
        "or above a reference grade (`judged`), the query's gold answers (`gold`), or nothing else "
        "(`none`).",
    )
    best: int = Field(
        3,
        ge=1,
        description="Number of references that the judge sees: those with the highest labels, with ties broken by "
        "docno.",
    )
    scale: Literal["yes_no", "grades"] = Field(
        "yes_no",
        description="Whether the judge replies with yes or no (`yes_no`) or with a grade from 0 to 3 (`grades`).",
    )
    prompt: Name | None = Field(  # type: ignore[assignment]
        None,
        description="Name of a judge template in `config/judge_prompts/`. Defaults to `answer_yes_no` or "
        "`answer_grades`, depending on `scale`; with `references: none`, the suffix `_alone` is added.",
    )

    @classmethod
    def completed(cls, definition: Mapping[str, object], folder: Path) -> dict[str, object]:
        """Fill in the judge's default template, which depends on the scale and on whether there are references."""
        filled = super().completed(definition, folder)
        ending = ALONE if filled.get("references") == "none" else ""
        return {**filled, "prompt": filled.get("prompt") or PROMPTS[filled.get("scale", "yes_no")] + ending}

    def placeholders(self) -> set[str]:
        """Return the placeholders for the query, the answer and, if the judge sees references, the references."""
        return {"query", "answer"} | ({"references"} if self.references != "none" else set())

    def words(self) -> list[str]:
        """Return yes and no, or the digits of the grades."""
        return ["yes", "no"] if self.scale == "yes_no" else [str(grade) for grade in range(HIGHEST + 1)]

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Return a question about the answer, or no question if the answer is empty."""
        if not case.answer.strip():
            return []
        return [JudgeQuestion({"query": case.query, "answer": case.answer, "references": case.references[: self.best]})]

    def measured(self) -> list[pl.Expr]:
        """Return the share of yes (relative to yes or no) or the expected grade / 3, but 0 for an empty answer."""
        worth = [1.0, 0.0] if self.scale == "yes_no" else [grade / HIGHEST for grade in range(HIGHEST + 1)]
        value = pl.sum_horizontal(pl.col("shares").list.get(place) * credit for place, credit in enumerate(worth))
        asked = pl.col("shares").first().is_not_null()
        return [pl.when(asked).then(value.first()).otherwise(0.0).alias("f1")]
