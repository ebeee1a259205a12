"""Define a base class of kinds that call a user's own function on pairs of texts."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import Kind
from ragrelay.base.settings import Function
from ragrelay.base.user_code import function_named


class PairFunction(Kind):
    """Calls the function with each pair, or once with lists of both sides."""

    results: ClassVar[str]
    """What the function returns, in the plural, for messages."""

    function: Function
    batch: bool = Field(
        False,
        description="Call the function with two lists of the same length instead. It returns one result per pair, in "
        "order.",
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments of the function.")

    def called(self, place: str, one: Sequence[str], other: Sequence[str]) -> list[Any]:
        """Call the function for each pair. Raises InputError if the number of results is not that of the pairs."""
        function = function_named(self.function)
        if self.batch:
            results = list(function(one, other, **self.options))
        else:
            results = [function(*pair, **self.options) for pair in zip(one, other, strict=True)]
        if len(results) != len(one):
            raise InputError(place, f"{len(results)} {self.results} for {len(one)} pairs", "one for each, in order")
        return results
