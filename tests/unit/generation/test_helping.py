"""An engine that is up makes what other jobs lack: which, when it stops, and what claims of the same answers do."""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from ragrelay.generation import helping, job
from ragrelay.generation.generator import Request
from ragrelay.generation.helping import Noted, Others, note_jobs
from ragrelay.generation.job import generate_answers, make_for
from ragrelay.generation.pieces import PIECES, Pieces
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.jobs import work_claims
from ragrelay.jobs.work_claims import Claim
from ragrelay.jobs.work_claims import wait_for as wait_for_claims
from ragrelay.prompting.layout import Layout, kshot_prompts

from tests.support.waiting import wait_for
from tests.unit.generation.test_generation_job import TEMPLATE, FakeEngine

QIDS = [f"q{number}" for number in range(6)]
RETRIEVERS = ("bm25", "dense", "rel")


class InOrder(FakeEngine):
    """Answers requests as they come, one by one; calls ``after`` with how many it has made."""

    after: Callable[[int], object] = staticmethod(lambda made: None)

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        for request in requests:
            yield from super().answers(iter([request]))
            self.after(len(self.made))


class Run:
    """Three retrievers' jobs of one shard in a working folder, all noted; bm25's contexts are those of no other."""

    def __init__(self, folder: Path, generator: dict[str, Any], shards: int = 1) -> None:
        self.folder, self.generator, self.shards = folder, {**generator, "flush_seconds": 0}, shards
        self.queries = pl.DataFrame({"qid": QIDS, "query": [f"question {qid}" for qid in QIDS]})
        self.queries.write_parquet(folder / "queries.parquet")
        for name in RETRIEVERS:
            rows = [(qid, 1, f"{name} {qid}", f"passage of {name} on {qid}") for qid in QIDS]
            contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
            contexts.write_parquet(folder / f"{name}.contexts")
            kshot_prompts(self.queries, contexts, TEMPLATE, "descending", 1).write_parquet(self.prompts(name))
        self.note()

    def prompts(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def note(self, makes: bool = False) -> None:
        note_jobs([Noted(name, ["demo", "lm", "0"], name, [str(self.prompts(name))], makes) for name in RETRIEVERS])

    def asked(self, name: str) -> pl.DataFrame:
        return asked_keys([self.prompts(name)], [1, 2], 0, self.shards)

    def store(self) -> AnswerStore:
        return AnswerStore(self.folder / "cache", "fp")

    def job(self, name: str, engine: FakeEngine, **changes: Any) -> dict[str, Any]:
        """Run the job of a retriever; its receipt."""
        others = Others(name, [1, 2], 0, self.shards, **changes)
        layout = Layout(TEMPLATE, self.folder / "queries.parquet", self.folder / f"{name}.contexts")
        return generate_answers(self.asked(name), self.store(), self.generator, layout, engine.start, others)

    def made(self) -> pl.DataFrame:
        """The key of every row of every part."""
        return pl.concat([pl.read_parquet(part, columns=["prompt_id", "seed"]) for part in self.store().parts()])


@pytest.fixture
def run(tmp_path: Path, generator: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(work_claims, "LOOKED_EVERY", 0.01)
    monkeypatch.setattr(work_claims, "RENEWED_EVERY", 0.01)
    return Run(tmp_path, generator)


def test_one_start_makes_the_answers_of_all(run: Run) -> None:
    """The next one of the note first; jobs that follow find everything and start nothing."""
    engine, idle = InOrder(), InOrder()
    receipt = run.job("dense", engine)
    assert (receipt["asked"], receipt["held"], receipt["made"]) == (12, 0, 12)
    assert receipt["made_for"] == {"rel": 12, "bm25": 12} and list(receipt["made_for"]) == ["rel", "bm25"]
    assert receipt["answer_tokens"] == 2 * 36, "tokens of all that the engine made"
    assert len(engine.starts) == 1 and len(run.made()) == 36 and run.made().is_unique().all()
    for name in ("bm25", "rel"):
        later = run.job(name, idle)
        assert (later["held"], later["made"]) == (12, 0) and "made_for" not in later
    assert idle.starts == []
    assert not list(run.store().folder.glob(".claim-*"))


@pytest.mark.parametrize("numbers", [(1, 3), (4, 2)])
def test_another_number_of_shards_makes_no_answer_again(run: Run, numbers: tuple[int, int]) -> None:
    layout = Layout(TEMPLATE, run.folder / "queries.parquet", run.folder / "rel.contexts")
    made = []
    for shards in numbers:
        asked = [asked_keys([run.prompts("rel")], [1, 2], shard, shards) for shard in range(shards)]
        engine = InOrder()
        receipts = [generate_answers(one, run.store(), run.generator, layout, engine.start) for one in asked]
        made.append((sum(one["made"] for one in receipts), len(engine.starts)))
    assert made == [(12, numbers[0]), (0, 0)]


def test_only_jobs_of_this_run_and_of_the_same_shard(run: Run) -> None:
    beside = ["demo", "lm", "0"]
    noted = [("dense", beside), ("rel", ["demo", "lm", "1"]), ("bm25", ["other", "lm", "0"])]
    note_jobs([Noted(name, of, name, [str(run.prompts(name))], False) for name, of in noted])
    assert run.job("dense", InOrder())["made_for"] == {}
    run.note()
    assert run.job("rel", InOrder())["made_for"] == {"bm25": 12}


def test_a_job_that_is_not_noted_helps_nobody(run: Run) -> None:
    note_jobs([Noted("rel", ["demo", "lm", "0"], "rel", [str(run.prompts("rel"))], False)])
    assert run.job("dense", InOrder())["made_for"] == {}
    helping.NOTE.unlink()
    assert run.job("bm25", InOrder())["made_for"] == {}


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"PAR1")], ids=["gone", "damaged"])
def test_prompts_that_cannot_be_read_are_left_to_their_job(run: Run, damage: Callable[[Path], object]) -> None:
    damage(run.prompts("rel"))
    assert run.job("dense", InOrder())["made_for"] == {"bm25": 12}


