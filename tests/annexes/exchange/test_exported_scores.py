"""Scores are exported as AutoJudge's records, and a scorer of kind file reads the same scores back."""

import itertools
import json
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.exchange.scores import export_scores
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.scoring.retriever_table import SCHEMA
from ragrelay.scoring.score_files import ScoreCells, ScoreScale, placed_scores, read_score_rows

PATTERN = "{dataset}/scores/{scorer}/{generator}/{retriever}.parquet"
CELLS = ScoreCells(["lm", "lm.2"], ["bm25"], ["descending"], [1, 3], [1, 2])


def score_tables(folder: Path) -> KeyedFiles:
    """Score tables of two scorers; bm25's have zero-shot answers against unseen references, and a missing score."""
    paths = []
    for scorer, retriever in itertools.product(["minilm", "rouge"], ["bm25", "zeroshot"]):
        cells = [("none", 0)] if retriever == "zeroshot" else [("descending", 1), ("descending", 3), ("none", 0)]
        keys = itertools.product(["lenient", "lenient-unseen"], cells, [1, 2], ["q1", "q2"])
        rows = [(qid, *cell, seed, references, 0.1 + n / 7) for n, (references, cell, seed, qid) in enumerate(keys)
                if retriever == "bm25" or references == "lenient"]  # fmt: skip
        names = ["qid", "ordering", "k", "seed", "references", "f1"]
        table = pl.DataFrame(rows, schema={name: SCHEMA[name] for name in names}, orient="row")
        empty = (pl.col("qid") == "q2") & (pl.col("k") == 3) & (pl.col("seed") == 2)
        table = table.with_columns(f1=pl.when(empty).then(None).otherwise("f1"))
        path = folder / PATTERN.format(dataset="demo", scorer=scorer, generator="lm.2", retriever=retriever)
        path.parent.mkdir(parents=True, exist_ok=True)
        table.write_parquet(path)
        paths.append(path)
    return KeyedFiles(PATTERN, tuple(paths))


@pytest.fixture
def exported(tmp_path: Path) -> tuple[KeyedFiles, Path]:
    files, path = score_tables(tmp_path), tmp_path / "scores.jsonl"
    export_scores(files, "lm.2", path)
    return files, path


def test_records_have_autojudges_keys_in_their_order(exported: tuple[KeyedFiles, Path]) -> None:
    records = [json.loads(line) for line in exported[1].read_text(encoding="utf-8").splitlines()]
    assert {tuple(record) for record in records} == {("run_id", "topic_id", "measure", "value")}
    assert records[0]["run_id"] == "lm.2.bm25.descending.k1.seed1"
    assert {record["measure"] for record in records} == {
        f"{scorer}.{references}" for scorer in ("minilm", "rouge") for references in ("lenient", "lenient-unseen")
    }
    assert len({(one["run_id"], one["topic_id"], one["measure"]) for one in records}) == len(records)


def test_a_scorer_of_kind_file_reads_the_same_scores(exported: tuple[KeyedFiles, Path]) -> None:
    files, path = exported
    rows = placed_scores(read_score_rows(path, ScoreScale((0.0, 10.0), "rouge.lenient")), CELLS)
    columns = ["retriever", "ordering", "k", "seed", "qid"]
    expected = []
    for key, file in files.matching(scorer="rouge").keyed:
        own = pl.read_parquet(file).filter(references="lenient").drop_nulls("f1")
        own = own.filter((pl.col("ordering") == "none") == (key["retriever"] == "zeroshot"))
        expected += [(key["retriever"], *row) for row in own.select("ordering", "k", "seed", "qid", "f1").iter_rows()]
    found = rows.with_columns(pl.col("value") * 10.0).select(*columns, "value").rows()
    assert set(rows["generator"]) == {"lm.2"} and len(found) == 2 * 2 * 2 - 1 + 2 * 2
    assert [row[:5] for row in sorted(found)] == [row[:5] for row in sorted(expected)]
    assert [row[5] for row in sorted(found)] == pytest.approx([row[5] for row in sorted(expected)])
