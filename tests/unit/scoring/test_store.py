"""The score store: nothing scored twice, jobs that die, parts that are damaged, several writers."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.scoring import query_scores, store_filling
from ragrelay.scoring.reference_sets import QueryReferences, read_references, references_for
from ragrelay.scoring.store import KEY, SCHEMA, ScoreStore

from tests.support.score_study import OVERLAP, Overlap, score_table, write_study

REFERENCES = [(f"q{q}", f"d{q}{d}", 2 + d % 2, f"word{d} both all{q}") for q in range(5) for d in range(3)]
PROMPTS = {("descending", 1): {f"q{q}": [f"d{q}0"] for q in range(5)}}


def study(folder: Path, answers: dict[int, dict[str, str]]) -> dict[str, Any]:
    files = write_study(
        folder, REFERENCES, PROMPTS, {("descending", 1, seed): one for seed, one in answers.items()}, {}
    )
    rest = {
        "grades": {"lenient": 2},
        "scorer": OVERLAP,
        "cache_dir": folder / "cache",
        "output": folder / "out.parquet",
    }
    return {**files, **rest}


def store(folder: Path) -> ScoreStore:
    return ScoreStore(folder / "cache", "overlap")


@pytest.fixture
def overlap(monkeypatch: pytest.MonkeyPatch) -> Overlap:
    scorer = Overlap()
    monkeypatch.setattr(query_scores, "make_scorer", lambda *_: scorer)
    return scorer


ANSWERS = {1: {f"q{q}": f"word{q % 3} one{q}" for q in range(5)}, 2: {f"q{q}": f"both two{q}" for q in range(5)}}


def test_pairs_are_scored_once_within_and_across_runs(tmp_path: Path, overlap: Overlap) -> None:
    same = {1: {"q0": "both", "q1": "both", "q2": "all2"}, 2: {"q0": "both", "q1": "word1", "q2": "all2"}}
    score_table(**study(tmp_path, same))
    assert sorted(overlap.seen) == ["all2", "both", "word1"]
    written = pl.concat([pl.read_parquet(part) for part in store(tmp_path).parts()])
    assert len(written) == 4  # "both" for q0 and for q1.
    assert written.schema == SCHEMA
    overlap.seen.clear()
    overlap.prepared = 0
    score_table(**study(tmp_path, same))
    assert (overlap.seen, overlap.prepared) == ([], 0)
    # Another retriever's answers, one of them to a query whose pair is there.
    score_table(**study(tmp_path, {1: {"q0": "both", "q1": "all2", "q3": "new"}}))
    assert sorted(overlap.seen) == ["all2", "new"]


def test_composed_and_decomposed_letters_are_one_text(tmp_path: Path, overlap: Overlap) -> None:
    """A score stored for the decomposed text, before, isn't read: its hash is asked for no more."""
    written = {1: {"q0": "both caf\u00e9"}, 2: {"q0": "both cafe\u0301"}}
    files = study(tmp_path, written)
    score_table(**files)
    assert overlap.seen == ["both caf\u00e9"]
    assert pl.read_parquet(files["output"]).filter(references="lenient")["f1"].n_unique() == 1
    [row] = pl.concat([pl.read_parquet(part) for part in store(tmp_path).parts()]).to_dicts()
    assert row["answer_hash"] == text_hash("both caf\u00e9")


def test_decomposed_references_are_composed(tmp_path: Path) -> None:
    def references(text: str) -> QueryReferences:
        table = {"qid": ["q"], "docno": ["d"], "label": [2], "text": [text]}
        pl.DataFrame(table).write_parquet(tmp_path / "references.parquet")
        return references_for({"kind": "bertscore"}, tmp_path / "references.parquet")["q"]

    composed, decomposed = references("caf\u00e9"), references("cafe\u0301")
    assert decomposed.texts == composed.texts == ["caf\u00e9"] and decomposed.hash == composed.hash
    assert read_references(tmp_path / "references.parquet")["q"].texts == ["cafe\u0301"], "what a judge reads"


