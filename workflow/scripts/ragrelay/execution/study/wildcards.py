"""Turn functions of wildcard values into functions that Snakemake can call, and names into wildcard patterns."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from ragrelay.execution.jobs.code_digest import code_digest

NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
"""The pattern for wildcards that have no list of values: any name in the catalogue."""


class Wildcards(Protocol):
    """A job's wildcards, as Snakemake passes them to rules' functions."""

    def __getattr__(self, name: str) -> str:
        """Return the value of a wildcard."""

    def __getitem__(self, name: str) -> str:
        """Return the value of a wildcard."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return the wildcards' names and values."""


Key = Mapping[str, str | int]
"""Wildcard values, for filling in paths."""
OfJob = Callable[[Wildcards], Any]


def any_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of ``names``, or nothing if ``names`` is empty."""
    return "|".join(map(re.escape, names)) or "(?!)"


def of_job(function: Callable[..., object]) -> OfJob:
    """Wrap ``function`` for a rule, so that each argument receives the value of the wildcard with the same name."""
    names = tuple(inspect.signature(function).parameters)
    return lambda wildcards: function(*(getattr(wildcards, name) for name in names))


def code_of(script: str, *modules: str | Callable[[Wildcards], str | list[str]]) -> Callable[[Wildcards], str]:
    """Return a params function that computes a script's code digest.

    Snakemake calls the function for each job, so that a cluster node only hashes one script. ``modules``: modules that
    the script imports dynamically, such as the module of a retriever's kind, or functions that take wildcards and
    return one or more such modules.
    """

    def code(wildcards: Wildcards) -> str:
        named = (module(wildcards) if callable(module) else module for module in modules)
        return code_digest(script, *(name for each in named for name in ([each] if isinstance(each, str) else each)))

    return code
