"""Define annexes: optional features on top of the core, such as predicting gains or comparing studies.

An annex is a folder in ``ragrelay.annexes`` or an installed package with an entry point (see base.extensions). The
module ``annex`` in the folder or package defines a subclass of Annex. The core never mentions an annex by name: it
iterates over all annexes and uses the attributes and methods of the class Annex. Rules pass a StudyOfRules as the
argument ``study``; other callers pass a config.study.Study. Because Snakemake imports every annex at startup, data
libraries and ``ragrelay.execution`` must be imported inside methods.
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
    """A rule that generates answers. For the keys, see Annex.generation."""

    rule: str
    prompts: tuple[str, StudyFile]
    receipt: StudyFile
    needed: bool
    retrievers: NotRequired[Sequence[str]]
    leaves_out: NotRequired[bool]
    stage: NotRequired[tuple[str, Mapping[str, str]]]
    planned: NotRequired[tuple[str, StudyFile]]


LeftOut = Mapping[str, tuple[str, StudyFile, Sequence[str]]]
"""Maps the name of each count of left-out data to a stage, a path pattern, and the paths of files that contain it."""


class ReportedStudy(Protocol):
    """A study with its figures and tables, for Annex.reported. The implementation is in execution.study.reported."""

    @property
    def study(self) -> CheckedStudy:
        """The study."""

    def outputs(self, of: str) -> Sequence[Any]:
        """Return the figures and tables that are created once per ``of``, for example once per ``section``."""

    def paths(self, outputs: Sequence[Any], parts: Iterable[Mapping[str, object]]) -> list[str]:
        """Return the paths of ``outputs`` (figures and tables) for each set of wildcard values in ``parts``."""


class Annex:
    """Base class for annexes. The first paragraph of a subclass's docstring states the annex's purpose."""

    order: ClassVar[int]
    """The annex's position on the page and in the documentation, among all annexes sorted by this number."""
    builds_on: ClassVar[tuple[str, ...]] = ()
    """The annexes that this annex imports. Removing any of these annexes also removes this annex."""
    doors: ClassVar[tuple[str, ...]] = ()
    """Top-level modules in ``ragrelay``, or functions in its ``__init__``, that give users access to the annex.
    Removing the annex also removes these modules and functions."""
    extends: ClassVar[Mapping[str, str]] = {}
    """The names that the annex adds to ``ragrelay.extend``, each with the module that defines it."""

    # Configuration

    keys: ClassVar[type[Settings] | None] = None
    """The annex's top-level configuration keys."""
    grid_keys: ClassVar[type[Settings] | None] = None
    """The annex's keys in ``grid``."""
    kinds: ClassVar[Mapping[str, Kinds[Any]]] = {}
    """The catalogue sections that the annex adds, each with the kinds of entries it may contain."""
    chosen: ClassVar[tuple[str, ...]] = ()
    """The annex's catalogue sections whose entries are selected with a key of the same name in ``grid``."""
    reserved: ClassVar[tuple[str, ...]] = ()
    """Names that datasets may not have, because files or folders in the results already use them."""
    without_effect: ClassVar[tuple[str, ...]] = ()
    """The annex's configuration keys that don't affect results, so the provenance doesn't record them."""

    def check(self, study: CheckedStudy) -> None:
        """Check the annex's configuration keys and catalogue entries.

        Args:
            study: The study to check.

        Raises:
            InputError: One of the annex's keys or catalogue entries is invalid in this study.
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
        """List the annex's features for which the grid's generators must compute likelihoods.

        Args:
            study: The study.

        Returns:
            A mapping from each feature's configuration key to whether the feature is on; empty by default.
        """
        return {}

    # Files, figures and tables

    result_tables: ClassVar[Sequence[Any]] = ()
    """The result tables behind the annex's figures and tables (report.display.outputs.ResultTable)."""
    outputs: ClassVar[Sequence[Any]] = ()
    """The annex's figures and tables (report.display.outputs.Output)."""
    pages: ClassVar[tuple[str, ...]] = ()
    """Path patterns for the annex's own HTML pages, relative to the study's results folder."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Files and folders in the results that are never reported as stale, because other configurations produce them."""

    @property
    def package(self) -> str:
        """The package that contains the annex's modules."""
        return type(self).__module__.removesuffix(".annex")

    @property
    def name(self) -> str:
        """The annex's name, taken from the folder's name or the package's entry point."""
        return next(name for name, package in packages().items() if package == self.package)

    @property
    def folder(self) -> Path:
        """The folder with ``rules.smk``, ``scripts/``, ``templates/`` and ``captions/``."""
        return package_folder(self.package)

    @property
    def files(self) -> Any:
        """The annex's module ``files`` (for files other than figures and tables), or None if there is none."""
        return self._module("files")

    @property
    def registries(self) -> list[str]:
        """The modules that declare the annex's files, figures and tables."""
        return [f"{self.package}.{module}" for module in ("annex", "files", "outputs") if self._has(module)]

    shown: ClassVar[str] = ""
    """The name of the rule that creates the annex's tables for the page. It runs once for each item in ``sections``."""

    def of_rules(self, study: CheckedStudy) -> Any:
        """Prepare the study for the annex's rules by calling the function ``of_study`` in the annex's module ``rules``.

        Args:
            study: The study.

        Returns:
            The object returned by ``of_study``, from which the annex's rules read keys, paths and parameters.
        """
        return importlib.import_module(f"{self.package}.rules").of_study(study)

    def sections(self, study: CheckedStudy) -> list[Mapping[str, str]]:
        """List the wildcard values for which the rule named by ``shown`` runs.

        Args:
            study: The study.

        Returns:
            One mapping from wildcards to values for each job of the rule, or an empty list if ``shown`` isn't set.
        """
        return list(self.of_rules(study).sections) if self.shown else []

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        """Check whether the study sets the configuration keys that figures and tables need (``only_with``).

        Args:
            study: The study.

        Returns:
            A mapping from each key to a true value if the study sets the key, and to a false value otherwise.
        """
        needed = [table.only_with for table in self.result_tables if self.shown and table.only_with]
        return dict.fromkeys(needed, bool(self.sections(study)))

    def reported(self, reported: ReportedStudy) -> list[str]:
        """List the annex's files that Snakemake's report includes alongside the study's page.

        Args:
            reported: The study, its figures and tables, and their paths.

        Returns:
            The files' paths; empty if ``sections`` returns an empty list.
        """
        sections, scopes = self.sections(reported.study), dict.fromkeys(output.of for output in self.outputs)
        return [path for of in scopes if sections for path in reported.paths(reported.outputs(of), sections)]

    def explored(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        """List the tables of passage effects that the query explorer shows next to the contexts.

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
        """List the files that say how much data the annex leaves out.

        Args:
            study: The study.

        Returns:
            A mapping from each count's name to a tuple (stage, path pattern, file paths); empty by default.
        """
        return {}

    def data(self, study: CheckedStudy) -> Sequence[str]:
        """List the annex's data files whose hashes are recorded in the provenance.

        Args:
            study: The study.

        Returns:
            The files' paths; none by default.
        """
        return []

    def records(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        """List the JSON files whose content is copied into the provenance.

        Missing files are skipped, because the page doesn't need them.

        Args:
            study: The study.

        Returns:
            A mapping from keys in the provenance to files; empty by default.
        """
        return {}

    hashes: ClassVar[str] = ""
    """The function that hashes the files listed by ``data``, as ``module:name``; empty if there is none.

    The function takes the results folder, a dataset and the configuration. It must only read the files in ``data``,
    because jobs may be writing other files at that moment."""

    # The page of the study

    template: ClassVar[str] = ""
    """The file name of the template for the annex's part of the page; empty if the annex has no such part.

    An annex with a template also needs the module ``page_part`` with two functions: ``read(files, inputs, params)``
    returns the part's data, or a false value if the study has none; ``values(part, page, most_rows)`` returns the
    template's variables and adds charts to the page. Optionally, ``opening(part)`` returns sentences to show above all
    answers, and ``warnings(part)`` sentences to show below them."""
    link: ClassVar[tuple[str, str]] = ("", "")
    """The anchor and title of the link in the page's header that leads to the annex's part of the page."""

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, object]:
        """List the files that the annex's part of the page reads.

        Args:
            study: The study.

        Returns:
            A mapping from input names to files; by default, each of the ``page_patterns``, filled in for every section.
        """
        return {name: path.each(self.sections(study)) for name, path in self.page_patterns(study).items()}

    def page_patterns(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        """List the path patterns of the files that the annex's part of the page reads once per item in ``sections``.

        Args:
            study: The study.

        Returns:
            A mapping from input names to path patterns; by default, the patterns of the tables that ``shown`` creates.
        """
        tables = [table for table in self.result_tables if table.rule == self.shown]
        return {table.name: table.file for table in tables} if tables and self.sections(study) else {}

    def page_params(self, study: CheckedStudy) -> object:
        """Return the configuration values that the annex's part of the page needs.

        Args:
            study: The study.

        Returns:
            JSON-like values to pass to the page's rule as a parameter, or None (the default) to pass no parameter.
        """
        return None

    def beside(self, study: CheckedStudy, annex: str) -> Mapping[str, object]:
        """List the files that another annex's page reads to show this annex's results.

        Args:
            study: The study.
            annex: The other annex's name.

        Returns:
            A mapping from input names to files; empty if the other annex's page shows no results from this annex.
        """
        return {}

    def page_modules(self, study: CheckedStudy) -> list[str]:
        """List the modules that the annex's part of the page imports dynamically, such as modules that define kinds.

        Args:
            study: The study.

        Returns:
            Module names; none by default.
        """
        return []

    @property
    def page_part(self) -> str:
        """The name of the module that reads the data for the annex's part of the page and fills in the template."""
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

        As in `generate_answers`, each job handles one shard of a dataset for one generator.

        Args:
            study: The study.

        Returns:
            One mapping per rule; none by default. ``rule``: the rule's name. ``prompts``: the input name and path
            pattern of the prompts, with the wildcards dataset, template and retriever. ``receipt``: the file that
            records the job's requests. ``needed``: whether the study needs the answers. ``retrievers``: the retrievers
            with prompts (default: all retrievers in the grid). ``leaves_out``: whether to skip prompts that exceed the
            window even with `over_window: truncate`. ``stage``: for a rule with several stages, the stage's name and
            wildcards. ``planned``: the input name and path pattern of stand-in prompts, used to estimate the cost until
            the real prompts can be built.
        """
        return []

    def answers_await(self, study: CheckedStudy) -> list[StudyFile]:
        """List the files written by checks that must pass before an engine answers the grid's prompts.

        Args:
            study: The study.

        Returns:
            Path patterns with the wildcards dataset and generator; none by default.
        """
        return []

    def planned(self, study: CheckedStudy) -> list[str]:
        """List the sentences that the annex adds to the end of the output of `snakemake plan`.

        Args:
            study: The study.

        Returns:
            The sentences; none by default.
        """
        return []

    def prefetched(self, study: CheckedStudy) -> list[StudyFile]:
        """List the annex's files that `snakemake prefetch` creates on a machine with internet access.

        Args:
            study: The study.

        Returns:
            The files; none by default.
        """
        return []

    def run_ended(self, results: str | Path) -> None:
        """Clean up or print messages after a run has succeeded or failed.

        Don't raise errors here, because they would hide the run's own outcome.

        Args:
            results: The folder with the study's results.
        """

    def _has(self, module: str) -> bool:
        found = sys.modules[self.package].__path__
        return any(each.name == module for each in pkgutil.iter_modules(found))

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}") if self._has(name) else None


def template_folders() -> list[Path]:
    """Return the sorted ``templates`` folders of all annexes that have page templates."""
    return sorted(
        folder for package in packages().values() if (folder := package_folder(package) / "templates").is_dir()
    )


@cache
def packages() -> dict[str, str]:
    """Return a mapping from annex names to package names."""
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
