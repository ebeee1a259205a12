"""Base class of the questions that a study asks a model.

A question is one module of ``ragrelay.asking.questions``, or a user's own module that the key ``questions`` names. Its
class tells rules, plan, budget and the registry of files which jobs there are and what they read and write. Each
question becomes two rules: one asks, with an engine; one reads the replies from the stores. Three functions of the
module run in their jobs:

- ``ask(job, asker)`` asks for all rows of a job. It returns the rows (columns of ``asked``, or None) and the receipt.
- ``plan(job, asker)`` counts the requests of a job for the plan. Where the rows do not depend on replies, it is ``ask``
  itself, with an asker that counts.
- ``read(job, receipt, cache_dir)`` returns the tables or values of the files in ``made``, by name, from the stores.

Only these functions and what they reach count as code of the jobs; a user's module counts as a whole. Modules import
heavy libraries inside functions, because Snakemake imports every question when it starts.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.io.keyed_files import KeyedFiles, of_pattern
from ragrelay.own_code import module_of
from ragrelay.vocabulary.study_file import StudyFile

if TYPE_CHECKING:
    from ragrelay.study.study import StudyOfRules

PACKAGE = "ragrelay.asking.questions"
FUNCTIONS = ("ask", "plan", "read")
"""The functions of a question's module that run in jobs."""
Key = Mapping[str, str]
"""Value by wildcard of a job."""
Inputs = dict[str, Any]
"""A rule's input by name: a file, or a list of files."""


class QuestionJob:
    """What a job of a question gets: its input files, the settings that the question has for it, its wildcards."""

    def __init__(
        self, files: Mapping[str, str | Sequence[str]], settings: Mapping[str, Any], wildcards: Mapping[str, str]
    ) -> None:
        self.inputs = files
        self.settings, self.wildcards = settings, wildcards

    def paths(self, name: str) -> list[Path]:
        """The files of an input; none where it has no such input."""
        found = self.inputs.get(name, [])
        return [Path(path) for path in ([found] if isinstance(found, str) else found)]

    def path(self, name: str) -> Path:
        """The only one."""
        (found,) = self.paths(name)
        return found

    def keyed(self, name: str) -> KeyedFiles:
        """The files of an input by their wildcards, by the pattern in the setting ``patterns``."""
        return of_pattern(self.settings["patterns"][name], list(map(str, self.paths(name))))

    def answers(self, qids: Sequence[str], retriever: str | None = None) -> Any:
        """The answers to ``qids`` in the inputs answers, prompts and zeroshot (see asking.answers.FileAnswers).

        Of one ``retriever`` where the files are of several.
        """
        from ragrelay.asking.answers import FileAnswers

        return FileAnswers(self, qids, retriever)

    def all_answers(self) -> Any:
        """The answers to every query of the input ``queries``; see ``answers``."""
        import polars as pl

        return self.answers(pl.read_parquet(self.path("queries"), columns=["qid"], glob=False)["qid"].to_list())


class Question(ABC):
    """A question to a model."""

    asks: ClassVar[str]
    """Name of the rule that asks."""
    reads: ClassVar[str]
    """Name of the rule that makes the table of the replies."""
    does: ClassVar[tuple[str, str]]
    """What these two do, for `snakemake --list`."""
    key: ClassVar[str]
    """Wildcards of a job that asks, as its log is named: ``{dataset}/{generator}``."""
    read_key: ClassVar[str] = ""
    """The same of a job that reads, where it has others."""
    parts: ClassVar[tuple[str, ...]] = ("shard",)
    """Wildcards of jobs that are one line of the plan."""
    receipt: ClassVar[StudyFile]
    asked: ClassVar[StudyFile | None] = None
    """The rows that were asked, where the table can't be made without them."""
    made: ClassVar[Mapping[str, StudyFile]]
    """What the job that reads writes, by name."""
    shown: ClassVar[tuple[str, str]] = ("", "")
    """Heading and sentence of its tables on the page; empty where the page has them in another form."""

    @abstractmethod
    def jobs(self, study: "StudyOfRules") -> list[Key]:
        """The key of every job that asks."""

    def read_jobs(self, study: "StudyOfRules") -> list[Key]:
        """The key of every job that reads."""
        return self.jobs(study)

    @abstractmethod
    def asker(self, study: "StudyOfRules", key: Key) -> str:
        """Name of the generator that a job asks."""

    @abstractmethod
    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """What a job that asks reads."""

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """What the plan reads of a job: files that are made without an engine."""
        return self.inputs(study, key)

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        """Patterns of inputs whose files are told apart by their wildcards."""
        return {}

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, Any]:
        """What else a job that asks gets: plain values."""
        return {}

    def planned_settings(self, study: "StudyOfRules", key: Key) -> dict[str, Any]:
        """The same of the plan."""
        return self.settings(study, key)

    def modules(self, study: "StudyOfRules", key: Key) -> list[str]:
        """Modules of the kinds that the settings name: their code counts as the question's own."""
        return []

    def read_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """What a job that reads takes besides the receipt and what was asked."""
        return {}

    def read_settings(self, study: "StudyOfRules", key: Key) -> dict[str, Any]:
        """What else it gets."""
        return {}


@cache
def questions() -> tuple[Question, ...]:
    """The package's own questions, in the order of their rules' names."""
    folder = importlib.import_module(PACKAGE).__path__
    return tuple(question_named(module.name) for module in sorted(pkgutil.iter_modules(folder)))


def question_named(name: str) -> Question:
    """Return the question ``name``: the rule that asks it, or ``module:Class`` for a user's own."""
    question: Question = question_class(name)()
    return question


def question_class(name: str) -> Any:
    """Return its class; for a user's own, whatever the name stands for in the module."""
    module = question_module(name)
    if ":" in name:
        return getattr(module, name.partition(":")[2], None)
    classes = (one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Question))
    (own,) = (one for one in classes if one.__module__ == module.__name__ and "asks" in vars(one))
    return own


def question_module(name: str) -> ModuleType:
    """Return its module, with the functions of its jobs."""
    return module_of(name) if ":" in name else importlib.import_module(f"{PACKAGE}.{name}")


def question_files() -> Iterator[list[StudyFile]]:
    """The files of each of the package's questions: receipt, rows that were asked, then what is made of the replies."""
    for question in questions():
        asked = [question.asked] if question.asked is not None else []
        yield [question.receipt, *asked, *question.made.values()]
