"""Define the base class of the questions that a study asks models.

A question is a module in ``ragrelay.questions.kinds``, or your own module, listed under the key ``questions``. The
class in the module declares the question's jobs and their files, for the rules, the plan, the budget and the file
registry. Each question has two rules: one sends requests to the model, using an engine; the other reads the stored
replies. A question has one part per table, for example one per retriever. A job that sends requests uses one engine for
many parts: all parts for the same generator, unless ``ask_key`` separates them. Three functions in the module run in
jobs:

- ``ask(job, asker)`` sends the requests for a part. It returns the rows (with the columns of ``asked``, or None) and
  the receipt. The job that reads the replies calls ``ask`` again to recreate the rows and the receipt, with an asker
  that only reads the stores.
- ``plan(job, asker)`` counts a part's requests for the plan. If the rows don't depend on replies, ``plan`` can be the
  same function as ``ask``, called with an asker that only counts requests.
- ``read(job, receipt, cache_dir)`` reads the stores and returns the contents of the files in ``made``, by name.

Jobs are rerun if these functions or code used by them change; for your own module, any change reruns the jobs. Modules
import heavy libraries inside functions, because Snakemake imports all questions when it starts.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.annex import packages
from ragrelay.base.extensions import package_folder
from ragrelay.base.io.keyed_files import WILDCARD, KeyedFiles, of_pattern
from ragrelay.base.user_code import module_of
from ragrelay.base.vocabulary.study_file import StudyFile

if TYPE_CHECKING:  # the study that rules see is above this package
    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.questions.answers import Answers

FUNCTIONS = ("ask", "plan", "read")
"""The functions in a question's module that run in jobs."""
Key = Mapping[str, str]
"""Wildcard values by wildcard."""
Inputs = dict[str, str | Sequence[str]]
"""A rule's inputs by name, each a file or a list of files."""


class QuestionJob:
    """Input files, settings and wildcards of one part of a question.

    Args:
        files: Input files, keyed by input name.
        settings: Values that the question's class passes to the job, keyed by name.
        wildcards: The part's wildcard values.
    """

    def __init__(
        self, files: Mapping[str, str | Sequence[str]], settings: Mapping[str, Any], wildcards: Mapping[str, str]
    ) -> None:
        self.inputs = files
        self.settings, self.wildcards = settings, wildcards

    def paths(self, name: str) -> list[Path]:
        """Return the paths of an input's files.

        Args:
            name: The input's name.

        Returns:
            The paths; an empty list if the job has no such input.
        """
        paths = self.inputs.get(name, [])
        return [Path(path) for path in ([paths] if isinstance(paths, str) else paths)]

    def path(self, name: str) -> Path:
        """Return the path of an input that is a single file.

        Args:
            name: The input's name.

        Returns:
            The path.
        """
        (path,) = self.paths(name)
        return path

    def keyed(self, name: str) -> KeyedFiles:
        """Return an input's files, keyed by wildcard values.

        Args:
            name: The input's name. The setting ``patterns`` must contain a pattern for this input.

        Returns:
            The files.
        """
        return of_pattern(self.settings["patterns"][name], list(map(str, self.paths(name))))

    def answers(self, qids: Sequence[str], retriever: str | None = None) -> "Answers":
        """Read the answers in the inputs `answers`, `prompts` and `zeroshot`.

        Args:
            qids: Ids of the queries whose answers are read.
            retriever: Name of the retriever whose answers are read; None if all files belong to the same retriever.

        Returns:
            The answers (answers.FileAnswers).
        """
        from ragrelay.questions.answers import FileAnswers

        return FileAnswers(self, qids, retriever)

    def all_answers(self) -> "Answers":
        """Read the answers to every query in the input `queries`.

        Returns:
            The answers (answers.FileAnswers).
        """
        import polars as pl

        return self.answers(pl.read_parquet(self.path("queries"), columns=["qid"], glob=False)["qid"].to_list())


