"""Define the questions that a study asks models, for use in the rules, the plan and the status."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from snakemake.io import ancient

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.keyed_files import WILDCARD
from ragrelay.base.public_names import defined_at
from ragrelay.base.user_code import code_hashes, names_from
from ragrelay.base.vocabulary.study_file import StudyFile, count_file
from ragrelay.execution.jobs.code_digest import code_digest, questions_digest
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Wildcards, any_of
from ragrelay.generation.likelihoods.continuations import without_chat
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.questions.question import Inputs, Key, Question, question_module, question_named, questions

DECLARATIONS = ("ragrelay.questions.question", "ragrelay.base.vocabulary.study_file")
"""Modules that a user's module only imports to define a question. They don't count as code of the jobs."""


class AskedPart(TypedDict):
    """The files, settings and wildcards of one part of a job, from which a questions.parts.Part is created."""

    files: dict[str, list[str]]
    settings: dict[str, object]
    wildcards: Key


@dataclass(frozen=True)
class AskJob:
    """A job that asks a question: the job's key, the generator to ask, and the keys of the job's parts."""

    key: dict[str, str]
    generator: str
    parts: list[Key]


class StudyQuestion:
    """A question in a study, with inputs and params for the rule that asks it and the rule that reads the replies.

    Methods whose only argument is ``wildcards`` can be used as a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules, question: Question, own: str = "") -> None:
        """Take one of ragrelay's questions, or a user's own question with the name ``own`` (``module:Class``)."""
        self.study, self.question, self.own = study, question, own
        self.name = own or type(question).__module__.rpartition(".")[2]
        self.ask_key, self.read_key = question.job_path(), question.read_key or question.key
        self.receipt, self.count_rule = question.job_receipt(), f"count_for_{question.asks}"
        self.does_count = f"Count missing replies, so that `{question.asks}` requests a GPU only if there are any."
        asked = {} if question.asked is None else {"asked": question.asked}
        self.read_outputs: dict[str, StudyFile] = {**question.made, **asked}
        self.ask_constraints = _constraints(self.ask_key, [job.key for job in self.jobs])
        self.read_constraints = _constraints(self.read_key, question.read_jobs(study))

    @functools.cached_property
    def jobs(self) -> list[AskJob]:
        """All jobs that ask the question."""
        jobs: dict[str, AskJob] = {}
        for part in self.question.jobs(self.study):
            key, generator = self.question.job_key(self.study, part), self.question.asker(self.study, part)
            jobs.setdefault(str(key), AskJob(key, generator, [])).parts.append(part)
        return list(jobs.values())

    def job(self, wildcards: Wildcards) -> AskJob:
        """Return the question's job for these wildcards."""
        return next(job for job in self.jobs if job.key == _key(wildcards))

    def jobs_about(self, wildcards: Wildcards) -> list[AskJob]:
        """Return the jobs whose replies a reading job needs, each with only those parts that the reading job reads."""
        return self._about(tuple(wildcards.items()))

    @functools.cache  # noqa: B019 - a process has a single study
    def _about(self, read: tuple[tuple[str, str], ...]) -> list[AskJob]:
        about = [(job, [part for part in job.parts if _agree(part, dict(read))]) for job in self.jobs]
        return [replace(job, parts=parts) for job, parts in about if parts]

    def ask_inputs(self, wildcards: Wildcards) -> dict[str, Sequence[str]]:
        """Return an asking job's files, the download receipts and the receipt of the preceding question, if any."""
        job, before = self.job(wildcards), self.question.follows
        follows = [ancient(before().job_receipt().at(**job.key))] if before else []
        return {
            **_joined(self.parts(job)),
            "fetched": self.study.downloads.receipts("generators", job.generator),
            "follows": follows,
        }

    @property
    def ask_params(self) -> dict[str, object]:
        """Params for the rules that ask the question or count missing replies; some are functions of the wildcards."""
        return {
            "question": self.name,
            "parts": self.ask_parts,
            "generator": self.of_asked(self.study.generation.of_jobs),
            "fingerprint": self.of_asked(self.study.generation.likelihoods),
            "cache_dir": self.study.cache_dir,
        }

    @property
    def read_params(self) -> dict[str, object]:
        """Params for the rule that reads the replies; some are functions of the wildcards."""
        study = self.study

        def texts(generator: str) -> str:
            return likelihood_fingerprint(without_chat(study.generator(generator)), cache_dir=study.cache_dir)

        return {
            "question": self.name,
            "asks": self.question.asks,
            "parts": self.read_parts,
            "generator": self.of_asked(study.generation.of_jobs),
            "fingerprint": self.of_asked(study.generation.likelihoods),
            "texts": self.of_asked(texts),
            "cache_dir": study.cache_dir,
        }

    def ask_parts(self, wildcards: Wildcards) -> list[dict[str, object]]:
        """Return the parts (questions.parts.Part) of a job that sends requests. Paths are indexes into the inputs."""
        return _placed(self.parts(self.job(wildcards)))

    def read_inputs(self, wildcards: Wildcards) -> dict[str, Sequence[str]]:
        """Return a reading job's files (and its parts' files), the download receipts and the asking jobs' receipts."""
        jobs = self.jobs_about(wildcards)
        receipts = [ancient(self.receipt.at(**job.key)) for job in jobs]
        fetched = self.study.downloads.receipts("generators", jobs[0].generator)
        return {**_joined(self._read(wildcards)), "fetched": fetched, "receipt": receipts}

    def read_parts(self, wildcards: Wildcards) -> list[dict[str, object]]:
        """Return a reading job's parts, followed by one more part for the table, with the files of all parts."""
        return _placed(self._read(wildcards))

    def _read(self, wildcards: Wildcards) -> list[AskedPart]:
        key = _key(wildcards)
        parts = [part for job in self.jobs_about(wildcards) for part in self.parts(job)]
        own = _filled(self.question.read_inputs(self.study, key), key)
        settings = self._settings(self.question.read_settings(self.study, key), key)
        return [*parts, {"files": {**_joined(parts), **own}, "settings": settings, "wildcards": key}]

    def parts(self, job: AskJob, planned: bool = False) -> list[AskedPart]:
        """Return each part's files, settings and wildcards. If ``planned``, use the plan's files and settings."""
        asked = self.question
        inputs, settings = (asked.planned_inputs, asked.planned_settings) if planned else (asked.inputs, asked.settings)
        return [
            {
                "files": _filled(inputs(self.study, part), part),
                "settings": self._settings(settings(self.study, part), part),
                "wildcards": dict(part),
            }
            for part in job.parts
        ]

    def _settings(self, settings: dict[str, object], key: Key) -> dict[str, object]:
        return {**settings, "patterns": self.question.patterns(self.study, key)}

    def of_asked(self, function: Callable[[str], object]) -> Callable[[Wildcards], object]:
        """Return a params function that applies ``function`` to the generator whose replies a job requests or reads."""

        def of_generator(wildcards: Wildcards) -> object:
            asking = [job for job in self.jobs if job.key == _key(wildcards)]
            return function((asking or self.jobs_about(wildcards))[0].generator)

        return of_generator

    def ask_code(self, wildcards: Wildcards) -> str:
        """Return the digest of the code that builds a job's requests, excluding the code of engines and stores."""
        modules = self._modules([self.job(wildcards)])
        return questions_digest("questions/ask_question.py", *self._code("ask"), *modules) + self._file_hash

    def read_code(self, wildcards: Wildcards) -> str:
        """Return the digest of the code with which a reading job rebuilds the requests and computes the table."""
        modules = self._modules(self.jobs_about(wildcards))
        return (
            code_digest("questions/read_replies.py", *self._code("ask"), *self._code("read"), *modules)
            + self._file_hash
        )

    def _code(self, function: str) -> list[str]:
        """Return where a job's code digest starts: the question's function, or a user's imports from ragrelay."""
        if not self.own:
            return [f"{question_module(self.name).__name__}:{function}"]
        imported = map(defined_at, names_from("ragrelay", self.own, self.study.folder))
        return [name for name in imported if name.partition(":")[0] not in DECLARATIONS]

    @functools.cached_property
    def _file_hash(self) -> str:
        """Return the hash of a user's own module; empty for ragrelay's questions, whose code is in the digest."""
        return "".join(code_hashes({"code": self.own}, self.study.folder).values()) if self.own else ""

    def _modules(self, jobs: Iterable[AskJob]) -> list[str]:
        parts = [part for job in jobs for part in job.parts]
        return list(dict.fromkeys(name for part in parts for name in self.question.modules(self.study, part)))


