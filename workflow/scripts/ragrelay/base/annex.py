"""Define annexes: optional features next to the core, such as prediction or the comparison of studies.

An annex is a folder of ``ragrelay.annexes``, or a package that an entry point names (extensions). Its ``annex.py`` has
a subclass of Annex. The core asks every annex in turn through the attributes and methods here, and names none. Methods
get the study (config.study.Study, and in rules StudyOfRules). Annexes import data libraries, and modules above the
configuration, inside methods, because Snakemake imports every annex when it starts.
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
    """A rule that generates answers; Annex.generation describes the keys."""

    rule: str
    prompts: tuple[str, StudyFile]
    receipt: StudyFile
    needed: bool
    retrievers: NotRequired[Sequence[str]]
    leaves_out: NotRequired[bool]
    stage: NotRequired[tuple[str, Mapping[str, str]]]
    planned: NotRequired[tuple[str, StudyFile]]


LeftOut = Mapping[str, tuple[str, StudyFile, Sequence[str]]]
"""Stage, path pattern and files with counts, by the count's name."""


class ReportedStudy(Protocol):
    """The study's reported files, as Annex.reported gets them (execution.study.reported)."""

    @property
    def study(self) -> CheckedStudy:
        """The study."""

    def outputs(self, of: str) -> Sequence[Any]:
        """Return the figures and tables with this scope."""

    def paths(self, outputs: Sequence[Any], parts: Iterable[Mapping[str, object]]) -> list[str]:
        """Return the files of figures and tables, for each key in ``parts``."""


