"""The provenance has hashes of scores from files, and reads no other table."""

from pathlib import Path

import polars as pl
from ragrelay.annexes.people.data_hashes import score_hashes

CONFIG = {
    "grid": {"scorers": ["bertscore", "people"], "generators": ["lm"], "retrievers": ["bm25"]},
    "scorers": {"bertscore": {"kind": "bertscore"}, "people": {"kind": "file"}},
}


def table(f1: float) -> pl.DataFrame:
    return pl.DataFrame({"qid": ["q1"], "ordering": ["descending"], "k": [1], "seed": [1], "f1": [f1]})


def test_hashes_follow_the_scores_of_files(tmp_path: Path) -> None:
    path = tmp_path / "demo/scores/people/lm/bm25.parquet"
    assert score_hashes(tmp_path, "demo", CONFIG) == {}
    path.parent.mkdir(parents=True)
    table(0.5).write_parquet(path)
    found = score_hashes(tmp_path, "demo", CONFIG)
    assert found["scores people, lm"]["count"] == 1
    table(0.25).write_parquet(path)
    again = score_hashes(tmp_path, "demo", CONFIG)
    assert again["scores people, lm"]["hash"] != found["scores people, lm"]["hash"]


def test_no_other_table_is_read(tmp_path: Path) -> None:
    """Tables of other kinds, of retrievers outside the grid and of unfinished jobs are no inputs: jobs write them."""
    for name in ("bertscore/lm/bm25.parquet", "people/lm/other.parquet", "people/lm/.tmp-1-bm25.parquet"):
        path = tmp_path / "demo/scores" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
    assert score_hashes(tmp_path, "demo", CONFIG) == {}