def study_questions(study: StudyOfRules) -> list[StudyQuestion]:
    """Return all of ragrelay's questions, even those that the study doesn't ask, followed by the user's questions.

    Raises InputError if the jobs of a user's question don't match the question's class.
    """
    return [
        *(StudyQuestion(study, question) for question in questions()),
        *(_user_question(study, name) for name in study.user_questions()),
    ]


def _user_question(study: StudyOfRules, name: str) -> StudyQuestion:
    place, question = f"config key 'questions' ({name})", question_named(name)
    try:
        parts, tables = question.jobs(study), question.read_jobs(study)
        askers = {question.asker(study, key) for key in parts}
    except Exception as error:  # the user's methods may raise anything
        raise InputError(place, f"{type(error).__name__}: {error}", "jobs and generators in the study") from error
    for pattern, keys in ((question.key, parts), (question.read_key or question.key, tables)):
        for key in keys:
            if set(key) != set(WILDCARD.findall(pattern)):
                raise InputError(place, f"a job with the keys {', '.join(key)}", f"the wildcards of {pattern}")
    if unknown := sorted(askers.difference(study.asked_generators())):
        raise InputError(place, f"generator {unknown[0]!r}", one_of(study.asked_generators(), unknown[0]))
    entry = StudyQuestion(study, question, name)
    for job in entry.jobs:
        if others := {question.asker(study, part) for part in job.parts} - {job.generator}:
            found = f"generators {job.generator!r} and {min(others)!r} in a job of {entry.ask_key}"
            raise InputError(place, found, "one generator per job; add a wildcard that tells them apart to ask_key")
    return entry


