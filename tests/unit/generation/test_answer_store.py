"""The answer store: nothing lost, nothing twice, and nothing damaged ever taken for an answer."""

import logging
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io import parquet_parts as parts
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.generation.store import KEY, PER_ANSWER, SCHEMA, THOUGHT, TOKEN_SCORES, AnswerStore

from tests.support.sandbox import ROOT

META = {"engine": "fake", "version": "1", "device": "cpu"}


def row(prompt_id: str, seed: int = 1, answer: str = "tea", **more: Any) -> dict[str, Any]:
    made = {
        "prompt_id": prompt_id, "seed": seed, "answer": answer, "finish_reason": "stop", "prompt_tokens": 9,
        "cached_tokens": 4, "answer_tokens": 2, "logprob": -0.1 - seed, "dropped_passages": 0,
    }  # fmt: skip
    return {**made, **more}


def keys(*pairs: tuple[str, int]) -> pl.DataFrame:
    return pl.DataFrame(list(pairs), schema={"prompt_id": pl.String, "seed": pl.Int64}, orient="row")


def answers(store: AnswerStore, *pairs: tuple[str, int]) -> dict[tuple[str, int], str]:
    found = store.look_up(keys(*pairs))
    return {
        (prompt_id, seed): answer for prompt_id, seed, answer in found.select("prompt_id", "seed", "answer").iter_rows()
    }


@pytest.fixture
def store(tmp_path: Path) -> AnswerStore:
    return AnswerStore(tmp_path, "fp")


def test_round_trip(store: AnswerStore) -> None:
    rows = [
        row("a", 1, 'é\n"x"', logprob=-1 / 3),
        row("a", 2, ""),
        row("b", 1, finish_reason="length", dropped_passages=2),
    ]
    store.append(rows, META)
    found = store.look_up(keys(("a", 1), ("a", 2), ("b", 1))).sort("prompt_id", "seed")
    assert found.to_dicts() == rows
    assert dict(found.schema) == {name: SCHEMA[name] for name in PER_ANSWER}


def test_a_part_with_a_log_probability_above_0(store: AnswerStore) -> None:
    """Another program may have brought it: rounding is accepted, and so are rows that nobody asks for."""
    store.append([row("a", logprob=-1.0), row("b", logprob=1e-4), row("c", logprob=None), row("d", logprob=0.5)], META)
    assert len(answers(store, ("a", 1), ("b", 1), ("c", 1))) == 3
    [part] = store.parts()
    with pytest.raises(InputError, match=rf"^{part}, row 4, column logprob: found 0.5; expected at most 0.001"):
        answers(store, ("a", 1), ("d", 1))


def test_only_what_is_asked(store: AnswerStore) -> None:
    store.append([row("a", 1), row("a", 2), row("b", 1)], META)
    assert set(answers(store, ("a", 2), ("b", 2), ("c", 1))) == {("a", 2)}
    assert store.held(keys(("a", 2), ("c", 1), ("a", 2))).select("prompt_id", "seed").rows() == [("a", 2)]
    assert store.look_up(keys()).is_empty()


def test_empty_store(store: AnswerStore) -> None:
    assert store.parts() == []
    assert dict(store.look_up(keys(("a", 1)), list(SCHEMA)).schema) == SCHEMA
    assert store.held(keys(("a", 1))).columns == ["prompt_id", "seed", "part"]
    assert not store.folder.exists(), "looking makes no folder"


def test_scores_of_tokens_are_null_in_parts_of_before(store: AnswerStore) -> None:
    """Old parts are found, read in one go with new ones, and count as they did; also those before the margin came."""
    scores: dict[str, Any] = {"token_logprobs": [-0.25, -1.5], "token_entropies": [0.5, 2.5]}
    for lacking, rows in (
        ((*TOKEN_SCORES, *THOUGHT), [row("a"), row("b", 2)]), (["first_token_margin"], [row("e", **scores)]),
    ):  # fmt: skip
        earlier = {name: kind for name, kind in SCHEMA.items() if name not in lacking}
        PartStore(store.folder, earlier, KEY).add(pl.DataFrame(rows, schema=earlier), META)
    margin = {"first_token_margin": 0.75}
    store.append([row("b", 2, answer="later"), row("c", **scores, **margin), row("d")], META)
    wanted = keys(("a", 1), ("b", 2), ("c", 1), ("d", 1), ("e", 1))
    assert len(store.held(wanted)) == 5
    found = store.look_up(wanted, list(SCHEMA)).sort("prompt_id")
    assert dict(found.schema) == SCHEMA
    nothing, unthought = dict.fromkeys(TOKEN_SCORES), dict.fromkeys(THOUGHT)
    assert found.to_dicts() == [
        {**each, **unthought}
        for each in (
            {**row("a"), **nothing}, {**row("b", 2), **nothing}, {**row("c"), **scores, **margin},
            {**row("d"), **nothing}, {**row("e"), **nothing, **scores},
        )
    ]  # fmt: skip
    assert store.look_up(wanted).columns == list(PER_ANSWER)


