"""Declare the key for search rounds."""

from typing import Literal

from pydantic import Field

from ragrelay.base.settings import Name, Settings, Unique


class RoundSettings(Settings):
    """Rounds of search and answer in which one list at a time is replaced."""

    rounds: int = Field(
        ge=1, le=9, description="Number of rounds for every question; round 1 uses the grid's own context."
    )
    reference: Name = Field(description="The retriever in `grid.retrievers` that searches in every round.")
    retrievers: Unique[Name] = Field(
        min_length=1,
        description="The retrievers in `grid.retrievers` whose lists replace the reference retriever's list, in one "
        "round at a time.",
    )
    next_query: Literal["answer", "ask", "same"] = Field(
        "answer",
        description="The next round's query: `answer` is the question followed by the last answer, `ask` is the first "
        "line of the generator's reply to `query_prompt`, and `same` is the question again.",
    )
    query_prompt: Name | None = Field(
        None,
        description="The template that asks for the next query, given the question and the passages so far; only "
        "with `next_query: ask`.",
    )
    k: int = Field(ge=1, description="Passages retrieved in each round; one of `grid.k`.")
    ordering: str | None = Field(
        None, description="The ordering of each round's passages; by default the first in `grid.orderings`."
    )
    measure: str | None = Field(
        None, description="The measure of each round's new passages; by default the first in `grid.measures`."
    )


class RoundKeys(Settings):
    """Rounds of a search."""

    rounds: RoundSettings | None = None
