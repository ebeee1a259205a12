"""Declare the config key for rechecks."""

from pydantic import Field

from ragrelay.base.settings import Settings


class RecheckSettings(Settings):
    """How `snakemake recheck` draws the answers to regenerate."""

    answers: int = Field(
        200,
        ge=1,
        description="Number of stored answers per dataset and generator that are regenerated; all answers if there are "
        "fewer.",
    )


class RecheckKeys(Settings):
    """The config key for checking whether a model still gives the stored answers."""

    recheck: RecheckSettings = Field({}, validate_default=True)
