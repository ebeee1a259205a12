"""Declare the key of rechecks."""

from pydantic import Field

from ragrelay.base.settings import Settings


class RecheckSettings(Settings):
    """How `snakemake recheck` draws the answers that it makes again."""

    answers: int = Field(
        200,
        ge=1,
        description="Stored answers of each dataset and generator that are made again; all if there are fewer.",
    )


class RecheckKeys(Settings):
    """The check whether a model still gives the stored answers."""

    recheck: RecheckSettings = Field({}, validate_default=True)
