"""The index of a store's parts: jobs read only the parts with their keys, and no damage makes an answer wrong."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io import parquet_parts
from ragrelay.base.io.cache_mode import READ_ONLY, VARIABLE
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.base.io.part_index import NAME, key_hashes, read_index
from ragrelay.execution.jobs.cache_check import check_cache

SCHEMA = {"key": pl.String, "seed": pl.Int64, "value": pl.String}
KEY = ["key", "seed"]
ROWS = 50


def store(folder: Path) -> PartStore:
    """The store as a new job opens it."""
    return PartStore(folder / "answers/print", SCHEMA, KEY)


def rows(name: str, seed: int | None = 1) -> pl.DataFrame:
    keys = [f"{name}{number}" for number in range(ROWS)]
    return pl.DataFrame({"key": keys, "seed": seed, "value": [f"text of {key}" for key in keys]}, schema=SCHEMA)


def texts(folder: Path, name: str) -> list[str]:
    job = store(folder)
    return sorted(job.read(job.held(rows(name)))["value"])


def of(name: str) -> list[str]:
    return sorted(rows(name)["value"])


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Parts with the keys a…, b… and c…, and no index yet, as in a store of an earlier version."""
    return [store(tmp_path).add(rows(name), {"engine": "x"}) for name in "abc"]


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The parts that are hashed, in the order of names at each look."""
    seen: list[Path] = []
    file_hash = parquet_parts.file_hash

    def noted(path: Path) -> str:
        seen.append(path)
        return file_hash(path)

    monkeypatch.setattr(parquet_parts, "file_hash", noted)
    return seen


def taken(hashed: list[Path]) -> list[Path]:
    """Return what was hashed since the last call."""
    found = sorted(hashed)
    hashed.clear()
    return found


def index_of(folder: Path) -> Path:
    return store(folder).folder / NAME


def garble(part: Path) -> None:
    """Change every seventh byte in place, but neither the size nor the times nor the inode."""
    content, status = bytearray(part.read_bytes()), part.stat()
    content[::7] = bytes(byte ^ 0x55 for byte in content[::7])
    with part.open("r+b") as file:
        file.write(content)
    os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_store_of_before_is_hashed_once_and_then_only_parts_with_the_keys(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    assert not index_of(tmp_path).exists()
    for name, expected in (("a", parts), ("a", parts[:1]), ("b", parts[1:2]), ("absent", [])):
        assert texts(tmp_path, name) == (of(name) if expected else [])
        assert taken(hashed) == expected
    assert store(tmp_path).held(rows("a", seed=2)).is_empty() and not hashed, "a known prompt with a new seed"
    assert index_of(tmp_path).stat().st_size < 8 * 3 * ROWS + 600


def test_parts_without_the_keys_are_not_opened(
    parts: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts(tmp_path, "a")
    for part in parts[1:]:
        garble(part)
    assert texts(tmp_path, "a") == of("a")
    parts[2].unlink()
    assert texts(tmp_path, "a") == of("a") and "damaged" not in caplog.text


def test_a_part_is_hashed_again_if_its_time_inode_or_size_is_new(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    texts(tmp_path, "a"), taken(hashed)

    def copied() -> None:
        shutil.copy2(parts[1], tmp_path / "copy")
        (tmp_path / "copy").replace(parts[1])

    changes: dict[str, Callable[[], object]] = {
        "time": lambda: os.utime(parts[1], (1, 1)),
        "inode": copied,
        "size": lambda: parts[1].write_bytes(parts[1].read_bytes() + b"x"),
    }
    for what, change in changes.items():
        change()
        assert texts(tmp_path, "a") == of("a")
        assert taken(hashed) == parts[:2], what
        assert texts(tmp_path, "b") == (of("b") if what != "size" else [])
        assert taken(hashed) == parts[1:2], what
    assert texts(tmp_path, "c") == of("c")
    assert taken(hashed) == parts[1:], "a damaged part is no part of the index"


def test_a_part_garbled_after_it_was_indexed_is_found_before_it_is_read_and_made_again(
    parts: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    located = store(tmp_path).held(rows("b"))
    garble(parts[1])
    with pytest.raises(InputError, match=f"{parts[1].name}: found changed bytes; expected an unchanged file"):
        store(tmp_path).read(located)
    assert [line.split(": ")[0] for line in check_cache(tmp_path)] == [str(parts[1])]
    caplog.clear()
    job = store(tmp_path)
    assert job.held(rows("b")).is_empty() and caplog.text.count(f"{parts[1]}: damaged part") == 1
    job.add(rows("b"), {})
    assert texts(tmp_path, "b") == of("b") and texts(tmp_path, "a") == of("a")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "missing": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "longer": lambda content: content + b"\n",
    "text": lambda content: b"no index\n" * 100,
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_written_again(parts: list[Path], tmp_path: Path, hashed: list[Path], damage: str) -> None:
    texts(tmp_path, "a")
    path = index_of(tmp_path)
    content = path.read_bytes()
    path.write_bytes(DAMAGES[damage](content))
    taken(hashed)
    assert texts(tmp_path, "b") == of("b")
    assert taken(hashed) == parts and path.read_bytes() == content


def test_no_byte_of_an_index_may_change(parts: list[Path], tmp_path: Path) -> None:
    texts(tmp_path, "a")
    path = index_of(tmp_path)
    content = path.read_bytes()
    assert len(read_index(path.parent, KEY)) == 3
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        assert not read_index(path.parent, KEY), place


def test_the_index_of_another_store_or_key_counts_for_nothing(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    other = store(tmp_path / "other")
    other.add(rows("other"), {})
    other.held(rows("other"))
    shutil.copy2(index_of(tmp_path / "other"), index_of(tmp_path))
    taken(hashed)
    assert texts(tmp_path, "a") == of("a") and taken(hashed) == parts
    turned = PartStore(store(tmp_path).folder, SCHEMA, KEY[::-1])
    assert len(turned.held(rows("a"))) == ROWS and taken(hashed) == parts
    assert texts(tmp_path, "a") == of("a") and taken(hashed) == parts


def test_a_cache_that_is_read_only_or_full_gets_no_index(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv(VARIABLE, READ_ONLY)
        assert texts(tmp_path, "a") == of("a")
    with monkeypatch.context() as patched:

        def full_disk(path: Path, target: Path) -> None:
            raise OSError(28, "No space left on device")

        patched.setattr(Path, "replace", full_disk)
        assert texts(tmp_path, "a") == of("a")
    assert sorted(index_of(tmp_path).parent.iterdir()) == parts


def test_an_empty_store_gets_no_folder(tmp_path: Path) -> None:
    job = store(tmp_path)
    assert job.held(rows("a")).is_empty() and not job.parts() and not job.parts(latest=1)
    assert not job.folder.exists()
    job.add(rows("a").clear(), {})
    assert job.held(rows("a")).is_empty() and store(tmp_path).held(rows("a").clear()).is_empty()


def test_who_adds_parts_writes_the_index_at_the_next_look_without_hashing_others(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    texts(tmp_path, "a")
    before, job = index_of(tmp_path).read_bytes(), store(tmp_path)
    added = [job.add(rows(name), {}) for name in "de"]
    assert index_of(tmp_path).read_bytes() == before
    taken(hashed)
    assert len(job.held(rows("d"))) == ROWS and taken(hashed) == added[:1]
    assert {*read_index(job.folder, KEY)} == {path.name for path in (*parts, *added)}
    assert texts(tmp_path, "e") == of("e") and taken(hashed) == added[1:]


def test_what_another_job_indexed_meanwhile_is_not_hashed_again(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    job, other = store(tmp_path), store(tmp_path)
    job.held(rows("a"))
    theirs = other.add(rows("d"), {})
    other.held(rows("a"))
    taken(hashed)
    mine = job.add(rows("e"), {})
    assert job.held(rows("d"))["part"].unique().to_list() == [str(theirs)] and taken(hashed) == [theirs]
    assert {*read_index(job.folder, KEY)} == {path.name for path in (*parts, theirs, mine)}


def test_joined_parts_are_indexed_and_what_a_garbled_one_replaced_counts_again(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    texts(tmp_path, "a"), store(tmp_path).join(), taken(hashed)
    [joined] = store(tmp_path).parts()
    assert taken(hashed) == [joined] and joined not in parts
    assert texts(tmp_path, "b") == of("b") and taken(hashed) == [joined]
    garble(joined)
    assert texts(tmp_path, "b") == of("b") and taken(hashed) == sorted([joined, parts[1]])
    assert store(tmp_path).parts() == parts


def test_only_the_latest_parts_are_hashed_if_no_others_are_asked_for(
    parts: list[Path], tmp_path: Path, hashed: list[Path]
) -> None:
    texts(tmp_path, "a"), taken(hashed)
    assert store(tmp_path).parts(latest=2) == parts[1:] == taken(hashed)
    garble(parts[2])
    assert store(tmp_path).parts(latest=2) == parts[:2]
    assert store(tmp_path).parts() == parts[:2] == store(tmp_path).parts(latest=5)


def test_parts_without_a_later_column_and_with_another_stores_columns(
    parts: list[Path], tmp_path: Path, hashed: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    """An index tells no columns: who opens a part checks them."""
    texts(tmp_path, "a"), taken(hashed)
    wider = PartStore(store(tmp_path).folder, {**SCHEMA, "more": pl.Int64}, KEY, later=["more"])
    assert wider.read(wider.held(rows("b")))["more"].null_count() == ROWS and taken(hashed) == parts[1:2]
    wider.add(rows("d").with_columns(more=pl.lit(1, pl.Int64)), {})
    assert len(wider.held(rows("d"))) == ROWS
    assert store(tmp_path).held(rows("d")).is_empty() and "other columns than this store's: more" in caplog.text


def _append_and_look(folder: Path, names: str, found: "multiprocessing.Queue[int]") -> None:
    job = store(folder)
    for name in names:
        job.add(rows(name), {})
        job.held(rows(name))
    found.put(len(store(folder).held(pl.concat(map(rows, names)))))


def test_jobs_that_append_and_index_at_once_miss_no_key(tmp_path: Path, hashed: list[Path]) -> None:
    context = multiprocessing.get_context("spawn")
    found: multiprocessing.Queue[int] = context.Queue()
    groups = ("abcd", "efgh", "ijkl")
    jobs = [context.Process(target=_append_and_look, args=(tmp_path, names, found)) for names in groups]
    for job in jobs:
        job.start()
    assert [found.get(timeout=100) for _ in jobs] == [4 * ROWS] * 3
    for job in jobs:
        job.join()
    everything = pl.concat(map(rows, "".join(groups)))
    for _ in range(2):
        taken(hashed)
        assert len(store(tmp_path).held(everything)) == len(everything)
        assert len({*taken(hashed)}) == 12
    assert len(read_index(store(tmp_path).folder, KEY)) == 12


def _killed(folder: Path, change: str) -> None:
    unhurt = getattr(Path, change)

    def kill(path: Path, *arguments: object, **options: object) -> object:
        if path.name.startswith(".tmp-") and path.name.endswith(NAME):
            if change == "open":
                os.write(os.open(path, os.O_CREAT | os.O_WRONLY), b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        return unhurt(path, *arguments, **options)

    setattr(Path, change, kill)
    texts(folder, "a")


@pytest.mark.parametrize("change", ["open", "replace", "unlink"])
def test_killed_while_it_writes_an_index_it_leaves_a_whole_one_or_none(
    parts: list[Path], tmp_path: Path, change: str
) -> None:
    context = multiprocessing.get_context("spawn")
    job = context.Process(target=_killed, args=(tmp_path, change))
    job.start()
    job.join()
    assert job.exitcode == -signal.SIGKILL
    assert len(read_index(store(tmp_path).folder, KEY)) == (3 if change == "unlink" else 0)
    assert len([*store(tmp_path).folder.glob(".tmp-*")]) == (change != "unlink")
    assert [texts(tmp_path, name) for name in "abc"] == [of(name) for name in "abc"]
    assert len(read_index(store(tmp_path).folder, KEY)) == 3


@pytest.mark.parametrize("seed", range(5))
def test_equal_keys_have_equal_hashes_whatever_they_are_and_others_differ(seed: int) -> None:
    chance = np.random.default_rng(seed)
    letters = np.array([*"ab\0\x1f\U0001f600é01 "])
    words = ["".join(chance.choice(letters, length)) for length in chance.integers(0, 40, 300)]
    frame = pl.DataFrame({
        "text": pl.Series([None if number % 50 == 0 else word for number, word in enumerate(words)], dtype=pl.String),
        "number": pl.Series([None if number % 7 == 0 else number % 4 - 2 for number in range(300)], dtype=pl.Int64),
        "other": [f"{number % 3}" for number in range(300)],
    })  # fmt: skip
    key = frame.columns
    by_row = {row: key_hashes(frame[place], key).item() for place, row in enumerate(frame.rows())}
    assert key_hashes(frame, key).tolist() == sorted(by_row[row] for row in frame.rows())
    assert len({*by_row.values()}) == len(by_row)
    few = frame.with_columns(pl.col("number").cast(pl.Int8), pl.col("other").cast(pl.Categorical)).sample(50, seed=seed)
    assert {*key_hashes(few, key).tolist()} <= {*by_row.values()}


def test_hashes_of_keys_never_change() -> None:
    """They are in the indexes of caches. If they have to change, so must the index's name."""
    keys = [("a", 1), ("", -1), (None, 2**62), ("0123456789abcdef" * 4, None), ("é" * 5, 0)]
    expected = []
    for key in keys:
        content, found = "\x1f".join("\0" if part is None else str(part) for part in key).encode(), 0
        for place in range(0, len(content), 8):
            word = int.from_bytes(content[place : place + 8].ljust(8, b"\0"), "little")
            found = (found ^ word) * 0x9E3779B97F4A7C15 % 2**64
            found ^= found >> 32
        expected.append(found)
    assert NAME == "keys.index"
    assert key_hashes(pl.DataFrame(keys, KEY, orient="row"), KEY).tolist() == sorted(expected)
