"""Turn pydantic's errors into one-line messages with the place, the value found and the values expected."""

import ast
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from ragrelay.base.errors import ConfigKey, InputError, one_of
from ragrelay.base.settings import TYPES, RefusedError

BOUNDS = {
    "greater_than_equal": "at least {ge}", "greater_than": "more than {gt}", "less_than_equal": "at most {le}",
    "string_too_short": "at least {min_length} character(s)", "too_short": "at least {min_length} item(s)",
    "too_long": "at most {max_length} item(s)",
}  # fmt: skip
EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")
"""A number with an exponent. YAML 1.1 reads it as a string unless it has a decimal point and a signed exponent."""
PLURAL = re.compile(r"(\d+) (\w+)\(s\)")


class _Problem(NamedTuple):
    """One of pydantic's errors. ``path``: the keys and list positions that lead to the value.

    ``union``: the path to the value if it may have several types and the error is about one of them.
    """

    path: list[object]
    union: list[object] | None
    error: Mapping[str, Any]

    @property
    def of_type(self) -> bool:
        """Whether the value has the wrong type."""
        return self.error["type"] in TYPES or self.error["type"] == "literal_error"

    def expected(self) -> str:
        """Return the second half of the message: the expected values."""
        kind, context = self.error["type"], self.error.get("ctx", {})
        if kind == "literal_error":
            choices = _choices(context["expected"])
            return " or ".join(map(repr, choices)) if self.union is not None else one_of(choices, self.error["input"])
        if kind == "too_short" and isinstance(self.error["input"], dict):
            return f"at least {context['min_length']} entry"
        if isinstance(refused := context.get("error"), RefusedError):
            return refused.expected
        whole = {key: int(v) if isinstance(v, float) and v.is_integer() else v for key, v in context.items()}
        expected: str = {**TYPES, **BOUNDS}.get(kind, self.error["msg"])
        bound = expected.format(**whole)
        return PLURAL.sub(lambda match: f"{match[1]} {match[2]}{'' if match[1] == '1' else 's'}", bound)

    def found(self) -> str:
        """Return the first half of the message: the value found."""
        own = self.error.get("ctx", {}).get("error")
        return own.found if isinstance(own, RefusedError) else repr(self.error["input"])


def _choices(written: str) -> list[object]:
    """Parse a Literal's values as pydantic writes them: ``'a', 'b' or 'c'``."""
    first, _, last = written.rpartition(" or ")
    values = ast.literal_eval(f"[{first}, {last}]" if first else f"[{last}]")
    return list(values)


def _problem(error: Mapping[str, Any], given: object) -> _Problem:
    steps = list(error["loc"])
    if steps[-1:] == ["[key]"]:
        del steps[-2:]
    path: list[object] = []
    union, value = None, given
    for step in steps:
        if (isinstance(value, dict) and step in value) or (isinstance(value, list) and isinstance(step, int)):
            path, value = [*path, step], value[step]
        elif union is None:  # the step is pydantic's name for one of several types
            union = list(path)
    own = error.get("ctx", {}).get("error")
    return _Problem([*path, own.key] if isinstance(own, RefusedError) and own.key else path, union, error)


def input_error(error: ValidationError, given: object) -> InputError:
    """Convert pydantic's error about ``given`` into an InputError for the first invalid key in alphabetical order."""
    problems = [_problem(detail, given) for detail in error.errors(include_url=False)]
    first = min(problems, key=lambda problem: [str(step) for step in problem.path])
    expected = first.expected()
    if first.union is not None:
        alternatives = [problem for problem in problems if problem.union == first.union]
        # Prefer errors about the value's actual type.
        inside = [p for p in alternatives if len(p.path) > len(first.union) or not p.of_type]
        first = (inside or alternatives)[0]
        *others, last = [problem.expected() for problem in ([first] if inside else alternatives)]
        expected = " or ".join([", ".join(others), last] if others else [last])
    return InputError(ConfigKey(*first.path), first.found(), expected + _in_yaml(first.error["input"], expected))


def _in_yaml(value: object, expected: str) -> str:
    """Return how to write ``value`` if YAML 1.1 reads it differently from how it looks; empty otherwise."""
    of_number = "number" in expected or "integer" in expected
    if isinstance(value, str) and of_number and EXPONENT.fullmatch(value):
        return f"; YAML reads {value} as text, so write {float(value):g}"
    if isinstance(value, bool) and not of_number and "true" not in expected:
        return "; YAML reads yes, no, on and off as true or false, so put such a word in quotation marks"
    return ""
