"""What fills the remaining places of a context of drawn passages."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.brought_passages import read_brought, with_brought
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask, needed
from ragrelay.retrieval.trec import ranked

from tests.unit.conftest import study_of
from tests.unit.retrieval.test_oracle import LABELS, QRELS, QUERIES, TEXTS

GRADED = {"kind": "graded", "min_label": 2, "relevant": 2, "seed": 0}
POSITION = {"kind": "position", "min_label": 2, "place": 3, "seed": 0}
REL = {"kind": "oracle", "min_label": 2, "seed": 0}
OTHERS = {f"x{place:02}": "words" for place in range(30)}


Rankings = Callable[..., dict[str, list[str]]]


def write_passages(path: Path, passages: Iterable[dict[str, Any]]) -> Path:
    lines = "\n".join(map(json.dumps, passages)).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> LocalCollection:
    """The judged passages, and others without a judgement."""
    texts = {**TEXTS, **OTHERS}
    write_passages(tmp_path / "passages.jsonl", ({"doc_id": docno, "text": text} for docno, text in texts.items()))
    return LocalCollection(tmp_path)


@pytest.fixture
def rankings(corpus: LocalCollection) -> Rankings:
    """A function from a definition, maybe a run and a file of passages to rankings by query."""

    def made(
        definition: dict[str, Any], run: pl.DataFrame | None = None, passages: Path | None = None
    ) -> dict[str, list[str]]:
        brought = read_brought([passages] if passages else [])
        runs = [] if run is None else [run]
        task = RunTask(QUERIES, QRELS, with_brought(corpus, brought), runs=runs, brought=brought)
        found = ranked(RETRIEVER_KINDS.of(definition).run(task), QUERIES)
        return {str(qid): rows["docno"].to_list() for (qid,), rows in found.group_by("qid", maintain_order=True)}

    return made


def run_of(docnos: list[str]) -> pl.DataFrame:
    rows = [(qid, docno, rank, -float(rank)) for qid in QUERIES["qid"] for rank, docno in enumerate(docnos, 1)]
    return pl.DataFrame(rows, schema=["qid", "docno", "rank", "score"], orient="row")


@pytest.mark.parametrize("definition", [GRADED, POSITION, REL], ids=lambda one: one["kind"])
def test_without_the_key_a_ranking_is_as_before(definition: dict[str, Any], rankings: Rankings) -> None:
    without = rankings(definition)
    assert set().union(*without.values()) <= set(TEXTS)
    for filler in ("random", "nothing"):
        other = rankings({**definition, "filler": filler})
        for qid, docnos in without.items():
            drawn = [docno for docno in docnos if LABELS[qid, docno] >= 2]
            assert [docno for docno in other.get(qid, drawn) if docno in TEXTS] == drawn, "the same relevant ones"


def test_nothing_leaves_the_dose_alone(rankings: Rankings) -> None:
    assert {len(docnos) for docnos in rankings({**GRADED, "filler": "nothing"}).values()} == {2}
    assert rankings({**REL, "filler": "nothing"}) == rankings(REL)
    assert rankings({**POSITION, "filler": "nothing"}) == {}, "no third place without passages before it"


def test_random_passages_have_no_judgement_and_are_each_querys_own(rankings: Rankings) -> None:
    found = rankings({**GRADED, "filler": "random"})
    for qid, docnos in found.items():
        assert len(docnos) == len(set(docnos)) > 20
        assert not {docno for docno in docnos[2:] if (qid, docno) in LABELS}
    assert len({tuple(docnos[2:9]) for docnos in found.values()}) == len(found) > 1
    assert found == rankings({**GRADED, "filler": "random"}) != rankings({**GRADED, "filler": "random", "seed": 1})


def test_unjudged_passages_come_from_the_end_of_a_ranking(rankings: Rankings) -> None:
    judged = [docno for _, docno in LABELS][:3]
    run = run_of(["x01", *judged, "x02", "lost", "x03"])
    found = rankings({**POSITION, "filler": "unjudged", "ranking": "bm25"}, run)
    for qid, docnos in found.items():
        assert docnos[:2] == ["x03", "x02"] and LABELS[qid, docnos[2]] >= 2 and docnos[3:] == ["x01"]
    assert needed(["d"], {"d": {**GRADED, "filler": "unjudged", "ranking": "b"}, "b": REL}) == ["b", "d"]


def test_an_oracle_goes_on_with_fillers(rankings: Rankings) -> None:
    rel = rankings(REL)
    assert rankings({**REL, "filler": "unjudged", "ranking": "bm25"}, run_of(["x01", "x02"])) == {
        qid: [*docnos, "x02", "x01"] for qid, docnos in rel.items()
    }


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.gz"])
def test_passages_that_the_collection_lacks_fill(name: str, rankings: Rankings, corpus: LocalCollection) -> None:
    lines = [{"doc_id": f"p{place}", "text": f"poison {place}"} for place in range(5)]
    file = write_passages(corpus.path / name, [*lines, {"doc_id": 9, "qid": "q1", "text": "of one query"}])
    definition = {**GRADED, "filler": "file", "passages": str(file)}
    found = rankings(definition, passages=file)
    for qid, docnos in found.items():
        assert [LABELS[qid, docno] >= 2 for docno in docnos[:2]] == [True, True]
        assert sorted(docnos[2:]) == [*(["9"] if qid == "q1" else []), "p0", "p1", "p2", "p3", "p4"]
    assert len({tuple(docnos[2:]) for docnos in found.values()}) > 1, "each query's own order"
    run = build_run(corpus, QUERIES, QRELS, definition, passages=[file])
    whole = with_brought(corpus, read_brought([file]))
    contexts, skipped = build_contexts(run, QRELS, whole, 4, "here")
    assert skipped.is_empty() and len(contexts) == 4 * len(QUERIES)
    third = contexts.filter(rank=3)
    assert third["label"].null_count() == len(third), "they are not judged"
    assert set(third["text"].str.head(6)) <= {"poison", "of one"}
    assert build_contexts(run, QRELS, corpus, 4, "here")[1].height, "without the file, they have no text"


def test_passages_for_queries_of_another_dataset_are_refused(rankings: Rankings, corpus: LocalCollection) -> None:
    file = write_passages(corpus.path / "mine.jsonl", [{"doc_id": "p0", "text": "poison", "qid": "Q1"}])
    with pytest.raises(InputError, match=r"mine\.jsonl: found none of the dataset's qids \(first qid: 'Q1'\)"):
        rankings({**GRADED, "filler": "file", "passages": str(file)}, passages=file)


def test_a_run_may_list_passages_that_the_collection_lacks(corpus: LocalCollection, tmp_path: Path) -> None:
    file = write_passages(tmp_path / "mine.jsonl", [{"doc_id": "p0", "text": "poison"}])
    run = tmp_path / "mine.run"
    run.write_text("q0 Q0 p0 1 2 x\nq0 Q0 d01 2 1 x\n")
    definition = {"kind": "run", "path": str(run), "passages": str(file)}
    found = build_run(corpus, QUERIES, QRELS, definition, runs=[run], passages=[file])
    contexts, _ = build_contexts(found, QRELS, with_brought(corpus, read_brought([file])), 2, "here")
    assert contexts.select("docno", "text", "label").rows() == [("p0", "poison", None), ("d01", "text 1", 1)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"doc_id": "d01", "text": "x"}], "mine.jsonl: found docno 'd01', which is also in the collection"),
        ([{"doc_id": "p", "text": "x"}, {"doc_id": "p", "text": "y"}], r"line 2: found duplicate doc_id 'p' \("),
        ([{"doc_id": "p", "text": "x", "qid": ["q0"]}], r"line 1: found qid \['q0'\]"),
        ([{"docno": "p", "text": "x"}], "line 1: found no text value for key 'doc_id'"),
        ([{"doc_id": "p", "text": " "}], "mine.jsonl: found no passages with text"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(
    lines: list[dict[str, Any]], message: str, corpus: LocalCollection
) -> None:
    file = write_passages(corpus.path / "mine.jsonl", lines)
    with pytest.raises(InputError, match=message):
        with_brought(corpus, read_brought([file]))


def test_two_files_agree_on_a_text(corpus: LocalCollection) -> None:
    files = [write_passages(corpus.path / f"{text}.jsonl", [{"doc_id": "p", "text": text}]) for text in "xyx"]
    assert with_brought(corpus, read_brought([files[0], files[2]])).texts(["p", "d01"]) == {"p": "x", "d01": "text 1"}
    with pytest.raises(InputError, match=r"y\.jsonl: found docno 'p' with two texts in two files"):
        with_brought(corpus, read_brought(files))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"filler": "unjudged"},
            "retrievers.d.ranking': found no value, although filler is 'unjudged'; expected a retriever",
        ),
        (
            {"filler": "random", "ranking": "bm25"},
            "retrievers.d.ranking': found 'bm25', although filler is 'random'; expected no value",
        ),
        ({"ranking": "bm25"}, "retrievers.d.ranking': found 'bm25', although filler is not set; expected no value"),
        ({"filler": "unjudged", "ranking": "bm52"}, "retrievers.d.ranking': found 'bm52'; expected one of"),
        ({"filler": "judged"}, "retrievers.d.filler': found 'judged'; expected one of unjudged, random, file, nothing"),
        ({"filler": "file"}, "retrievers.d.passages': found no value, although filler is 'file'; expected a file"),
        ({"passages": "p.jsonl"}, "retrievers.d.passages': found 'p.jsonl', although filler is not set; expected no"),
        ({"filler": "file", "passages": "no.jsonl"}, "retrievers.d.passages': found no file .*no.jsonl; expected a"),
    ],
)
def test_what_cannot_fill_is_refused(config: dict[str, Any], tmp_path: Any, keys: Any, message: str) -> None:
    config["retrievers"]["d"] = {"kind": "graded", "min_label": 2, "relevant": 1, **keys}
    config["grid"]["retrievers"] = ["bm25", "d"]
    with pytest.raises(InputError, match=message):
        study_of(config, tmp_path)
