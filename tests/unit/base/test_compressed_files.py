"""Compressed files, read by the ends of their names: lines, runs, answers, collections; damaged ones in one line."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.compressed_files import COMPRESSED, plain_name
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile, check_pattern
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.trec import read_run


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".GZ": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd,
}  # fmt: skip
ENDINGS = pytest.mark.parametrize("ending", COMPRESS)


@ENDINGS
def test_runs_and_their_lines(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"mine.run{ending}"
    path.write_bytes(COMPRESS[ending](b"q1 Q0 d1 1 2.5 t\n\nq1 Q0 d2 2 1.5 t\n"))
    assert [number for number, _ in numbered_lines(path)] == [1, 3]
    assert read_run(path)["docno"].to_list() == ["d1", "d2"]
    assert plain_name(path.name) == "mine.run"


@ENDINGS
@pytest.mark.parametrize("damage", [lambda data: data[:-6], lambda data: b"no such data"])
def test_damaged_data(tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"mine.run{ending}"
    content = "".join(f"q{number} Q0 d{number * 7919 % 1009} 1 {number}.5 t\n" for number in range(9000)).encode()
    path.write_bytes(damage(COMPRESS[ending](content)))
    with pytest.raises(InputError, match=rf"run{ending}(, after line \d+)?: found damaged \{ending.lower()} data"):
        list(numbered_lines(path))


def lines(content: str) -> bytes:
    return "".join(f"{content} {number}\n" for number in range(6)).encode()


@ENDINGS
def test_several_streams(tmp_path: Path, ending: str) -> None:
    """Files by pbzip2, pixz, pigz or cat, one stream of which is empty; all formats but .zst allow padding."""
    compress, path = COMPRESS[ending], tmp_path / f"mine.txt{ending}"
    padding = b"" if ending == ".zst" else bytes(70_000)
    path.write_bytes(compress(lines("one")) + padding + compress(b"") + compress(lines("two") * 9000) + padding)
    assert [line for _, line in numbered_lines(path)] == [*lines("one").decode().split("\n")[:6],
                                                          *lines("two").decode().split("\n")[:6] * 9000]  # fmt: skip


@ENDINGS
@pytest.mark.parametrize("rest", [lines("two"), b"\n", bytes(70_000) + b"x"])
def test_bytes_after_the_last_stream(tmp_path: Path, ending: str, rest: bytes) -> None:
    path = tmp_path / f"mine.txt{ending}"
    path.write_bytes(COMPRESS[ending](lines("one")) + rest)
    with pytest.raises(InputError, match=rf"txt{ending}(, after line \d+)?: found damaged \{ending.lower()} data"):
        list(numbered_lines(path))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_flipped_bit_loses_no_line(tmp_path: Path, ending: str) -> None:
    """Wherever the bit is; .zst files have a checksum only if their writer wanted one."""
    compress, path, refused = COMPRESS[ending], tmp_path / f"mine.txt{ending}", 0
    data = compress(lines("one")) + compress(lines("two"))
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            assert [line for _, line in numbered_lines(path)] == (lines("one") + lines("two")).decode().split("\n")[:12]
        except InputError:
            refused += 1
    assert refused > len(data) / 2


@ENDINGS
def test_an_empty_file(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"mine.txt{ending}").touch()
    with pytest.raises(InputError, match=rf"found damaged \{ending.lower()} data \(an empty file\)"):
        list(numbered_lines(tmp_path / f"mine.txt{ending}"))


@ENDINGS
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_answers(tmp_path: Path, ending: str, kind: str) -> None:
    texts = {
        "csv": b'qid,answer\n1,"a\nb"\n',
        "tsv": b"qid\tanswer\n1\ta b\n",
        "jsonl": b'{"qid": "1", "answer": "a b"}\n',
    }
    path = tmp_path / f"answers.{kind}{ending}"
    path.write_bytes(COMPRESS[ending](texts[kind]))
    check_pattern("place", str(path))
    rows = read_answer_rows([AnswerFile(path, {})])
    assert rows["answer"].to_list() == ["a\nb" if kind == "csv" else "a b"]


@pytest.mark.parametrize("ending", COMPRESSED)
def test_passages_of_a_collection(tmp_path: Path, ending: str) -> None:
    passage = b'{"doc_id": "d1", "text": "Tea is made of leaves."}\n'
    (tmp_path / f"passages.jsonl{ending}").write_bytes(COMPRESS[ending](passage))
    assert [each["docno"] for each in LocalCollection(tmp_path).passages()] == ["d1"]


def test_an_unknown_end_of_answers(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"expected a file name ending in \.parquet, .*, optionally followed by \.gz, \.bz2, \.xz"
    ):
        check_pattern("place", "answers.jsonl.zip")
