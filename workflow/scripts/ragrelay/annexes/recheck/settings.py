"""Declare the key for rechecks."""

from pydantic import Field

from ragrelay.base.settings import Settings


class RecheckSettings(Settings):
    """How `snakemake recheck` draws the answers that it makes again."""

    answers: int = Field(
        200,
        ge=1,
        description="How many stored answers per dataset and generator are generated again; all of them if there are "
        "fewer.",
    )


class RecheckKeys(Settings):
    """The check whether a model still gives the stored answers."""

    recheck: RecheckSettings = Field({}, validate_default=True)
