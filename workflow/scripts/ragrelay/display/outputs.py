"""What a report shows: entries of a registry, which name the functions that draw and show without importing them.

A name of a function or of columns is ``module:name``. Rules read entries when Snakemake starts, so nothing here
imports a library of data or charts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

PICTURES = ("svg", "png", "pdf")
"""The formats of every figure, as endings."""
ONE_COLUMN, TWO_COLUMNS = 241, 506
"""Points: what one column and two of a paper are wide."""
SIZES = {"one-column": ONE_COLUMN, "two-column": TWO_COLUMNS}
SIZED = tuple(f"{size}.{ending}" for size in SIZES for ending in PICTURES)
"""Endings of a figure that is drawn in both sizes."""
KEYS = {
    "section": ("dataset", "generator", "scorer"),
    "depth": ("dataset", "generator", "scorer", "depth"),
    "group": ("generator", "scorer"),
    "annotations": ("scorer",),
    "prediction": ("dataset", "generator", "scorer"),
    "claims": (),
    "reproduction": (),
    "study": (),
    "comparison": (),
}
"""What an output can be of, with the names that distinguish its files."""


@dataclass(frozen=True)
class Source:
    """A table that outputs are made from.

    ``path`` below the results, ``rule`` that makes it, ``columns`` that it has (``module:name`` of a mapping of
    vocabulary.columns), ``about`` in a line; ``only_with``: the key of the configuration without which there is none.
    """

    name: str
    path: str
    rule: str
    columns: str
    about: str
    only_with: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure: drawn on the page, and as files with ``endings`` (none for one that is on its page alone).

    ``of``: a name of KEYS; ``draw``: a function of what it is ``of``, the theme and, with ``limited``, about how many
    records may be drawn. ``needs``: names of sources. ``part``: where on the page, with ``title`` and ``note``, in
    which ``{measure}`` and the like are filled in; ``caption`` is for Snakemake's report. ``queries``: a point is a
    query. ``baseline``: on the page only where there are answers without context. ``only_with``: as of a Source.
    Of endings in SIZES, ``draw`` is given the width in points.
    """

    kind: ClassVar = "figure"
    name: str
    of: str
    draw: str
    needs: tuple[str, ...]
    part: str
    title: str
    caption: str
    note: str = ""
    limited: bool = False
    queries: bool = False
    baseline: bool = False
    endings: tuple[str, ...] = PICTURES
    only_with: str = ""

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.draw,)


@dataclass(frozen=True)
class Table:
    """A table: shown on the page where it has ``show``, and written as files.

    ``show``: a function of what it is ``of`` (with ``limited`` also of the most rows) that gives what the macro
    ``macro`` of the page's templates takes. ``files``: ending of a file to the function that gives its data frame (csv;
    a Parquet file is written next to it) or text (tex); an empty name means the rows of the first of ``needs``.
    ``columns``: those of its data frames, where they aren't the first source's. The rest is as in Figure.
    """

    kind: ClassVar = "table"
    name: str
    of: str
    needs: tuple[str, ...]
    title: str
    caption: str
    part: str = ""
    show: str = ""
    files: Mapping[str, str] = field(default_factory=lambda: {"csv": ""})
    columns: str = ""
    note: str = ""
    macro: str = "plain"
    limited: bool = False
    baseline: bool = False
    only_with: ClassVar = ""

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(name for name in (self.show, *self.files.values()) if name)

    @property
    def endings(self) -> tuple[str, ...]:
        frames = [ending for ending in self.files if ending.endswith("csv")]
        return (*self.files, *(ending.removesuffix("csv") + "parquet" for ending in frames))


Output = Figure | Table


@dataclass(frozen=True)
class Part:
    """A part of a page: its heading, and what is said before its outputs; both may name ``{measure}`` and the like."""

    heading: str
    intro: str = ""


def file_name(output: Output, ending: str, keys: Mapping[str, str]) -> str:
    """The name of an output's file; ``keys`` has the names of KEYS[output.of]."""
    return "_".join([output.name, *(keys[key] for key in KEYS[output.of])]) + f".{ending}"


def available(outputs: Iterable[Output], sources: Iterable[str]) -> list[Any]:
    """The ``outputs`` whose needs are among ``sources``."""
    there = set(sources)
    return [output for output in outputs if there.issuperset(output.needs)]


def modules(outputs: Iterable[Output]) -> list[str]:
    """The modules of the functions of ``outputs``, for the digest of a job's code."""
    return sorted({name.partition(":")[0] for output in outputs for name in output.functions})


def resolve(name: str) -> Any:
    """The function, or columns, of ``module:name``. Raises ImportError or AttributeError where there is none."""
    module, _, inside = name.partition(":")
    return getattr(import_module(module), inside)
