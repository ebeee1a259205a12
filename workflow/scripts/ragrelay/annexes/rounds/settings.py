"""Declare the config key for search rounds."""

from typing import Literal

from pydantic import Field

from ragrelay.base.settings import Name, Settings, Unique


class RoundSettings(Settings):
    """Several rounds of searching and answering, in which another retriever's list replaces the reference retriever's
    list in one round at a time."""

    rounds: int = Field(ge=1, le=9, description="Number of rounds for each query; round 1 uses the grid's own context.")
    reference: Name = Field(description="Name of the retriever in `grid.retrievers` that searches in every round.")
    retrievers: Unique[Name] = Field(
        min_length=1,
        description="Names of the retrievers in `grid.retrievers` whose lists replace the reference retriever's list, "
        "in one round at a time.",
    )
    next_query: Literal["answer", "ask", "same"] = Field(
        "answer",
        description="Query of the next round: `answer` is the question followed by the last answer, `ask` is the first "
        "line of the generator's reply to `query_prompt`, and `same` is the unchanged question.",
    )
    query_prompt: Name | None = Field(
        None,
        description="Name of the template that asks for the next query, given the question and all passages so far; "
        "only with `next_query: ask`.",
    )
    k: int = Field(ge=1, description="Number of passages retrieved in each round; one of the values in `grid.k`.")
    ordering: str | None = Field(
        None, description="Ordering of the passages from each round; by default, the first in `grid.orderings`."
    )
    measure: str | None = Field(
        None,
        description="Measure computed for the new passages in each round; by default, the first in `grid.measures`.",
    )


class RoundKeys(Settings):
    """The config key for search rounds."""

    rounds: RoundSettings | None = None
