"""Base class of the questions that a study asks a model.

A question is one module of ``ragrelay.questions.kinds``, or a user's own module that the key ``questions`` names. Its
class tells rules, plan, budget and the registry of files which jobs there are and what they read and write. Each
question becomes two rules: one asks, with an engine; one reads the replies from the stores. A question has parts, one
per table, such as the answers of each retriever. A job that asks has one engine for many parts: all that ask the same
generator, unless their wildcards in ``ask_key`` differ. Three functions of the module run in the jobs:

- ``ask(job, asker)`` asks for all rows of a part. It returns the rows (columns of ``asked``, or None) and the receipt.
  The job that reads calls it again, with an asker that only looks up, for the same rows and receipt.
- ``plan(job, asker)`` counts the requests of a part for the plan. Where the rows do not depend on replies, it is
  ``ask`` itself, with an asker that counts.
- ``read(job, receipt, cache_dir)`` returns the tables or values of the files in ``made``, by name, from the stores.

Only these functions and what they reach count as code of the jobs; a user's module counts as a whole. Modules import
heavy libraries inside functions, because Snakemake imports every question when it starts.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from ragrelay.base.annex import packages
from ragrelay.base.extensions import package_folder
from ragrelay.base.io.keyed_files import WILDCARD, KeyedFiles, of_pattern
from ragrelay.base.user_code import module_of
from ragrelay.base.vocabulary.study_file import StudyFile

StudyOfRules = Any
"""The study that rules see (execution.study.study.StudyOfRules), which is above this package."""
FUNCTIONS = ("ask", "plan", "read")
"""The functions of a question's module that run in jobs."""
Key = Mapping[str, str]
"""Value by wildcard."""
Inputs = dict[str, Any]
"""A rule's input by name: a file, or a list of files."""


class QuestionJob:
    """The input files, settings and wildcards of one part of a question."""

    def __init__(
        self, files: Mapping[str, str | Sequence[str]], settings: Mapping[str, Any], wildcards: Mapping[str, str]
    ) -> None:
        self.inputs = files
        self.settings, self.wildcards = settings, wildcards

    def paths(self, name: str) -> list[Path]:
        """Return the files of an input, none if the job has no such input."""
        paths = self.inputs.get(name, [])
        return [Path(path) for path in ([paths] if isinstance(paths, str) else paths)]

    def path(self, name: str) -> Path:
        """Return the only file of an input."""
        (path,) = self.paths(name)
        return path

    def keyed(self, name: str) -> KeyedFiles:
        """Return the files of an input by their wildcards, as the pattern in the setting ``patterns`` reads them."""
        return of_pattern(self.settings["patterns"][name], list(map(str, self.paths(name))))

    def answers(self, qids: Sequence[str], retriever: str | None = None) -> Any:
        """Return the answers to ``qids`` in the inputs answers, prompts and zeroshot (see answers.FileAnswers).

        ``retriever``: the one whose answers are wanted, if the files belong to several.
        """
        from ragrelay.questions.answers import FileAnswers

        return FileAnswers(self, qids, retriever)

    def all_answers(self) -> Any:
        """Return the answers to every query of the input ``queries``; see ``answers``."""
        import polars as pl

        return self.answers(pl.read_parquet(self.path("queries"), columns=["qid"], glob=False)["qid"].to_list())


