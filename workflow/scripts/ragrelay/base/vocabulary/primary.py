"""Define a study's primary comparison, which is chosen before anyone sees an answer."""

from collections.abc import Mapping
from typing import NamedTuple, TypedDict


class PrimaryFields(TypedDict):
    """The fields of Primary as a plain mapping, for a rule's params."""

    retriever: str
    reference: str
    ordering: str
    k: int
    references: str
    measure: str
    scorer: str


class Primary(NamedTuple):
    """The primary comparison: two retrievers, with the ordering, k, references, measure and scorer to use."""

    retriever: str
    reference: str
    ordering: str
    k: int
    references: str
    measure: str
    scorer: str

    def is_of(self, cell: Mapping[str, object], other: str | None) -> bool:
        """Return whether this compares ``cell`` (retriever, ordering, k, references) with the retriever ``other``."""
        same_cell = (cell["ordering"], cell["k"], cell["references"]) == (self.ordering, self.k, self.references)
        return same_cell and {cell["retriever"], other} == {self.retriever, self.reference}
