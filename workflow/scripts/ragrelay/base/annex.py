"""Define annexes: what stands beside the core and can be taken away, such as prediction or the comparison of studies.

An annex is a folder of ``ragrelay.annexes``, or a package that an entry point names (extensions). Its ``annex.py`` has
a subclass of Annex. What the core needs of it is an attribute or a method here, and the core asks all annexes in turn;
it names none. Methods get the study (config.study.Study, and in rules StudyOfRules). Annexes import data libraries, and
what is above the configuration, inside methods, since Snakemake imports every annex when it starts.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from ragrelay.base.errors import InputError
from ragrelay.base.extensions import classes_of, extensions, import_extension, package_folder
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Settings

PACKAGE = "ragrelay.annexes"
FOLDER = Path(__file__).parents[1] / "annexes"


class Annex:
    """Base class of annexes. The first paragraph of a subclass's docstring says what the annex is for."""

    order: ClassVar[int]
    """Its place among the annexes, on the page and in the documentation."""
    builds_on: ClassVar[tuple[str, ...]] = ()
    """Annexes that its modules import. Taking one of them away takes this one away as well."""
    doors: ClassVar[tuple[str, ...]] = ()
    """Its entrances for users at the package's top: modules, or functions of ``__init__``. They go with it."""
    extends: ClassVar[Mapping[str, str]] = {}
    """Its public names (ragrelay.extend), each with the module that defines it."""

    # Configuration

    keys: ClassVar[type[Settings] | None] = None
    """Its sections of the configuration."""
    grid_keys: ClassVar[type[Settings] | None] = None
    """Its keys of the grid."""
    kinds: ClassVar[Mapping[str, Any]] = {}
    """Its sections of the catalogue, each with its Kinds."""
    chosen: ClassVar[tuple[str, ...]] = ()
    """Of these, sections from which the key of the same name in the grid selects."""
    reserved: ClassVar[tuple[str, ...]] = ()
    """Names that datasets may not have, since the results have folders and files of these names."""
    without_effect: ClassVar[tuple[str, ...]] = ()
    """Keys of the configuration that are left out of the provenance."""

    def check(self, study: CheckedStudy) -> None:
        """Raise InputError for the first of its entries that can't work in ``study``."""

    def generators(self, config: Mapping[str, Any]) -> Iterable[str]:
        """Return the generators that it asks and that need not be in the grid."""
        return ()

    def selected(self, study: CheckedStudy) -> Mapping[str, Iterable[str]]:
        """Return the names that it selects from sections of the catalogue."""
        return {}

    def scored_texts(self, study: CheckedStudy) -> Mapping[str, bool]:
        """Return its keys that make the grid's generators score given texts, and whether each is on."""
        return {}

    # Files, figures and tables

    result_tables: ClassVar[Sequence[Any]] = ()
    """Its tables from which figures and tables are made (report.display.outputs.ResultTable)."""
    outputs: ClassVar[Sequence[Any]] = ()
    """Its figures and tables (report.display.outputs.Output)."""
    pages: ClassVar[tuple[str, ...]] = ()
    """Patterns of its pages below the results."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Files and folders below the results that other configurations make; never stale."""

    @property
    def package(self) -> str:
        """The package that has its modules."""
        return type(self).__module__.removesuffix(".annex")

    @property
    def name(self) -> str:
        """Its name: of its folder, or of the entry point of its package."""
        return next(name for name, package in packages().items() if package == self.package)

    @property
    def folder(self) -> Path:
        """Its folder, which has its ``rules.smk``, ``scripts/``, ``templates/`` and ``captions/``."""
        return package_folder(self.package)

    @property
    def files(self) -> Any:
        """The module that registers its other files, ``files.py``; None if there is none."""
        return self._module("files")

    @property
    def registries(self) -> list[str]:
        """Its modules that a list of all files, figures and tables is made from."""
        return [f"{self.package}.{module}" for module in ("annex", "files", "outputs") if self._has(module)]

    shown: ClassVar[str] = ""
    """The rule whose tables its part of the page shows, each for all ``sections`` of what its rules need."""

    def of_rules(self, study: CheckedStudy) -> Any:
        """Return what its rules need of ``study``: ``of_study`` of its module ``rules``, which imports annexes."""
        return importlib.import_module(f"{self.package}.rules").of_study(study)

    def sections(self, study: CheckedStudy) -> list[dict[str, Any]]:
        """Return a key for each set of the tables ``shown``; none for a study without them."""
        return list(self.of_rules(study).sections) if self.shown else []

    def present(self, study: CheckedStudy) -> Mapping[str, Any]:
        """Return the values of ``only_with`` in its tables and figures, and whether a study has what each needs."""
        needed = [table.only_with for table in self.result_tables if self.shown and table.only_with]
        return dict.fromkeys(needed, bool(self.sections(study)))

    def reported(self, reported: Any) -> list[Any]:
        """Return the files that a study's report includes besides its page. ``reported``: execution.study.reported."""
        sections, scopes = self.sections(reported.study), dict.fromkeys(output.of for output in self.outputs)
        return [path for of in scopes if sections for path in reported.paths(reported.outputs(of), sections)]

    def explored(self, study: CheckedStudy, section: Mapping[str, str]) -> list[Any]:
        """Return its tables of effects of single passages of contexts, which the query explorer shows beside them.

        ``section``: dataset, generator, scorer. CSV, with at least report.query_explorer.reading.EFFECT.
        """
        return []

    def left_out(self, study: CheckedStudy) -> Mapping[str, tuple[str, Any, list[Any]]]:
        """Return its counts of what was left out: name → stage, pattern and files."""
        return {}

    def data(self, study: CheckedStudy) -> list[Any]:
        """Return its files whose hashes are in the provenance."""
        return []

    def records(self, study: CheckedStudy) -> Mapping[str, Any]:
        """Return JSON files whose values the provenance has under these keys, once there are such files.

        No rule may have them as outputs: the page of a study asks for none.
        """
        return {}

    hashes: ClassVar[str] = ""
    """A function ``module:name`` of the results' folder, a dataset and the configuration, which returns hashes of the
    files of ``data``, and reads no others: jobs may be writing them."""

    # The page of the study

    template: ClassVar[str] = ""
    """The template of its part of the page; empty where it has none. Its module ``page_part.py`` has ``read(files,
    inputs, params)``, which returns the part, false for a study without it; ``values(part, page, most_rows)``, which
    returns the variables of the template and adds charts to the page; and maybe ``opening(part)``, sentences above all
    answers, and ``warnings(part)``, below them."""
    link: ClassVar[tuple[str, str]] = ("", "")
    """Anchor and title of its part in the header of the page."""

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, Any]:
        """Return the inputs of its part."""
        return {name: path.each(self.sections(study)) for name, path in self.page_patterns(study).items()}

    def page_patterns(self, study: CheckedStudy) -> Mapping[str, Any]:
        """Return patterns of those inputs that are distinguished by their wildcards."""
        tables = [table for table in self.result_tables if table.rule == self.shown]
        return {table.name: table.file for table in tables} if tables and self.sections(study) else {}

    def page_params(self, study: CheckedStudy) -> Any:
        """Return plain values that its part needs."""
        return None

    def beside(self, study: CheckedStudy, annex: str) -> Mapping[str, Any]:
        """Return the inputs of its part on the page of another ``annex``; none if it is not shown there."""
        return {}

    def page_modules(self, study: CheckedStudy) -> list[str]:
        """Return modules that its part loads by a name, such as those of kinds."""
        return []

    @property
    def page_part(self) -> str:
        """The module of its part of the page."""
        return f"{self.package}.page_part"

    # Rules

    @property
    def has_rules(self) -> bool:
        """Whether it has ``rules.smk``."""
        return (self.folder / "rules.smk").is_file()

    generates: ClassVar[tuple[str, ...]] = ()
    """Names of its rules that generate answers."""

    def generation(self, study: CheckedStudy) -> list[dict[str, Any]]:
        """Return rules that generate other answers than those of cells: rule, prompts, receipt, needed.

        They work on shards of a dataset and generator as `generate_answers` does. ``prompts``: name and pattern of the
        prompts by dataset, template and retriever. ``needed``: whether ``study`` needs these answers. ``retrievers``,
        if not all of the grid's: those that have such prompts. ``leaves_out``: whether prompts over the window are left
        out where the generator truncates others; their rule has it as a param, too.
        """
        return []

    def planned(self, study: CheckedStudy) -> list[str]:
        """Return the sentences that `snakemake plan` ends with."""
        return []

    def prefetched(self, study: CheckedStudy) -> list[Any]:
        """Return files that must be made where there is internet."""
        return []

    def run_ended(self, results: Any) -> None:
        """Do what it does when a run has ended, well or with an error; ``results``: the folder of the study's results.

        It raises nothing, since the run's own end must be told.
        """

    def _has(self, module: str) -> bool:
        found = sys.modules[self.package].__path__
        return any(each.name == module for each in pkgutil.iter_modules(found))

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}") if self._has(name) else None


def template_folders() -> list[Path]:
    """Return the folders of annexes with templates of pages."""
    return sorted(
        folder for package in packages().values() if (folder := package_folder(package) / "templates").is_dir()
    )


@cache
def packages() -> dict[str, str]:
    """Return the package of every annex, by its name."""
    own = [each.name for each in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)]
    if twice := sorted({*own} & extensions("Annex").keys()):
        raise InputError(f"entry point Annex.{twice[0]}", "the name of an annex that ragrelay has", "another name")
    return {**{name: f"{PACKAGE}.{name}" for name in own}, **extensions("Annex")}


@cache
def annexes() -> tuple[Annex, ...]:
    """Return the annexes of the installed packages, in their order."""
    modules = [import_extension(f"{package}.annex") for package in packages().values()]
    classes = [annex for module in modules for annex in classes_of(module, Annex)]
    return tuple(sorted((one() for one in classes), key=lambda annex: annex.order))
