"""Declare the key for interventions."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS
from ragrelay.base.settings import Name, Settings


class InterventionKeys(Settings):
    """The key for interventions on contexts."""

    interventions: dict[Name, Annotated[dict[Any, Any], INTERVENTION_KINDS]] | None = Field(
        None,
        min_length=1,
        description="Named changes to one passage in a retriever's contexts; ragrelay generates answers for each "
        "changed context. The changed prompts must fit the generators' windows.",
    )
