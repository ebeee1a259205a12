"""Process passages with a user's own function."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function
from ragrelay.base.user_code import function_named, user_errors
from ragrelay.retrieval.processor import Passage, Process, Processor


class Python(Processor):
    """Applies your own function, which returns the texts to show in the prompt."""

    function: Function = Field(
        description="`module:function`, in a file in the working folder or in an installed module. The function gets a "
        "query's text, the passages in rank order (each a tuple of docno and text) and the `options`. It returns "
        "docnos with new texts, as tuples or as a mapping; the grid's orderings apply to the returned order. Passages "
        "that the function leaves out aren't shown; returning an unknown docno is an error."
    )
    one_at_a_time: bool = Field(
        False,
        description="Call the function with one passage at a time, so that each passage is processed only once for all "
        "k.",
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments for the function.")

    @property
    def alone(self) -> bool:  # type: ignore[override]
        """Whether the function is called with one passage at a time."""
        return self.one_at_a_time

    def decisive(self, cache_dir: Path) -> dict[str, object]:
        """Return the function, the hash of its module and the options."""
        return {
            "function": self.function,
            "code": self.code["function"],
            "options": self.options,
            "one_at_a_time": self.one_at_a_time,
        }

    def start(self, threads: int) -> Process:
        """Import the function, and wrap it to raise InputError if it fails or doesn't return docnos with texts."""
        place, expected = f"processor {self.function}", "docnos with texts, as tuples or as a mapping"
        with user_errors(place, self.function, "its import", expected):
            function = function_named(self.function)

        def process(query: str, passages: Sequence[Passage]) -> list[tuple[str, str]]:
            with user_errors(place, self.function, f"query {query!r}", expected):
                returned = function(query, list(passages), **self.options)
                returned = list(returned) if isinstance(returned, Iterator) else returned
            if isinstance(returned, set | frozenset):
                raise InputError(place, "a set as return value, which has no order", expected)
            try:
                return [(docno, text) for docno, text in (returned.items() if isinstance(returned, dict) else returned)]
            except (TypeError, ValueError):
                found = f"the return value {' '.join(repr(returned).split())[:80]}"
                raise InputError(place, found, expected) from None

        return process
