"""Scores of answers from files: what is read, which answers it is of, and what is refused."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.scoring.filed_scores import UNKNOWN, WITHOUT_SCORE, filed_scores
from ragrelay.scoring.score_files import (
    ScoreCells,
    ScoreScale,
    answer_key,
    mean_scores,
    of_answers,
    placed_scores,
    read_score_rows,
    run_name,
)

CELLS = ScoreCells(["lm"], ["bm25", "dense"], ["descending"], [1, 3], [1, 2])
ONE = {"qid": "q1", "retriever": "bm25", "k": 3}


def written(folder: Path, rows: list[dict[str, Any]], name: str = "scores.jsonl") -> Path:
    path = folder / name
    if name.endswith(".parquet"):
        pl.DataFrame(rows).write_parquet(path)
    elif name.endswith((".csv", ".tsv")):
        pl.DataFrame(rows).write_csv(path, separator="\t" if name.endswith("tsv") else ",")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def placed(
    folder: Path, rows: list[dict[str, Any]], scored: ScoreScale | None = None, name: str = "s.jsonl"
) -> pl.DataFrame:
    return placed_scores(read_score_rows(written(folder, rows, name), scored or ScoreScale()), CELLS)


@pytest.mark.parametrize("name", ["s.jsonl", "s.csv", "s.tsv", "s.parquet"])
def test_every_format_gives_the_same_scores(tmp_path: Path, name: str) -> None:
    rows = [ONE | {"value": 4, "seed": 2, "assessor": "a"}, ONE | {"value": 1, "seed": 2, "assessor": "b"}]
    found = placed(tmp_path, rows, ScoreScale((1, 5)), name)
    assert found.select("generator", "ordering", "seed", "assessor", "value").rows() == [
        ("lm", "descending", 2, "a", 0.75), ("lm", "descending", 2, "b", 0.0),
    ]  # fmt: skip
    [mean] = mean_scores(found).to_dicts()
    assert (mean["value"], mean["n"]) == (0.375, 2)


def test_runs_of_autojudge_name_cells_or_retrievers(tmp_path: Path) -> None:
    cell = {"generator": "lm", "retriever": "dense", "ordering": "descending", "k": 1, "seed": 2}
    names = [run_name(cell), "dense.descending.k1.seed1", "lm.zeroshot.none.k0.seed1"]
    rows = [{"run_id": name, "topic_id": 7, "measure": "quality", "value": 0.5} for name in names]
    found = placed(tmp_path, rows)
    assert found.select("qid", "retriever", "ordering", "k", "seed").rows() == [
        ("7", "dense", "descending", 1, 2), ("7", "dense", "descending", 1, 1), ("7", "zeroshot", "none", 0, 1),
    ]  # fmt: skip
    # Its means over topics are no scores, and may be outside the scale.
    mean = {"run_id": names[0], "topic_id": "all", "measure": "quality", "value": 7.5}
    assert placed(tmp_path, [*rows, mean]).equals(found)
    # An unknown run is a retriever that the study has not: its scores are counted, and belong to no answer.
    other = placed(tmp_path, [{"run_id": "elsewhere", "topic_id": "7", "measure": "quality", "value": 1, "k": 1}])
    assert other["retriever"].to_list() == ["elsewhere"]


def test_one_measure_of_several_counts(tmp_path: Path) -> None:
    rows = [{"run_id": "bm25", "topic_id": "1", "k": 1, "measure": name, "value": value}
            for name, value in (("good", 1), ("bad", 0))]  # fmt: skip
    with pytest.raises(InputError, match="2 measures; expected key measure"):
        placed(tmp_path, rows)
    assert placed(tmp_path, rows, ScoreScale(measure="bad"))["value"].to_list() == [0.0]
    with pytest.raises(InputError, match="no score of measure 'other'"):
        placed(tmp_path, rows, ScoreScale(measure="other"))


def test_assignments_of_nuggetizer_are_scores_of_its_measures(tmp_path: Path) -> None:
    nuggets = [
        {"text": "a", "importance": "vital", "assignment": "support"},
        {"text": "b", "importance": "vital", "assignment": "partial_support"},
        {"text": "c", "importance": "okay", "assignment": "not_support"},
    ]
    row = {"qid": "q1", "run_id": "bm25", "k": 1, "nuggets": nuggets}
    for measure, value in (("vital_strict", 1 / 2), ("vital_lenient", 3 / 4), ("all_strict", 1 / 3)):
        assert placed(tmp_path, [row], ScoreScale(measure=measure))["value"].to_list() == pytest.approx([value])
    with pytest.raises(InputError, match="nuggets with measure None"):
        placed(tmp_path, [row])
    with pytest.raises(InputError, match="assignment 'maybe'"):
        placed(tmp_path, [row | {"nuggets": [nuggets[0] | {"assignment": "maybe"}]}], ScoreScale(measure="all_strict"))
    okay = [nugget for nugget in nuggets if nugget["importance"] == "okay"]
    assert placed(tmp_path, [row | {"nuggets": okay}], ScoreScale(measure="vital_strict"))["value"].to_list() == [None]


REFUSED: list[tuple[list[dict[str, Any]], str]] = [
    ([ONE | {"value": 6}], "line 1: found value 6; expected a number from 0 to 1"),
    ([ONE | {"value": "good"}], "value 'good'"),
    ([ONE | {"value": True}], "value True"),
    ([ONE | {"value": "nan"}], "value 'nan'"),
    ([ONE], "value None"),
    ([{"retriever": "bm25", "value": 1}], "no qid"),
    ([ONE | {"topic_id": "q2", "value": 1}], "qid and topic_id"),
    ([{"qid": "q1", "k": 1, "value": 1}], "no retriever, and no run of this study"),
    ([{"qid": "q1", "retriever": "bm25", "value": 1}], "no k, and no run"),
    ([ONE | {"value": 1}, ONE | {"value": 0}], "line 2: found a second score of qid q1, bm25"),
    ([ONE | {"value": 1, "probability": 0}], "probability 0"),
    ([ONE | {"value": 1, "probability": 1.5}], "probability 1.5"),
    ([ONE | {"value": 1, "probability": 0.5}, ONE | {"qid": "q2", "value": 1}], "line 2: found no probability"),
    ([ONE | {"run": "lm.dense.descending.k1.seed1", "value": 1}], "run 'lm.dense.descending.k1.seed1' with retriever"),
    ([], "no score"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_has_no_meaning_is_refused_with_its_line(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError) as error:
        placed(tmp_path, rows)
    assert message in str(error.value)


def answers_of(texts: dict[str, str | None]) -> pl.DataFrame:
    rows = [("lm", "bm25", "descending", 3, 1, qid, text) for qid, text in texts.items()]
    names = ["generator", "retriever", "ordering", "k", "seed", "qid", "answer"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_score_of_another_text_is_left_out(tmp_path: Path) -> None:
    rows = [ONE | {"value": 1, "key": answer_key("q1", "as it was")}, ONE | {"qid": "q2", "value": 1},
            ONE | {"qid": "q9", "value": 0}]  # fmt: skip
    scores = mean_scores(placed(tmp_path, rows))
    for text, scored in (("as it was", ["q1", "q2"]), ("as it is", ["q2"])):
        found, counts = of_answers(scores, answers_of({"q1": text, "q2": "other", "q3": "third", "q4": None}))
        assert found["qid"].to_list() == scored
        assert counts == {"unknown": 1, "changed": 2 - len(scored), "scored": len(scored), "unscored": 3 - len(scored)}


def test_a_row_without_a_value_waits_for_its_score(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("qid,retriever,k,value\nq1,bm25,3,\nq2,bm25,3,1\n", encoding="utf-8")
    found = placed_scores(read_score_rows(tmp_path / "s.csv", ScoreScale()), CELLS)
    assert found["value"].to_list() == [None, 1.0]
    assert mean_scores(found)["qid"].to_list() == ["q2"]


def test_tables_have_the_scored_answers_alone_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "answers/lm/bm25/descending/k3/seed1.parquet"
    path.parent.mkdir(parents=True)
    rows = [(f"q{number}", 1, "text") for number in range(1, 5)]
    pl.DataFrame(rows, schema=["qid", "seed", "answer"], orient="row").write_parquet(path)
    files = KeyedFiles("answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet", (path,))
    scores = placed(tmp_path, [ONE | {"value": 1}, ONE | {"qid": "q8", "value": 0}])
    tables, counts = filed_scores("s.jsonl", scores, files, "lm", "given", ["bm25", "dense"])
    assert tables["bm25"].select("qid", "references", "f1", "precision").rows() == [("q1", "given", 1.0, None)]
    assert tables["dense"].is_empty()
    by_what = {row["what"]: row for row in counts}
    assert by_what[UNKNOWN]["count"] == 1
    assert by_what[WITHOUT_SCORE] == {"what": WITHOUT_SCORE, "count": 3, "of": {"file": "s.jsonl", "needed": 4}}
    with pytest.raises(InputError, match="no score of an answer of lm"):
        filed_scores("s.jsonl", scores.filter(qid="q8"), files, "lm", "given", ["bm25"])
