"""Files whole or not at all, and names made from content."""

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from ragrelay.base.io.atomic_files import atomic, atomic_folder, write_csv, write_json, write_parquet, write_text
from ragrelay.base.io.hashing import file_hash, text_hash, value_hash

FRAME = pl.DataFrame({"qid": ["q1", None], "label": [1, 2], "docnos": [["a"], []]})


def test_atomic_is_invisible_until_done(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "x.csv.gz"
    with atomic(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.parent == path.parent
        assert temporary.name.startswith(".") and temporary.name.endswith("x.csv.gz")
    assert path.read_text() == "new"
    assert [p.name for p in path.parent.iterdir()] == ["x.csv.gz"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_atomic_leaves_the_old_file_on_any_error(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(error), atomic(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_atomic_names_are_each_writers_own(tmp_path: Path) -> None:
    with atomic(tmp_path / "x") as one, atomic(tmp_path / "x") as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert (tmp_path / "x").read_text() == "one", "the outer one is renamed last"


def test_a_reader_sees_whole_files_only(tmp_path: Path) -> None:
    path, texts = tmp_path / "x.txt", ["a" * 200_000, "b" * 200_000]
    write_text(texts[0], path)
    writer = threading.Thread(target=lambda: [write_text(texts[i % 2], path) for i in range(60)])
    writer.start()
    seen = set()
    while writer.is_alive():
        seen.add(path.read_text())
    writer.join()
    assert seen <= set(texts)


def test_parquet_round_trip_with_metadata(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_parquet(FRAME, path, metadata={"engine": "vllm"})
    assert pl.read_parquet(path).equals(FRAME)
    found = pq.read_metadata(path)
    assert found.metadata[b"engine"] == b"vllm"
    assert found.row_group(0).column(0).compression == "ZSTD"


def test_same_frame_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_parquet(FRAME, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_parquet_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(_frame: pl.DataFrame, path: Path, **_: Any) -> None:
        Path(path).write_bytes(b"PAR1 half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_parquet(FRAME, tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_csv_null_is_an_empty_field(tmp_path: Path) -> None:
    write_csv(FRAME.select("qid", "label"), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "qid,label\nq1,1\n,2\n"


def test_json_is_sorted_and_readable(tmp_path: Path) -> None:
    write_json({"b": "é", "a": None}, tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert text == '{\n  "a": null,\n  "b": "é"\n}\n'
    assert json.loads(text) == {"a": None, "b": "é"}


def test_hashes(tmp_path: Path) -> None:
    assert text_hash("é") == hashlib.sha256("é".encode()).hexdigest()
    (tmp_path / "f").write_bytes(b"\x00\xff" * 100_000)
    assert file_hash(tmp_path / "f") == hashlib.sha256(b"\x00\xff" * 100_000).hexdigest()


def test_value_hash_knows_values_not_key_order() -> None:
    assert value_hash({"a": 1, "b": [1, 2]}) == value_hash({"b": [1, 2], "a": 1})
    different = [{"a": 1}, {"a": "1"}, {"a": 1.5}, {"a": None}, {"a": [1]}, {"b": 1}, {"a": [1, 2]}, {"a": [2, 1]}, {}]
    assert len({value_hash(value) for value in different}) == len(different)
    assert len(value_hash({}, digits=8)) == 8


@pytest.mark.parametrize(
    ("above", "umask", "folders", "files"),
    [
        (0o755, 0o022, 0o755, 0o644),
        (0o775, 0o022, 0o775, 0o644),
        (0o2775, 0o022, 0o2775, 0o644),
        (0o2770, 0o077, 0o2770, 0o640),
        (0o700, 0o077, 0o700, 0o600),
        (0o1777, 0o077, 0o700, 0o600),
    ],
    ids=oct,
)
def test_a_group_may_use_what_is_new_in_a_folder_that_it_may_write_into(
    tmp_path: Path, above: int, umask: int, folders: int, files: int
) -> None:
    """The umask has no say: a colleague's job appends to a store, and removes a damaged index."""
    tmp_path.chmod(above)
    before = os.umask(umask)
    try:
        write_text("", tmp_path / "answers/store/part")
        with atomic_folder(tmp_path / "indexes/one") as temporary:
            (temporary / "terms").mkdir(parents=True)
            (temporary / "terms/list").touch()
    finally:
        os.umask(before)
    made = list(tmp_path.rglob("*"))
    assert {path.stat().st_mode & 0o7777 for path in made if path.is_dir()} == {folders}
    assert {path.stat().st_mode & 0o7777 for path in made if path.is_file()} == {files}
