"""Labels from files of either format; what is wrong with one is told."""

from pathlib import Path

import polars as pl
import pytest
from ragrelay.annotations.file_labels import label_by_file, read_labels
from ragrelay.errors import InputError


def test_both_formats_alike(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 3\nq2 0 d1 -1\n")
    of_text = read_labels(tmp_path / "a.qrels")
    of_text.with_columns(pl.col("label").cast(pl.Float32)).write_parquet(tmp_path / "a.parquet")
    assert read_labels(tmp_path / "a.parquet").equals(of_text)


@pytest.mark.parametrize(("columns", "message"), [
    ({"qid": ["1"], "docno": ["d"]}, "found no column label; expected a Parquet file with columns"),
    ({"qid": ["1"], "docno": ["d"], "label": ["2"]}, "column label: found String; expected whole numbers"),
    ({"qid": ["1"], "docno": ["d"], "label": [0.5]}, "column label: found 0.5; expected whole numbers"),
    ({"qid": ["1"], "docno": ["d"], "label": [float("nan")]}, "column label: found nan; expected whole numbers"),
    ({"qid": ["1"], "docno": ["d"], "label": [1e300]}, r"column label: found 1e\+300; expected whole numbers below"),
    ({"qid": ["1"], "docno": ["d"], "label": [-(10**6)]}, "found -1000000.0; expected whole numbers below 1,000,000"),
    ({"qid": [1.0], "docno": ["d"], "label": [1]}, "column qid: found Float64; expected texts or whole numbers"),
    ({"qid": ["1"], "docno": [["d"]], "label": [1]}, r"column docno: found List\(String\); expected texts"),
    ({"qid": ["1"], "docno": ["d\u200b"], "label": [1]}, r"column docno: found docno 'd\\u200b', whose character 2"),
    ({"qid": ["1\0"], "docno": ["d"], "label": [1]}, r"column qid: found qid '1\\x00', whose character 2 is U\+0000"),
    ({"qid": ["1"], "docno": [None], "label": [1]}, "column docno: found a null"),
    ({"qid": ["1", "1"], "docno": ["d", "d"], "label": [1, 2]}, "found qid '1' with docno 'd' again"),
    ({"qid": [], "docno": [], "label": pl.Series([], dtype=pl.Int64)}, "found no judgement"),
])  # fmt: skip
def test_what_is_wrong_with_a_parquet_file(columns: dict, message: str, tmp_path: Path) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        read_labels(tmp_path / "a.parquet")


def test_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_text("text")
    (tmp_path / "c.parquet").touch()
    files = {"a.parquet": "no such file", "b.parquet": "no Parquet file", "c.parquet": "no Parquet file",
             "a.qrels": "no such file"}  # fmt: skip
    for name, message in files.items():
        with pytest.raises(InputError, match=message):
            read_labels(tmp_path / name)


def test_labels_of_another_dataset(tmp_path: Path) -> None:
    """None would be left, and the source would be missing from every table."""
    pl.DataFrame({"qid": ["q1", "q2"]}).write_parquet(tmp_path / "queries.parquet")
    (tmp_path / "a.qrels").write_text("q2 0 d1 3\nq9 0 d1 1\n")
    made = label_by_file(tmp_path / "a.qrels", tmp_path / "queries.parquet")
    assert made.rows() == [(None, "q2", "d1", 3), (None, "q9", "d1", 1)]
    (tmp_path / "a.qrels").write_text("2 0 d1 3\n")
    with pytest.raises(InputError, match=r"a.qrels: found no label for any query of the dataset; expected qids of its"):
        label_by_file(tmp_path / "a.qrels", tmp_path / "queries.parquet")
