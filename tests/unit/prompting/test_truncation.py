"""Laying out again with fewer passages: whole ones, from the end of the ranking, the others in their order."""

from pathlib import Path

import polars as pl
import pytest
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{i}:{text} ")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    pl.DataFrame({"qid": ["q1", "q2"], "query": ["one", "two"]}).write_parquet(tmp_path / "queries.parquet")
    rows = [
        ("q1", 2, "b", "B"),
        ("q1", 1, "a", "A"),
        ("q1", 4, "d", "D"),
        ("q1", 3, "c", "C"),
        ("q2", 1, "a", "other A"),
    ]
    contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
    contexts.write_parquet(tmp_path / "contexts.parquet")
    return Layout(TEMPLATE, tmp_path / "queries.parquet", {"bm25": tmp_path / "contexts.parquet"})


@pytest.mark.parametrize(
    ("docnos", "expected"),
    [
        (["a", "b", "c"], [(1, "1:A 2:B Q one"), (2, "1:A Q one")]),
        (["c", "b", "a"], [(1, "1:B 2:A Q one"), (2, "1:A Q one")]),
        (["b", "d", "c", "a"], [(1, "1:B 2:C 3:A Q one"), (2, "1:B 2:A Q one"), (3, "1:A Q one")]),
        (["a"], []),
        ([], []),
    ],
)
def test_shortened(layout: Layout, docnos: list[str], expected: list[tuple[int, str]]) -> None:
    assert list(layout.shortened("bm25", "q1", docnos)) == expected


def test_zeroshot_cannot_be_shortened(layout: Layout) -> None:
    assert list(Layout(TEMPLATE, layout.queries, {}).shortened("bm25", "q1", [])) == []


def test_files_are_read_only_when_asked(tmp_path: Path) -> None:
    layout = Layout(TEMPLATE, tmp_path / "absent", {"bm25": tmp_path / "absent"})
    with pytest.raises(FileNotFoundError):
        next(layout.shortened("bm25", "q1", ["a", "b"]))


def test_processed_passages_keep_their_texts(layout: Layout, tmp_path: Path) -> None:
    contexts = pl.read_parquet(tmp_path / "contexts.parquet")
    made = [
        [{"k": k, "text": f"{text}{k}"} for k in (2, 3) if rank <= k] for rank, text in contexts["rank", "text"].rows()
    ]
    dtype = pl.List(pl.Struct({"k": pl.Int64, "text": pl.String}))
    contexts.with_columns(pl.Series("shown", made, dtype=dtype)).write_parquet(tmp_path / "contexts.parquet")
    assert list(layout.shortened("bm25", "q1", ["b", "a"], "1:B2 2:A2 Q one")) == [(1, "1:A2 Q one")]
    assert list(layout.shortened("bm25", "q1", ["c", "a"], "1:C3 2:A3 Q one")) == [(1, "1:A3 Q one")]
    with pytest.raises(ValueError, match="no processed texts"):
        list(layout.shortened("bm25", "q1", ["b", "a"], "another"))
