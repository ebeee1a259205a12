"""Declare the key of interventions."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS
from ragrelay.base.settings import Name, Settings


class InterventionKeys(Settings):
    """Interventions on contexts."""

    interventions: dict[Name, Annotated[dict[Any, Any], INTERVENTION_KINDS]] | None = Field(
        None,
        min_length=1,
        description="Changes of one passage of a retriever's contexts, by name; answers are made with each changed "
        "context. Their prompts have to fit the generators' windows.",
    )
