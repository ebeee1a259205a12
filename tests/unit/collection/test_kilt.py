"""KILT's files, in small, as local datasets."""

import json
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection import kilt
from ragrelay.collection.local import LocalCollection

from tests.support.sandbox import ROOT

LONG = [f"word{number}" for number in range(230)]
PAGES = [
    {"wikipedia_id": 12, "wikipedia_title": "Tea", "text": [
        "Tea\n", "Tea is a drink.\n", "Section::::History.\n", "BULLET::::- It is old.\n", " ".join(LONG)]},
    {"wikipedia_id": "290", "wikipedia_title": "A", "text": ["A\n", "A is a letter.\n"]},
    {"wikipedia_id": "291", "wikipedia_title": "Nothing", "text": ["Nothing\n"]},
]  # fmt: skip


def record(qid: str, query: str, *answers: tuple[str | None, list[Any]]) -> dict[str, Any]:
    outputs = [
        {"answer": answer, "provenance": [{"wikipedia_id": page, "title": "?"} for page in pages]}
        for answer, pages in answers
    ]
    return {"id": qid, "input": query, "output": [{k: v for k, v in one.items() if v is not None} for one in outputs]}


NQ = [
    record("n1", "what is tea?", ("a drink", ["12"]), ("a drink", ["12"]), ("old", ["12", "290"])),
    record("n2", "which page is missing?", ("this one", ["999"])),
]
WOW = [record("w1", "I like tea.\nMe too.\nIs it\told?", ("It is very old.", [12]), (None, [290]))]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return path


def made(folder: Path, *tasks: str) -> int:
    knowledge = write(folder / "kilt_knowledgesource.json", PAGES)
    return kilt.main([str(knowledge), str(folder / "kilt"), *tasks])


def test_two_tasks_over_the_same_passages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"nq": write(tmp_path / "nq.jsonl", NQ), "wow": write(tmp_path / "wow.jsonl", WOW)}
    assert made(tmp_path, *(f"{name}={path}" for name, path in files.items())) == 0
    assert "nq: 2 queries, 1 without a gold page, 4 judgements" in capsys.readouterr().out
    nq, wow = (LocalCollection(tmp_path / "kilt" / name) for name in files)
    assert nq.queries().rows() == [("n1", "what is tea?", ["a drink", "old"]), ("n2", "which page is missing?",
                                                                             ["this one"])]  # fmt: skip
    assert wow.queries().rows() == [("w1", "I like tea. Me too. Is it old?", ["It is very old."])]
    assert nq.qrels().rows() == [("n1", "12-0", 1), ("n1", "12-1", 1), ("n1", "12-2", 1), ("n1", "290-0", 1)]
    assert set(wow.qrels()["docno"]) == {"12-0", "12-1", "12-2", "290-0"}, "every output's pages"
    assert nq.corpus_identity() == wow.corpus_identity(), "one index serves both"
    texts = {one["docno"]: one["text"] for one in nq.passages()}
    assert list(texts) == ["12-0", "12-1", "12-2", "290-0"], "no passage of a page without text"
    words = texts["12-0"].split()
    assert words[:8] == ["Tea", "Tea", "is", "a", "drink.", "It", "is", "old."] and len(words) == 101
    joined = [word for name in ("12-0", "12-1", "12-2") for word in texts[name].split()[1:]]
    assert joined == ["Tea", "is", "a", "drink.", "It", "is", "old.", *LONG]
    assert nq.titles(["12-1"]) == {"12-1": "Tea"}, "labels by gold pages compare titles"


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            [{"id": "t1", "output": []}],
            "line 1: found no input; expected a query; for TriviaQA, KILT's get_",
        ),
        ([NQ[0], NQ[0]], "line 2: found id 'n1'; expected a unique string"),
        ([{"id": "t1", "input": "tea?"}], "line 1: found no output; expected a list of answers"),
        ([{"id": "t1", "input": "tea?", "output": [{"provenance": [{"title": "Tea"}]}]}], "without wikipedia_id"),
        ([NQ[1]], "found no gold page in the knowledge source"),
    ],
)
def test_files_of_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], task: list[dict[str, Any]], message: str
) -> None:
    assert made(tmp_path, f"nq={write(tmp_path / 'task.jsonl', task)}") == 1
    told = capsys.readouterr().err
    assert told.startswith(f"ragrelay: error: {tmp_path / 'task.jsonl'}") and message in told
    assert told.count("\n") == 1


def test_a_page_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no page"):
        kilt.page_passages({"title": "Tea"}, "here")


def test_the_page_names_the_datasets_of_the_study() -> None:
    text, study = (ROOT / "docs/datasets.md").read_text(), (ROOT / "config/salemi2024.yaml").read_text()
    for name in ("nq", "triviaqa", "hotpotqa", "fever", "wow"):
        assert f"{name}={name}-dev" in text and f"path: kilt/{name}," in study