class Question(ABC):
    """A question to a model."""

    asks: ClassVar[str]
    """Name of the rule that asks."""
    reads: ClassVar[str]
    """Name of the rule that makes the table of the replies."""
    does: ClassVar[tuple[str, str]]
    """A sentence on each of the two rules, for `snakemake --list`."""
    key: ClassVar[str]
    """Wildcards of a part, in the form of a path: ``{dataset}/{generator}/{retriever}``."""
    ask_key: ClassVar[str] = ""
    """Wildcards of a job that asks, if they are not those of a part without the retriever. One that no part has is the
    generator that is asked."""
    read_key: ClassVar[str] = ""
    """Wildcards of a job that reads, if they are not those of a part."""
    folder: ClassVar[str] = ""
    """Folder below the results in which the folder of the first wildcard is, with a slash; empty for the results'."""
    follows: ClassVar["type[Question] | None"] = None
    """A question to the same generators that is asked before, so that requests of both are made once."""
    asked: ClassVar[StudyFile | None] = None
    """File of the rows that were asked, if the table can't be made without them."""
    made: ClassVar[Mapping[str, StudyFile]]
    """Files that the job that reads writes, by name."""
    shown: ClassVar[tuple[str, str]] = ("", "")
    """Heading and sentence of its tables on the page; empty where the page has them in another form."""

    @abstractmethod
    def jobs(self, study: StudyOfRules) -> list[Key]:
        """Return the key of every part."""

    def read_jobs(self, study: StudyOfRules) -> list[Key]:
        """Return the key of every job that reads."""
        return self.jobs(study)

    @abstractmethod
    def asker(self, study: StudyOfRules, key: Key) -> str:
        """Return the name of the generator that is asked about a part."""

    @abstractmethod
    def inputs(self, study: StudyOfRules, key: Key) -> Inputs:
        """Return the inputs from which the requests of a part are made."""

    def planned_inputs(self, study: StudyOfRules, key: Key) -> Inputs:
        """Return the inputs from which the plan counts a part's requests: files that no engine makes."""
        return self.inputs(study, key)

    def patterns(self, study: StudyOfRules, key: Key) -> dict[str, str]:
        """Return the patterns of inputs whose files a job distinguishes by their wildcards."""
        return {}

    def settings(self, study: StudyOfRules, key: Key) -> dict[str, Any]:
        """Return plain values from which the requests of a part are made."""
        return {}

    def planned_settings(self, study: StudyOfRules, key: Key) -> dict[str, Any]:
        """Return plain values for the plan."""
        return self.settings(study, key)

    def modules(self, study: StudyOfRules, key: Key) -> list[str]:
        """Return the modules of the kinds that the settings name. Their code counts as code of the question."""
        return []

    def read_inputs(self, study: StudyOfRules, key: Key) -> Inputs:
        """Return more inputs of a job that reads: it has those of its parts, and the rows that were asked."""
        return {}

    def read_settings(self, study: StudyOfRules, key: Key) -> dict[str, Any]:
        """Return plain values for a job that reads."""
        return {}

    def job_path(self) -> str:
        """Return the wildcards of a job that asks, in the form of its log's path."""
        return self.ask_key or "/".join(step for step in self.key.split("/") if step != "{retriever}") or self.key

    def job_key(self, study: StudyOfRules, key: Key) -> dict[str, str]:
        """Return the key of the job that asks about a part."""
        return {name: key.get(name) or self.asker(study, key) for name in WILDCARD.findall(self.job_path())}

    def job_receipt(self) -> StudyFile:
        """Return the file of what a job asked."""
        first, *others = self.job_path().split("/")
        path = "/".join([f"{self.folder}{first}", "asked", self.asks, *others])
        return StudyFile(f"{path}.json", self.asks, "receipt: keys asked for, cached and made, in all and by part")


@cache
def questions() -> tuple[Question, ...]:
    """Return the package's own questions, in the order of their rules' names."""
    return tuple(question_named(name) for name in sorted(_modules()))


def question_named(name: str) -> Question:
    """Return the question ``name``: the rule that asks it, or ``module:Class`` for a user's own."""
    question: Question = question_class(name)()
    return question


def question_class(name: str) -> Any:
    """Return the class of question ``name``; for a user's own, whatever object has that name in the module."""
    module = question_module(name)
    if ":" in name:
        return getattr(module, name.partition(":")[2], None)
    classes = (member for member in vars(module).values() if isinstance(member, type) and issubclass(member, Question))
    (own,) = (member for member in classes if member.__module__ == module.__name__ and "asks" in vars(member))
    return own


def question_module(name: str) -> ModuleType:
    """Return the module of question ``name``, which has the functions of its jobs."""
    return module_of(name) if ":" in name else importlib.import_module(_modules()[name])


@cache
def _modules() -> dict[str, str]:
    """Return the module of each question, by its name: the core's, and those in the annexes' ``questions``."""
    found = {package: package_folder(package) for package in packages().values()}
    folders = {f"{__package__}.kinds": Path(__file__).parent / "kinds"}
    folders |= {f"{package}.questions": folder / "questions" for package, folder in found.items()}
    paths = [(package, path) for package, folder in folders.items() for path in folder.glob("[!_]*.py")]
    return {path.stem: f"{package}.{path.stem}" for package, path in paths}


def question_files() -> Iterator[list[StudyFile]]:
    """Yield the files of each of the package's questions: receipt, asked rows, and files made from the replies."""
    for question in questions():
        asked = [question.asked] if question.asked is not None else []
        yield [question.job_receipt(), *asked, *question.made.values()]