def test_prompts_that_the_run_makes_anew_count_once_they_are_made(run: Run) -> None:
    """Those of before are not asked; those that come while the engine is at work are."""
    for name in ("bm25", "rel"):
        os.utime(run.prompts(name), (1, 1))
    run.note(makes=True)
    engine = InOrder()

    def make_anew(made: int) -> None:
        if made == 12:
            os.utime(run.prompts("bm25"))

    engine.after = make_anew
    assert run.job("dense", engine)["made_for"] == {"bm25": 12}


def test_prompts_that_do_not_fit_are_left_to_their_job(run: Run) -> None:
    """Whether they would be refused or cut, which needs the passages that they are made of."""
    long = pl.read_parquet(run.prompts("rel"))
    longer = pl.when(pl.col("qid") == "q3").then(pl.col("prompt") + 2000 * "x").otherwise("prompt")
    long.with_columns(prompt=longer).write_parquet(run.prompts("rel"))
    for policy in ("error", "truncate"):
        run.generator["over_window"] = policy
        made = run.job("dense", InOrder())["made_for"] if policy == "error" else run.job("bm25", InOrder())
        assert policy == "truncate" or made == {"rel": 10, "bm25": 12}
    assert run.store().held(run.asked("rel")).height == 10


def test_nothing_is_taken_on_after_its_time(run: Run) -> None:
    """What the engine has at that moment is finished."""
    engine = InOrder()
    ends = time.monotonic() + 1000
    clock = [0.0]
    others = Others("dense", [1, 2], 0, 1, until=ends)
    engine.after = lambda made: clock.append(2000.0 if made >= 17 else 0.0)
    layout = Layout(TEMPLATE, run.folder / "queries.parquet", run.folder / "dense.contexts")
    now = time.monotonic
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "monotonic", lambda: now() + clock[-1])
        receipt = generate_answers(run.asked("dense"), run.store(), run.generator, layout, engine.start, others)
    assert receipt["made"] == 12 and receipt["made_for"] == {"rel": 5}
    assert run.job("bm25", InOrder(), until=0.0)["made_for"] == {}


def test_no_failure_of_helping_ends_the_job(run: Run) -> None:
    """What was made is kept, and never made again."""
    receipt = run.job("dense", InOrder(fails_after=20))
    assert (receipt["made"], receipt["made_for"]) == (12, {})
    later = run.job("rel", InOrder())
    assert (later["held"], later["made"], later["made_for"]) == (8, 4, {"bm25": 12})
    assert run.made().is_unique().all()