def test_fingerprints_are_apart(tmp_path: Path) -> None:
    AnswerStore(tmp_path, "one").append([row("a")], META)
    assert answers(AnswerStore(tmp_path, "other"), ("a", 1)) == {}


def test_earliest_part_counts(store: AnswerStore) -> None:
    first = store.append([row("a", answer="first"), row("b", answer="first")], META)
    second = store.append([row("a", answer="second"), row("c", answer="second")], META)
    assert first.name < second.name
    assert answers(store, ("a", 1), ("b", 1), ("c", 1)) == {("a", 1): "first", ("b", 1): "first", ("c", 1): "second"}
    held = store.held(keys(("a", 1), ("c", 1))).sort("prompt_id")
    assert [Path(part).name for part in held["part"]] == [first.name, second.name]


def test_parts_are_never_changed(store: AnswerStore) -> None:
    first = store.append([row("a")], META)
    before = first.read_bytes(), first.stat().st_mtime_ns
    store.append([row("a", answer="other")], META)
    answers(store, ("a", 1))
    assert (first.read_bytes(), first.stat().st_mtime_ns) == before
    assert len(store.parts()) == 2


def test_metadata(store: AnswerStore) -> None:
    part = store.append([row("a")], {**META, "seconds": "1.50", "peak_memory_mib": "812"})
    found = store.metadata(part)
    assert found.items() >= {**META, "seconds": "1.50", "peak_memory_mib": "812"}.items()
    assert found["written"] in part.name


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    """Two jobs append while a third reads: every row is there in the end, and a reader never sees half a part."""
    errors: list[Exception] = []

    def write(writer: str) -> None:
        store = AnswerStore(tmp_path, "fp")
        for i in range(15):
            store.append([row(f"{writer}{i}"), row(f"shared{i}", answer=writer)], META)

    def look() -> None:
        try:
            while any(thread.is_alive() for thread in writers):
                AnswerStore(tmp_path, "fp").look_up(keys(("x1", 1), ("shared1", 1)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test must fail with it
            errors.append(error)

    writers = [threading.Thread(target=write, args=(name,)) for name in "xy"]
    for thread in writers:
        thread.start()
    reader = threading.Thread(target=look)
    reader.start()
    for thread in [*writers, reader]:
        thread.join()
    assert errors == []
    store = AnswerStore(tmp_path, "fp")
    wanted = [(f"{name}{i}", 1) for name in ("x", "y", "shared") for i in range(15)]
    assert set(answers(store, *wanted)) == set(wanted)
    assert len(store.parts()) == 30


WRITER = """
import sys
sys.path[:0] = ["workflow/scripts", "."]
from ragrelay.generation.store import AnswerStore
from tests.unit.generation.test_answer_store import META, row
folder, name = sys.argv[1:]
store = AnswerStore(folder, "fp")
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    store.append([row(f"{name}{i}"), row(f"shared{i}", answer=name)], META)
"""


@pytest.mark.process
def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """Both run before either writes; every reader then takes the same, the earliest part's, of a shared key."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    jobs = [subprocess.Popen([*command, name], cwd=ROOT, **pipes) for name in "xy"]
    for job in jobs:
        assert job.stdout is not None and job.stdout.readline() == "ready\n"
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("go\n")
        job.stdin.flush()
    assert [job.wait() for job in jobs] == [0, 0]
    wanted = [(f"{name}{i}", 1) for name in ("x", "y", "shared") for i in range(40)]
    found = answers(AnswerStore(tmp_path, "fp"), *wanted)
    assert set(found) == set(wanted) and answers(AnswerStore(tmp_path, "fp"), *reversed(wanted)) == found
    written = AnswerStore(tmp_path, "fp").parts()
    assert len(written) == 80 and not [path for path in written[0].parent.iterdir() if path.name.startswith(".")]
    for i in range(40):
        first = next(part for part in written if f"shared{i}" in pl.read_parquet(part)["prompt_id"].to_list())
        assert found[f"shared{i}", 1] == pl.read_parquet(first).filter(prompt_id=f"shared{i}")["answer"].item()


def test_many_parts_are_read_in_pieces(store: AnswerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS_AT_ONCE", 3)
    for i in range(20):
        store.append([row(f"p{i}", answer=f"own {i}"), row("shared", answer=f"part {i}"), row("other", seed=i)], META)
    wanted = [*((f"p{i}", 1) for i in range(0, 20, 2)), ("shared", 1), ("other", 19), ("absent", 1)]
    expected = {(f"p{i}", 1): f"own {i}" for i in range(0, 20, 2)} | {("shared", 1): "part 0", ("other", 19): "tea"}
    assert answers(store, *wanted) == expected


def test_a_part_lost_between_the_look_and_the_read(store: AnswerStore) -> None:
    part = store.append([row("a")], META)
    held = store.held(keys(("a", 1)))
    part.unlink()
    with pytest.raises(InputError, match="a part that disappeared during the job"):
        store.read(held)


@pytest.mark.parametrize("kept", [0, 3, 0.5, -1])
def test_cut_part_is_skipped_with_a_warning(store: AnswerStore, kept: float, caplog: pytest.LogCaptureFixture) -> None:
    whole = store.append([row("a", answer="kept")], META)
    cut = store.append([row("b")], META)
    content = cut.read_bytes()
    cut.write_bytes(content[: int(len(content) * kept) if 0 < kept < 1 else int(kept)])
    with caplog.at_level(logging.WARNING):
        assert answers(store, ("a", 1), ("b", 1)) == {("a", 1): "kept"}
        assert answers(store, ("a", 1), ("b", 1)) == {("a", 1): "kept"}
    assert store.parts() == [whole]
    assert len(caplog.records) == 1, "told once"
    assert str(cut) in caplog.text and "damaged" in caplog.text


def test_the_only_part_damaged(store: AnswerStore) -> None:
    part = store.append([row("a", answer=f"x{i}") for i in range(50)], META)
    content = bytearray(part.read_bytes())
    content[100] ^= 0xFF
    part.write_bytes(bytes(content))
    assert store.look_up(keys(("a", 1))).is_empty() and store.held(keys(("a", 1))).is_empty()


@pytest.mark.simulation
def test_garbled_bytes_never_become_an_answer(tmp_path: Path) -> None:
    """The bytes are anywhere in the file: one such error in ten decodes without complaint into other text."""
    chance = random.Random(0)
    words = ["tea", "rain", "blood", "heart"]
    rows = [
        row(f"p{i}", answer=" ".join(chance.choice(words) + str(chance.randrange(999)) for _ in range(40)))
        for i in range(40)
    ]
    store = AnswerStore(tmp_path, "fp")
    store.append([row("other", answer="whole")], META)
    part = store.append(rows, META)
    content = part.read_bytes()
    asked = [("other", 1), *((f"p{i}", 1) for i in range(40))]
    for _ in range(60):
        garbled = bytearray(content)
        start = chance.randrange(len(content) - 20)
        for place in range(start, start + chance.choice([1, 20])):
            garbled[place] ^= chance.randrange(1, 256)
        part.write_bytes(bytes(garbled))
        assert answers(AnswerStore(tmp_path, "fp"), *asked) == {("other", 1): "whole"}
    part.write_bytes(content)
    assert len(answers(AnswerStore(tmp_path, "fp"), *asked)) == 41


def test_damaged_answers_are_made_again(store: AnswerStore) -> None:
    part = store.append([row("a", answer="lost")], META)
    part.write_bytes(part.read_bytes()[:-9])
    store.append([row("a", answer="again")], META)
    assert answers(store, ("a", 1)) == {("a", 1): "again"}


def test_a_write_that_fails_leaves_nothing(store: AnswerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append([row("a")], META)
    write = Path.write_bytes

    def full_disk(path: Path, content: bytes) -> int:
        write(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space left"):
        store.append([row("b")], META)
    assert len(list(store.folder.iterdir())) == 1
    assert answers(store, ("a", 1), ("b", 1)) == {("a", 1): "tea"}


def test_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("a file where the folder should be")
    with pytest.raises(OSError, match="answers"):
        AnswerStore(tmp_path, "fp").append([row("a")], META)
    assert [path.name for path in tmp_path.iterdir()] == ["answers"]


def test_other_files_are_let_be(store: AnswerStore, caplog: pytest.LogCaptureFixture) -> None:
    store.append([row("a")], META)
    (store.folder / ".tmp-0123-part-9.parquet").write_bytes(b"half")
    (store.folder / "notes.txt").write_text("mine")
    assert answers(store, ("a", 1)) == {("a", 1): "tea"} and len(store.parts()) == 1
    assert caplog.records == [], "a part that is being written is not a damaged one"


def test_rows_must_fit_the_columns(store: AnswerStore) -> None:
    with pytest.raises((pl.exceptions.PolarsError, TypeError)):
        store.append([row("a", answer_tokens="many")], META)
    assert store.parts() == []