class Question(ABC):
    """Base class for questions to a model. A question has parts, each of which becomes a table."""

    asks: ClassVar[str]
    """The name of the rule that sends the requests to the model."""
    reads: ClassVar[str]
    """The name of the rule that reads the replies and writes tables."""
    does: ClassVar[tuple[str, str]]
    """One sentence about each of the rules ``asks`` and ``reads``, for `snakemake --list`."""
    key: ClassVar[str]
    """A part's wildcards, written as a path such as ``{dataset}/{generator}/{retriever}``."""
    ask_key: ClassVar[str] = ""
    """The asking job's wildcards; empty if they are a part's wildcards without the retriever. A wildcard that parts
    don't have stands for the generator that is asked."""
    read_key: ClassVar[str] = ""
    """The reading job's wildcards; empty if they are the same as a part's."""
    folder: ClassVar[str] = ""
    """The folder in the results that contains the first wildcard's folder, with a final slash; empty for the results
    folder."""
    follows: ClassVar["type[Question] | None"] = None
    """Another question, asked of the same generators before this one, so that requests common to both are made only
    once."""
    asked: ClassVar[StudyFile | None] = None
    """The file with the rows returned by ``ask``, if the question stores them."""
    made: ClassVar[Mapping[str, StudyFile]]
    """The files that the reading job writes, by name."""
    shown: ClassVar[tuple[str, str]] = ("", "")
    """The heading and sentence above the question's tables on the page; empty if the page shows them in another
    form."""

    @abstractmethod
    def jobs(self, study: "StudyOfRules") -> list[Key]:
        """List the question's parts, each of which becomes a table.

        Args:
            study: The study.

        Returns:
            One key per part: a mapping from wildcards to values.
        """

    def read_jobs(self, study: "StudyOfRules") -> list[Key]:
        """List the jobs that read replies.

        Args:
            study: The study.

        Returns:
            One key per reading job; by default, the parts' keys.
        """
        return self.jobs(study)

    @abstractmethod
    def asker(self, study: "StudyOfRules", key: Key) -> str:
        """Return the generator to which a part's requests are sent.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            The generator's name.
        """

    @abstractmethod
    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """List the files from which a part's requests are built.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            For each input name, a file or a list of files.
        """

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """List the files that the plan uses to count a part's requests; no engine may produce any of these files.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            For each input name, a file or a list of files; defaults to ``inputs``.
        """
        return self.inputs(study, key)

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        """Return the path patterns of the inputs that the job reads with ``keyed``.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            Path patterns, keyed by input name; empty by default.
        """
        return {}

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        """Return the settings that a part's requests depend on.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            Values, keyed by name; empty by default.
        """
        return {}

    def planned_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        """Return the settings that the plan uses to count a part's requests.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            Values, keyed by name; defaults to ``settings``.
        """
        return self.settings(study, key)

    def modules(self, study: "StudyOfRules", key: Key) -> list[str]:
        """List the modules that define the kinds in the settings; the question's jobs are rerun if a module changes.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            Module names; empty by default.
        """
        return []

    def read_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """List the files that a job needs to read replies, besides its parts' inputs and the rows from ``ask``.

        Args:
            study: The study.
            key: The reading job's key.

        Returns:
            For each input name, a file or a list of files; empty by default.
        """
        return {}

    def read_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        """Return the settings that a job needs to read replies.

        Args:
            study: The study.
            key: The reading job's key.

        Returns:
            Values, keyed by name; empty by default.
        """
        return {}

    def job_path(self) -> str:
        """Return the wildcards of the job that sends the requests, joined into a path for the receipt and the log file.

        Returns:
            The path, with wildcards in braces.
        """
        return self.ask_key or "/".join(step for step in self.key.split("/") if step != "{retriever}") or self.key

    def job_key(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        """Return the key of the job that sends a part's requests.

        Args:
            study: The study.
            key: The part's key.

        Returns:
            The job's wildcard values.
        """
        return {name: key.get(name) or self.asker(study, key) for name in WILDCARD.findall(self.job_path())}

    def job_receipt(self) -> StudyFile:
        """Return the receipt file, in which the job that sends the requests records how many were sent.

        Returns:
            The receipt's path pattern.
        """
        first, *others = self.job_path().split("/")
        about = "receipt: numbers of keys requested, already cached and newly generated, in total and per part"
        return StudyFile("/".join([f"{self.folder}{first}", "asked", self.asks, *others]) + ".json", self.asks, about)


@cache
def questions() -> tuple[Question, ...]:
    """Return ragrelay's own questions, sorted by rule name."""
    return tuple(question_named(name) for name in sorted(_modules()))


def question_named(name: str) -> Question:
    """Return a question by ``name``: its rule (``asks``) or, for a user's own question, ``module:Class``."""
    question: Question = question_class(name)()
    return question


def question_class(name: str) -> Any:
    """Return the class of question ``name``, or the object (of any type) that a user's ``module:Class`` refers to."""
    module = question_module(name)
    if ":" in name:
        return getattr(module, name.partition(":")[2], None)
    classes = (member for member in vars(module).values() if isinstance(member, type) and issubclass(member, Question))
    (own,) = (member for member in classes if member.__module__ == module.__name__ and "asks" in vars(member))
    return own


def question_module(name: str) -> ModuleType:
    """Return the module of question ``name``, whose functions run in the question's jobs."""
    return module_of(name) if ":" in name else importlib.import_module(_modules()[name])


@cache
def _modules() -> dict[str, str]:
    """Return each question's module by the question's name, including those in the annexes' folders ``questions``."""
    found = {package: package_folder(package) for package in packages().values()}
    folders = {f"{__package__}.kinds": Path(__file__).parent / "kinds"}
    folders |= {f"{package}.questions": folder / "questions" for package, folder in found.items()}
    paths = [(package, path) for package, folder in folders.items() for path in folder.glob("[!_]*.py")]
    return {path.stem: f"{package}.{path.stem}" for package, path in paths}


def question_files() -> Iterator[list[StudyFile]]:
    """Yield the files of each built-in question: receipt, requested rows, and files derived from the replies."""
    for question in questions():
        asked = [question.asked] if question.asked is not None else []
        yield [question.job_receipt(), *asked, *question.made.values()]
