"""The score table of gold answers: one set `gold`, no docnos, no unseen rows."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.scoring.reference_sets import read_gold

from tests.support.score_study import score_table, write_study

GOLD = {"q1": ["Green tea", "tea"], "q2": None, "q3": ["", "Athens"]}
ANSWERS = {("descending", 1, 1): {"q1": "It is tea.", "q2": "tea", "q3": "Rome"}}
ZEROSHOT = {1: {"q1": "green tea", "q2": "tea", "q3": "in Athens"}}


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    frame = pl.DataFrame({"qid": list(GOLD), "query": ["?"] * 3, "answers": list(GOLD.values())})
    frame.write_parquet(tmp_path / "queries.parquet")
    return tmp_path / "queries.parquet"


def table(folder: Path, queries: Path, **keys: Any) -> pl.DataFrame:
    contexts = {("descending", 1): {qid: ["d1"] for qid in GOLD}}
    files = write_study(folder / "study", [("q1", "d1", 3, "tea")], contexts, ANSWERS, ZEROSHOT)
    scorer = {"kind": "token_f1", "references": "gold", "aggregate": "max", **keys}
    output = folder / "table.parquet"
    score_table(**{**files, "references": queries}, grades={"gold": 0}, scorer=scorer, cache_dir=folder, output=output)
    return pl.read_parquet(output)


def test_rows(tmp_path: Path, queries: Path) -> None:
    found = table(tmp_path, queries)
    assert found["references"].to_list() == ["gold", "gold"], "zero-shot rows are for unseen references alone"
    assert dict(found.select("qid", "f1").iter_rows()) == pytest.approx({"q1": 2 * (1 / 3) / (4 / 3), "q3": 0.0})
    assert found["best_docno"].null_count() == found["best_in_context"].null_count() == 2
    assert found["n_references"].to_list() == [2, 1]


def test_mean_over_gold_answers(tmp_path: Path, queries: Path) -> None:
    """The answer of three words has token F1 0.5 with "tea" and 0.4 with "green tea"."""
    found = table(tmp_path, queries, aggregate="mean").filter(qid="q1")
    assert found["f1"].item() == pytest.approx((0.5 + 0.4) / 2)


def test_queries_without_gold(queries: Path) -> None:
    assert list(read_gold(queries)) == ["q1", "q3"]
    assert read_gold(queries)["q3"].texts == ["Athens"]


def test_a_file_without_answers_is_told(tmp_path: Path, queries: Path) -> None:
    pl.read_parquet(queries).drop("answers").write_parquet(queries)
    with pytest.raises(InputError, match="no gold answer"):
        table(tmp_path, queries)
