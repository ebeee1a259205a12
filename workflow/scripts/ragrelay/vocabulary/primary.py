"""The primary cell of a study: the comparison that was chosen before the answers were seen."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Primary(NamedTuple):
    """Which pair of retrievers is compared, and where; ``references`` None: the lowest grade."""

    retriever: str
    reference: str
    ordering: str
    k: int
    references: str
    measure: str
    scorer: str

    def is_of(self, cell: Mapping[str, Any], other: str | None) -> bool:
        """Whether ``cell`` (retriever, ordering, k, references) against ``other`` is this pair, in either direction."""
        where = (cell["ordering"], cell["k"], cell["references"]) == (self.ordering, self.k, self.references)
        return where and {cell["retriever"], other} == {self.retriever, self.reference}
