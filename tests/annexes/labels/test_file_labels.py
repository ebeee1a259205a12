"""Labels from files of either format; what is wrong with one is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.file_labels import label_by_file, read_labels
from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import count_missing, coverage_warnings


def test_both_formats_alike(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 3\nq2 0 d1 -1\n")
    of_text = read_labels(tmp_path / "a.qrels")
    of_text.with_columns(pl.col("label").cast(pl.Float32)).write_parquet(tmp_path / "a.parquet")
    assert read_labels(tmp_path / "a.parquet").equals(of_text)


@pytest.mark.parametrize(("columns", "message"), [
    ({"qid": ["1"], "docno": ["d"]}, "found no column label; expected a Parquet file with columns"),
    ({"qid": ["1"], "docno": ["d"], "label": ["2"]}, "column label: found String; expected a column of whole numbers"),
    ({"qid": ["1"], "docno": ["d"], "label": [0.5]}, "row 1, column label: found 0.5; expected whole numbers"),
    ({"qid": ["1"], "docno": ["d"], "label": [float("nan")]}, "row 1, column label: found nan; expected whole numbers"),
    ({"qid": ["1", "2"], "docno": ["d", "d"], "label": [1.0, float("inf")]}, "row 2, column label: found inf"),
    ({"qid": ["1"], "docno": ["d"], "label": [1e300]}, r"row 1, column label: found 1e\+300; expected whole numbers"),
    ({"qid": ["1"], "docno": ["d"], "label": [-(10**6)]}, "found -1000000.0; expected whole numbers below 1,000,000"),
    ({"qid": [1.0], "docno": ["d"], "label": [1]}, "column qid: found Float64; expected a column of strings or whole"),
    ({"qid": ["1"], "docno": [["d"]], "label": [1]}, r"column docno: found List\(String\); expected a column of"),
    ({"qid": ["1"], "docno": ["d\u200b"], "label": [1]}, r"column docno: found docno 'd\\u200b', in which character 2"),
    ({"qid": ["1\0"], "docno": ["d"], "label": [1]}, r"column qid: found qid '1\\x00', in which character 2 is U\+00"),
    ({"qid": ["1"], "docno": [None], "label": [1]}, "column docno: found a null"),
    ({"qid": ["1", "1"], "docno": ["d", "d"], "label": [1, 2]}, "found duplicate qid '1', docno 'd'"),
    ({"qid": [], "docno": [], "label": pl.Series([], dtype=pl.Int64)}, "found no labels"),
])  # fmt: skip
def test_what_is_wrong_with_a_parquet_file(columns: dict, message: str, tmp_path: Path) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        read_labels(tmp_path / "a.parquet")


def test_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_text("text")
    (tmp_path / "c.parquet").touch()
    files = {"a.parquet": "no such file", "b.parquet": "an unreadable Parquet", "c.parquet": "an unreadable Parquet",
             "a.qrels": "no such file"}  # fmt: skip
    for name, message in files.items():
        with pytest.raises(InputError, match=message):
            read_labels(tmp_path / name)


@pytest.fixture
def ranked(tmp_path: Path) -> Callable[[str], tuple[pl.DataFrame, list[dict[str, Any]]]]:
    """Labels by a file of this content: two queries with rankings, whose ranks 1 and 2 are to be labelled."""
    pl.DataFrame({"qid": ["q1", "q2"]}).write_parquet(tmp_path / "queries.parquet")
    rows = [("q1", 1, "d1"), ("q1", 2, "d2"), ("q1", 3, "d3"), ("q2", 1, "d1")]
    for name, some in (("bm25", rows), ("rel", [*rows[:1], ("q2", 1, "d4")])):
        pl.DataFrame(some, schema=["qid", "rank", "docno"], orient="row").write_parquet(tmp_path / f"{name}.parquet")

    def labelled(content: str) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
        (tmp_path / "a.qrels").write_text(content)
        contexts = [tmp_path / "bm25.parquet", tmp_path / "rel.parquet"]
        return label_by_file(tmp_path / "a.qrels", tmp_path / "queries.parquet", contexts, depth=2)

    return labelled


def test_what_a_file_does_not_have_is_counted(ranked: Callable[..., Any]) -> None:
    """Queries that the file lacks are counted, and so are passages that it lacks of the others."""
    made, counts = ranked("q2 0 d1 3\nq9 0 d1 1\n")
    assert made.rows() == [(None, "q2", "d1", 3), (None, "q9", "d1", 1)]
    assert [(one["count"], one["of"]["needed"]) for one in counts] == [(1, 2), (1, 2)]
    assert [one["count"] for one in ranked("q2 0 d1 3\nq1 0 d1 0\nq1 0 d3 1\n")[1]] == [0, 2]


@pytest.mark.parametrize(("content", "message"), [
    ("2 0 d1 3\n", r"found none of the queries \(first label: qid '2', docno 'd1'\); expected qids of the"),
    ("q9 0 d1 3\nq1 0 D1 3\nq1 0 D2 1\n", r"none of the passages ranked for labelled queries \(first label: qid 'q1', "
     r"docno 'D1'\); expected docnos of the dataset's passages"),
    ("q1 0 d3 1\n", "found none of the passages ranked for labelled"),
])  # fmt: skip
def test_labels_of_another_dataset(content: str, message: str, ranked: Callable[..., Any]) -> None:
    """Without a query the source would be missing from every table; without a passage all rankings would have 0."""
    with pytest.raises(InputError, match=message):
        ranked(content)


def test_a_page_warns_where_a_file_has_less_than_half() -> None:
    counts = [
        {"dataset": "d", "what": one["what"], "count": one["count"], "detail": {"source": "x", **one["of"]}}
        for found in (49, 50)
        for one in [count_missing("a.qrels", found, 100, ("passages", "passages without a label"), "", "")]
    ]
    others = [{**counts[0], "detail": detail} for detail in (None, {"k": 1})]
    said = "d: a.qrels has less than half of what the study could use: 51 of 100 passages without a label."
    assert coverage_warnings([*counts, *others]) == [said] and coverage_warnings(counts[1:]) == []