def shown_tables(asked: Iterable[StudyQuestion]) -> tuple[list[dict[str, object]], list[StudyFile]]:
    """Return the tables that the page shows for the questions in ``asked``, and all tables' paths in the same order.

    Each table is a mapping with heading, sentence, file (a path pattern), about, rule, and files (the number of files).
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
    """List all jobs that ask questions, each with dataset, generator, retriever, job (the rule), receipt and log."""
    return [
        {
            **_named(job),
            "job": entry.question.asks,
            "receipt": fill(entry.receipt.at(**job.key)),
            "log": fill(f"<logs>/{entry.question.asks}/{entry.ask_key}.log").format(**job.key),
        }
        for entry in asked
        for job in entry.jobs
    ]


def planned_questions(asked: Iterable[StudyQuestion], fill: Callable[[str], str]) -> list[dict[str, Any]]:
    """Return the rows of the plan that describe questions. All shards of a job share a row.

    The keys are rule, question, dataset (or set of claims), generator, retriever, counts (the jobs' count files) and
    parts (per job, each part's files, settings and wildcards). ``fill`` turns result paths into paths on disk.
    """
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in asked:
        rule = {"rule": entry.question.asks, "question": entry.name}
        for job in entry.jobs:
            apart = tuple(value for name, value in job.key.items() if name != "shard")
            line = lines.setdefault((*rule.values(), *apart), {**rule, **_named(job), "parts": []})
            line.setdefault("counts", []).append(fill(count_file(entry.receipt).at(**job.key)))
            parts = entry.parts(job, planned=True)
            line["parts"].append(
                [{**part, "files": {n: list(map(fill, paths)) for n, paths in part["files"].items()}} for part in parts]
            )
    return list(lines.values())


def _named(job: AskJob) -> dict[str, str]:
    """Return a job's dataset (or set of claims), asked generator and retriever (empty if it asks about several)."""
    dataset = job.key.get("dataset", next(iter(job.key.values()), ""))
    return {"dataset": dataset, "generator": job.generator, "retriever": job.key.get("retriever", "")}


def _filled(inputs: Inputs, key: Key) -> dict[str, list[str]]:
    """Return each input's files, with wildcards replaced by the values in ``key``."""

    def filled(path: str) -> str:
        text = WILDCARD.sub(lambda match: key.get(match[1], match[0]), path)
        return path if text == path else text  # it may be marked, e.g. ancient()

    return {name: [filled(path) for path in ([files] if isinstance(files, str) else files)]
            for name, files in inputs.items()}  # fmt: skip


def _joined(parts: Iterable[AskedPart]) -> dict[str, list[str]]:
    """Return the files of all ``parts`` by input name, each file once."""
    joined: dict[str, dict[str, str]] = {}
    for part in parts:
        for name, paths in part["files"].items():
            joined.setdefault(name, {}).update((path, path) for path in paths)
    return {name: list(paths.values()) for name, paths in joined.items()}


def _placed(parts: list[AskedPart]) -> list[dict[str, object]]:
    """Return ``parts`` with files' positions in _joined instead of paths, because modules may use other folders."""
    places = {name: {path: place for place, path in enumerate(paths)} for name, paths in _joined(parts).items()}
    return [
        {**part, "files": {name: [places[name][path] for path in paths] for name, paths in part["files"].items()}}
        for part in parts
    ]


def _agree(one: Key, other: Key) -> bool:
    return all(one[name] == other[name] for name in one.keys() & other.keys())


def _key(wildcards: Wildcards) -> dict[str, str]:
    return dict(wildcards.items())


def _constraints(pattern: str, jobs: list[Key]) -> dict[str, str]:
    """Return each wildcard's possible values, so that no other files match the question's patterns."""
    names = WILDCARD.findall(pattern)
    return {name: any_of(dict.fromkeys(key[name] for key in jobs)) for name in names}