@pytest.mark.parametrize("moment", [3, 17, 24])
@pytest.mark.process
def test_killed_at_any_answer_nothing_is_lost_or_made_twice(run: Run, moment: int) -> None:
    """Killed jobs leave their claims: a process that has ended has none."""
    script = f"""
import os, signal
from pathlib import Path
from tests.unit.generation.test_helping import InOrder, Run
run, engine = Run.__new__(Run), InOrder()
run.folder, run.generator, run.shards = Path({str(run.folder)!r}), {run.generator!r}, 1
engine.after = lambda made: made == {moment} and os.kill(os.getpid(), signal.SIGKILL)
run.job("dense", engine)
"""
    killed = subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert killed.returncode == -9 and len(run.made()) == moment
    assert list(run.store().folder.glob(".claim-*"))
    again = InOrder()
    receipt = run.job("dense", again)
    for name in ("bm25", "rel"):
        run.job(name, again)
    assert len(again.starts) == 1, "of the first that lacks any"
    assert receipt["held"] + receipt["made"] == 12
    assert len(run.made()) == 36 and run.made().is_unique().all()
    assert not list(run.store().folder.glob(".claim-*"))


def other_process(run: Run, name: str, seconds: float = 60, numbers: Iterable[int] = range(6)) -> subprocess.Popen[str]:
    """A process that holds the claims of pieces of a retriever's answers."""
    script = f"""
import time
from pathlib import Path
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.pieces import Pieces
from ragrelay.generation.store import AnswerStore
asked = asked_keys([Path({str(run.prompts(name))!r})], [1, 2], 0, 1)
store = AnswerStore({str(run.folder / "cache")!r}, "fp")
with Pieces(store, asked) as pieces:
    for number in {list(numbers)!r}:
        pieces.enter_context(pieces._claims[number].held())
    print("held", flush=True)
    time.sleep({seconds})
"""
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, text=True, stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


def test_a_helper_leaves_claimed_answers_alone(run: Run) -> None:
    owner = other_process(run, "rel")
    assert run.job("dense", InOrder())["made_for"] == {"bm25": 12}
    assert run.store().held(run.asked("rel")).is_empty()
    owner.kill()
    owner.wait()
    assert run.job("rel", InOrder())["made"] == 12


def test_a_helper_makes_the_pieces_that_no_other_has_claimed(run: Run) -> None:
    owner = other_process(run, "rel", numbers=(0, 3))
    assert run.job("dense", InOrder())["made_for"] == {"rel": 8, "bm25": 12}
    left = run.asked("rel").join(run.store().held(run.asked("rel")), on=KEY, how="anti")
    assert sorted(set(left["qid"])) == ["q0", "q3"]
    owner.kill()
    owner.wait()
    assert run.job("rel", InOrder())["made"] == 4 and run.made().is_unique().all()


def test_pieces_are_whole_queries_in_order(run: Run) -> None:
    asked = pl.concat(run.asked(name).with_columns(pl.col("qid") + name) for name in RETRIEVERS)
    pieces = Pieces(run.store(), asked)
    requests = [Request(prompt_id, seed, (1,), 0) for prompt_id, seed in asked.select(KEY).iter_rows()]
    with pieces:
        assert list(pieces.due(requests)) == requests
        claims = [claim.path for claim in pieces._claims]
        assert len(claims) == len(set(claims)) == PIECES and all(path.exists() for path in claims)
    assert not any(path.exists() for path in claims)
    owners = asked.group_by("qid").agg(pl.col("prompt_id").replace_strict(pieces._piece_of).n_unique())
    assert set(owners["prompt_id"]) == {1}