def test_an_answer_to_many_queries_is_looked_at_once_whatever_the_blocks(
    tmp_path: Path, overlap: Overlap, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {
        seed: {f"q{q}": ["both", f"own{q}", f"all{q} {seed}"][(q + seed) % 3] for q in range(5)} for seed in range(6)
    }
    files = study(tmp_path / "whole", many)
    score_table(**files)
    whole = pl.read_parquet(files["output"])
    overlap.seen.clear()
    monkeypatch.setattr(store_filling, "TEXTS_AT_ONCE", 4)
    monkeypatch.setattr(store_filling, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(store_filling, "ANSWERS_AT_ONCE", 2)
    files = study(tmp_path / "blocks", many)
    score_table(**files)
    assert len(overlap.seen) == len(set(overlap.seen)) == len({text for one in many.values() for text in one.values()})
    assert pl.read_parquet(files["output"]).equals(whole)
    assert len(store(tmp_path / "blocks").parts()) > 5


@pytest.mark.process
def test_a_job_that_is_killed_resumes_with_what_it_had(tmp_path: Path, overlap: Overlap) -> None:
    """A real SIGKILL ends it while it scores the fourth block."""
    files = study(tmp_path, ANSWERS)
    code = f"""
import os, signal, sys
sys.path.insert(0, "workflow/scripts")
from pathlib import PosixPath
from tests.support.score_study import Overlap, score_table
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.scoring import query_scores, store_filling

class Killed(Overlap):
    def score(self, tasks):
        if len(self.seen) >= 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().score(tasks)

query_scores.make_scorer = lambda *_: Killed()
store_filling.FLUSH_SECONDS, store_filling.ANSWERS_AT_ONCE = 0.0, 2
score_table(**{files!r})
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    assert not files["output"].exists()
    kept = pl.concat([pl.read_parquet(part) for part in store(tmp_path).parts()])
    assert len(kept) == 6
    score_table(**files)
    assert len(overlap.seen) == 4
    resumed = files["output"].read_bytes()
    score_table(**{**files, "cache_dir": tmp_path / "fresh"})
    assert files["output"].read_bytes() == resumed


def test_a_failing_job_keeps_what_it_scored(tmp_path: Path, overlap: Overlap, monkeypatch: pytest.MonkeyPatch) -> None:
    files = study(tmp_path, ANSWERS)
    monkeypatch.setattr(store_filling, "ANSWERS_AT_ONCE", 2)
    score = overlap.score

    def fail(tasks: Any) -> Any:
        if len(overlap.seen) >= 6:
            raise MemoryError
        return score(tasks)

    monkeypatch.setattr(overlap, "score", fail)
    with pytest.raises(MemoryError):
        score_table(**files)
    [part] = store(tmp_path).parts()
    assert len(pl.read_parquet(part)) == 6


@pytest.mark.parametrize("harm", ["cut", "empty", "pages", "bit"])
def test_a_damaged_part_is_left_out_and_its_scores_are_made_again(
    tmp_path: Path, overlap: Overlap, caplog: pytest.LogCaptureFixture, harm: str
) -> None:
    files = study(tmp_path, {1: ANSWERS[1]})
    score_table(**files)
    [part] = store(tmp_path).parts()
    score_table(**study(tmp_path, ANSWERS))
    expected = files["output"].read_bytes()
    overlap.seen.clear()
    whole = part.read_bytes()
    if harm == "bit":  # One value a little off: Parquet would read it as another score.
        changed = bytearray(whole)
        changed[len(whole) // 3] ^= 1
        part.write_bytes(changed)
    elif harm == "pages":  # Keys and footer are sound, the scores are not.
        chunk = pq.read_metadata(part).row_group(0).column(4)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        part.write_bytes(
            whole[:start] + b"\xff" * chunk.total_compressed_size + whole[start + chunk.total_compressed_size :]
        )
    else:
        part.write_bytes(whole[: len(whole) // 2] if harm == "cut" else b"")
    score_table(**study(tmp_path, ANSWERS))
    assert sorted(overlap.seen) == sorted(ANSWERS[1].values())
    assert caplog.text.count("damaged part") == 1
    assert part.name in caplog.text
    assert files["output"].read_bytes() == expected
    overlap.seen.clear()
    score_table(**study(tmp_path, ANSWERS))
    assert overlap.seen == []


def test_a_whole_part_of_other_columns_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its hash is valid, but a column has another type, is missing, is one more, or is another store's."""
    made = ScoreStore(tmp_path, "print")
    own = made.add(row("a", "r", 0.25), {})
    frames = [
        row("b", "r", 0.5).with_columns(pl.col("f1").cast(pl.List(pl.Float64))),
        row("c", "r", 0.5).drop("recall"),
        row("d", "r", 0.5).with_columns(more=pl.lit(1)),
        pl.DataFrame({"prompt_id": ["p"], "seed": [1]}),
    ]
    others = [PartStore(made.folder, frame.schema, frame.columns[:1]).add(frame, {}) for frame in frames]
    keys = pl.DataFrame({"answer_hash": ["a", "b", "c", "d"], "references_hash": ["r", "r", "r", "r"]})
    assert made.held(keys)["answer_hash"].to_list() == ["a"]
    assert made.read(made.held(keys)).equals(row("a", "r", 0.25))
    for part, wrong in zip(others, ("f1", "recall", "more", "answer_hash"), strict=True):
        assert f"{part}: damaged part (other columns than this store's: {wrong}" in caplog.text
    assert str(own) not in caplog.text


def test_columns_that_came_later(tmp_path: Path) -> None:
    """A part without them is from before and counts; one with another type of them does not."""
    store = PartStore(tmp_path, {"key": pl.String, "new": pl.Int64}, ["key"], later=["new"])
    before = PartStore(tmp_path, {"key": pl.String}, ["key"]).add(pl.DataFrame({"key": ["a"]}), {})
    wrong = pl.DataFrame({"key": ["a"], "new": ["text"]})
    PartStore(tmp_path, wrong.schema, ["key"]).add(wrong, {})
    assert store.parts() == [before]


def row(answer: str, references: str, f1: float) -> pl.DataFrame:
    return pl.DataFrame([(answer, references, [f1], [f1], [f1])], schema=SCHEMA, orient="row")


def test_two_writers_at_once_and_the_earliest_part_counts(tmp_path: Path) -> None:
    one, other = ScoreStore(tmp_path, "print"), ScoreStore(tmp_path, "print")
    with one.writer({"job": "1"}, flush_seconds=60) as first, other.writer({"job": "2"}, flush_seconds=60) as second:
        first.add(row("a", "r", 0.25))
        second.add(row("a", "r", 0.5))
        second.add(row("b", "r", 0.75))
        second.flush()
        first.add(row("c", "r", 1.0))
    assert len(one.parts()) == 2
    pairs = pl.DataFrame({"answer_hash": ["a", "b", "c", "d", "a"], "references_hash": ["r", "r", "r", "r", "s"]})
    held = one.held(pairs)
    assert sorted(held.select(KEY).rows()) == [("a", "r"), ("b", "r"), ("c", "r")]
    values = {answer: f1 for answer, (f1,) in one.read(held).select("answer_hash", "f1").iter_rows()}
    assert values == {"a": 0.5, "b": 0.75, "c": 1.0}
    assert pl.read_parquet_metadata(one.parts()[0])["job"] == "2"


def test_unfinished_parts_are_not_read(tmp_path: Path) -> None:
    made = ScoreStore(tmp_path, "print")
    with made.writer({}, 60) as writer:
        writer.add(row("a", "r", 0.25))
    (made.folder / ".tmp-0123-part-00000000T000000000000-x.parquet").write_bytes(b"half")
    assert len(made.parts()) == 1


def test_parts_are_flushed_as_time_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ragrelay.scoring.store.time.monotonic", lambda: now[0])
    made = ScoreStore(tmp_path, "print")
    with made.writer({}, 60) as writer:
        for second in range(0, 130, 10):
            now[0] = float(second)
            writer.add(row(str(second), "r", 0.5))
        assert [len(pl.read_parquet(part)) for part in made.parts()] == [7, 6]
    assert len(made.parts()) == 2


def test_a_part_that_goes_while_a_table_is_written_is_told(tmp_path: Path) -> None:
    made = ScoreStore(tmp_path, "print")
    with made.writer({}, 60) as writer:
        writer.add(row("a", "r", 0.25))
    held = made.held(pl.DataFrame({"answer_hash": ["a"], "references_hash": ["r"]}))
    made.parts()[0].unlink()
    with pytest.raises(InputError, match="a part that disappeared during the job"):
        made.read(held)