class Annex:
    """Base class for annexes. The first paragraph of a subclass's docstring says what the annex is for."""

    order: ClassVar[int]
    """The annex's position among all annexes, on the page and in the documentation."""
    builds_on: ClassVar[tuple[str, ...]] = ()
    """Annexes that this one imports. Removing one of them removes this one too."""
    doors: ClassVar[tuple[str, ...]] = ()
    """Modules, or functions in ``__init__``, at the package's top that give users access. They are removed with the
    annex."""
    extends: ClassVar[Mapping[str, str]] = {}
    """The annex's names in ``ragrelay.extend``, each with the module that defines it."""

    # Configuration

    keys: ClassVar[type[Settings] | None] = None
    """The annex's top-level configuration keys."""
    grid_keys: ClassVar[type[Settings] | None] = None
    """The annex's keys in the grid."""
    kinds: ClassVar[Mapping[str, Kinds[Any]]] = {}
    """The annex's catalogue sections, each with its Kinds."""
    chosen: ClassVar[tuple[str, ...]] = ()
    """Those catalogue sections from which the grid's key with the same name selects entries."""
    reserved: ClassVar[tuple[str, ...]] = ()
    """Names that datasets may not have, because files or folders in the results have them."""
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
        """List the generators that the annex asks even if the grid doesn't select them.

        Args:
            config: The configuration.

        Returns:
            Generator names; by default there are none.
        """
        return ()

    def selected(self, study: CheckedStudy) -> Mapping[str, Iterable[str]]:
        """List the catalogue entries that the annex uses.

        Args:
            study: The study.

        Returns:
            Entry names, keyed by catalogue section; by default there are none.
        """
        return {}

    def scored_texts(self, study: CheckedStudy) -> Mapping[str, bool]:
        """List the annex's keys that make the grid's generators score given texts.

        Args:
            study: The study.

        Returns:
            Whether each key is on; by default there are no keys.
        """
        return {}

    # Files, figures and tables

    result_tables: ClassVar[Sequence[Any]] = ()
    """The tables that the annex's figures and tables are made from (report.display.outputs.ResultTable)."""
    outputs: ClassVar[Sequence[Any]] = ()
    """The annex's figures and tables (report.display.outputs.Output)."""
    pages: ClassVar[tuple[str, ...]] = ()
    """Path patterns for the annex's pages, below the results."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Files and folders below the results that other configurations make; they are never stale."""

    @property
    def package(self) -> str:
        """The package with the annex's modules."""
        return type(self).__module__.removesuffix(".annex")

    @property
    def name(self) -> str:
        """The annex's name, taken from its folder or from its package's entry point."""
        return next(name for name, package in packages().items() if package == self.package)

    @property
    def folder(self) -> Path:
        """The folder with ``rules.smk``, ``scripts/``, ``templates/`` and ``captions/``."""
        return package_folder(self.package)

    @property
    def files(self) -> Any:
        """The module ``files``, which registers the annex's other files; None if there is none."""
        return self._module("files")

    @property
    def registries(self) -> list[str]:
        """Modules that declare the annex's files, figures and tables."""
        return [f"{self.package}.{module}" for module in ("annex", "files", "outputs") if self._has(module)]

    shown: ClassVar[str] = ""
    """The rule whose tables the annex shows on the page, each for all its ``sections``."""

    def of_rules(self, study: CheckedStudy) -> Any:
        """Prepare the study for the annex's rules: call ``of_study`` in the annex's module ``rules``.

        Args:
            study: The study.

        Returns:
            The object that ``of_study`` returns, from which the rules read keys, paths and parameters.
        """
        return importlib.import_module(f"{self.package}.rules").of_study(study)

    def sections(self, study: CheckedStudy) -> list[Mapping[str, str]]:
        """List the keys for which the rule ``shown`` makes its tables.

        Args:
            study: The study.

        Returns:
            One key per set of tables; none if the annex shows no tables or the study has none.
        """
        return list(self.of_rules(study).sections) if self.shown else []

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        """Check which of the annex's figures and tables the study can have.

        Args:
            study: The study.

        Returns:
            For each ``only_with`` value in the annex's tables and figures, whether the study has what it needs.
        """
        needed = [table.only_with for table in self.result_tables if self.shown and table.only_with]
        return dict.fromkeys(needed, bool(self.sections(study)))

    def reported(self, reported: ReportedStudy) -> list[str]:
        """List the files that Snakemake's report includes besides the page.

        Args:
            reported: The study's reported files (execution.study.reported).

        Returns:
            The paths; none if the study has no ``sections``.
        """
        sections, scopes = self.sections(reported.study), dict.fromkeys(output.of for output in self.outputs)
        return [path for of in scopes if sections for path in reported.paths(reported.outputs(of), sections)]

    def explored(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        """List the tables with single passages' effects that the query explorer shows next to the contexts.

        Args:
            study: The study.
            section: The section's dataset, generator and scorer.

        Returns:
            CSV files with at least the columns in report.query_explorer.reading.EFFECT; by default there are none.
        """
        return []

    def explored_blocks(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        """List the tables with blocks that the query explorer shows below the contexts of a query.

        Args:
            study: The study.
            section: The section's dataset, generator and scorer.

        Returns:
            Parquet files with the columns in report.query_explorer.reading.BLOCK; by default there are none.
        """
        return []

    def left_out(self, study: CheckedStudy) -> LeftOut:
        """List the files that count what the annex left out.

        Args:
            study: The study.

        Returns:
            Stage, path pattern and files, keyed by the count's name; by default there are none.
        """
        return {}

    def data(self, study: CheckedStudy) -> Sequence[str]:
        """List the annex's files whose hashes the provenance records.

        Args:
            study: The study.

        Returns:
            The files; by default there are none.
        """
        return []

    def records(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        """List the JSON files that the provenance includes if they exist.

        No rule may have them as outputs, because a study's page requests none of them.

        Args:
            study: The study.

        Returns:
            The files, each under the key that has their values in the provenance; by default there are none.
        """
        return {}

    hashes: ClassVar[str] = ""
    """A function, as ``module:name``, that hashes the files in ``data``; empty if there is none.

    It takes the results' folder, a dataset and the configuration, and must read no other files: jobs may be writing
    them."""

    # The page of the study

    template: ClassVar[str] = ""
    """The template for the annex's part of the page; empty if it has no part.

    The module ``page_part`` then has ``read(files, inputs, params)``, which returns the part, or a false value if the
    study has none, and ``values(part, page, most_rows)``, which returns the template's variables and adds charts to the
    page. It may also have ``opening(part)``, for sentences above all answers, and ``warnings(part)``, for sentences
    below them."""
    link: ClassVar[tuple[str, str]] = ("", "")
    """The anchor and title that link to the annex's part in the page's header."""

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, object]:
        """List the files that the annex's part of the page reads.

        Args:
            study: The study.

        Returns:
            The inputs, keyed by name; by default the tables that ``page_patterns`` names, for all ``sections``.
        """
        return {name: path.each(self.sections(study)) for name, path in self.page_patterns(study).items()}

    def page_patterns(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        """List the path patterns for page inputs that are distinguished by their wildcards.

        Args:
            study: The study.

        Returns:
            The pattern, keyed by input name; by default the patterns for the tables that the rule ``shown`` makes, if
            the study has any.
        """
        tables = [table for table in self.result_tables if table.rule == self.shown]
        return {table.name: table.file for table in tables} if tables and self.sections(study) else {}

    def page_params(self, study: CheckedStudy) -> object:
        """List the plain values that the annex's part of the page needs.

        Args:
            study: The study.

        Returns:
            The values, which become a parameter of the page's rule; by default None, which means no parameter.
        """
        return None

    def beside(self, study: CheckedStudy, annex: str) -> Mapping[str, object]:
        """List the files that this annex's part reads when another annex's page shows it.

        Args:
            study: The study.
            annex: The other annex's name.

        Returns:
            The inputs, keyed by name; none if that page doesn't show this annex.
        """
        return {}

    def page_modules(self, study: CheckedStudy) -> list[str]:
        """List the modules that the annex's part of the page loads by name, such as kinds.

        Args:
            study: The study.

        Returns:
            Module names; by default there are none.
        """
        return []

    @property
    def page_part(self) -> str:
        """The module for the annex's part of the page."""
        return f"{self.package}.page_part"

    # Rules

    @property
    def has_rules(self) -> bool:
        """Whether the annex has a file ``rules.smk``."""
        return (self.folder / "rules.smk").is_file()

    generates: ClassVar[tuple[str, ...]] = ()
    """The annex's rules that generate answers."""

    def generation(self, study: CheckedStudy) -> list[GenerationRule]:
        """List the rules that generate answers for other prompts than the grid's cells.

        Like `generate_answers`, they work on shards of a dataset and generator.

        Args:
            study: The study.

        Returns:
            One mapping per rule; by default there are none. ``rule``: its name. ``prompts``: name and path pattern for
            the prompts, keyed by dataset, template and retriever. ``receipt``: the receipt's file. ``needed``: whether
            the study needs the answers. ``retrievers``: the retrievers with such prompts, if not all in the grid.
            ``leaves_out``: whether prompts over the window are left out if the generator truncates others; the prompts'
            rule has the same parameter. ``stage``: the name and wildcards of one stage, for a rule with a mapping per
            stage. ``planned``: like ``prompts``, but estimated; the plan reads these while the real prompts await
            answers.
        """
        return []

    def answers_await(self, study: CheckedStudy) -> list[StudyFile]:
        """List the checks that must pass before an engine answers the prompts in the grid.

        Args:
            study: The study.

        Returns:
            Path patterns, keyed by dataset and generator; by default there are none.
        """
        return []

    def planned(self, study: CheckedStudy) -> list[str]:
        """List the sentences that end the output of `snakemake plan`.

        Args:
            study: The study.

        Returns:
            The sentences; by default there are none.
        """
        return []

    def prefetched(self, study: CheckedStudy) -> list[StudyFile]:
        """List the files to make while there is an internet connection.

        Args:
            study: The study.

        Returns:
            The files; by default there are none.
        """
        return []

    def run_ended(self, results: str | Path) -> None:
        """Act after a run has ended, successfully or not.

        Never raise an error here: it would hide how the run itself ended.

        Args:
            results: The folder with the study's results.
        """

    def _has(self, module: str) -> bool:
        found = sys.modules[self.package].__path__
        return any(each.name == module for each in pkgutil.iter_modules(found))

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}") if self._has(name) else None


def template_folders() -> list[Path]:
    """Return the annexes' folders with page templates."""
    return sorted(
        folder for package in packages().values() if (folder := package_folder(package) / "templates").is_dir()
    )


@cache
def packages() -> dict[str, str]:
    """Return every annex's package, keyed by name."""
    own = [each.name for each in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)]
    if twice := sorted({*own} & extensions("Annex").keys()):
        raise InputError(f"entry point Annex.{twice[0]}", "the name of an annex that ragrelay has", "another name")
    return {**{name: f"{PACKAGE}.{name}" for name in own}, **extensions("Annex")}


@cache
def annexes() -> tuple[Annex, ...]:
    """Return the installed packages' annexes, in order."""
    modules = [import_extension(f"{package}.annex") for package in packages().values()]
    classes = [annex for module in modules for annex in classes_of(module, Annex)]
    return tuple(sorted((one() for one in classes), key=lambda annex: annex.order))
