"""Indexes: built once per corpus and settings, whole or not at all."""

import json
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.base import Collection
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.indexes import index_corpus, index_name, opened_index
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask

from tests.unit.conftest import PASSAGES

BM25 = {"kind": "bm25", "engine": "pisa", "k1": 0.9, "b": 0.4, "stemmer": "porter2", "stopwords": "terrier", "depth": 9}
PISA = {"index": "pisa", "stemmer": "porter2", "stopwords": "terrier"}


class FakeBuilder:
    """Writes one file a call into the index's folder, and counts the calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.fails: type[BaseException] | None = None
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self, collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
        self.calls += 1
        path.mkdir(parents=True)
        (path / "postings").write_text(f"build {self.calls}")
        self.meanwhile()
        if self.fails:
            raise self.fails


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> FakeBuilder:
    fake = FakeBuilder()
    for kind in ("bm25", "dense"):
        monkeypatch.setattr(RETRIEVER_KINDS[kind], "build_index", fake)
    return fake


def test_reused(builder: FakeBuilder, write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    receipt = index_corpus(LocalCollection(write_dataset("a")), "bm25", PISA, cache, 1)
    again = index_corpus(LocalCollection(write_dataset("b", queries={"q7": "other"})), "bm25", PISA, cache, 2)
    assert builder.calls == 1
    assert {**receipt, "seconds": 0} == {**again, "seconds": 0}
    assert (cache / receipt["path"] / "postings").read_text() == "build 1"
    assert receipt["definition"] == PISA and str(receipt["corpus"]).startswith("passages:")
    assert receipt["passages"] == len(list(LocalCollection(write_dataset("c")).passages()))
    assert not Path(receipt["path"]).is_absolute()


def test_another_corpus_or_setting_is_another_index(
    builder: FakeBuilder, write_dataset: Callable[..., Path], tmp_path: Path
) -> None:
    one = LocalCollection(write_dataset("a"))
    other = LocalCollection(write_dataset("b", passages={**PASSAGES, "d1": "changed"}))
    krovetz = {**PISA, "stemmer": "krovetz"}
    paths = {index_corpus(corpus, "bm25", PISA, tmp_path / "c", 1)["path"] for corpus in (one, other)}
    paths.add(index_corpus(one, "bm25", krovetz, tmp_path / "c", 1)["path"])
    assert len(paths) == 3 and builder.calls == 3


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_half_built(
    builder: FakeBuilder, write_dataset: Callable[..., Path], tmp_path: Path, error: type[BaseException]
) -> None:
    collection, builder.fails = LocalCollection(write_dataset()), error
    with pytest.raises(error):
        index_corpus(collection, "bm25", PISA, tmp_path / "cache", 1)
    assert list((tmp_path / "cache/indexes").iterdir()) == []
    builder.fails = None
    receipt = index_corpus(collection, "bm25", PISA, tmp_path / "cache", 1)
    assert (tmp_path / "cache" / receipt["path"] / "postings").read_text() == "build 2"


def test_unseen_while_it_is_built(builder: FakeBuilder, write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    seen: list[str] = []
    builder.meanwhile = lambda: seen.extend(p.name for p in (tmp_path / "cache/indexes").iterdir())
    receipt = index_corpus(LocalCollection(write_dataset()), "bm25", PISA, tmp_path / "cache", 1)
    assert len(seen) == 1 and seen[0].startswith(".tmp-")
    assert [p.name for p in (tmp_path / "cache/indexes").iterdir()] == [Path(receipt["path"]).name]


def test_two_jobs_at_once(builder: FakeBuilder, write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    """Both build; the first to rename wins, the other takes that index and leaves nothing behind."""
    collections = [LocalCollection(write_dataset(name)) for name in "ab"]
    both = threading.Barrier(2, timeout=240)
    builder.meanwhile = lambda: both.wait() and None
    receipts: list[dict[str, Any]] = []

    def build(collection: Collection) -> None:
        receipts.append(index_corpus(collection, "bm25", PISA, tmp_path / "cache", 1))

    jobs = [threading.Thread(target=build, args=(collection,)) for collection in collections]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert builder.calls == 2 and len(receipts) == 2 and receipts[0]["path"] == receipts[1]["path"]
    assert len(list((tmp_path / "cache/indexes").iterdir())) == 1


def test_definition_leaves_out_what_does_not_decide_the_index() -> None:
    def index_definition(retriever: dict[str, Any]) -> dict[str, Any] | None:
        return RETRIEVER_KINDS.of(retriever).index_definition()

    assert index_definition(BM25) == PISA == index_definition({**BM25, "k1": 1.2, "b": 0.75, "depth": 5})
    assert index_definition({**BM25, "stemmer": "none"}) != PISA
    of_dense = {"model": "m", "encoder": "tas_b", "passage_prefix": "p", "batch_size": 8}
    dense = {"kind": "dense", "query_prefix": "q", "depth": 9, **of_dense}
    assert index_definition(dense) == {"index": "dense", **of_dense}
    assert index_definition({"kind": "pyterrier", "pipeline": "m:f", "code": {"pipeline": "1"}}) is None
    assert index_definition({"kind": "oracle", "min_label": 2}) is None
    assert index_definition({"kind": "run", "path": "x"}) is None


def test_names() -> None:
    names = {index_name(d) for d in (PISA, {**PISA, "stemmer": "none"}, {"index": "dense", "model": "a/b"})}
    assert len(names) == 3 and all("/" not in name for name in names)
    assert sum(name.startswith("pisa-") for name in names) == 2


def test_dense_index_follows_the_models_weights(
    builder: FakeBuilder, write_dataset: Callable[..., Path], tmp_path: Path
) -> None:
    model, collection = tmp_path / "deep/models/encoder", LocalCollection(write_dataset())
    model.mkdir(parents=True)
    (model / "model.safetensors").write_text("one")
    definition = {"index": "dense", "model": str(model)}
    first = index_corpus(collection, "dense", definition, tmp_path / "cache", 1)["path"]
    assert index_corpus(collection, "dense", definition, tmp_path / "cache", 1)["path"] == first
    (model / "model.safetensors").write_text("two")
    assert index_corpus(collection, "dense", definition, tmp_path / "cache", 1)["path"] != first


class Built:
    """A real PISA index in a cache, with its receipt."""

    def __init__(self, folder: Path, dataset: Path) -> None:
        self.cache, self.receipt, self.collection = folder / "cache", folder / "receipt.json", LocalCollection(dataset)
        self.receipt.write_text(json.dumps(index_corpus(self.collection, "bm25", PISA, self.cache, 1)))
        self.path = self.cache / json.loads(self.receipt.read_text())["path"]

    def opened(self) -> Path:
        return opened_index(self.receipt, self.collection, "bm25", self.cache, 1)

    def content(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.path.iterdir()}


@pytest.fixture
def built(write_dataset: Callable[..., Path], tmp_path: Path) -> Built:
    return Built(tmp_path, write_dataset())


@pytest.mark.parametrize("harm", ["bit", "cut", "file gone", "gone"])
@pytest.mark.parametrize("by", ["a run", "the job of the index"])
def test_a_damaged_index_is_built_again(built: Built, harm: str, by: str, caplog: pytest.LogCaptureFixture) -> None:
    largest = max(built.path.glob("inv*"), key=lambda path: path.stat().st_size)
    before, content = built.content(), largest.read_bytes()
    if harm == "bit":
        largest.write_bytes(content[:5] + bytes([content[5] ^ 1]) + content[6:])
    elif harm == "cut":
        largest.write_bytes(content[:-1])
    elif harm == "file gone":
        largest.unlink()
    else:
        shutil.rmtree(built.path)
    if by == "a run":
        assert built.opened() == built.path
    else:
        index_corpus(built.collection, "bm25", PISA, built.cache, 1)
    assert built.content() == before
    assert (f"{built.path}: rebuilding the damaged index" in caplog.text) == (harm != "gone")
    assert [path.name for path in built.path.parent.iterdir()] == [built.path.name]


def test_a_search_leaves_the_index_as_it_was(built: Built, caplog: pytest.LogCaptureFixture) -> None:
    queries = pl.DataFrame({"qid": ["q1"], "query": ["goldfish"]})
    before = built.content()
    RETRIEVER_KINDS.of(BM25).run(RunTask(queries, pl.DataFrame(), built.collection, built.opened()))
    assert built.content() == before
    built.opened()
    assert caplog.text == ""


def test_an_index_made_before_hashes_serves_and_is_named(built: Built, caplog: pytest.LogCaptureFixture) -> None:
    known = (built.path / "hashes.json").read_bytes()
    (built.path / "hashes.json").unlink()
    assert built.opened() == built.path
    assert f"{built.path}: an older version stored no hashes" in caplog.text
    assert (built.path / "hashes.json").read_bytes() == known


def test_a_receipt_of_another_corpus(built: Built, write_dataset: Callable[..., Path]) -> None:
    shutil.rmtree(built.path)
    built.collection = LocalCollection(write_dataset("other", passages={**PASSAGES, "d1": "changed"}))
    with pytest.raises(
        InputError,
        match=r"receipt.json: found index indexes/\w+; expected indexes/\w+, the index",
    ):
        built.opened()
