"""Import transformers' models without scikit-learn, which takes 2 of the 5 seconds of their import.

Transformers needs it only where one model drafts another's answers, and for metrics that nothing here computes.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


def import_transformers() -> ModuleType:
    """Return the package. Other libraries that import transformers' models later, as vLLM does, find them imported."""
    with _unavailable("sklearn"):
        importlib.import_module("transformers.generation.candidate_generator")
    return importlib.import_module("transformers")


@contextmanager
def _unavailable(name: str) -> Iterator[None]:
    """Make a package that is not imported yet one that can't be imported."""
    if name in sys.modules:
        yield
        return
    # importlib's way to say so: https://docs.python.org/3/reference/import.html#the-module-cache
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
