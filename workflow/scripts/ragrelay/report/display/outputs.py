"""Define the types with which figures, tables, result files and parts of the page are registered.

Functions and columns are named as ``module:name``. Snakemake reads all outputs when it starts, so this module imports
no data or chart library.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile

PICTURES = ("svg", "png", "pdf")
"""File endings of every figure."""
ONE_COLUMN, TWO_COLUMNS = 241, 506
"""Widths of one and two paper columns, in points."""
SIZES = {"one-column": ONE_COLUMN, "two-column": TWO_COLUMNS}
SIZED = tuple(f"{size}.{ending}" for size in SIZES for ending in PICTURES)
"""File endings of a figure that is drawn in both sizes."""
AS_WRITTEN = "as written"
"""The page shows every column of the first table in ``needs``, in order."""


class Scope(str):
    """The part of a study that one figure or table shows, such as a section. Annexes define further scopes."""

    keys: tuple[str, ...]
    """The wildcards that distinguish the files of these outputs."""
    rule: str
    """The rule that creates these files; empty for `draw_figures` or `write_tables`."""

    def __new__(cls, name: str, keys: tuple[str, ...] = (), rule: str = "") -> "Scope":
        """Create a scope.

        Args:
            name: The scope's name.
            keys: The wildcards that distinguish its outputs' files.
            rule: The rule that creates these files; empty for `draw_figures` or `write_tables`.

        Returns:
            The scope.
        """
        scope = super().__new__(cls, name)
        scope.keys, scope.rule = keys, rule
        return scope


SECTION = Scope("section", ("dataset", "generator", "scorer"))
"""The scope for outputs that exist once per dataset, generator and scorer."""
DEPTH = Scope("depth", (*SECTION.keys, "depth"), "draw_figures_at")
GROUP = Scope("group", ("generator", "scorer"))
STUDY = Scope("study", (), "write_page")


@dataclass(frozen=True)
class ResultTable:
    """A result file from which figures and tables are created."""

    name: str
    """The name by which figures and tables refer to it."""
    path: str
    """The file's path below the results folder, with wildcards."""
    rule: str
    """The rule that creates the file."""
    columns: str
    """Where the file's columns are declared, as ``module:name`` (a mapping as in base.vocabulary.columns)."""
    about: str
    """The file's content."""
    only_with: str = ""
    """The configuration key that it needs, if any."""

    @property
    def file(self) -> StudyFile:
        """The result file, with its path pattern, rule, content and columns."""
        return StudyFile(self.path, self.rule, self.about, self.columns)


@dataclass(frozen=True)
class Figure:
    """A figure on the page, which is also written to files."""

    kind: ClassVar = "figure"
    name: str
    of: Scope
    """The part of a study that the figure shows, such as a section."""
    draw: str
    """A function, as ``module:name``, that takes the data for ``of`` and the theme, and returns a Vega-Lite
    specification.

    For SIZED endings it also takes the width in points."""
    needs: tuple[str, ...]
    """The names of the result tables that the figure uses."""
    part: str
    """The part of the page that shows the figure."""
    title: str
    """The heading. Placeholders such as ``{measure}`` are filled in, as in ``note``."""
    caption: str
    """The caption in Snakemake's report."""
    note: str = ""
    """The text below the figure."""
    limited: bool = False
    """Whether ``draw`` also takes the approximate maximum number of records."""
    queries: bool = False
    """Whether each point is a query."""
    baseline: bool = False
    """Whether the page shows the figure only if there are zero-shot answers."""
    endings: tuple[str, ...] = PICTURES
    """The endings of the figure's files; none for a figure that is only on the page."""
    only_with: str = ""
    """The configuration key that it needs, if any."""

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that draw the figure."""
        return (self.draw,)


@dataclass(frozen=True)
class Table:
    """A table that is written to files and, with ``show``, also shown on the page. For other fields, see Figure."""

    kind: ClassVar = "table"
    name: str
    of: Scope
    needs: tuple[str, ...]
    title: str
    caption: str
    part: str = ""
    show: str = ""
    """A function that takes the data for ``of`` and returns the argument for ``macro``; or AS_WRITTEN."""
    files: Mapping[str, str] = field(default_factory=lambda: {"csv": ""})
    """A function for each file ending. It returns a data frame (csv; Parquet is written next to it) or text (tex).

    An empty name writes the rows from the first table in ``needs``."""
    columns: str = ""
    """The columns of the table's data frames, if they differ from those of the first table in ``needs``."""
    note: str = ""
    macro: str = "plain"
    """A macro in the page's templates."""
    limited: bool = False
    """Whether ``show`` also takes the maximum number of rows."""
    baseline: bool = False
    only_with: ClassVar = ""

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that show and write the table."""
        return tuple(name for name in (self.show, *self.files.values()) if name not in ("", AS_WRITTEN))

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of the table's files. Each CSV file also has a Parquet version."""
        frames = [ending for ending in self.files if ending.endswith("csv")]
        return (*self.files, *(ending.removesuffix("csv") + "parquet" for ending in frames))


Output = Figure | Table


@dataclass(frozen=True)
class Part:
    """The heading and the introduction of a part of the page. Both may contain placeholders such as ``{measure}``."""

    heading: str
    intro: str = ""


def file_name(output: Output, ending: str, keys: Mapping[str, str]) -> str:
    """Return the name of the output's file with the given ending. ``keys``: the values of the scope's wildcards."""
    return "_".join([output.name, *(keys[key] for key in output.of.keys)]) + f".{ending}"


def available(outputs: Iterable[Output], result_tables: Iterable[str]) -> list[Any]:
    """Return the outputs for which ``result_tables`` contains all required tables."""
    names = set(result_tables)
    return [output for output in outputs if names.issuperset(output.needs)]


def modules(outputs: Iterable[Output]) -> list[str]:
    """Return the names of the modules that define the functions of ``outputs``, for a job's code digest."""
    return sorted({name.partition(":")[0] for output in outputs for name in output.functions})


def resolve(name: str) -> Any:
    """Import and return the object ``module:name``. Raises ImportError or AttributeError if the name doesn't exist."""
    module, _, inside = name.partition(":")
    return getattr(import_module(module), inside)