def test_two_engines_share_a_job(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that comes while the owner is at work takes the pieces that it has not begun."""
    names = itertools.count()
    monkeypatch.setattr(work_claims, "temporary_beside", lambda path: path.with_name(f"process {next(names)}"))
    engine, helper, made_for = InOrder(), InOrder(), {}

    def help_once(made: int) -> None:
        if made == 3:
            engine.after = lambda made: None
            others = Others("dense", [1, 2], 0, 1)
            made_for.update((name, sums["made"]) for name, sums in make_for(others, helper, run.store(),
                                                                             run.generator, 512))  # fmt: skip

    engine.after = help_once
    receipt = run.job("rel", engine, until=0.0)
    assert made_for == {"rel": 8, "bm25": 12}
    assert (receipt["asked"], receipt["held"], receipt["made"]) == (12, 8, 4) and run.made().is_unique().all()


def test_an_owner_makes_the_rest_first_and_then_takes_over(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "START_SECONDS", 0.0)
    helper = other_process(run, "rel", numbers=(1,))
    engine = InOrder()
    receipt = run.job("rel", engine, until=0.0)
    assert (receipt["held"], receipt["made"], receipt["answer_tokens"]) == (0, 12, 24)
    assert {prompt_id for prompt_id, _ in engine.made[-2:]} == set(run.asked("rel").filter(qid="q1")["prompt_id"])
    helper.kill()
    helper.wait()


@pytest.mark.parametrize("losses", [{3}, {2, 11}], ids=["at work", "before it, and again in the end"])
def test_an_owner_that_loses_a_piece_makes_it_in_the_end(
    run: Run, monkeypatch: pytest.MonkeyPatch, losses: set[int]
) -> None:
    """As to another run of the same study that waited for it in vain, and was killed then."""
    claims: list[Claim] = []
    made = Claim.__init__
    monkeypatch.setattr(Claim, "__init__", lambda self, *of: (made(self, *of), claims.append(self))[0])
    engine = InOrder()

    def lose(number: int) -> None:
        if number in losses:
            claims[1].path.write_text("of another")
            if number > 2:  # its second piece is at work
                wait_for("the loss", lambda: not claims[1].is_held, 60)
                monkeypatch.setattr(work_claims, "RENEWED_EVERY", 1000.0)

    engine.after = lose
    receipt = run.job("rel", engine, until=0.0)
    assert receipt["made"] == 12 and len(run.made()) == 12 and run.made().is_unique().all()
    assert engine.made[-1][0] == run.asked("rel").filter(qid="q1")["prompt_id"][0]


def test_an_owner_waits_for_its_helper_and_starts_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # As long as it may take, and not as long as the helper's engine took to start.
    monkeypatch.setattr(job.Timed, "latest", lambda *_: SimpleNamespace(start_seconds=1000.0))
    engine, idle, helped = InOrder(), InOrder(), threading.Event()
    receipts: dict[str, Any] = {}
    owner = threading.Thread(target=lambda: receipts.update(run.job("rel", idle)))

    def begin(made: int) -> None:
        if made == 13:  # the first for rel
            owner.start()
            helped.wait(0.2)

    engine.after = begin
    # One process has one claim per answers, so the owner's claim needs another name.
    names = itertools.count()
    monkeypatch.setattr(work_claims, "temporary_beside", lambda path: path.with_name(f"process {next(names)}"))
    assert run.job("dense", engine)["made_for"] == {"rel": 12, "bm25": 12}
    owner.join()
    assert (receipts["held"], receipts["made"]) == (12, 0) and idle.starts == []


def test_an_owner_overrides_after_a_start_and_its_helper_stops(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run.asked("rel").select(KEY)
    names = itertools.count()
    monkeypatch.setattr(work_claims, "temporary_beside", lambda path: path.with_name(f"process {next(names)}"))
    helper, owner = (Claim(run.store().folder, asked) for _ in range(2))
    with helper.held():
        assert owner.is_anothers
        began = time.monotonic()
        wait_for_claims([owner], 0.05)
        assert owner.is_anothers and time.monotonic() - began >= 0.05
        with owner.held():
            wait_for("the helper's loss", lambda: not helper.is_held, 60)
            assert owner.is_held and not owner.is_anothers
        assert not owner.path.exists()


def test_a_claim_without_a_sign_of_life_counts_as_none(run: Run) -> None:
    asked = run.asked("rel").select(KEY)
    claim = Claim(run.store().folder, asked)
    with claim.held():
        pass
    claim.path.write_text(".tmp-00000000-1-1-00000000-of another node")
    assert claim.is_anothers
    os.utime(claim.path, (time.time() - work_claims.DEAD_AFTER - 1,) * 2)
    assert not claim.is_anothers


def test_a_dead_claim_that_cannot_be_removed_ends_no_job(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole store that only another may write to serves."""
    run.job("rel", InOrder(), until=0.0)
    claim = run.store().folder / ".claim-0123456789abcdef"
    claim.write_text("of nobody")
    os.utime(claim, (1, 1))

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(f"{path}: not yours")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refuse)
        assert run.job("rel", InOrder())["held"] == 12
    run.job("rel", InOrder())
    assert not claim.exists()


def test_the_store_is_looked_at_again_after_the_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another job, which has not seen the claim, made while the engine started is not made again."""
    monkeypatch.setattr(job, "START_SECONDS", 0.0)
    engine = InOrder()
    started = engine.start

    def start_late(generator: Any, window: int) -> FakeEngine:
        run.job("rel", InOrder(), until=0.0)
        return started(generator, window)

    engine.start = start_late  # type: ignore[method-assign]
    receipt = run.job("rel", engine, until=0.0)
    assert (receipt["held"], receipt["made"]) == (12, 0) and run.made().is_unique().all()


def test_the_note_is_of_jobs_that_run(run: Run) -> None:
    """A run without generation, such as the target `status`, leaves that of another as it is."""
    before = json.loads(helping.NOTE.read_text())
    note_jobs([])
    assert json.loads(helping.NOTE.read_text()) == before
