"""Scorers that a user writes: a function of an answer and a reference."""

import math
from typing import Any

from pydantic import Field

from ragrelay.errors import InputError
from ragrelay.kinds import Function
from ragrelay.own_code import function_named
from ragrelay.scoring.pair_scorer import Pairs, PairScorer, Values


class Python(PairScorer):
    """A function of yours that compares an answer with a reference; higher is better."""

    function: Function = Field(
        description="`module:function`, in a file in the working folder or an installed module. Called with an answer "
        "and a reference, two texts, and the `options`; returns a number, or a tuple of precision, recall and F1."
    )
    batch: bool = Field(
        False,
        description="Call the function with lists instead: answers, and as many references. It returns one value per "
        "pair, in order.",
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments of the function.")

    def decisive(self) -> dict[str, Any]:
        """The function, its module's file and its options."""
        return {"kind": "python", "function": self.function, "code": self.code["function"], "options": self.options}

    def pairs(self) -> Pairs:
        """The function's values, checked.

        Raises InputError for another number of values than of pairs, and for one that is no finite number.
        """
        function, place = function_named(self.function), f"scorer {self.function}"

        def values(answers: Any, references: Any) -> list[Values]:
            if self.batch:
                given = list(function(answers, references, **self.options))
            else:
                given = [function(*pair, **self.options) for pair in zip(answers, references, strict=True)]
            if len(given) != len(answers):
                raise InputError(place, f"{len(given)} values for {len(answers)} pairs", "one for each, in order")
            return [_checked(place, value) for value in given]

        return values


def _checked(place: str, value: Any) -> Values:
    several = isinstance(value, tuple) and len(value) == 3
    try:
        numbers = [float(one) for one in (value if several else [value])]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InputError(place, f"{value!r} returned", "a finite number, or precision, recall and F1")
    return (numbers[0], numbers[1], numbers[2]) if several else numbers[0]
