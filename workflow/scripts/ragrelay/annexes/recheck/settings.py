"""Declare the key for rechecks."""

from pydantic import Field

from ragrelay.base.settings import Settings


class RecheckSettings(Settings):
    """How `snakemake recheck` samples the answers that it regenerates."""

    answers: int = Field(
        200,
        ge=1,
        description="Number of stored answers per dataset and generator that are regenerated; all answers if there are "
        "fewer.",
    )


class RecheckKeys(Settings):
    """The key for checks whether a model still gives the stored answers."""

    recheck: RecheckSettings = Field({}, validate_default=True)
