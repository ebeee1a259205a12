"""Scores of answers from files: what is read, which answers it is of, and what is refused."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import coverage_warnings
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.scoring.filed_scores import FAILED, UNKNOWN, WITHOUT_SCORE, filed_scores
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
    with pytest.raises(InputError, match="no scores of measure 'other'"):
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
    ([ONE | {"value": "inf"}], "value 'inf'"),
    ([ONE | {"value": "0.5 of 1"}], "value '0.5 of 1'"),
    ([ONE], "no value, only qid, retriever, k; expected"),
    ([ONE | {"rating": 4}], "no value, only qid, retriever, k, rating; expected"),
    ([{"retriever": "bm25", "value": 1}], "no qid, only retriever, value"),
    ([ONE | {"value": 1, "key": "lm=x"}], "key 'lm=x'; expected the key of a drawn answer, or no key"),
    ([ONE | {"value": 1, "Value": 0, "VALUE": 1}, ONE | {"value": 0}], "line 2: found a second score"),
    ([ONE | {"VALUE": 1, "Value": 0}], "duplicate column 'value'"),
    ([ONE | {"value": 1, "assessor": "Ann"}, ONE | {"value": 0, "assessor": "ann "}], "a second score for qid q1"),
    ([ONE | {"topic_id": "q2", "value": 1}], "qid and topic_id"),
    ([{"qid": "q1", "k": 1, "value": 1}], "neither retriever nor a run of this study"),
    ([{"qid": "q1", "retriever": "bm25", "value": 1}], "neither k nor a run"),
    ([ONE | {"value": 1}, ONE | {"value": 0}], "line 2: found a second score for qid q1, bm25"),
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


HEADER, ROW = "qid,retriever,k,value", "q1,bm25,3,4"
FILES: dict[str, tuple[str, list[float | None]]] = {
    "semicolons.csv": ("\ufeffqid;retriever;k;value\r\nq1;bm25;3;4\r\n", [0.75]),
    "decimal-commas.csv": ("qid;retriever;k;value\nq1;bm25;3;4,5\nq2;bm25;3,0;3\n", [0.875, 0.5]),
    "quoted-commas.csv": (f'{HEADER}\nq1,bm25,3,"4,5"\n', [0.875]),
    "tabs.csv": ("qid\tretriever\tk\tvalue\nq1\tbm25\t3\t4\n", [0.75]),
    "sep.csv": ("\ufeffsep=;\r\nqid;retriever;k;value\r\nq1;bm25;3;4\r\n", [0.75]),
    "saved-sep.csv": (f'"sep=,",,,\n{HEADER}\n{ROW}\n', [0.75]),
    "carriage-returns.csv": (f"{HEADER}\r{ROW}\r", [0.75]),
    "blank-rows.csv": (f"{HEADER}\n{ROW}\n,,,\n , ,,\n\n", [0.75]),
    "blank-rows.tsv": ("qid\tretriever\tk\tvalue\nq1\tbm25\t3\t4\n\t\t\t\n", [0.75]),
    "capitals.csv": ("QID,Retriever, K ,VALUE\nq1,bm25,3,4\n", [0.75]),
    "capitals.tsv": ("Topic ID\tRun_ID\tk\tValue\nq1\tbm25\t3\t4\n", [0.75]),
    "missing.csv": (f"{HEADER}\n{ROW}\nq2,bm25,3,nan\nq3,bm25,3,NA\nq4,bm25,3, \n", [0.75, None, None, None]),
    "missing.jsonl": (json.dumps(ONE | {"value": float("nan"), "assessor": float("nan")}), [None]),
    "capitals.jsonl": ('{"QID": "q1", "Retriever": "bm25", "k": 3, "Value": "4,5"}', [0.875]),
    "array.json": (json.dumps([ONE | {"value": 4}, ONE | {"qid": "q2", "value": None}], indent=2), [0.75, None]),
    "array.jsonl": (json.dumps([ONE | {"value": 4}]), [0.75]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_programs_write_them(tmp_path: Path, name: str) -> None:
    text, values = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    found = placed_scores(read_score_rows(tmp_path / name, ScoreScale((1, 5))), CELLS)
    assert found["value"].to_list() == values and set(found["retriever"]) == {"bm25"} and set(found["k"]) == {3}
    assert set(found["assessor"]) == {None}


def test_parquet_has_nulls_nan_decimals_and_categories(tmp_path: Path) -> None:
    rows = {"qid": ["q1", "q2"], "retriever": ["bm25", "bm25"], "k": [3, 3]}
    for name, values, expected in (
        ("null", pl.Series([4.0, None]), [0.75, None]),
        ("nan", pl.Series([4.0, float("nan")]), [0.75, None]),
        ("decimal", pl.Series([Decimal("4.0"), Decimal("3.5")]), [0.75, 0.625]),
        ("text", pl.Series(["4", "3,5"], dtype=pl.Categorical), [0.75, 0.625]),
    ):
        pl.DataFrame({**rows, "value": values, "assessor": [None, None]}).write_parquet(tmp_path / f"{name}.parquet")
        found = read_score_rows(tmp_path / f"{name}.parquet", ScoreScale((1, 5)))
        assert found["value"].to_list() == expected
    pl.DataFrame({**rows, "Value": [4.0, 3.5], "note": [b"", b""]}).write_parquet(tmp_path / "capitals.parquet")
    assert read_score_rows(tmp_path / "capitals.parquet", ScoreScale((1, 5)))["value"].to_list() == [0.75, 0.625]
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="an unreadable Parquet file"):
        read_score_rows(tmp_path / "damaged.parquet", ScoreScale())


UNREADABLE = {
    "scores.xlsx": (b"PK", "a spreadsheet; expected the sheet saved as CSV (in Excel, CSV UTF-8)"),
    "scores.txt": (b"qid,value\n", "line 1: found 'qid,value', which isn't JSON; expected JSON, or a file name"),
    "unicode.csv": ("qid,retriever,value\nq1,bm25,4\n".encode("utf-16"), "byte 0xff in "),
    "ansi.csv": ("qid,k,value,assessor\nq1,3,4,J\xf6rg\n".encode("latin-1"), "line 2: found byte 0xf6 in"),
    "cut.json": (b'[{"qid": "q1", "value": 1}', "invalid JSON ("),
    "thousands.csv": (b'qid,k,value\nq1,3,"1,500"\n', "value '1,500'; expected 1.5 or 1500, written without a comma"),
    "numbers.json": (b"[1, 2]", "record 1: found an integer; expected a JSON object"),
    "short.csv": (b"qid;retriever;value\nq1;4,5\n", "line 2: found 2 fields; expected 3, as in the header, separated"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_can_not_be_read_has_the_cause_in_its_message(tmp_path: Path, name: str) -> None:
    content, message = UNREADABLE[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        read_score_rows(tmp_path / name, ScoreScale((0, 2000)))
    assert message in str(error.value)


def test_texts_that_do_not_count_may_have_any_encoding(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes("qid,retriever,k,value,answer\nq1,bm25,3,1,\xe9t\xe9\n".encode("latin-1"))
    assert read_score_rows(tmp_path / "s.csv", ScoreScale())["value"].to_list() == [1.0]


def test_names_of_one_person_are_one(tmp_path: Path) -> None:
    names = ["Ann", "ann ", "ANN", "Jo\u0308rg  K.", "j\xf6rg k.", "Bob", 0]
    rows = [ONE | {"qid": f"q{place}", "value": 1, "assessor": name} for place, name in enumerate(names)]
    assert placed(tmp_path, rows)["assessor"].to_list() == ["Ann"] * 3 + ["Jo\u0308rg K."] * 2 + ["Bob", "0"]


def test_one_can_be_the_best_grade(tmp_path: Path) -> None:
    rows = [ONE | {"qid": f"q{grade}", "value": grade} for grade in (1, 2, 6)]
    assert placed(tmp_path, rows, ScoreScale((6, 1)))["value"].to_list() == pytest.approx([1.0, 0.8, 0.0])
    with pytest.raises(InputError, match="value 7; expected a number from 6 to 1"):
        placed(tmp_path, [ONE | {"value": 7}], ScoreScale((6, 1)))


def test_nuggets_without_a_label_count_as_in_nuggetizer_s_scores(tmp_path: Path) -> None:
    nuggets = [
        {"text": "a", "importance": "vital", "assignment": "support"},
        {"text": "b", "importance": "okay", "assignment": "failed"},
        {"text": "c", "importance": "failed", "assignment": "partial_support"},
    ]
    row = {"qid": "q1", "run_id": "bm25", "k": 1, "nuggets": nuggets}
    found = [
        placed(tmp_path, [row], ScoreScale(measure=name)) for name in ("vital_strict", "all_strict", "all_lenient")
    ]
    assert [rows["value"][0] for rows in found] == pytest.approx([1.0, 1 / 3, 1.5 / 3])
    assert found[0]["failed"].to_list() == [2]


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


def coverage(counts: list[dict[str, Any]]) -> str:
    return " ".join(coverage_warnings({"dataset": "d", "detail": row.get("of"), **row} for row in counts))


def test_tables_have_the_scored_answers_alone_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "answers/lm/bm25/descending/k3/seed1.parquet"
    path.parent.mkdir(parents=True)
    rows = [(f"q{number}", 1, "text", "length") for number in range(1, 5)]
    pl.DataFrame(rows, schema=["qid", "seed", "answer", "finish_reason"], orient="row").write_parquet(path)
    files = KeyedFiles("answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet", (path,))
    scores = placed(tmp_path, [ONE | {"value": 1}, ONE | {"qid": "q8", "value": 0}])
    tables, counts = filed_scores("s.jsonl", scores, files, "lm", "given", ["bm25", "dense"])
    assert tables["bm25"].select("qid", "references", "f1", "precision").rows() == [("q1", "given", 1.0, None)]
    assert tables["dense"].is_empty()
    by_what = {row["what"]: row for row in counts}
    assert by_what[UNKNOWN]["count"] == 1
    ends = {"n": 1, "length": 1, "blank": 0}
    of = {"retriever": "all", "file": "s.jsonl", "needed": 4, "scored": ends}
    assert by_what[WITHOUT_SCORE] == {"what": WITHOUT_SCORE, "count": 3, "of": of}
    assert "3 of 4 answers without a score" in coverage(counts)
    drawn = placed(tmp_path, [ONE | {"value": 1, "probability": 0.25}])
    _, counts = filed_scores("s.jsonl", drawn, files, "lm", "given", ["bm25"])
    assert coverage(counts) == "", "a draw leaves answers out by design"
    rows_drawn = [ONE | {"qid": f"q{number}", "value": "", "probability": 0.75} for number in (2, 3)]
    drawn = placed(tmp_path, [ONE | {"value": 1, "probability": 0.75}, *rows_drawn])
    _, counts = filed_scores("s.jsonl", drawn, files, "lm", "given", ["bm25"])
    assert "2 of 3 records without a score yet" in coverage(counts)
    assert FAILED not in by_what
    unsure = scores.with_columns(failed=pl.lit(2, pl.Int64))
    _, counts = filed_scores("s.jsonl", unsure, files, "lm", "given", ["bm25"])
    assert {"what": FAILED, "count": 4, "of": {"retriever": "all"}} in counts
    with pytest.raises(InputError, match="no scores for lm's answers"):
        filed_scores("s.jsonl", scores.filter(qid="q8"), files, "lm", "given", ["bm25"])
