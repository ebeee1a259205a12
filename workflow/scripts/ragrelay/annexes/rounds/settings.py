"""Declare the key of search rounds."""

from typing import Literal

from pydantic import Field

from ragrelay.base.settings import Name, Settings, Unique


class RoundSettings(Settings):
    """Rounds of search and answer, with one other list at a time."""

    rounds: int = Field(ge=1, le=9, description="Rounds of every question; round 1 is the grid's own context.")
    reference: Name = Field(description="The retriever of `grid.retrievers` that searches in every round.")
    retrievers: Unique[Name] = Field(
        min_length=1,
        description="The retrievers of `grid.retrievers` whose list takes the place of the reference's, in one round "
        "at a time.",
    )
    next_query: Literal["answer", "ask", "same"] = Field(
        "answer",
        description="The query of the next round: `answer` is the question followed by the last answer, `ask` the "
        "first line of the generator's reply to `query_prompt`, `same` the question again.",
    )
    query_prompt: Name | None = Field(
        None,
        description="The template that asks for the next query, with the question and the passages shown so far; only "
        "with `next_query: ask`.",
    )
    k: int = Field(ge=1, description="Passages that each round retrieves; one of `grid.k`.")
    ordering: str | None = Field(
        None, description="The ordering of each round's passages; the first of `grid.orderings` where absent."
    )
    measure: str | None = Field(
        None, description="The measure of each round's new passages; the first of `grid.measures` where absent."
    )


class RoundKeys(Settings):
    """Rounds of a search."""

    rounds: RoundSettings | None = None
