"""A generator of answers from files, and a retriever of their passages: keys, checks, fingerprint, ranking."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.collection.local import LocalCollection
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.imported.imported_answers import checked_answers
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.unit.config.test_config import check_error
from tests.unit.conftest import at, study_of

LINES = [
    {"qid": "q1", "answer": "a", "retriever": "named", "docnos": ["d5", "d3"]},
    {"qid": "q1", "answer": "a", "retriever": "named", "seed": 2, "docnos": ["d6", "d3", "d5"]},
    {"qid": "q1", "answer": "a", "retriever": "bm25", "docnos": ["d1", "d2", "d3", "d4"]},
    {"qid": "q2", "answer": "a", "docnos": ["d1"]},
    {"qid": "q2", "answer": "a", "ordering": "ascending", "docnos": ["d3", "d2"]},
    {"qid": "q10", "answer": "a"},
]


@pytest.fixture
def brought(config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """The small configuration with answers from a file."""
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/small.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    at(config, "generators.lm", {"engine": "file", "path": "answers/{dataset}.jsonl"})
    return config


def test_definition_has_its_own_keys_alone(brought: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(brought, tmp_path).generator("lm") == {"engine": "file", "path": "answers/{dataset}.jsonl"}
    # An overlay can't take the catalogue's keys out.
    at(brought, "generators.lm", {**brought["generators"]["lm"], "model": "gone", "prompt": "none", "notice": "so"})
    definition = study_of(brought, tmp_path).generator("lm")
    assert definition == {"engine": "file", "path": "answers/{dataset}.jsonl", "notice": "so"}


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"generators.lm.path": ...}, ["'generators.lm'", "no key 'path'"]),
        ({"generators.lm.path": "{dataset}.jsonl"}, ["'generators.lm.path'", "no file small.jsonl"]),
        ({"generators.lm.path": "answers/{set}.jsonl"}, ["'generators.lm.path'", "{set} in"]),
        ({"generators.lm.path": "answers/{dataset}.txt"}, ["'generators.lm.path'", "ending in .parquet, or in .jsonl"]),
        ({"generators.lm.baseline": "zero.csv"}, ["'generators.lm.baseline'", "no file zero.csv"]),
        ({"generators.lm.k": 0}, ["'generators.lm.k'", "at least 1"]),
        ({"generators.lm.engine": "fiel"}, ["did you mean 'file'?"]),
        ({"context_use": True}, ["'context_use' (lm)", "engine: vllm"]),
        (
            {"grid.retrievers": ["named"], "retrievers.named": {"kind": "answers", "path": "x.csv"}},
            ["'retrievers.named.path'", "no file x.csv"],
        ),
    ],
)
def test_checks(brought: dict[str, Any], tmp_path: Path, changes: dict[str, Any], parts: list[str]) -> None:
    for path, value in changes.items():
        at(brought, path, value)
    check_error(brought, tmp_path, parts)


def test_a_baseline_from_another_file(brought: dict[str, Any], tmp_path: Path) -> None:
    """Its answers are zero-shot's, whatever they say."""
    (tmp_path / "answers/zero.csv").write_text("qid,answer,retriever,k,ordering\nq1,tea,bm25,3,random\n")
    at(brought, "generators.lm.baseline", str(tmp_path / "answers/zero.csv"))
    at(brought, "generators.lm.path", str(tmp_path / "answers/{dataset}.jsonl"))
    study = study_of(brought, tmp_path)
    grid = study.grid.model_copy(update={"retrievers": ["named"]})
    given = GENERATOR_KINDS.of(study.generator("lm")).given("small", grid)  # type: ignore[attr-defined]
    collection = LocalCollection(tmp_path / "small")
    rows, _ = checked_answers(**given, generator="lm", collection=collection, qids=["q1", "q2"])
    assert rows.filter(retriever="zeroshot").select("qid", "answer", "ordering", "k", "seed").rows() == [
        ("q1", "tea", "none", 0, 1)
    ]


def test_the_bytes_of_the_files_are_the_fingerprint(brought: dict[str, Any], tmp_path: Path) -> None:
    definition = study_of(brought, tmp_path).generator("lm")
    before = fingerprint(definition, tmp_path)
    assert before == fingerprint({**definition, "notice": "so"}, tmp_path)
    assert len({before, *(fingerprint({**definition, key: "x"}, tmp_path) for key in ("k", "retriever"))}) == 3
    with (tmp_path / "answers/small.jsonl").open("a") as file:
        file.write("\n")
    assert before != fingerprint(definition, tmp_path)


def test_a_ranking_of_the_passages_that_answers_had(brought: dict[str, Any], tmp_path: Path) -> None:
    definition = {"kind": "answers", "path": str(tmp_path / "answers/{dataset}.jsonl")}
    collection = LocalCollection(tmp_path / "small")
    answers = RETRIEVER_KINDS.of(definition).answers("small")
    run = build_run(collection, collection.queries(), pl.DataFrame(), definition, answers=answers, name="named")
    assert run.select("qid", "docno", "rank").rows() == [
        ("q2", "d1", 1), ("q1", "d6", 1), ("q1", "d3", 2), ("q1", "d5", 3),
    ]  # fmt: skip
    at(brought, "retrievers.named", {"kind": "answers", "path": "answers/{dataset}.jsonl"})
    at(brought, "grid.retrievers", ["named", "bm25", "rel"])
    assert study_of(brought, tmp_path).counted_at_zero() == ["bm25"], "an answer is missing, not a result"
