"""Define the base class for predictors, which compute a number for a query or context without using judgements."""

import functools
import importlib
import inspect
import math
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from ragrelay.annexes.prediction.subject import Subject, UndefinedError
from ragrelay.base.extensions import classes_of, extensions, import_extension

BEFORE_RETRIEVAL, AFTER_RETRIEVAL, BEFORE_ANSWER, AFTER_ANSWER = (
    "before retrieval", "after retrieval", "before the answer", "after the answer",
)  # fmt: skip
STAGES = (BEFORE_RETRIEVAL, AFTER_RETRIEVAL, BEFORE_ANSWER, AFTER_ANSWER)
"""The stages at which predictors can be computed, in order."""
PACKAGE = "ragrelay.annexes.prediction.predictors"


class Predictor(ABC):
    """Base class for predictors, which compute one number per query, or per query and context.

    In a subclass's docstring, the first paragraph gives the formula, and the second gives the source.
    """

    name: str
    """The predictor's name in tables."""
    stage: ClassVar[str]
    """The stage from which the predictor can be computed; one of STAGES."""
    rising: ClassVar[bool] = True
    """Whether a larger value predicts a better context or answer."""
    of_k: ClassVar[bool] = False
    """Whether the predictor's value depends on k."""
    of_ordering: ClassVar[bool] = False
    """Whether the predictor's value also depends on the ordering."""
    of_context: ClassVar[bool] = False
    """Whether the predictor uses the context's passages, which may differ for imported answers."""

    @abstractmethod
    def value(self, subject: Subject) -> float:
        """Compute the predictor's value.

        Args:
            subject: A query with its context and answers, for one k and ordering.

        Returns:
            The value.

        Raises:
            UndefinedError: The predictor is undefined for this query.
        """

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator["Predictor"]:
        """Create this class's predictors for a study.

        Args:
            named: Lists of names, keyed by type (such as `scorers`), for classes that create a predictor per name.

        Returns:
            The predictors; by default, a single instance of the class.
        """
        yield cls()


def predictor_modules() -> list[str]:
    """Return the names of ragrelay's predictor modules, followed by the predictor modules of other packages."""
    own = sorted(module.name for module in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__))
    return [*(f"{PACKAGE}.{name}" for name in own), *sorted(extensions("Predictor").values())]


@functools.cache
def classes() -> tuple[type[Predictor], ...]:
    """Return all predictor classes, ordered by stage and then by module."""
    kinds: list[type[Predictor]] = []
    for module in predictor_modules():
        of_module = classes_of(import_extension(module), Predictor)  # type: ignore[type-abstract]
        kinds += [kind for kind in of_module if not inspect.isabstract(kind)]
    return tuple(sorted(kinds, key=lambda kind: STAGES.index(kind.stage)))


def predictors(named: Mapping[str, object]) -> list[Predictor]:
    """Create all predictors for a study. ``named``: lists of names for classes that create a predictor per name."""
    return [predictor for kind in classes() for predictor in kind.instances(named)]


def valued(predictor: Predictor, subject: Subject) -> tuple[float | None, str | None]:
    """Return the predictor's value for ``subject`` and None, or None and the reason why there is no value."""
    try:
        value = float(predictor.value(subject))
    except UndefinedError as undefined:
        return None, str(undefined)
    return (value, None) if math.isfinite(value) else (None, "not a finite number")
