"""Declare the config key for human scores."""

from pydantic import Field

from ragrelay.base.settings import Name, Settings


class PeopleSettings(Settings):
    """Human scores for some answers, with which the grid's other scorers are compared."""

    scorer: Name | None = Field(
        None,
        description="Name of the scorer in `grid.scorers` with the human scores, which must be of kind `file`. If "
        "omitted, no scorer is compared with human scores.",
    )
    to_score: int = Field(
        60, ge=1, description="Number of answers per dataset that `snakemake to_score` draws for people to score next."
    )
    seed: int = Field(1, ge=0, description="Seed for drawing the answers; a different seed draws different answers.")


class PeopleKeys(Settings):
    """The config key for human scores."""

    people: PeopleSettings | None = None
