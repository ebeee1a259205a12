"""Define the entries of the report's registry, which name the functions that draw and show without importing them.

Functions and columns are named as ``module:name``. Rules read the entries when Snakemake starts, so this module
imports no data or chart library.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile

PICTURES = ("svg", "png", "pdf")
"""File endings of every figure."""
ONE_COLUMN, TWO_COLUMNS = 241, 506
"""Width of one and of two columns of a paper, in points."""
SIZES = {"one-column": ONE_COLUMN, "two-column": TWO_COLUMNS}
SIZED = tuple(f"{size}.{ending}" for size in SIZES for ending in PICTURES)
"""File endings of a figure that is drawn in both sizes."""
AS_WRITTEN = "as written"
"""The page shows all columns of the first of a section's ``needs``, in their order."""


class Scope(str):
    """The name of what outputs show, such as a section. Annexes have their own."""

    keys: tuple[str, ...]
    """The wildcards that distinguish the files of these outputs."""
    rule: str
    """The rule that makes them; empty for `draw_figures` or `write_tables`."""

    def __new__(cls, name: str, keys: tuple[str, ...] = (), rule: str = "") -> "Scope":
        """Keep ``keys`` and ``rule`` as attributes of the name."""
        scope = super().__new__(cls, name)
        scope.keys, scope.rule = keys, rule
        return scope


SECTION = Scope("section", ("dataset", "generator", "scorer"))
"""The scope of what there is for each dataset, generator and scorer."""
DEPTH = Scope("depth", (*SECTION.keys, "depth"), "draw_figures_at")
GROUP = Scope("group", ("generator", "scorer"))
STUDY = Scope("study", (), "write_page")


@dataclass(frozen=True)
class ResultTable:
    """A result file that figures and tables are made from."""

    name: str
    path: str
    """Below the results."""
    rule: str
    """The rule that makes it."""
    columns: str
    """``module:name`` of a mapping of base.vocabulary.columns."""
    about: str
    only_with: str = ""
    """The key of the configuration that it needs, if any."""

    @property
    def file(self) -> StudyFile:
        """The pattern of the file."""
        return StudyFile(self.path, self.rule, self.about, self.columns)


@dataclass(frozen=True)
class Figure:
    """A figure on the page, which is also written to files."""

    kind: ClassVar = "figure"
    name: str
    of: Scope
    """What it shows."""
    draw: str
    """A function of what ``of`` names and the theme; for SIZED endings also of the width in points."""
    needs: tuple[str, ...]
    """Names of result tables."""
    part: str
    """The part of the page."""
    title: str
    """``{measure}`` and the like are filled in, as in ``note``."""
    caption: str
    """For Snakemake's report."""
    note: str = ""
    limited: bool = False
    """Whether ``draw`` also takes the approximate number of records that it may draw."""
    queries: bool = False
    """Whether each point is a query."""
    baseline: bool = False
    """Whether the page shows it only if there are answers without context."""
    endings: tuple[str, ...] = PICTURES
    """Endings of the files; none for a figure that is only on the page."""
    only_with: str = ""
    """The key of the configuration that it needs, if any."""

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.draw,)


@dataclass(frozen=True)
class Table:
    """A table, which is written to files and, if it has ``show``, shown on the page. Other fields are as in Figure."""

    kind: ClassVar = "table"
    name: str
    of: Scope
    needs: tuple[str, ...]
    title: str
    caption: str
    part: str = ""
    show: str = ""
    """A function of what ``of`` names that returns the argument of ``macro``, or AS_WRITTEN."""
    files: Mapping[str, str] = field(default_factory=lambda: {"csv": ""})
    """Ending → function that returns a data frame (csv, and Parquet next to it) or text (tex); empty: the rows of the
    first of ``needs``."""
    columns: str = ""
    """Columns of its data frames if they differ from those of the first of ``needs``."""
    note: str = ""
    macro: str = "plain"
    """A macro of the page's templates."""
    limited: bool = False
    """Whether ``show`` also takes the largest number of rows."""
    baseline: bool = False
    only_with: ClassVar = ""

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(name for name in (self.show, *self.files.values()) if name not in ("", AS_WRITTEN))

    @property
    def endings(self) -> tuple[str, ...]:
        frames = [ending for ending in self.files if ending.endswith("csv")]
        return (*self.files, *(ending.removesuffix("csv") + "parquet" for ending in frames))


Output = Figure | Table


@dataclass(frozen=True)
class Part:
    """A part of a page: its heading and introduction; ``{measure}`` and the like are filled in in both."""

    heading: str
    intro: str = ""


def file_name(output: Output, ending: str, keys: Mapping[str, str]) -> str:
    """Return the name of an output's file; ``keys`` has ``output.of.keys``."""
    return "_".join([output.name, *(keys[key] for key in output.of.keys)]) + f".{ending}"


def available(outputs: Iterable[Output], result_tables: Iterable[str]) -> list[Any]:
    """Return the ``outputs`` whose needs are among ``result_tables``."""
    names = set(result_tables)
    return [output for output in outputs if names.issuperset(output.needs)]


def modules(outputs: Iterable[Output]) -> list[str]:
    """Return the modules of the functions of ``outputs``, for the digest of a job's code."""
    return sorted({name.partition(":")[0] for output in outputs for name in output.functions})


def resolve(name: str) -> Any:
    """Return the object named ``module:name``. Raises ImportError or AttributeError if there is none."""
    module, _, inside = name.partition(":")
    return getattr(import_module(module), inside)
