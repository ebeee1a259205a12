"""Terrier itself on a tiny collection: BM25 against the formula, its expansions, and errors without Java."""

import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.support.indexes import built_index
from tests.support.sandbox import ROOT
from tests.support.terrier_jars import needs_terrier, pyterrier_home
from tests.unit.conftest import DEMO, PASSAGES, QUERIES

pytestmark = pytest.mark.engine

TERRIER = RETRIEVER_KINDS.completed({"kind": "bm25", "engine": "terrier", "stopwords": "terrier", "depth": 1000})
PLAIN = {**TERRIER, "stemmer": "none", "stopwords": "none"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """PyTerrier's home in a folder of this run's own, for the one Java that a process can have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTERRIER_HOME", str(pyterrier_home(tmp_path_factory.mktemp("pyterrier") / "home")))
        yield


@pytest.fixture
def search(home: None, write_dataset: Callable[..., Path], tmp_path: Path) -> Callable[..., pl.DataFrame]:
    """A function from a definition and queries to a run over the small collection, or that of another folder."""
    small = write_dataset()

    def run(definition: dict[str, Any], queries: dict[str, str] = QUERIES, folder: Path = small) -> pl.DataFrame:
        collection = LocalCollection(folder)
        index = built_index(collection, definition, tmp_path / "cache")
        asked = pl.DataFrame({"qid": list(queries), "query": list(queries.values())})
        return build_run(collection, asked, pl.DataFrame(), definition, index=index)

    return run


def bm25_by_hand(query: str, k1: float, b: float, k3: float = 8.0) -> dict[str, float]:
    """Robertson's BM25 as Terrier has it: idf to base 2, a query's counts over the largest, saturated by k3."""
    words = {docno: Counter(text.split()) for docno, text in PASSAGES.items()}
    lengths = {docno: sum(counts.values()) for docno, counts in words.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    counts_asked = Counter(query.split())
    for word, count in counts_asked.items():
        asked = count / max(counts_asked.values())
        have = [docno for docno in words if word in words[docno]]
        idf = math.log2((len(words) - len(have) + 0.5) / (len(have) + 0.5))
        for docno in have:
            tf = words[docno][word]
            norm = k1 * (1 - b + b * lengths[docno] / mean)
            weight = (k1 + 1) * tf / (tf + norm) * (k3 + 1) * asked / (k3 + asked)
            scores[docno] = scores.get(docno, 0.0) + idf * weight
    return scores


@needs_terrier
@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2.0, 0.0)])
def test_scores_are_bm25(search: Callable[..., pl.DataFrame], k1: float, b: float) -> None:
    queries = {"a": "tea hills", "b": "blood arteries", "c": "computer", "d": "well well sea"}
    run = search({**PLAIN, "k1": k1, "b": b}, queries)
    for qid, query in queries.items():
        found = dict(run.filter(qid=qid).select("docno", "score").iter_rows())
        assert found == pytest.approx(bm25_by_hand(query, k1, b), rel=1e-4), qid


@needs_terrier
def test_stems_and_stops_as_told(search: Callable[..., pl.DataFrame]) -> None:
    assert set(search(TERRIER, {"q": "the pumping"})["docno"]) == {"d1", "d2"}
    assert set(search(PLAIN, {"q": "the pumps"})["docno"]) >= {"d1", "d3", "d4", "d5"}, "the is a word here"
    assert search(TERRIER)["qid"].unique(maintain_order=True).to_list() == list(QUERIES)
    assert search(TERRIER).filter(rank=1)["docno"].to_list() == ["d1", "d3", "d5"]
    assert len(search({**TERRIER, "depth": 1})) == len(QUERIES)


@needs_terrier
def test_queries_as_people_write_them(search: Callable[..., pl.DataFrame]) -> None:
    """No operator of its query language works, and a query without matches gives no result and no error."""
    asked = {
        "a": 'how to: tea?! (hills): "rain" +sea -a/b ~c^2 [x] {y} | \\ #combine(d) wmodel:PL2 applypipeline:off',
        "b": "TEA hills rain sea",
        "c": "the of " * 20,
        "d": "xyzzy é 茶",
        "e": "?!",
    }
    run = search(TERRIER, asked)
    assert run["qid"].unique(maintain_order=True).to_list() == ["a", "b"]
    ranking = {qid: run.filter(qid=qid).select("docno", "score").rows() for qid in "ab"}
    assert ranking["a"] == ranking["b"] and ranking["a"][0][0] == "d3"


@needs_terrier
def test_other_scripts_are_refused_and_found_by_a_pipeline_with_its_tokeniser_utf(
    search: Callable[..., pl.DataFrame],
    write_dataset: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The pipeline is the one of docs/add-a-retriever.md."""
    texts = {"d1": "Чай делают из листьев", "d2": "Το τσάι", "d3": "الشاي من الأوراق", "d4": "Trà được làm từ lá"}
    queries = {"q1": "чай", "q2": "ΤΣΆΙ", "q3": "الشاي", "q4": "được"}
    folder = write_dataset("foreign", passages=texts)
    with pytest.raises(InputError, match=r"kind bm25 with engine terrier: found passages with 64% .*tokeniser utf"):
        search(TERRIER, queries, folder)
    with pytest.raises(InputError, match="found queries with 75% of the words without any letter"):
        search(TERRIER, queries)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/add-a-retriever.md").read_text(encoding="utf-8")
    Path("my_languages.py").write_text(page.partition("# my_languages.py\n")[2].partition("```")[0])
    pipeline = {"kind": "pyterrier", "pipeline": "my_languages:bm25_utf", "index": "my_languages:build"}
    run = search(RETRIEVER_KINDS.completed({**pipeline, "depth": 10, "options": {}}), queries, folder)
    assert run.select("qid", "docno").rows() == list(zip(queries, texts, strict=True))


@needs_terrier
@pytest.mark.parametrize("expansion", ["rm3", "bo1", "kl"])
def test_expansion_finds_what_the_query_does_not_say(search: Callable[..., pl.DataFrame], expansion: str) -> None:
    """Terms of one passage about the query lead to others of the demo that share no word with the query."""
    asked = {"q": "tea leaves"}
    plain = search(TERRIER, asked, DEMO)
    expanded = RETRIEVER_KINDS.completed({**TERRIER, "expansion": expansion, "feedback_passages": 2})
    run = search(expanded, asked, DEMO)
    assert set(plain["docno"]) < set(run["docno"])
    fewer = search({**expanded, "feedback_terms": 2}, asked, DEMO)
    assert set(plain["docno"]) <= set(fewer["docno"]) < set(run["docno"])
    more = search({**expanded, "feedback_passages": 5}, asked, DEMO)
    assert not more.equals(run)


@needs_terrier
def test_rm3_weighs_the_original_query(search: Callable[..., pl.DataFrame]) -> None:
    rm3, asked = RETRIEVER_KINDS.completed({**TERRIER, "expansion": "rm3"}), {"q": "tea leaves"}
    plain = search(TERRIER, asked, DEMO)["docno"].to_list()
    whole, light = (search({**rm3, "original_weight": weight}, asked, DEMO)["docno"].to_list() for weight in (1.0, 0.1))
    assert whole[: len(plain)] == plain != light[: len(plain)]


@needs_terrier
def test_index_is_left_alone(search: Callable[..., pl.DataFrame], tmp_path: Path) -> None:
    first = search(TERRIER)
    (index,) = (tmp_path / "cache/indexes").iterdir()
    before = {path.name: path.read_bytes() for path in index.iterdir()}
    search(RETRIEVER_KINDS.completed({**TERRIER, "expansion": "rm3"}))
    assert {path.name: path.read_bytes() for path in index.iterdir()} == before
    assert search(TERRIER).equals(first)


@needs_terrier
def test_docno_too_long(home: None, write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    collection = LocalCollection(write_dataset(passages={"é" * 33: "text"}))
    with pytest.raises(InputError, match="too many bytes for Terrier; expected at most 64 bytes"):
        built_index(collection, TERRIER, tmp_path / "cache")
    assert list((tmp_path / "cache/indexes").iterdir()) == []


@pytest.mark.parametrize("lacking", ["jars", "java"])
def test_error_without_java_or_jars(lacking: str, tmp_path: Path) -> None:
    """It runs in its own process, since Java starts once, and offline, since PyTerrier would fetch the jars."""
    code = (
        "import pyterrier as pt; pt.java.mavenresolver.offline();"
        "from ragrelay.retrieval.terrier import started; started()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts"), "PYTERRIER_HOME": str(tmp_path)}
    if lacking == "java":
        environment |= {"PATH": str(tmp_path), "JAVA_HOME": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ragrelay.base.errors.InputError: retriever with engine terrier: found"), done.stderr
    assert "expected Java 11 or newer, and Terrier 5.11 in" in last
