"""Jobs of every rule are killed after a change, as a seed draws: the same command then gives what was to be made.

Rules that do not follow each other are killed in one run, in a copy of a study where all before them was made after the
change, and all from them on before it.
By default each rule is killed after one of the changes, which its name decides.
`make faults SEED=7 RULES="build_run score_answers" KILLS=folder`: the seed and the rules, after every change;
the folder keeps the studies and `cases.jsonl`, a line for each case, where the same command goes on.
"""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support.annex_cases import add_of_annexes, of_annexes
from tests.support.changes import CODE, Change, Changes
from tests.support.everything_study import IMPORTED, MADE_AFTER, RARE, everything_study, imported_study, rare_study
from tests.support.graphs import Job, graph
from tests.support.kills import Kill, Work, run_measured, run_with_kills
from tests.support.rule_files import SCRIPTS
from tests.support.sandbox import ROOT, Sandbox, timed_files
from tests.support.sharing import made_in, made_once

RESULTS = "results/small/"


def inputs(study: Changes) -> None:
    """Edit every file that the study reads."""
    for path, old, new in (
        ("small/queries.tsv", "\t", "\tNow "),
        ("small/passages.jsonl", '"text": "', '"text": "Now '),
        ("small/answers.jsonl", "the", "water"),
        ("nuggets.jsonl", "a fact", "a new fact"),
        ("small/qrels.txt", " 3\n", " 2\n"),
    ):
        study.edit(path, old, new, count=-1)


def params(study: Changes) -> None:
    """Change what the configuration says: keys of every entry, and templates."""
    study.entry("datasets", "small", references={"lenient": 1, "strict": 3})
    study.entry("retrievers", "bm25", k1=0.01, stemmer="none")
    study.entry("retrievers", "rel", seed=7)
    study.entry("generators", "demo-lm", temperature=0.5, max_model_len=1024)
    study.entry("generators", "judge", max_model_len=768)
    study.entry("generators", "writer", max_model_len=768)
    study.entry("scorers", "minilm", layer=5, utility="absolute")
    study.entry("scorers", "token_f1", utility="relative")
    study.entry("scorers", "by_hand", value="all_strict")
    study.entry("scorers", "written", list_tokens=60)
    study.entry("scorers", "checked", bias_checks=6, scale="grades")
    study.config |= {"analysis": {"resamples": 400, "seed": 7}, "near_copy": 0.7, "context_depth": 4}
    study.grid(measures=["P", "nDCG"])
    study.edit("config/prompts/tian2025.yaml", "expert", "expert ", count=-1)


def code(study: Changes) -> None:
    """Edit every script, and have the package read other queries."""
    for script in SCRIPTS.values():
        study.append(str(script.relative_to(ROOT)), "\n\nCHANGED = True\n")
    study.edit(f"{CODE}/collection/local.py", "_query(", '"Now " + _query(')


def answers(study: Changes) -> None:
    """Edit answers that are imported."""
    study.edit("answers/small.jsonl", '"answer": "', '"answer": "Now ', count=-1)


def rare_inputs(study: Changes) -> None:
    """Change what figures are drawn from."""
    study.config["analysis"] = {"resamples": 400, "seed": 7}


def rare_params(study: Changes) -> None:
    """Change the dataset's grades."""
    study.entry("datasets", "small", references={"lenient": 1, "strict": 3})


def rare_code(study: Changes) -> None:
    """Choose another colour."""
    study.edit(f"{CODE}/report/display/palette.py", "#009E73", "#009E74")


CHANGES: dict[str, Change] = {
    "inputs": inputs,
    "params": params,
    "code": code,
    "answers": answers,
    "rare inputs": rare_inputs,
    "rare params": rare_params,
    "rare code": rare_code,
}


def change_all(study: Changes, name: str) -> None:
    """Make the change ``name`` in the core and in annexes."""
    CHANGES[name](study)
    add_of_annexes(study, name)
    for path, old, new in chain(*(edits.get(name, ()) for edits in of_annexes("EDITS"))):
        study.edit(path, old, new, count=-1)


