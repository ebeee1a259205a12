"""Declare the config key for interventions."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS
from ragrelay.base.settings import Name, Settings


class InterventionKeys(Settings):
    """The config key that defines interventions."""

    interventions: dict[Name, Annotated[dict[Any, Any], INTERVENTION_KINDS]] | None = Field(
        None,
        min_length=1,
        description="Named interventions, which change one passage at a time in a retriever's contexts. ragrelay "
        "generates an answer for each changed context. The changed prompts must fit in the generators' windows.",
    )
