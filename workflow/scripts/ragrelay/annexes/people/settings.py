"""Declare the key of people's scores."""

from pydantic import Field

from ragrelay.base.settings import Name, Settings


class PeopleSettings(Settings):
    """People's scores of some answers, which other scorers of the grid are compared with."""

    scorer: Name | None = Field(
        None,
        description="The scorer of `grid.scorers`, of kind `file`, whose scores are people's. Where absent, nothing is "
        "compared with people.",
    )
    to_score: int = Field(
        60, ge=1, description="Answers that `snakemake to_score` draws for people to score next, of each dataset."
    )
    seed: int = Field(1, ge=0, description="Seed of this draw. Another one draws other answers.")


class PeopleKeys(Settings):
    """People's scores of answers."""

    people: PeopleSettings | None = None
