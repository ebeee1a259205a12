"""What reruns is what lies downstream of an edit: of the jobs that it touches itself, along the graph of all jobs.

No rule is an exception. Edges by `ancient` lead nowhere; test_reruns.py lists them. reruns.md names the jobs
that an edit touches, but for those whose files are others, and which steps run.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.graphs import Job, following_any

RULE = re.compile(r"`(\w+)`")
TABLES = Path(__file__).with_name("reruns.md").read_text(encoding="utf-8")


def running(jobs: Mapping[str, Job]) -> set[str]:
    """The jobs that are to run; a target without files always is."""
    return {name for name, job in jobs.items() if job.runs and job.output}


def downstream(
    before: Mapping[str, Job], jobs: Mapping[str, Job], first: Iterable[str], of: Iterable[str] = ()
) -> set[str]:
    """Those of ``jobs`` that an edit reruns.

    It touches jobs that are new, read others than ``before`` or make more; and those of the rules ``first`` whose
    wildcards name one of ``of``, or else that such a job follows, or else all.
    """
    touched = {
        name
        for name, job in jobs.items()
        if name not in before or {*job.read} != {*before[name].read} or {*job.output} - {*before[name].output}
    }
    for rule in first:
        every = {name for name, job in jobs.items() if job.rule == rule}
        assert every, f"no job of {rule}"
        own = every & before.keys()
        touched |= named(jobs, own, of) or _followed(jobs, own, of) or own
    return {name for name in following_any(dict(jobs), touched) if jobs[name].output}


def named(jobs: Mapping[str, Job], names: Iterable[str], of: Iterable[str]) -> set[str]:
    """Those of the jobs ``names`` whose wildcards have one of ``of``."""
    return {name for name in names if {*jobs[name].of} & {*of}}


def _followed(jobs: Mapping[str, Job], names: Iterable[str], of: Iterable[str]) -> set[str]:
    return {name for name in names if named(jobs, jobs[name].followed_by, of)}


def things(case: str) -> list[str]:
    """What a case changes, as ``a`` and ``b`` in "a, b: how"."""
    return case.split(":")[0].split(", ")


def _cells(first: str) -> list[list[str]]:
    """The rows of the table whose first column is headed ``first``, its head on top."""
    [table] = [part for part in re.split(r"\n\n", TABLES) if part.startswith(f"| {first} |")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    return [row for row in rows if set(row[0]) != {"-"}]


class Table:
    """A table of reruns.md: by row, the rules whose jobs run first, and how much runs of each step."""

    def __init__(self, changes: str, steps: str) -> None:
        """``changes``, ``steps``: heads of the first columns of it and of the table of its steps."""
        self.steps = {step: RULE.findall(rules) for step, rules in _cells(steps)[1:]}
        (_, _, *head), *rows = _cells(changes)
        assert {*head} <= {*self.steps}
        self.first = {row: RULE.findall("".join(rest[:1])) for row, *rest in rows}
        self.marks = {row: dict(zip(head, rest[1:], strict=False)) for row, *rest in rows}
        self.rules = [rule for rules in self.steps.values() for rule in rules]

    def check(self, row: str, case: str, before: Mapping[str, Job], jobs: Mapping[str, Job]) -> None:
        """Compare what is to run of ``jobs`` after a change with what its ``row`` says."""
        runs, of = running(jobs), things(case)
        assert runs == downstream(before, jobs, self.first[row], of)
        wrong = []
        for step, rules in self.steps.items():
            mark = self.marks[row].get(step, "")
            own = {name for name, job in jobs.items() if job.rule in rules}
            some = runs & own
            its = some <= named(jobs, own, of) | _followed(jobs, own, of)
            fits = {"": not some, "all": some == own, "its": some and its, "some": some and some != own}
            fit = fits[mark] if mark in fits else {jobs[name].rule for name in some} == {*RULE.findall(mark)}
            wrong += [] if fit else [(step, mark, sorted(some))]
        assert wrong == []
