"""Score answers with your own Python function."""

import math
from typing import Any, ClassVar

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function
from ragrelay.base.user_functions import PairFunction
from ragrelay.scoring.pair_scorer import Pairs, PairScorer, Values


class Python(PairScorer, PairFunction):
    """Your own function, which compares an answer with a reference; higher values are better."""

    results = "values"
    loads_model: ClassVar[bool] = True
    function: Function = Field(
        description="`module:function`, in a file in the working folder or in an installed module. The function gets "
        "the text of an answer, the text of a reference and the `options`, and returns a number or a tuple of "
        "precision, recall and F1."
    )

    def decisive(self) -> dict[str, object]:
        """Return the function's name and options, and the code of the module that contains it."""
        return {"kind": "python", "function": self.function, "code": self.code["function"], "options": self.options}

    def pairs(self) -> Pairs:
        """Return a function that scores many pairs. The function raises InputError if a value isn't a finite number."""
        place = f"scorer {self.function}"
        return lambda answers, references: [_checked(place, value) for value in self.called(place, answers, references)]


def _checked(place: str, value: Any) -> Values:
    several = isinstance(value, tuple) and len(value) == 3
    try:
        numbers = [float(number) for number in (value if several else [value])]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InputError(place, f"the return value {value!r}", "a finite number, or precision, recall and F1")
    return (numbers[0], numbers[1], numbers[2]) if several else numbers[0]
