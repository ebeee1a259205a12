"""Define annexes: optional features on top of the core, such as prediction or comparing studies.

An annex is a folder in ``ragrelay.annexes`` or a package that an entry point names (extensions). Its ``annex.py``
defines a subclass of Annex. The core names no annex: it goes through all of them and uses the attributes and methods
below. Methods get the study (config.study.Study, or StudyOfRules in rules). Because Snakemake imports every annex when
it starts, annexes import data libraries and modules above the configuration inside methods.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NotRequired, Protocol, TypedDict

from ragrelay.base.errors import InputError
from ragrelay.base.extensions import classes_of, extensions, import_extension, package_folder
from ragrelay.base.kinds import CheckedStudy, Kinds
from ragrelay.base.settings import Settings
from ragrelay.base.vocabulary.study_file import StudyFile

PACKAGE = "ragrelay.annexes"


class GenerationRule(TypedDict):
    """A rule that generates answers. Annex.generation describes the keys."""

    rule: str
    prompts: tuple[str, StudyFile]
    receipt: StudyFile
    needed: bool
    retrievers: NotRequired[Sequence[str]]
    leaves_out: NotRequired[bool]
    stage: NotRequired[tuple[str, Mapping[str, str]]]
    planned: NotRequired[tuple[str, StudyFile]]


LeftOut = Mapping[str, tuple[str, StudyFile, Sequence[str]]]
"""For each count's name: its stage, its path pattern, and the files that contain it."""


class ReportedStudy(Protocol):
    """The files in a study's report, as Annex.reported gets them (execution.study.reported)."""

    @property
    def study(self) -> CheckedStudy:
        """The reported study."""

    def outputs(self, of: str) -> Sequence[Any]:
        """Return the figures and tables whose scope is ``of``."""

    def paths(self, outputs: Sequence[Any], parts: Iterable[Mapping[str, object]]) -> list[str]:
        """Return the paths of the figures and tables ``outputs`` for each key in ``parts``."""


