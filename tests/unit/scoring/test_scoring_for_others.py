"""A scoring job whose model is loaded scores other retrievers' answers: which, when it stops, what it leaves."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.jobs import work_claims
from ragrelay.jobs.work_claims import Claim
from ragrelay.scoring import query_scores, store_filling
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.reference_sets import read_references
from ragrelay.scoring.retriever_table import AnswerFiles
from ragrelay.scoring.store import KEY, ScoreStore

from tests.support.score_study import OVERLAP, Overlap, score_table, write_study
from tests.support.waiting import wait_for

REFERENCES = [("q1", "d1", 3, "red green"), ("q1", "d2", 2, "blue"), ("q2", "d3", 2, "yellow")]
CONTEXTS = {("descending", 1): {"q1": ["d1"], "q2": ["d3"]}}
ZEROSHOT = {7: {"q1": "blue", "q2": "white"}}
RETRIEVERS = ("bm25", "dense", "rel")


class Counting(Overlap):
    """Calls ``after`` with the number of answers scored so far."""

    after: Callable[[int], object] = staticmethod(lambda scored: None)

    def score(self, tasks: Any) -> Any:
        scores = super().score(tasks)
        self.after(len(self.seen))
        return scores


class Study:
    """Three retrievers' answers, all different, with the same zero-shot answers and references."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files = folder, {}
        for name in RETRIEVERS:
            texts = {("descending", 1, 7): {"q1": f"red {name}", "q2": f"yellow {name}"}}
            self.files[name] = write_study(folder / name, REFERENCES, CONTEXTS, texts, ZEROSHOT)

    def job(self, name: str, scorer: Overlap, monkeypatch: pytest.MonkeyPatch, **change: Any) -> pl.DataFrame:
        """Run a retriever's scoring job with ``scorer``; its table."""
        monkeypatch.setattr(query_scores, "make_scorer", lambda *_: scorer)
        others = {
            other: AnswerFiles(*(self.files[other][part] for part in ("answers", "prompts", "zeroshot")))
            for other in RETRIEVERS
            if other != name
        }
        output = self.folder / f"{name}.parquet"
        places = {"cache_dir": self.folder / "cache", "output": output, "grades": {"lenient": 2}, "scorer": OVERLAP}
        score_table(**{**self.files[name], **places, "others": others, **change})
        return pl.read_parquet(output)

    def store(self) -> ScoreStore:
        return ScoreStore(self.folder / "cache", Overlap.fingerprint)

    def pairs(self, name: str) -> pl.DataFrame:
        """The pairs of answer and references that a retriever's job needs, zero-shot answers included."""
        queries = read_references(self.files[name]["references"])
        zero = {("none", 0, seed): path for seed, path in self.files[name]["zeroshot"].items()}
        cells = AnswerCells({**self.files[name]["answers"], **zero}, self.files[name]["prompts"], queries)
        hashes = pl.DataFrame({"qid": list(queries), "references_hash": [query.hash for query in queries.values()]})
        return cells.keys.join(hashes, on="qid").select(KEY).unique()

    def scored(self, name: str) -> int:
        """How many of a retriever's pairs are in the store."""
        return len(self.store().held(self.pairs(name)))

    def written(self) -> pl.DataFrame:
        """The key of every row of every part."""
        return pl.concat([pl.read_parquet(part, columns=KEY) for part in self.store().parts()])


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setattr(work_claims, "RENEWED_EVERY", 0.01)
    return Study(tmp_path)


