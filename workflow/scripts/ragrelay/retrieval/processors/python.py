"""Process passages by a user's own function."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function
from ragrelay.base.user_code import function_named
from ragrelay.retrieval.processor import Passage, Process, Processor


class Python(Processor):
    """A function of yours that returns the texts to show."""

    function: Function = Field(
        description="`module:function`, in a file in the working folder or an installed module. Called with a query's "
        "text, its passages from the first rank on (each a tuple of docno and text) and the `options`; returns docnos "
        "with their new texts, as tuples or as a mapping. A passage that it leaves out is not shown; a docno that it "
        "was not given is an error."
    )
    one_at_a_time: bool = Field(
        False, description="Call the function with one passage at a time: each is then processed once for all k."
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments of the function.")

    @property
    def alone(self) -> bool:  # type: ignore[override]
        """Whether it gets one passage at a time."""
        return self.one_at_a_time

    def decisive(self, cache_dir: Path) -> dict[str, Any]:
        """Return the function, its module's file and its options."""
        return {
            "function": self.function,
            "code": self.code["function"],
            "options": self.options,
            "one_at_a_time": self.one_at_a_time,
        }

    def start(self, threads: int) -> Process:
        """Import the function. It raises InputError unless it returns docnos with texts."""
        function, place = function_named(self.function), f"processor {self.function}"

        def process(query: str, passages: Sequence[Passage]) -> list[tuple[str, str]]:
            returned = function(query, list(passages), **self.options)
            try:
                return [(docno, text) for docno, text in (returned.items() if isinstance(returned, dict) else returned)]
            except (TypeError, ValueError):
                found = f"{' '.join(repr(returned).split())[:80]} returned"
                raise InputError(place, found, "docnos with texts, as tuples or as a mapping") from None

        return process