class Annex:
    """Base class for annexes. A subclass's docstring gives its purpose in the first paragraph."""

    order: ClassVar[int]
    """Determines the annex's position on the page and in the documentation."""
    builds_on: ClassVar[tuple[str, ...]] = ()
    """The annexes that this one imports. Removing one of them also removes this one."""
    doors: ClassVar[tuple[str, ...]] = ()
    """Top-level modules of the package, or functions in its ``__init__``, that give users access to the annex and go
    with it."""
    extends: ClassVar[Mapping[str, str]] = {}
    """The names that the annex adds to ``ragrelay.extend``, each with the module that defines it."""

    # Configuration

    keys: ClassVar[type[Settings] | None] = None
    """The annex's top-level configuration keys."""
    grid_keys: ClassVar[type[Settings] | None] = None
    """The annex's keys in ``grid``."""
    kinds: ClassVar[Mapping[str, Kinds[Any]]] = {}
    """The catalogue sections that the annex adds, each with its Kinds."""
    chosen: ClassVar[tuple[str, ...]] = ()
    """The annex's catalogue sections that have a key of the same name in ``grid``, which selects their entries."""
    reserved: ClassVar[tuple[str, ...]] = ()
    """Names that datasets may not have, because files or folders in the results already use them."""
    without_effect: ClassVar[tuple[str, ...]] = ()
    """Configuration keys that the provenance leaves out."""

    def check(self, study: CheckedStudy) -> None:
        """Check the annex's entries against the study.

        Args:
            study: The study to check.

        Raises:
            InputError: An entry can't work in the study; the error describes the first.
        """

    def generators(self, config: Mapping[str, Any]) -> Iterable[str]:
        """List the generators that the annex uses even if the grid doesn't select them.

        Args:
            config: The configuration.

        Returns:
            Generator names; none by default.
        """
        return ()

    def selected(self, study: CheckedStudy) -> Mapping[str, Iterable[str]]:
        """List the catalogue entries that the annex uses.

        Args:
            study: The study.

        Returns:
            The names of the entries, by catalogue section; empty by default.
        """
        return {}

    def scored_texts(self, study: CheckedStudy) -> Mapping[str, bool]:
        """List the annex's keys that make the grid's generators compute likelihoods of given texts.

        Args:
            study: The study.

        Returns:
            Whether each key is on, by key; empty by default.
        """
        return {}

    # Files, figures and tables

    result_tables: ClassVar[Sequence[Any]] = ()
    """The result tables behind the annex's figures and tables (report.display.outputs.ResultTable)."""
    outputs: ClassVar[Sequence[Any]] = ()
    """The annex's figures and tables (report.display.outputs.Output)."""
    pages: ClassVar[tuple[str, ...]] = ()
    """Path patterns for the annex's own pages, relative to the results."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Files and folders in the results that come from other configurations and so are never stale."""

    @property
    def package(self) -> str:
        """The package that contains the annex's modules."""
        return type(self).__module__.removesuffix(".annex")

    @property
    def name(self) -> str:
        """The annex's name, taken from its folder or its package's entry point."""
        return next(name for name, package in packages().items() if package == self.package)

    @property
    def folder(self) -> Path:
        """The folder with ``rules.smk``, ``scripts/``, ``templates/`` and ``captions/``."""
        return package_folder(self.package)

    @property
    def files(self) -> Any:
        """The module ``files``, which declares the annex's other files; None if there is none."""
        return self._module("files")

    @property
    def registries(self) -> list[str]:
        """The modules that declare the annex's files, figures and tables."""
        return [f"{self.package}.{module}" for module in ("annex", "files", "outputs") if self._has(module)]

    shown: ClassVar[str] = ""
    """The rule that creates the tables that the annex shows on the page, once for each of its ``sections``."""

    def of_rules(self, study: CheckedStudy) -> Any:
        """Prepare the study for the annex's rules by calling ``of_study`` in its module ``rules``.

        Args:
            study: The study.

        Returns:
            What ``of_study`` returns: an object from which the rules read keys, paths and parameters.
        """
        return importlib.import_module(f"{self.package}.rules").of_study(study)

    def sections(self, study: CheckedStudy) -> list[Mapping[str, str]]:
        """List the keys for which the rule ``shown`` creates tables.

        Args:
            study: The study.

        Returns:
            One key per set of tables; empty if the annex shows no tables or the study has none.
        """
        return list(self.of_rules(study).sections) if self.shown else []

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        """Check which of the annex's figures and tables the study can have.

        Args:
            study: The study.

        Returns:
            For each value of ``only_with`` in the annex's tables and figures, whether the study meets that requirement.
        """
        needed = [table.only_with for table in self.result_tables if self.shown and table.only_with]
        return dict.fromkeys(needed, bool(self.sections(study)))

    def reported(self, reported: ReportedStudy) -> list[str]:
        """List the annex's files that Snakemake's report includes in addition to the page.

        Args:
            reported: The files in the study's report (execution.study.reported).

        Returns:
            Their paths; empty if the study has no ``sections``.
        """
        sections, scopes = self.sections(reported.study), dict.fromkeys(output.of for output in self.outputs)
        return [path for of in scopes if sections for path in reported.paths(reported.outputs(of), sections)]

    def explored(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        """List the tables of individual passages' effects, which the query explorer shows next to the contexts.

        Args:
            study: The study.
            section: The section's dataset, generator and scorer.

        Returns:
            CSV files that have at least the columns in report.query_explorer.reading.EFFECT; none by default.
        """
        return []

    def explored_blocks(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        """List the tables of text blocks that the query explorer shows below a query's contexts.

        Args:
            study: The study.
            section: The section's dataset, generator and scorer.

        Returns:
            Parquet files that have the columns in report.query_explorer.reading.BLOCK; none by default.
        """
        return []

    def left_out(self, study: CheckedStudy) -> LeftOut:
        """List the files with counts of the data that the annex left out.

        Args:
            study: The study.

        Returns:
            A mapping from each count's name to its stage, path pattern and files; empty by default.
        """
        return {}

    def data(self, study: CheckedStudy) -> Sequence[str]:
        """List the annex's data files, whose hashes the provenance records.

        Args:
            study: The study.

        Returns:
            Their paths; none by default.
        """
        return []

    def records(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        """List the JSON files that the provenance includes if they exist.

        No rule may produce them, because nothing would request them for a study's page.

        Args:
            study: The study.

        Returns:
            The files, each under its key in the provenance; empty by default.
        """
        return {}

    hashes: ClassVar[str] = ""
    """The function that hashes the files in ``data``, as ``module:name``; empty if there is none.

    It takes the results folder, a dataset and the configuration. It must not read any other files, because jobs may be
    writing them at that moment."""

    # The page of the study

    template: ClassVar[str] = ""
    """The template for the annex's part of the page; empty if it has none.

    An annex with a template also needs the module ``page_part`` with two functions: ``read(files, inputs, params)``
    returns the part, or a false value if the study has none; ``values(part, page, most_rows)`` returns the template's
    variables and adds charts to the page. Optionally, ``opening(part)`` returns sentences to show above all answers,
    and ``warnings(part)`` sentences to show below them."""
    link: ClassVar[tuple[str, str]] = ("", "")
    """Anchor and title of the link to the annex's part, in the page's header."""

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, object]:
        """List the files that the annex's part of the page reads.

        Args:
            study: The study.

        Returns:
            The inputs by name; by default the tables in ``page_patterns`` for all ``sections``.
        """
        return {name: path.each(self.sections(study)) for name, path in self.page_patterns(study).items()}

    def page_patterns(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        """List the path patterns of those page inputs that differ only in their wildcards.

        Args:
            study: The study.

        Returns:
            The pattern for each input name; by default the tables from the rule ``shown``, if the study has any.
        """
        tables = [table for table in self.result_tables if table.rule == self.shown]
        return {table.name: table.file for table in tables} if tables and self.sections(study) else {}

    def page_params(self, study: CheckedStudy) -> object:
        """Return the plain values that the annex's part of the page needs.

        Args:
            study: The study.

        Returns:
            The values, which become a parameter of the page's rule; None (the default) for no parameter.
        """
        return None

    def beside(self, study: CheckedStudy, annex: str) -> Mapping[str, object]:
        """List the files that this annex's part reads when it is shown on another annex's page.

        Args:
            study: The study.
            annex: The other annex's name.

        Returns:
            The inputs by name; empty if that page doesn't show this annex.
        """
        return {}

    def page_modules(self, study: CheckedStudy) -> list[str]:
        """List the modules, such as kinds, that the annex's part of the page imports by name.

        Args:
            study: The study.

        Returns:
            Module names; none by default.
        """
        return []

    @property
    def page_part(self) -> str:
        """The module that reads and fills the annex's part of the page."""
        return f"{self.package}.page_part"

    # Rules

    @property
    def has_rules(self) -> bool:
        """Whether the annex has a file ``rules.smk``."""
        return (self.folder / "rules.smk").is_file()

    generates: ClassVar[tuple[str, ...]] = ()
    """The annex's rules that generate answers."""

    def generation(self, study: CheckedStudy) -> list[GenerationRule]:
        """List the rules that generate answers to prompts outside the grid's cells.

        Like `generate_answers`, each job handles one shard of a dataset for one generator.

        Args:
            study: The study.

        Returns:
            One mapping per rule; none by default. ``rule``: the rule's name. ``prompts``: input name and path pattern
            of the prompts, with the wildcards dataset, template and retriever. ``receipt``: the receipt's file.
            ``needed``: whether the study needs the answers. ``retrievers``: the retrievers that have such prompts, if
            not all those in the grid. ``leaves_out``: whether prompts that exceed the window are left out even if the
            generator truncates other prompts; the rule that builds the prompts needs the same parameter. ``stage``:
            name and wildcards of one stage, if the rule has a mapping per stage. ``planned``: like ``prompts``, but for
            estimated prompts, which the plan reads as long as the real ones depend on answers that don't exist yet.
        """
        return []

    def answers_await(self, study: CheckedStudy) -> list[StudyFile]:
        """List the checks that must pass before an engine answers the grid's prompts.

        Args:
            study: The study.

        Returns:
            Path patterns with the wildcards dataset and generator; none by default.
        """
        return []

    def planned(self, study: CheckedStudy) -> list[str]:
        """List the annex's sentences at the end of `snakemake plan`'s output.

        Args:
            study: The study.

        Returns:
            The sentences; none by default.
        """
        return []

    def prefetched(self, study: CheckedStudy) -> list[StudyFile]:
        """List the files that `snakemake prefetch` creates while there is an internet connection.

        Args:
            study: The study.

        Returns:
            The files; none by default.
        """
        return []

    def run_ended(self, results: str | Path) -> None:
        """Clean up or report after a run has ended, successfully or not.

        Don't raise errors here: they would hide how the run itself ended.

        Args:
            results: The folder with the study's results.
        """

    def _has(self, module: str) -> bool:
        found = sys.modules[self.package].__path__
        return any(each.name == module for each in pkgutil.iter_modules(found))

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}") if self._has(name) else None


def template_folders() -> list[Path]:
    """Return all annex folders that contain page templates."""
    return sorted(
        folder for package in packages().values() if (folder := package_folder(package) / "templates").is_dir()
    )


@cache
def packages() -> dict[str, str]:
    """Return every annex's package by the annex's name."""
    own = [each.name for each in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)]
    if twice := sorted({*own} & extensions("Annex").keys()):
        raise InputError(f"entry point Annex.{twice[0]}", "the name of one of ragrelay's annexes", "another name")
    return {**{name: f"{PACKAGE}.{name}" for name in own}, **extensions("Annex")}


@cache
def annexes() -> tuple[Annex, ...]:
    """Return all annexes, including those of other installed packages, sorted by ``order``."""
    modules = [import_extension(f"{package}.annex") for package in packages().values()]
    classes = [annex for module in modules for annex in classes_of(module, Annex)]
    return tuple(sorted((one() for one in classes), key=lambda annex: annex.order))