def test_one_loaded_model_scores_the_answers_of_all(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [study.job(name, Overlap(), monkeypatch, others={}, cache_dir=study.folder / name) for name in RETRIEVERS]
    first, later = Overlap(), Overlap()
    tables = [study.job("dense", first, monkeypatch)]
    assert len(first.seen) == len(set(first.seen)) == 2 * len(RETRIEVERS) + 2
    tables += [study.job(name, later, monkeypatch) for name in ("bm25", "rel")]
    assert (later.seen, later.prepared) == ([], 0), "their jobs load nothing"
    assert [table.rows() for table in tables] == [alone[place].rows() for place in (1, 0, 2)]
    assert study.written().is_unique().all()
    assert not list(study.store().folder.glob(".claim-*"))


def test_a_job_that_finds_its_scores_helps_nobody(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its model is not loaded."""
    study.job("dense", Overlap(), monkeypatch, others={})
    idle = Overlap()
    study.job("dense", idle, monkeypatch)
    assert (idle.seen, idle.prepared) == ([], 0) and study.scored("bm25") < len(study.pairs("bm25"))


def test_answers_that_are_not_there_are_left(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, damaged, or answers to other prompts: the job's own table is written, and the next retriever served."""
    [answers] = study.files["bm25"]["answers"].values()
    own = study.job("dense", Overlap(), monkeypatch, others={}, cache_dir=study.folder / "other").rows()
    whole = answers.read_bytes()
    table = pl.read_parquet(answers)
    for damage in (
        answers.unlink,
        lambda: answers.write_bytes(whole[:50]),
        lambda: table.with_columns(prompt_id=pl.lit("x")).write_parquet(answers),
    ):
        damage()
        cache = study.folder / f"cache-{id(damage)}"
        scorer = Overlap()
        assert study.job("dense", scorer, monkeypatch, cache_dir=cache).rows() == own
        assert {"red rel", "yellow rel"} <= set(scorer.seen) and "red bm25" not in scorer.seen


def test_a_failure_for_others_does_not_fail_the_job(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scored: int) -> None:
        if scored > 4:
            raise MemoryError("no room")

    scorer = Counting()
    scorer.after = fail
    table = study.job("dense", scorer, monkeypatch)
    assert len(table) and study.scored("dense") == len(study.pairs("dense"))
    assert study.scored("rel") < len(study.pairs("rel")), "nothing is tried again"


def test_nothing_is_begun_after_the_time(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = Overlap()
    study.job("dense", scorer, monkeypatch, until=time.monotonic())
    assert len(scorer.seen) == 4 and study.scored("rel") < len(study.pairs("rel"))


def test_what_another_process_scores_is_left_to_it(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if that process is the retriever's own job, at work; a killed one's claim counts as none."""
    study.pairs("rel").write_parquet(study.folder / "pairs")
    script = f"""
import time, polars
from pathlib import Path
from ragrelay.jobs.work_claims import Claim
with Claim(Path({str(study.store().folder)!r}), polars.read_parquet({str(study.folder / "pairs")!r})).held():
    print("held", flush=True)
    time.sleep(600)
"""
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, text=True, stdout=subprocess.PIPE)
    try:
        assert process.stdout and process.stdout.readline() == "held\n"
        study.job("dense", Overlap(), monkeypatch)
        assert study.scored("bm25") == len(study.pairs("bm25")) and study.scored("rel") < len(study.pairs("rel"))
    finally:
        process.kill()
        process.wait()
    last = Overlap()
    study.job("rel", last, monkeypatch)
    assert set(last.seen) == {"red rel", "yellow rel"}
    assert not list(study.store().folder.glob(".claim-*"))


def test_a_job_waits_for_another_that_scores_its_answers(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """It then loads no model; if the other has not ended by then, it scores them itself."""
    claim = Claim(study.store().folder, study.pairs("rel"))
    waited: list[float] = []

    def end_other(claims: list[Claim], seconds: float) -> None:
        assert [one.path for one in claims] == [claim.path] and claims[0].is_anothers
        waited.append(seconds)
        claim.path.unlink()
        study.job("dense", Overlap(), monkeypatch)

    def begin_other() -> Overlap:
        claim.path.parent.mkdir(parents=True, exist_ok=True)
        claim.path.write_text(".tmp-00000000-1-1-00000000-of another node")
        return Overlap()

    with monkeypatch.context() as patched:
        patched.setattr(store_filling, "wait_for", end_other)
        idle = begin_other()
        study.job("rel", idle, monkeypatch)
        assert (idle.seen, idle.prepared, waited) == ([], 0, [store_filling.LOADING_SECONDS])
    shutil.rmtree(study.store().folder)
    monkeypatch.setattr(store_filling, "LOADING_SECONDS", 0.0)
    own = begin_other()
    study.job("rel", own, monkeypatch, others={})
    assert {"red rel", "yellow rel"} <= set(own.seen) and not claim.path.exists()


def test_a_job_claims_what_it_scores(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then no helper does the same; and a helper whose claim it takes over stops at the next block."""
    monkeypatch.setattr(store_filling, "ANSWERS_AT_ONCE", 1)
    seen: list[bool] = []
    scorer = Counting()
    claim = Claim(study.store().folder, study.pairs("dense"))
    scorer.after = lambda scored: seen.append(claim.path.exists())
    study.job("dense", scorer, monkeypatch, others={})
    assert seen == [True] * 4 and not claim.path.exists()

    owner = Claim(study.store().folder, study.pairs("bm25"))

    def take_over(scored: int) -> None:
        if scored == 3:  # one of bm25's two; rel's own came first
            owner.path.write_text(owner.own + "x")
            wait_for("a renewal", lambda: not any(helpers[-1].is_held for _ in [0]), 60)

    helpers: list[Claim] = []
    made = Claim.__init__

    def noted(self: Claim, folder: Path, keys: pl.DataFrame) -> None:
        made(self, folder, keys)
        helpers.append(self)

    monkeypatch.setattr(Claim, "__init__", noted)
    helper = Counting()
    helper.after = take_over
    study.job("rel", helper, monkeypatch)
    assert [text for text in helper.seen if "bm25" in text] == helper.seen[2:3]
    assert study.scored("bm25") == len(study.pairs("bm25")) - 1
