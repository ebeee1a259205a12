"""Answers placed in the grid, checked against the dataset, written as a study's cells."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.collection.answer_formats.answer_rows import ROWS
from ragrelay.collection.local import LocalCollection
from ragrelay.generation.imported.cell_files import SEVERAL, read_answers, write_cells, write_passages
from ragrelay.generation.imported.imported_answers import (
    EMPTY,
    UNANSWERED,
    Places,
    checked_answers,
    counts_of_file,
    in_grid,
    placed,
)
from ragrelay.generation.thought_marks import UNCLOSED
from ragrelay.report.missing import reasons
from ragrelay.report.provenance import gather_left_out
from ragrelay.retrieval.contexts import COLUMNS

PLACES = Places(["bm25", "rel"], ["descending", "ascending"], [1, 2], [5, 6])


def rows(*records: dict[str, Any]) -> pl.DataFrame:
    lines = [{"place": f"file, line {n}", "qid": "q1", "answer": "a", **one} for n, one in enumerate(records, 1)]
    return pl.DataFrame([{name: line.get(name) for name in ROWS} for line in lines], schema=ROWS)


def test_what_is_not_said_is_filled_in() -> None:
    given = rows(
        {"retriever": "bm25", "k": 1},
        {"retriever": "bm25", "docnos": ["d1", "d2"], "ordering": "ascending", "seed": 6},
        {"retriever": "zeroshot"},
        {"k": 0, "retriever": "zeroshot", "seed": 6},
    )
    assert placed(given, PLACES).select("retriever", "ordering", "k", "seed").rows() == [
        ("bm25", "descending", 1, 5), ("bm25", "ascending", 2, 6),
        ("zeroshot", "none", 0, 5), ("zeroshot", "none", 0, 6),
    ]  # fmt: skip
    alone = placed(rows({"docnos": ["d1"]}, {"qid": "q2", "docnos": ["d1", "d2"]}), PLACES._replace(retriever="mine"))
    assert alone.select("retriever", "k").rows() == [("mine", 2), ("mine", 2)], "the longest list"
    one = Places(["bm25"], ["descending"], [3], [1])
    assert placed(rows({}), one).select("retriever", "k").rows() == [("bm25", 3)]
    assert placed(rows({"docnos": ["d1"]}), one._replace(k=2))["k"].to_list() == [2]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"k": 1}], "file, line 1: found no retriever"),
        ([{"retriever": "bm25"}], "file, line 1: found no k"),
        ([{"retriever": "bm25", "k": 1, "docnos": ["d1", "d2"]}], "found 2 passages; expected at most 1 (the answer"),
        ([{"retriever": "zeroshot", "docnos": ["d1"]}], "found 1 passage; expected at most 0 (the answer's k)"),
        (
            [{"retriever": "bm25", "k": 1}, {"retriever": "bm25", "k": 1, "seed": 5}],
            "file, line 2: found a second answer to query q1 with retriever bm25, ordering descending, k 1, seed 5 "
            "(first in file, line 1); expected one answer per combination",
        ),
    ],
)
def test_answers_without_a_place(records: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError) as error:
        placed(rows(*records), PLACES)
    assert message in str(error.value)


def test_the_grid_selects() -> None:
    given = [
        {"retriever": "bm25", "k": 1}, {"retriever": "other", "k": 1}, {"retriever": "bm25", "k": 9},
        {"retriever": "bm25", "k": 1, "seed": 9}, {"retriever": "bm25", "k": 1, "ordering": "random"},
        {"retriever": "zeroshot", "seed": 6}, {"retriever": "bm25", "k": 2, "qid": "q9"},
    ]  # fmt: skip
    whole = placed(rows(*given), PLACES)
    assert in_grid(whole, PLACES)["place"].to_list() == ["file, line 1", "file, line 6", "file, line 7"]
    assert [count["count"] for count in counts_of_file(whole, PLACES, ["q1"])] == [4, 1]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"qid": "q2", "answer": "a", "retriever": "bm25", "k": 1}', '{"qid": "q3", "answer": "b"}'], "no retriever"),
        (
            ['{"qid": "q3", "answer": "b", "retriever": "bm25", "k": 1}'],
            "mine.jsonl, line 1: found qid 'q3'; expected one",
        ),
        (
            ['{"qid": "q2", "answer": "b", "retriever": "bm25", "k": 2, "docnos": ["d1", "d77"]}'],
            "mine.jsonl, line 1: found docno 'd77'; expected one of the dataset's docnos",
        ),
        (
            ['{"qid": "q2", "answer": "b", "retriever": "other", "k": 1}'],
            "found no answers in the grid (1 outside: retriever other, ordering descending, k 1, seed ",
        ),
        ([], "answers of generator theirs: found no answers in the grid (0 outside); expected"),
        (
            ['{"qid": "q2", "answer": null, "retriever": "bm25", "k": 1}'],
            "answers of generator theirs: found only answers without text (1, of which 0 with",
        ),
    ],
)
def test_answers_of_another_dataset(
    tmp_path: Path, write_dataset: Callable[..., Path], lines: list[str], message: str
) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    collection = LocalCollection(write_dataset())
    with pytest.raises(InputError) as error:
        checked_answers([(str(file), {})], PLACES._asdict(), "theirs", collection, ["q2", "q10", "q1"])
    assert message in str(error.value)


@pytest.mark.parametrize(("thinking", "counted"), [(["<think>", "</think>"], 2), (None, 2), ("none", None)])
def test_a_thought_within_an_imported_answer_is_counted(
    tmp_path: Path, write_dataset: Callable[..., Path], thinking: Any, counted: int | None
) -> None:
    """Of judged queries and the grid alone, as those are scored."""
    lines = [("q2", 5, "Tea. <think>Or"), ("q10", 6, "Tea. [THINK]Or"), ("q1", 5, "Tea."), ("q1", 9, "<b> <think>Or")]
    file, queries, collection = tmp_path / "mine.jsonl", tmp_path / "queries.parquet", LocalCollection(write_dataset())
    pl.DataFrame(lines, schema=["qid", "seed", "answer"], orient="row").write_ndjson(file)
    pl.DataFrame({"qid": ["q2", "q10", "q1"]}).write_parquet(queries)
    given = {"retriever": "zeroshot"} | ({} if thinking is None else {"thinking": thinking})
    imported = {"files": [(str(file), given)], "places": PLACES._asdict()}
    answers = {("none", 0, seed): tmp_path / f"{seed}.parquet" for seed in PLACES.seeds}
    counts = read_answers(imported, {"generator": "g"}, collection, queries, {("none", 0): tmp_path / "p"}, answers)
    assert [row["count"] for row in counts if row["what"] == UNCLOSED] == ([] if counted is None else [counted])
    assert pl.read_parquet(answers["none", 0, 5])["answer"].to_list() == ["Tea. <think>Or", "Tea."]


@pytest.mark.parametrize("marks", [["<think>", "</think>"], ["[THINK]", "[/THINK]"]])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_unfinished_thought_is_the_reason(
    tmp_path: Path, write_dataset: Callable[..., Path], marks: list[str], form: str
) -> None:
    """On the page and at the end of a run, apart from answers that are missing in the file; also if all are missing."""
    collection, qids, file = LocalCollection(write_dataset()), ["q2", "q10", "q1"], tmp_path / f"mine.{form}"
    texts = pl.DataFrame({"qid": qids, "answer": [f"{marks[0]}A leaf?", None, f"{marks[0]}Hm.{marks[1]}Tea."]})

    def read(answers: pl.DataFrame) -> pl.DataFrame:
        {"jsonl": answers.write_ndjson, "csv": answers.write_csv}[form](file)
        given = {"retriever": "bm25", "k": 2, "seed": 5, "thinking": marks}
        return checked_answers([(str(file), given)], PLACES._asdict(), "theirs", collection, qids)[0]

    prompts, answers = {("descending", 2): tmp_path / "p"}, {("descending", 2, 5): tmp_path / "a"}
    counts, _ = write_cells(read(texts), qids, pl.DataFrame(schema=schema_of(COLUMNS)), prompts, answers)
    made = pl.read_parquet(tmp_path / "a").select("answer", "finish_reason")
    assert made.rows() == [(None, "thinking"), (None, "missing"), ("Tea.", None)]
    path, none = tmp_path / "small/theirs/bm25.json", KeyedFiles("{dataset}", ())
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(counts))
    written = KeyedFiles(f"{tmp_path}/{{dataset}}/{{generator}}/{{retriever}}.json", (path,))
    left_out = gather_left_out([("generation", written)], none, none)
    assert reasons(left_out, "small", "theirs") == " (unfinished thought: 1, missing from the file: 1)"
    with pytest.raises(InputError, match=r"theirs: found only answers without text \(2, of which 1 with an unfinished"):
        read(texts.head(2))


def test_cells_and_passages(tmp_path: Path, write_dataset: Callable[..., Path]) -> None:
    collection = LocalCollection(write_dataset())
    run = pl.DataFrame(
        [("q2", 1, "d1", 2.0, 3, "x"), ("q2", 2, "d2", 1.0, 0, "y"), ("q1", 1, "d5", 1.0, 2, "z")],
        schema=schema_of(COLUMNS), orient="row",
    )  # fmt: skip
    whole = placed(
        rows(
            {"qid": "q1", "retriever": "bm25", "k": 2, "seed": 5, "answer": "own", "docnos": ["d3", "d5"]},
            {"qid": "q1", "retriever": "bm25", "k": 2, "seed": 6, "answer": "other", "docnos": ["d5", "d6"]},
            {"qid": "q2", "retriever": "bm25", "k": 2, "seed": 5, "answer": "of the run", "ordering": "ascending"},
            {"qid": "q2", "retriever": "bm25", "k": 2, "seed": 5, "answer": ""},
            {"qid": "q2", "retriever": "bm25", "k": 2, "seed": 6, "answer": None},
        ),
        PLACES,
    )
    prompts = {(o, 2): tmp_path / f"prompts-{o}.parquet" for o in PLACES.orderings}
    answers = {(o, 2, s): tmp_path / f"answers-{o}-{s}.parquet" for o in PLACES.orderings for s in PLACES.seeds}
    counts, shown = write_cells(whole, ["q2", "q10", "q1"], run, prompts, answers)
    contexts = {o: dict(pl.read_parquet(prompts[o, 2]).select("qid", "docnos").iter_rows()) for o in PLACES.orderings}
    assert contexts == {"descending": {"q2": ["d1", "d2"], "q1": ["d3", "d5", "d6"]}, "ascending": {"q2": ["d2", "d1"]}}
    assert pl.read_parquet(answers["descending", 2, 5]).select("qid", "answer", "seed").rows() == [
        ("q2", "", 5), ("q1", "own", 5),
    ]  # fmt: skip
    made = pl.read_parquet(answers["descending", 2, 6])
    ids = pl.read_parquet(prompts["descending", 2]).select("qid", "prompt_id")
    assert made.select("qid", "prompt_id").rows() == ids.rows() and made["logprob"].null_count() == 2
    assert made.select("answer", "finish_reason").rows() == [(None, "missing"), ("other", None)]
    absent = {(one["of"]["ordering"], one["of"]["seed"]): one["count"] for one in counts if one["what"] == UNANSWERED}
    assert absent == {("descending", 5): 1, ("descending", 6): 1, ("ascending", 5): 2, ("ascending", 6): 3}
    [empty] = [one for one in counts if one["what"] == EMPTY]
    assert empty["count"] == 1 and empty["of"] == {"ordering": "descending", "k": 2, "seed": 6}
    assert [one["count"] for one in counts if one["what"] == SEVERAL] == [1]
    write_passages(shown, run, collection.qrels(), collection, tmp_path / "passages.parquet")
    table = pl.read_parquet(tmp_path / "passages.parquet")
    assert table.columns == list(COLUMNS)
    assert table.select("qid", "docno", "label").rows() == [
        ("q2", "d1", 3), ("q2", "d2", 0), ("q1", "d5", 2), ("q1", "d3", 3), ("q1", "d6", 0),
    ]  # fmt: skip
    assert table["text"].to_list()[3] == "tea is grown on hills in the cool rain"
