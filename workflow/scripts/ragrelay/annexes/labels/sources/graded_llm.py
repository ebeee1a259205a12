"""Label passages with a generator's grades from 0 to 3."""

from typing import ClassVar

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.judge_source import JudgeSource
from ragrelay.annexes.labels.source import Graded, SourceData
from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name

GRADES = (0, 1, 2, 3)


class GradedLlm(JudgeSource, Graded):
    """A generator grades each passage from 0 to 3, the scale of TREC Deep Learning and UMBRELA (Upadhyay et al., 2024).
    The label is the most probable grade; nDCG uses the expected grade, computed from the probabilities of all four
    digits.
    """

    columns: ClassVar[tuple[str, ...]] = ("label", "gain")

    prompt: Name = Field(
        "grades",
        description="Name of a template in `config/prompts/` whose k-shot part asks for a grade for the passage.",
    )
    prefix: str = Field(
        "",
        description="Text with which the reply must begin, before the digit, such as `##final score: `. A "
        "raw-completion template can end with this text instead, which takes one pass over the prompt rather "
        "than four.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the configured lowest relevant grade is one of the judge's grades."""
        if self.relevant is not None and self.relevant > GRADES[-1]:
            raise InputError(f"{place}.relevant'", str(self.relevant), f"at most {GRADES[-1]}, the highest grade")
        super().check(place, study)

    def words(self) -> list[str]:
        """Return the grades' digits."""
        return [str(grade) for grade in GRADES]

    def begins(self) -> str:
        """Return the prefix that must precede the digit in a reply."""
        return self.prefix

    def judged(self) -> list[pl.Expr]:
        """Compute the likeliest grade (the lowest if several are equally likely) and the expected grade."""
        shares = [pl.col("shares").list.get(grade) for grade in GRADES]
        expected = pl.sum_horizontal(share * grade for share, grade in zip(shares, GRADES, strict=True))
        return [pl.col("shares").list.arg_max().cast(pl.Float64).alias("label"), expected.alias("gain")]

    def highest(self, data: SourceData) -> float:
        """Return 3, the highest grade."""
        return float(GRADES[-1])

    def gains(self, data: SourceData) -> pl.DataFrame:
        """Return each passage's expected grade."""
        return data.table.select("qid", "docno", "gain")