@dataclass
class Campaign:
    """The cases of one change to the ``finished`` study, with what is drawn by ``seed``; all in ``folder``."""

    finished: Sandbox
    folder: Path
    change: str
    seed: str
    targets: tuple[str, ...]
    done: set[str] = field(default_factory=set)
    """Jobs whose files are those of after the change in the study that cases begin with."""

    def study(self, name: str, make: Callable[[Sandbox], object]) -> Sandbox:
        """The study ``name`` of this change: a copy of the finished one with the change, as ``make`` leaves it."""
        folder = self.folder / f"{self.change}-{name}".replace(" ", "-")
        made = folder.with_suffix(".made")
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            study = self.finished.copied_to(folder)
            change_all(Changes(study), self.change)
            study.write_config()
            make(study)
            made.touch()
        return Sandbox.at(folder)

    @cached_property
    def undisturbed(self) -> Sandbox:
        """The study after the change, in which more and more is made; what its jobs did is in ``works.txt``."""
        return self.study("undisturbed", lambda study: (study.folder / "works.txt").touch())

    def make_undisturbed(self, targets: Sequence[str]) -> None:
        """Make ``targets`` in that study."""
        works = run_measured(self.undisturbed, *targets)
        with (self.undisturbed.folder / "works.txt").open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(work)}\n" for work in works)

    @cached_property
    def base(self) -> Sandbox:
        """The study that cases begin with, in which more and more is made after the change."""

        def look(study: Sandbox) -> None:
            (study.folder / "jobs.json").write_text(json.dumps(graph(study, self.targets)), encoding="utf-8")

        study = self.study("base", look)
        study.snakemake("--unlock")
        return study

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """Return the jobs that run after the change, by name."""
        found = json.loads((self.base.folder / "jobs.json").read_text(encoding="utf-8"))
        jobs = {name: Job(*job) for name, job in found.items()}
        return {name: job for name, job in jobs.items() if job.runs and job.output}

    @cached_property
    def parents(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {name: set() for name in self.jobs}
        for name, job in self.jobs.items():
            for follower in set(job.followed_by) & found.keys():
                found[follower].add(name)
        return found

    @cached_property
    def before(self) -> dict[str, set[str]]:
        """Each job → all that it follows, in an order in which every job comes after them."""
        found: dict[str, set[str]] = {}
        while len(found) < len(self.jobs):
            for name in sorted(self.jobs.keys() - found.keys()):
                if self.parents[name] <= found.keys():
                    found[name] = self.parents[name].union(*(found[parent] for parent in self.parents[name]))
        return found

    def works(self, rule: str) -> list[Work]:
        """What the rule's jobs did in the undisturbed study."""
        lines = (self.undisturbed.folder / "works.txt").read_text(encoding="utf-8").splitlines()
        return [work for work in (Work(*json.loads(line)) for line in lines) if work.rule == rule]

    def rules(self) -> list[str]:
        """Return the rules with jobs that run, each after the rules that it follows."""
        last = {job.rule: len(self.before[name]) for name, job in sorted(self.jobs.items(), key=self._place)}
        return sorted(last, key=lambda rule: last[rule])

    def _place(self, item: tuple[str, Job]) -> int:
        return len(self.before[item[0]])

    def begin(self, rules: Iterable[str]) -> None:
        """Have cases begin with a study in which no job of ``rules`` has run: earlier cases may have gone further."""
        own = {name for rule in rules for name in self.of(rule)}
        now = graph(self.base, tuple(sorted(self.jobs[name].output[0] for name in own)))
        if not all(now[name].runs for name in own):
            self.base.folder.with_suffix(".made").unlink()
            del self.base

    def make(self, names: Iterable[str]) -> None:
        """Make the files of these jobs in the study that cases begin with."""
        left = set(names) - self.done
        if left:
            self.base.snakemake(*sorted(self.jobs[name].output[0] for name in left))
            self.done |= left.union(*(self.before[name] for name in left))

    def rounds(self, rules: Iterable[str]) -> Iterator[list[str]]:
        """The ``rules`` in parts one after the other; none follows another of its part, so that all can be killed."""
        part: list[str] = []
        for rule in rules:
            if part and any(self._follows(*pair) for other in part for pair in ((rule, other), (other, rule))):
                yield part
                part = []
            part.append(rule)
        yield part

    def _follows(self, rule: str, other: str) -> bool:
        return any(self.before[name] & set(self.of(other)) for name in self.of(rule))

    def of(self, rule: str) -> list[str]:
        """The rule's jobs."""
        return sorted(name for name, job in self.jobs.items() if job.rule == rule)

    def kill(self, rule: str) -> Kill:
        """Draw a kill by the seed, within what the rule's jobs do."""
        draw, works = random.Random(f"{self.seed} {self.change} {rule}"), self.works(rule)
        renames = min((work.renames for work in works), default=0)
        seconds = min((work.seconds for work in works), default=0.0)
        unit = draw.choice(["start", "seconds", *(["renames"] if renames else [])])
        amount = {"start": 0, "renames": draw.randint(1, max(1, renames)), "seconds": draw.uniform(0, 0.8) * seconds}
        how, times = draw.choice([signal.SIGKILL, signal.SIGTERM]), draw.choice([1, 2])
        return Kill(how, unit, round(amount[unit], 2), times)

    def followers(self, rules: Iterable[str]) -> set[str]:
        """Choose for each of the rules' jobs one that follows it, with little else to be made before."""
        draw, chosen = random.Random(f"{self.seed} {self.change} {rules}"), set()
        for name in (name for rule in rules for name in self.of(rule)):
            following = sorted(set(self.jobs[name].followed_by) & self.jobs.keys()) or [name]
            cost = {follower: len(self.before[follower] - self.done) for follower in following}
            chosen.add(draw.choice([one for one in following if cost[one] <= min(cost.values()) + 2]))
        return chosen

    def run(self, rules: Sequence[str], at_start: bool = False) -> list[dict[str, Any]]:
        """Cases of ``rules`` that are killed in one run, as records; ``result`` is `ok` or what was found wrong."""
        began = time.monotonic()
        own = {rule: self.of(rule) for rule in rules}
        all_own = set().union(*own.values())
        self.make(set().union(*(self.parents[name] for name in all_own)) - all_own)
        chosen, retries = self.followers(rules), random.Random(f"{self.seed} {self.change} {rules}").choice([0, 1])
        targets = sorted(self.jobs[name].output[0] for name in chosen)
        self.make_undisturbed(targets)
        finished, undisturbed = self.finished.contents(), self.undisturbed.contents()
        kills = {rule: self.kill(rule) for rule in rules}
        if at_start:
            kills = {rule: kill._replace(unit="start", amount=0) for rule, kill in kills.items()}
        folder = self.folder / f"{self.change}-case".replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        study, missed, unneeded = self.base.copied_to(folder), set[str](), set[str]()
        wrong, failure = set[str](), ""
        try:
            missed, unneeded = run_with_kills(study, targets, kills, retries)
            expected = self.kept(chosen.union(*(self.before[name] for name in chosen)))
            made = study.contents()
            # Files of other jobs may be as they were before.
            wrong = {
                name
                for name in made.keys() | expected
                if made.get(name) != undisturbed.get(name) and (name in expected or made[name] != finished.get(name))
            }
        except AssertionError as error:
            failure = str(error)[-3000:]
        records = []
        for rule in (rule for rule in rules if rule not in missed):
            files = self.kept(own[rule])
            new = any(finished.get(name) != undisturbed.get(name) for name in files)
            records.append(
                {
                    "seed": self.seed,
                    "change": self.change,
                    "rule": rule,
                    "jobs": len(own[rule]),
                    "kill": "no job" if rule in unneeded else f"{kills[rule]}{' retried' if retries else ''}",
                    "with": len(rules) - 1,
                    "content": "new" if new else "same" if files else "timed",
                    "result": failure
                    or (f"{len(wrong)} files differ: {sorted(wrong)[:9]}" if wrong else "")
                    or ("no job ran, and its files are new" if new and rule in unneeded else "ok"),
                    "seconds": round(time.monotonic() - began),
                }
            )
        if not failure:
            self.make(all_own.difference(*(own[rule] for rule in missed)))
        return records + (self.run(sorted(missed), at_start=True) if missed else [])

    def kept(self, names: Iterable[str]) -> set[str]:
        """Names of the files of these jobs, but for those that contain times."""
        files = {path.removeprefix(RESULTS) for name in names for path in self.jobs[name].output}
        return {name for name in files if not any(fnmatch(name, pattern) for pattern in timed_files())}


def table(records: Iterable[Mapping[str, Any]]) -> str:
    """Rules × changes: how the jobs were killed, and what is not `ok`."""
    cells: dict[str, dict[str, str]] = {}
    for record in records:
        wrong = "" if record["result"] == "ok" else f" **{record['result'].splitlines()[-1][:80]}**"
        cells.setdefault(record["rule"], {})[record["change"]] = f"{record['kill']}, {record['content']}{wrong}"
    rows = [[rule, *(by.get(change, "") for change in CHANGES)] for rule, by in sorted(cells.items())]
    return "\n".join(f"| {' | '.join(row)} |" for row in [["rule", *CHANGES], ["---"] * (len(CHANGES) + 1), *rows])


Make = Callable[[Sandbox, Path], Sandbox]
RARELY = ["draw_figures_at", *chain(*of_annexes("RARELY"))]
"""Rules that run in the study of the rare ones alone; `fetch_input` is in test_hub.py."""
STUDIES: dict[str, tuple[str, Make, str, tuple[str, ...]]] = {
    **dict.fromkeys(("inputs", "params", "code"), ("everything", everything_study, "optional", MADE_AFTER)),
    "answers": ("imported", imported_study, "finished", (IMPORTED,)),
    **dict.fromkeys(("rare inputs", "rare params", "rare code"), ("rare", rare_study, "finished", RARE)),
}
"""Change → name of the study, how it is made, of which other one, what is made in it."""


def change_of(rule: str, study: str) -> str:
    """Return after which of the changes of ``study`` a rule is killed."""
    return random.Random(rule).choice([change for change, of in STUDIES.items() if of[0] == study])


@pytest.mark.full
@pytest.mark.parametrize("change", CHANGES)
def test_the_same_command_after_kills_of_every_rule(
    change: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = Path(os.environ.get("KILLS") or tmp_path_factory.mktemp("kills")).absolute()
    folder.mkdir(exist_ok=True)
    seed = os.environ.get("SEED") or str(random.SystemRandom().randrange(10**6))
    print(f"\nSEED={seed} KILLS={folder}")
    name, make, other, targets = STUDIES[change]
    lines = folder / "cases.jsonl"
    lines.touch()

    def make_finished(place: Path) -> None:
        make(request.getfixturevalue(other), place)

    if "KILLS" in os.environ:
        finished = made_in(folder / name, make_finished)
    else:
        finished = made_once(tmp_path_factory, name, make_finished)
    campaign = Campaign(Sandbox.at(finished), folder, change, seed, targets)
    asked = os.environ.get("RULES", "").split() or (RARELY if "rare" in change else campaign.rules())
    if not any(map(os.environ.get, ("SEED", "RULES", "KILLS"))):
        asked = [rule for rule in asked if change_of(rule, name) == change]
    records = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    known = {(one["seed"], one["change"], one["rule"]) for one in records}
    left = [rule for rule in campaign.rules() if rule in asked and (seed, change, rule) not in known]
    if left:
        campaign.begin(left)
    for part in campaign.rounds(left) if left else []:
        for record in campaign.run(part):
            with lines.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(*map(record.get, ("rule", "change", "kill", "content", "seconds", "result")), sep=" | ", flush=True)
    records = [one for one in map(json.loads, lines.read_text(encoding="utf-8").splitlines()) if one["seed"] == seed]
    print(table(records))
    assert [one for one in records if one["change"] == change and one["result"] != "ok"] == []
