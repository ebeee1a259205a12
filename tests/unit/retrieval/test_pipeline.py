"""Pipelines that a user writes: found by import, given corpus, index and options, run by PyTerrier."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.retrieval.trec import RUN, ranked, write_run

from tests.support.indexes import built_index
from tests.unit.conftest import QUERIES

MODULE = """
import pyterrier as pt
from pyterrier_pisa import PisaIndex

def build(corpus, folder):
    PisaIndex(str(folder / "pisa"), text_field="text", stemmer="none", stops="none").index(corpus.passages())

def quantum(corpus, index, results=10):
    return PisaIndex(str(index / "pisa")).pl2(num_results=results)

def by_length(corpus, index, sign=1):
    return pt.apply.doc_score(lambda row: sign * float(len(row["text"])))

def compressed(corpus, index, words=2):
    return pt.apply.generic(lambda frame: frame.assign(text=[" ".join(t.split()[:words]) for t in frame["text"]]))

def with_text(corpus, index, fewer=False):
    texts = {passage["docno"]: passage["text"] for passage in corpus.passages()}
    text_of = lambda docno: texts[docno].split()[0] if fewer else " " + texts[docno]
    ranking = quantum(corpus, index)
    return ranking >> pt.apply.generic(lambda frame: frame.assign(text=[text_of(docno) for docno in frame["docno"]]))

def reversed_ranks(corpus, index, scored=False):
    return pt.apply.generic(
        lambda frame: frame.assign(rank=-frame["rank"], score=frame["rank"] if scored else frame["score"])
    )

def nothing(corpus, index):
    return "a pipeline"

def unscored(corpus, index):
    return pt.apply.generic(lambda frame: frame.drop(columns=["score"], errors="ignore"), required_columns=["qid"])
"""


@pytest.fixture
def run(
    write_dataset: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[..., pl.DataFrame]:
    """A function from a definition to its run, in a folder with a module of pipelines under a name of its own."""
    collection = LocalCollection(write_dataset())
    queries = collection.queries()
    monkeypatch.chdir(tmp_path)
    module = f"pipelines_{abs(hash(request.node.name))}"
    Path(f"{module}.py").write_text(MODULE)

    def build(pipeline: str, first: list[Any] | None = None, **more: Any) -> pl.DataFrame:
        given = {"kind": "pyterrier", "pipeline": f"{module}:{pipeline}", "depth": 1000, "options": {}, **more}
        if "index" in given:
            given["index"] = f"{module}:{given['index']}"
        definition = RETRIEVER_KINDS.completed(given)
        index = built_index(collection, definition, Path("cache"))
        runs = [tmp_path / "first.run.gz"] if first else []
        if first:
            write_run(ranked(pl.DataFrame(first, schema=RUN, orient="row"), queries), runs[0], tag="first")
        return build_run(collection, queries, pl.DataFrame(), definition, index=index, runs=runs)

    return build


def test_index_of_its_own(run: Callable[..., pl.DataFrame], tmp_path: Path) -> None:
    found = run("quantum", index="build")
    assert found.filter(rank=1)["docno"].to_list()[:2] == ["d1", "d3"]
    few = run("quantum", index="build", options={"results": 1})
    assert few.height == len(QUERIES), "options reach the function"
    assert len(list((tmp_path / "cache/indexes").iterdir())) == 1, "built once"


def test_over_a_first_stage(run: Callable[..., pl.DataFrame]) -> None:
    first = [(qid, docno, 9.0 - i) for qid in QUERIES for i, docno in enumerate(["d6", "gone", "d1", "d5", "d2"])]
    found = run("by_length", first, first_stage="any")
    assert found.filter(qid="q1")["docno"].to_list() == ["d5", "d1", "d2", "d6"]
    turned = run("by_length", first, first_stage="any", depth=3, options={"sign": -1})
    assert turned.filter(qid="q1")["docno"].to_list() == ["d6", "d1"], "of the first three, one has no text"


def test_other_texts_than_the_collections(run: Callable[..., pl.DataFrame]) -> None:
    """Prompts have the collection's, so that a compressor would change nothing but its name on the page."""
    first = [(qid, docno, 9.0 - i) for qid in QUERIES for i, docno in enumerate(["d6", "d1"])]
    expected = "texts of 2 of 2 passages that differ from the collection's, such as 'd6'; expected the collection's"
    with pytest.raises(InputError, match=expected):
        run("compressed", first, first_stage="any")
    whole = run("compressed", first, first_stage="any", options={"words": 999})
    assert whole["docno"].to_list() == [docno for _, docno, _ in first], "blanks may differ"
    with pytest.raises(InputError, match=r"texts of [2-9] of [2-9] passages that differ"):
        run("with_text", index="build", options={"fewer": True})
    assert run("with_text", index="build").equals(run("quantum", index="build"))


def test_other_ranks_with_the_old_scores(run: Callable[..., pl.DataFrame]) -> None:
    """Scores count, so that such a reranking would be the first stage's run."""
    first = [(qid, docno, 9.0 - i) for qid in QUERIES for i, docno in enumerate(["d6", "d1"])]
    with pytest.raises(InputError, match="new ranks with the first stage's scores; expected scores that fall"):
        run("reversed_ranks", first, first_stage="any")
    turned = run("reversed_ranks", first, first_stage="any", options={"scored": True})
    assert turned.filter(qid="q1")["docno"].to_list() == ["d1", "d6"]


def test_wrong_pipelines(run: Callable[..., pl.DataFrame]) -> None:
    with pytest.raises(InputError, match="found a return value of type str; expected a PyTerrier transformer"):
        run("nothing")
    with pytest.raises(InputError, match="found results without docno, score; expected columns qid, docno and score"):
        run("unscored")
    with pytest.raises(InputError, match="found no function 'absent'"):
        run("absent")


def test_an_edit_is_a_change(run: Callable[..., pl.DataFrame], tmp_path: Path) -> None:
    (path,) = tmp_path.glob("pipelines_*.py")
    given = {"kind": "pyterrier", "pipeline": f"{path.stem}:quantum", "index": f"{path.stem}:build"}
    before = RETRIEVER_KINDS.completed(given)
    path.write_text(MODULE.replace("results=10", "results=20"))
    after = RETRIEVER_KINDS.completed(given)
    assert before["code"] != after["code"]
    assert RETRIEVER_KINDS.of(before).index_definition() != RETRIEVER_KINDS.of(after).index_definition()
