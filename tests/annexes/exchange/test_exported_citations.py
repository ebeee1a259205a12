"""The export writes citations of TREC RAG's answers back, and the texts that processors show."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.exchange.export import export_answers
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile

from tests.support.processed_study import every_second
from tests.support.sandbox import Sandbox
from tests.unit.generation.test_citations import CELL, RECORDS, TEXTS, cells, cells_of, rows_of  # noqa: F401


def keyed(pattern: Path) -> KeyedFiles:
    names = {"retriever": "mine", "ordering": CELL[0], "k": CELL[1], "seed": CELL[2]}
    return KeyedFiles(str(pattern), (Path(str(pattern).format(**names)),))


def exported(folder: Path, cells: tuple[Path, Path]) -> Mapping[str, Path]:  # noqa: F811
    """The files that are exported of a study of the ``cells``."""
    places = {
        "answers": "{retriever}/{ordering}/k{k}/seed{seed}.parquet",
        "prompts": "{retriever}/{ordering}/k{k}.parquet",
    }
    given = {name: keyed(folder / name / pattern) for name, pattern in places.items()}
    for files, made in zip(given.values(), cells, strict=True):
        [path] = files.paths
        path.parent.mkdir(parents=True)
        path.write_bytes(made.read_bytes())
    outputs = {
        "trec_rag": keyed(folder / "{retriever}.{ordering}.k{k}.seed{seed}.jsonl"),
        "pyterrier": keyed(folder / "{retriever}.{ordering}.k{k}.seed{seed}.parquet"),
    }
    whole = {"jsonl": folder / "answers.jsonl", "parquet": folder / "answers.parquet"}
    queries = pl.DataFrame({"qid": ["q1", "q2", "q3"], "query": ["what is tea", "what is iron", "why"]})
    export_answers(
        queries, TEXTS, given["prompts"], given["answers"], outputs, whole, {"team_id": "x", "run_desc": "y"}
    )
    return {**whole, **{name: files.paths[0] for name, files in outputs.items()}}


@pytest.mark.parametrize("form", ["trec_rag", "jsonl", "parquet"])
def test_an_export_keeps_them(tmp_path: Path, cells: tuple[Path, Path], form: str) -> None:  # noqa: F811
    """Reading the exported file again gives the same bytes of answers and contexts."""
    path = exported(tmp_path / "export", cells)[form]
    again = cells_of(tmp_path / "again", read_answer_rows([AnswerFile(path, {"k": 3, "seed": 1})]), cited=True)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in cells]


def test_records_cite_places_among_the_references(tmp_path: Path, cells: tuple[Path, Path]) -> None:  # noqa: F811
    lines = exported(tmp_path / "export", cells)["trec_rag"].read_text(encoding="utf-8").splitlines()
    first, second, third = map(json.loads, lines)
    assert first["references"] == ["d3", "d1"] and [one["citations"] for one in first["answer"]] == [
        [1, 0],
        [0],
        [],
        [1],
    ]
    assert second["references"] == ["d2"] and second["answer"] == [{"text": "Iron is a metal.", "citations": [0]}]
    assert third["references"] == ["d2"] and third["answer"] == [{"text": "Why [1].", "citations": []}]


def test_without_citations_an_export_has_no_such_column(tmp_path: Path) -> None:
    cells = cells_of(tmp_path / "cells", rows_of(tmp_path, RECORDS[2]), cited=False)  # noqa: F811
    files = exported(tmp_path / "export", cells)
    assert "cited_sentences" not in pl.read_parquet(files["parquet"]).columns
    assert "cited_sentences" not in json.loads(files["jsonl"].read_text(encoding="utf-8"))


@pytest.mark.full
def test_exports_have_the_texts_shown(processed: Sandbox) -> None:
    path = processed.results / "export/small/demo-lm/pyterrier"
    whole, halved = (pl.read_parquet(path / f"{name}.descending.k2.seed1.parquet") for name in ("bm25", "halved"))
    assert halved["docnos"].to_list() == whole["docnos"].to_list()
    for context, before in zip(halved["qcontext"], whole["qcontext"], strict=True):
        assert context.split("\n") == [every_second(text) for text in before.split("\n")]
    turned = pl.read_parquet(path / "turned.descending.k2.seed1.parquet")
    assert turned["qcontext"].to_list() == ["\n".join(text.split("\n")[::-1]) for text in whole["qcontext"]]
