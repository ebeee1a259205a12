"""Declare the config key for rechecks."""

from pydantic import Field

from ragrelay.base.settings import Settings


class RecheckSettings(Settings):
    """How `snakemake recheck` draws the answers to regenerate."""

    answers: int = Field(
        200,
        ge=1,
        description="Number of stored answers to regenerate per dataset and generator. If there are fewer, all are "
        "regenerated.",
    )


class RecheckKeys(Settings):
    """The config key for checking whether a model still gives the stored answers."""

    recheck: RecheckSettings = Field({}, validate_default=True)
