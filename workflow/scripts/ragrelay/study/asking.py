"""Give rules, plan and status what they need of a study's questions to models."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ragrelay.asking.question import PACKAGE, Key, Question, question_named, questions
from ragrelay.errors import InputError, one_of
from ragrelay.io.keyed_files import WILDCARD
from ragrelay.jobs.code_digest import code_digest, questions_digest
from ragrelay.own_code import code_hashes, names_from
from ragrelay.study.study import StudyOfRules, Wildcards, any_of
from ragrelay.vocabulary.study_file import StudyFile

DECLARATIONS = ("ragrelay.asking.question", "ragrelay.vocabulary.study_file")
"""Modules that a user's question imports only for its class; they don't count as code of its jobs."""


class StudyQuestion:
    """A question in a study, with everything that its two rules need.

    Functions whose only argument is ``wildcards`` are for a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules, question: Question, own: str = "") -> None:
        """Take a question of the package, or a user's, whose name ``own`` is ``module:Class``."""
        self.study, self.question, self.own = study, question, own
        self.name = own or type(question).__module__.rpartition(".")[2]
        receipt = {"receipt": question.receipt}
        self.ask_outputs: dict[str, StudyFile] = receipt | ({"asked": question.asked} if question.asked else {})
        self.read_outputs = dict(question.made)
        self.read_key = question.read_key or question.key
        self.ask_constraints = _constraints(question.key, question.jobs(study))
        self.read_constraints = _constraints(self.read_key, question.read_jobs(study))

    def asker(self, wildcards: Wildcards) -> str:
        """Return the name of the generator that a job asks."""
        return self.question.asker(self.study, _key(wildcards))

    def ask_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the inputs of a job that asks, including receipts of downloads."""
        inputs = self.question.inputs(self.study, _key(wildcards))
        return {**inputs, "fetched": self.study.fetched("generators", self.asker(wildcards))}

    def read_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the inputs of a job that reads: the outputs of the job that asked, and the question's own inputs."""
        return {**self.ask_outputs, **self.question.read_inputs(self.study, _key(wildcards))}

    def ask_settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the plain values for a job that asks, with the patterns of its inputs."""
        key = _key(wildcards)
        return {**self.question.settings(self.study, key), "patterns": self.question.patterns(self.study, key)}

    def read_settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the plain values for a job that reads, with the patterns of its inputs."""
        key = _key(wildcards)
        return {**self.question.read_settings(self.study, key), "patterns": self.question.patterns(self.study, key)}

    def generator(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the definition of the generator that a job asks."""
        return self.study.generator_named(self.asker(wildcards))

    def fingerprint(self, wildcards: Wildcards) -> str:
        """Return the fingerprint, for likelihoods, of the generator that a job asks."""
        return self.study.likelihoods_of(self.asker(wildcards))

    def threads(self, wildcards: Wildcards) -> int:
        """Return the number of CPU threads of the asked generator's engine."""
        threads: int = self.study.generator(self.asker(wildcards))["threads"]
        return threads

    def gpus(self, wildcards: Wildcards) -> int:
        """Return the number of GPUs that the asked generator's engine needs."""
        return self.study.gpus_of(self.asker(wildcards))

    def ask_code(self, wildcards: Wildcards) -> str:
        """Return the digest of the code that makes a job's requests. Engines and stores don't count."""
        return questions_digest("ask_question.py", *self._code("ask"), *self._modules(wildcards)) + self._file_hash

    def read_code(self, wildcards: Wildcards) -> str:
        """Return the digest of the code that makes the table."""
        return code_digest("read_replies.py", *self._code("read"), *self._modules(wildcards)) + self._file_hash

    def _code(self, function: str) -> list[str]:
        """Return where a job's code digest starts: the question's function, or a user's imports from the package."""
        if not self.own:
            return [f"{PACKAGE}.{self.name}:{function}"]
        imported = names_from("ragrelay", self.own, self.study.folder)
        return [name for name in imported if name.partition(":")[0] not in DECLARATIONS]

    @functools.cached_property
    def _file_hash(self) -> str:
        """Hash of a user's own module; empty for a question of the package, whose code is in the digest."""
        return "".join(code_hashes({"code": self.own}, self.study.folder).values()) if self.own else ""

    def _modules(self, wildcards: Wildcards) -> list[str]:
        return self.question.modules(self.study, _key(wildcards))


def study_questions(study: StudyOfRules) -> list[StudyQuestion]:
    """Return every question of the package, even those that the study doesn't ask, then the user's own.

    Raises InputError if the jobs of a user's question don't fit its class.
    """
    return [
        *(StudyQuestion(study, question) for question in questions()),
        *(_own_question(study, name) for name in study.own_questions()),
    ]


def _own_question(study: StudyOfRules, name: str) -> StudyQuestion:
    place, question = f"config key 'questions' ({name})", question_named(name)
    try:
        jobs = [(question.key, key) for key in question.jobs(study)]
        jobs += [(question.read_key or question.key, key) for key in question.read_jobs(study)]
        askers = {question.asker(study, key) for _, key in jobs[: len(question.jobs(study))]}
    except Exception as error:  # whatever the user's methods raise
        raise InputError(place, f"{type(error).__name__}: {error}", "jobs and askers of the study") from error
    for pattern, key in jobs:
        if set(key) != set(WILDCARD.findall(pattern)):
            raise InputError(place, f"a job with the keys {', '.join(key)}", f"the wildcards of {pattern}")
    if unknown := sorted(askers.difference(study.asked_generators())):
        raise InputError(place, f"generator {unknown[0]!r}", one_of(study.asked_generators(), unknown[0]))
    return StudyQuestion(study, question, name)


def shown_tables(asked: Iterable[StudyQuestion]) -> tuple[list[dict[str, Any]], list[StudyFile]]:
    """Return the tables of the questions ``asked`` that the page shows, and the paths of their files in the same order.

    Each table has heading, sentence, file (its pattern), about, rule, and files (how many it has).
    """
    tables, paths = [], []
    for entry in asked:
        heading, sentence = entry.question.shown
        keys = entry.question.read_jobs(entry.study) if heading else []
        for file in entry.question.made.values() if keys else ():
            if file.endswith(".parquet"):
                texts = {"heading": heading, "sentence": sentence, "about": file.about, "rule": entry.question.reads}
                tables.append({**texts, "file": file.path, "files": len(keys)})
                paths += file.each(keys)
    return tables, paths


def asking_jobs(asked: Iterable[StudyQuestion], fill: Callable[[str], str]) -> list[dict[str, str]]:
    """List every job that asks: dataset, generator, retriever, rule (job), and the paths of its receipt and log."""
    return [
        {
            **_named(entry, key),
            "job": entry.question.asks,
            "receipt": fill(entry.question.receipt.at(**key)),
            "log": fill(f"<logs>/{entry.question.asks}/{entry.question.key}.log").format(**key),
        }
        for entry in asked
        for key in entry.question.jobs(entry.study)
    ]


def planned_questions(asked: Iterable[StudyQuestion], fill: Callable[[str], str]) -> list[dict[str, Any]]:
    """Return the plan's lines for questions: one per question, dataset, asked generator and other separating wildcard.

    A line has rule, dataset (or set of claims), generator, retriever, and ``parts``: the wildcards, settings and files
    of each of its jobs. ``fill`` turns a path in the results into the path on disk.
    """
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in asked:
        question, study = entry.question, entry.study
        for key in question.jobs(study):
            named = _named(entry, key)
            apart = tuple((name, value) for name, value in key.items() if name not in question.parts)
            line = lines.setdefault(
                (question.asks, *named.values(), apart),
                {"rule": question.asks, "question": entry.name, **named, "parts": []},
            )
            inputs = question.planned_inputs(study, key)
            paths = {name: [fill(p).format(**key) for p in _listed(files)] for name, files in inputs.items()}
            settings = {**question.planned_settings(study, key), "patterns": question.patterns(study, key)}
            line["parts"].append({"files": paths, "settings": settings, "wildcards": dict(key)})
    return list(lines.values())


def _named(entry: StudyQuestion, key: Key) -> dict[str, str]:
    """Return a job's dataset (or set of claims), asked generator, and retriever (empty if the job has none)."""
    dataset, generator = key.get("dataset", key.get("claims", "")), entry.question.asker(entry.study, key)
    return {"dataset": dataset, "generator": generator, "retriever": key.get("retriever", "")}


def _listed(files: Any) -> list[str]:
    return [files] if isinstance(files, str) else list(files)


def _key(wildcards: Wildcards) -> dict[str, str]:
    return dict(wildcards.items())


def _constraints(pattern: str, jobs: list[Key]) -> dict[str, str]:
    """Return the possible values of each wildcard, so that no other file matches the question's patterns."""
    names = WILDCARD.findall(pattern)
    return {name: any_of(dict.fromkeys(key[name] for key in jobs)) for name in names}
