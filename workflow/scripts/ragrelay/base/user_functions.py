"""Define the base class for kinds that call a user's own function on pairs of texts."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import Kind
from ragrelay.base.settings import Function
from ragrelay.base.user_code import function_named


class PairFunction(Kind):
    """Base class for kinds that call a user's function once per pair, or once with two lists if `batch` is set."""

    results: ClassVar[str]
    """A plural noun for the function's results, used in messages."""

    function: Function
    batch: bool = Field(
        False,
        description="Call the function once with two lists of equal length instead of once per pair. It must return "
        "one result per pair, in order.",
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments for the function.")

    def called(self, place: str, one: Sequence[str], other: Sequence[str]) -> list[Any]:
        """Call the user's function on all pairs of texts. Raises InputError unless there is one result per pair."""
        function = function_named(self.function)
        if self.batch:
            results = list(function(one, other, **self.options))
        else:
            results = [function(*pair, **self.options) for pair in zip(one, other, strict=True)]
        if len(results) != len(one):
            raise InputError(place, f"{len(results)} {self.results} for {len(one)} pairs", "one per pair, in order")
        return results
