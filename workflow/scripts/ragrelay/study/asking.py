"""The questions to models of a study, as rules and the plan take them."""

from collections.abc import Callable, Iterable
from typing import Any

from ragrelay.asking.question import Key, Question, questions
from ragrelay.io.keyed_files import WILDCARD
from ragrelay.jobs.code_digest import code_digest, questions_digest
from ragrelay.study.study import StudyOfRules, Wildcards, any_of
from ragrelay.vocabulary.study_file import StudyFile


class StudyQuestion:
    """A question in a study: what its two rules are made of.

    Functions whose only argument is ``wildcards`` are for a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules, question: Question) -> None:
        self.study, self.question = study, question
        self.module = type(question).__module__
        self.name = self.module.rpartition(".")[2]
        made = {"receipt": question.receipt}
        self.ask_outputs: dict[str, StudyFile] = made | ({"asked": question.asked} if question.asked else {})
        self.read_outputs = dict(question.made)
        self.read_key = question.read_key or question.key
        self.ask_constraints = _constraints(question.key, question.jobs(study))
        self.read_constraints = _constraints(self.read_key, question.read_jobs(study))

    def asker(self, wildcards: Wildcards) -> str:
        """Name of the generator that a job asks."""
        return self.question.asker(self.study, _key(wildcards))

    def ask_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a job that asks reads."""
        found = self.question.inputs(self.study, _key(wildcards))
        return {**found, "fetched": self.study.fetched("generators", self.asker(wildcards))}

    def read_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a job that reads takes."""
        return {**self.ask_outputs, **self.question.read_inputs(self.study, _key(wildcards))}

    def ask_settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a job that asks gets besides."""
        key = _key(wildcards)
        return {**self.question.settings(self.study, key), "patterns": self.question.patterns(self.study, key)}

    def read_settings(self, wildcards: Wildcards) -> dict[str, Any]:
        """What a job that reads gets besides."""
        key = _key(wildcards)
        return {**self.question.read_settings(self.study, key), "patterns": self.question.patterns(self.study, key)}

    def generator(self, wildcards: Wildcards) -> dict[str, Any]:
        """The definition of the generator that a job asks."""
        return self.study.generator_named(self.asker(wildcards))

    def fingerprint(self, wildcards: Wildcards) -> str:
        """Its fingerprint for likelihoods."""
        return self.study.likelihoods_of(self.asker(wildcards))

    def threads(self, wildcards: Wildcards) -> int:
        """CPU threads of its engine."""
        threads: int = self.study.generator(self.asker(wildcards))["threads"]
        return threads

    def gpus(self, wildcards: Wildcards) -> int:
        """GPUs of its engine."""
        return self.study.gpus_of(self.asker(wildcards))

    def ask_code(self, wildcards: Wildcards) -> str:
        """The digest of what is asked: neither engine nor store counts."""
        return questions_digest("ask_question.py", f"{self.module}:ask", *self._modules(wildcards))

    def read_code(self, wildcards: Wildcards) -> str:
        """The digest of what makes the table."""
        return code_digest("read_replies.py", f"{self.module}:read", *self._modules(wildcards))

    def _modules(self, wildcards: Wildcards) -> list[str]:
        return self.question.modules(self.study, _key(wildcards))


def study_questions(study: StudyOfRules) -> list[StudyQuestion]:
    """Every question, whether the study asks it or not."""
    return [StudyQuestion(study, question) for question in questions()]


def planned_questions(asked: Iterable[StudyQuestion], fill: Callable[[str], str]) -> list[dict[str, Any]]:
    """A line of the plan per question, dataset, generator that is asked, and what else tells jobs apart.

    Of each its rule, dataset (or set of claims), generator and retriever, and ``parts``: the wildcards, settings and
    files of each of its jobs. ``fill``: gives a path in the results as it is on disk.
    """
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in asked:
        question, study = one.question, one.study
        for key in question.jobs(study):
            named = {"dataset": key.get("dataset", key.get("claims", "")), "generator": question.asker(study, key)}
            apart = tuple((name, value) for name, value in key.items() if name not in question.parts)
            line = lines.setdefault(
                (question.asks, *named.values(), apart),
                {"rule": question.asks, "question": one.name, **named, "retriever": _retriever(key), "parts": []},
            )
            inputs = question.planned_inputs(study, key)
            paths = {name: [fill(p).format(**key) for p in _listed(files)] for name, files in inputs.items()}
            settings = {**question.planned_settings(study, key), "patterns": question.patterns(study, key)}
            line["parts"].append({"files": paths, "settings": settings, "wildcards": dict(key)})
    return list(lines.values())


def _retriever(key: Key) -> str:
    return key.get("retriever", "")


def _listed(files: Any) -> list[str]:
    return [files] if isinstance(files, str) else list(files)


def _key(wildcards: Wildcards) -> dict[str, str]:
    return dict(wildcards.items())


def _constraints(pattern: str, jobs: list[Key]) -> dict[str, str]:
    """What each wildcard may be, so that no other file is taken for the question's."""
    names = WILDCARD.findall(pattern)
    return {name: any_of(dict.fromkeys(key[name] for key in jobs)) for name in names}
