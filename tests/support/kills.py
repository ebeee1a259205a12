"""Jobs of some rules are killed after a change, and nothing else; then the same command is given again."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tests.support.forked_python import KILLED
from tests.support.sandbox import Sandbox, jobs_of


class Kill(NamedTuple):
    """How every job of a rule ends: by signal ``how``, at its ``start`` or after ``amount`` ``renames`` or ``seconds``.

    So do the jobs of the same command after it, until there were ``times`` failures.
    """

    how: signal.Signals
    unit: str = "start"
    amount: float = 0
    times: int = 1

    def __str__(self) -> str:
        moment = "start" if self.unit == "start" else f"{self.amount:g} {self.unit}"
        return f"{self.how.name} {moment}{' twice' if self.times == 2 else ''}"


class Work(NamedTuple):
    """What a job had done when it was killed, or at its end."""

    rule: str
    renames: int
    seconds: float


@contextmanager
def killing(study: Sandbox, kills: Mapping[str, Kill]) -> Iterator[Path]:
    """Have the jobs of the rules in ``kills`` killed; yields the file in which jobs note what they did."""
    hits = study.folder / "hits.txt"
    hits.unlink(missing_ok=True)
    asked = {"kills": {rule: kill[:3] for rule, kill in kills.items()}, "hits": str(hits)}
    with patch.dict(os.environ, {KILLED: json.dumps(asked)}):
        yield hits


def _noted(hits: Path) -> list[Work]:
    lines = hits.read_text(encoding="utf-8").splitlines() if hits.exists() else []
    return [Work(rule, int(renames), float(seconds)) for rule, renames, seconds in map(str.split, lines)]


def run_measured(study: Sandbox, *arguments: str) -> list[Work]:
    """Run Snakemake without a disturbance; what each job did."""
    with killing(study, {}) as hits:
        study.snakemake(*arguments)
    return _noted(hits)


def run_with_kills(
    study: Sandbox, targets: Sequence[str], kills: Mapping[str, Kill], retries: int = 0
) -> tuple[set[str], set[str]]:
    """Kill all jobs of each rule in ``kills`` while ``targets`` are made, every attempt; then give the same command.

    Then all of the rule's jobs must run again, and after them nothing is to be done. Returns rules of which a job ended
    before its moment, and rules of which no job is needed, as what they read came out as before the change.
    """
    command = [*targets, "--keep-going", "--retries", str(retries)]
    runs: list[dict[str, int]] = []
    missed, unneeded = set[str](), set[str]()
    for number in range(max(kill.times for kill in kills.values())):
        now = {rule: kill for rule, kill in kills.items() if kill.times > number and rule not in missed}
        with killing(study, now) as hits:
            failed = study.snakemake(*command, check=False)
        runs.append(jobs_of(failed))
        if number == 0:
            unneeded = set(kills) - runs[0].keys()
            kills = {rule: kill for rule, kill in kills.items() if rule not in unneeded}
            now = {rule: kill for rule, kill in now.items() if rule not in unneeded}
        said, hit = failed.stdout + failed.stderr, Counter(work.rule for work in _noted(hits))
        assert hit.keys() <= now.keys()
        missed |= {r for r, kill in now.items() if hit[r] < runs[0][r] * (retries + 1) and kill.unit != "start"}
        killed = [rule for rule in now if rule not in missed]
        assert failed.returncode or not killed
        for rule in killed:
            assert f"Error in rule {rule}:" in said, f"no job of {rule} was killed:\n{said[-3000:]}"
        if not killed:
            break
    runs.append(jobs_of(study.snakemake(*command)))
    again = {rule: (runs[kills[rule].times].get(rule, 0), runs[0][rule]) for rule in kills.keys() - missed}
    assert all(ran == all_of for ran, all_of in again.values()), f"jobs that ran again, of all: {again}"
    assert study.planned(*targets) == {}
    return missed, unneeded
