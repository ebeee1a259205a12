"""Parquet files of the user's: what is read, and that a damaged one is one line."""

import json
import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.parquet_files import read_parquet

from tests.support.flipped_bytes import FILES
from tests.support.sandbox import ROOT

PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT)])}
FRAME = pl.DataFrame({
    "text": ["a", None, "\u00e9"], "number": [1, None, 3], "real": [0.5, None, float("nan")],
    "truth": [True, None, False], "nothing": [None, None, None], "texts": [["a"], None, []],
    "records": [[{"text": "t", "citations": ["a"]}], None, []],
})  # fmt: skip
CATEGORIES = pl.DataFrame({"text": pl.Series(["a", "b", None], dtype=pl.Categorical)})


def test_what_polars_writes_is_read_as_polars_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for frame in (FRAME, FRAME.clear()):
        frame.write_parquet(path)
        assert read_parquet(path, "it", ["text"], [*FRAME.columns[1:], "other"]).equals(frame)
    assert read_parquet(path, "it", (), ["other"]).width == 0


def test_categories_and_dates_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    CATEGORIES.with_columns(date=pl.Series([0, 1, None]).cast(pl.Date)).write_parquet(path)
    found = read_parquet(path, "it", ["text", "date"])
    assert found.rows() == [("a", "1970-01-01"), ("b", "1970-01-02"), (None, None)]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table({"text": pa.array([b"a"])}), "column text: found values of type binary; expected strings, numbers"),
        (pa.table({"text": pa.array([["a"]], pa.list_view(pa.string()))}), "found values of type list_view"),
        (pa.Table.from_arrays([pa.array(["a"])] * 2, ["text"] * 2), ": found duplicate column 'text'; expected unique"),
        (pa.table({"texts": ["a"]}), ": found no column text; expected it"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, table: pa.Table, said: str) -> None:
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=said):
        read_parquet(tmp_path / "t.parquet", "it", ["text"])


def test_a_damaged_page_that_unpacks_is_known_by_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": ["tea is grown"]}), path, compression="none", write_page_checksum=True)
    path.write_bytes(path.read_bytes().replace(b"tea", b"pea"))
    with pytest.raises(InputError, match=r"found an unreadable Parquet file \(.*CRC"):
        read_parquet(path, "it", ["text"])


def flipped(folder: Path, names: Collection[str], written: Any) -> tuple[dict[str, dict[str, int]], str]:
    """How files of ``names`` were read with one bit turned, and what was said meanwhile."""
    for name in names:
        path, frame = folder / f"{name}.parquet", pl.DataFrame(FILES[name])
        if written == "with checksums":
            pq.write_table(frame.to_arrow(), path, write_page_checksum=True)
        else:
            frame.write_parquet(path, compression=written)
    command = [sys.executable, "-m", "tests.support.flipped_bytes", str(folder), "300", "35"]
    done = subprocess.run(command, cwd=ROOT, env=PATHS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.keys() == set(names)
    for name, ends in found.items():
        assert sum(ends.values()) == 300 and ends["refused"] > 20 and ends["same"] > 20, (name, ends)
    return found, done.stderr


@pytest.mark.parametrize("written", ["zstd", "snappy", "uncompressed", "with checksums"])
@pytest.mark.simulation
def test_a_flipped_bit_is_one_line_or_another_value(tmp_path: Path, written: Any) -> None:
    """Polars panics at one in 100 of them, and at one in 6,000 the process ends by SIGABRT: both would fail here."""
    assert flipped(tmp_path, FILES.keys() - {"result"}, written)[1] == ""


@pytest.mark.process
def test_a_flipped_bit_of_a_result_is_named_by_the_job_that_reads_it(tmp_path: Path) -> None:
    """Polars reads these, since it is faster; where it fails or panics, the job ends with the line."""
    ends = flipped(tmp_path, ["result"], "zstd")[0]["result"]
    assert ends["refused"] > 80
