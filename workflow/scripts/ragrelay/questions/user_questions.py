"""Check users' own questions before any job runs: class, functions in the module, and names."""

from collections.abc import Sequence
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import WILDCARD
from ragrelay.base.user_code import check_function
from ragrelay.questions.question import FUNCTIONS, Question, question_class, question_module, questions

NEEDED = ("asks", "reads", "does", "key", "made")
"""Attributes that every question must define."""


def check_questions(names: Sequence[str], folder: Path) -> None:
    """Import and check the questions ``names`` (module:Class), and raise InputError for the first invalid question."""
    rules = {rule for question in questions() for rule in (question.asks, question.reads)}
    for name in names:
        place = f"config key 'questions' ({name})"
        check_function(place, name, folder, "class")
        question = _checked(place, name)
        for rule in (question.asks, question.reads):
            if not rule.isidentifier():
                raise InputError(place, f"rule {rule!r}", "a name of letters, digits and _, such as ask_sufficient")
            if rule in rules:
                raise InputError(place, f"a second rule {rule!r}", "a rule name that no other question uses")
            rules.add(rule)


def _checked(place: str, name: str) -> Question:
    try:
        module = question_module(name)
    except Exception as error:  # the user's module may raise anything
        found = f"{type(error).__name__}: {error}"
        raise InputError(place, found, "a module that imports without errors") from error
    question_type = question_class(name)
    if not (isinstance(question_type, type) and issubclass(question_type, Question)):
        raise InputError(
            place, "an object that isn't a question class", "a subclass of ragrelay.questions.question.Question"
        )
    if missing := [attribute for attribute in NEEDED if not hasattr(question_type, attribute)] + sorted(
        question_type.__abstractmethods__
    ):
        raise InputError(place, f"a class that lacks {', '.join(missing)}", "all attributes of a Question")
    if missing := [function for function in FUNCTIONS if not callable(getattr(module, function, None))]:
        raise InputError(place, f"a module that lacks {', '.join(missing)}", "the functions ask, plan and read")
    question = question_type()
    key = question.read_key or question.key
    for file in (*question.made.values(), *([question.asked] if question.asked is not None else [])):
        if set(WILDCARD.findall(file)) != set(WILDCARD.findall(key)):
            raise InputError(place, f"path {file.path}", f"a path with exactly the wildcards of {key}")
    return question
