"""ir_datasets' catalogue: a small set in its own registry, with files in its home folder, read by its real code."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.collection import open_collection
from ragrelay.collection.base import QRELS, QUERIES
from ragrelay.collection.catalogued import IrDatasetsCollection, corpus_id, first_use, is_catalogued
from ragrelay.collection.prepare import prepare_collection, prepare_references
from ragrelay.collection.source import DATASET_KINDS

from tests.support.sandbox import ROOT

GRADES = {"lenient": 2, "strict": 3}
DOCS = "d1\tTea\tis a leaf\nd2\t\t\nd3\t\train falls\n"


class Doc(NamedTuple):
    """A document with a title, as many catalogued corpora have them."""

    doc_id: str
    title: str
    body: str

    def default_text(self) -> str:
        return f"{self.title} {self.body}".strip()


class Question(NamedTuple):
    """A query with gold answers, as those of dpr-w100 are."""

    query_id: str
    text: str
    answers: tuple[str, ...]

    def default_text(self) -> str:
        return self.text


@pytest.fixture
def catalogued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The id of a query set over a small corpus; its sibling ``/two`` lacks judgements, ``/three`` has gold answers."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseQueries, TrecQrels, TsvDocs, TsvQueries
    from ir_datasets.util import LocalDownload

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    home = ir_datasets.util.home_path() / "ragrelay-test"
    home.mkdir()
    (home / "docs.tsv").write_text(DOCS)
    (home / "queries.tsv").write_text("7\t what is tea \n3\twhy rain\n")
    (home / "qrels").write_text("7 0 d1 1\n3 0 d3 2\n7 0 d1 3\n")

    class Questions(BaseQueries):
        def queries_iter(self) -> Iterator[Question]:
            yield Question("7", "what is tea", ("a leaf", "a drink"))
            yield Question("3", "why rain", ())

        def queries_cls(self) -> type:
            return Question

    docs = TsvDocs(LocalDownload(home / "docs.tsv"), doc_cls=Doc)
    queries, qrels = TsvQueries(LocalDownload(home / "queries.tsv")), TrecQrels(LocalDownload(home / "qrels"), {})
    names: dict[str, Any] = {
        "ragrelay-test": Dataset(docs),
        "ragrelay-test/one": Dataset(docs, queries, qrels),
        "ragrelay-test/two": Dataset(docs, queries),
        "ragrelay-test/three": Dataset(docs, Questions(), qrels),
    }
    for name, dataset in names.items():
        ir_datasets.registry.register(name, dataset)
    yield "ragrelay-test/one"
    for name in names:
        del ir_datasets.registry._registered[name]


def test_catalogued(catalogued: str) -> None:
    collection = open_collection({"source": "ir_datasets", "id": catalogued, "references": {}})
    assert isinstance(collection, IrDatasetsCollection)
    assert collection.queries().rows() == [("7", "what is tea"), ("3", "why rain")]
    assert sorted(collection.qrels().rows()) == [("3", "d3", 2), ("7", "d1", 3)], "the last judgement of a pair counts"
    assert [passage["docno"] for passage in collection.passages()] == ["d1", "d2", "d3"]
    assert collection.texts(["d1", "d2", "d9"]) == {"d1": "Tea is a leaf"}
    assert dict(collection.queries().schema) == QUERIES and dict(collection.qrels().schema) == QRELS


@pytest.mark.parametrize(
    ("file", "content", "part", "found"),
    [
        ("queries.tsv", "7\u200b\twhat\n", "queries", r"queries: found .*, in which character 2 is U\+200B"),
        ("queries.tsv", "7 8\twhat\n", "queries", r"queries: found qid '7 8'; expected a qid without whitespace"),
        ("queries.tsv", "7\twhat\n8\t \n", "queries", "queries: found no text for qid '8'; expected a text for"),
        ("queries.tsv", "8\t\u200b\n", "queries", "queries: found no text for qid '8'; expected a text for each query"),
        ("queries.tsv", "7\twhat\x00 is\n", "queries", r"query 7: found U\+0000 at character 5 of the text"),
        ("queries.tsv", "7\twhat\x1b[2J\n", "queries", r"query 7: found U\+001B at character 5 of the text"),
        ("qrels", "7\x00 0 d1 1\n", "qrels", r"qrels: found qid '7\\x00', in which character 2 is U\+0000"),
        ("qrels", "7 0 d1\u2060 1\n", "qrels", r"qrels: found docno 'd1\\u2060', in which character 3 is U\+2060"),
        ("docs.tsv", "d1\u00ad\tTea\tleaf\n", "passages", r"docs: found .*, in which character 3 is U\+00AD"),
        ("docs.tsv", "d1\tTea\tle\x00af\n", "passages", r"doc d1: found U\+0000 at character 7 of the text"),
        ("docs.tsv", "d1\tTea\tle\x00af\n", "texts", r"doc d1: found U\+0000 at character 7 of the text"),
    ],
)
def test_characters_that_nobody_sees(
    catalogued: str, tmp_path: Path, file: str, content: str, part: str, found: str
) -> None:
    """The rules are those of local files: none in ids, no control characters in queries, no NUL in any text."""
    (tmp_path / "home/ragrelay-test" / file).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"^ir_datasets {catalogued}, {found}"):
        PARTS[part](IrDatasetsCollection(catalogued))


def test_characters_that_texts_keep(catalogued: str, tmp_path: Path) -> None:
    """Texts with them are counted; a passage of them alone has no text."""
    home = tmp_path / "home/ragrelay-test"
    (home / "queries.tsv").write_text("7\twhat\u200dis\n3\twhy rain\n", encoding="utf-8")
    (home / "docs.tsv").write_text("d1\tTe\x07a\tso\u00adft\nd3\t\u200b\t\ufeff\n", encoding="utf-8")
    (home / "qrels").write_text("7 0 d1 2\n3 0 d3 2\n")
    queries, _, left_out = prepare_collection(IrDatasetsCollection(catalogued), "x")
    counts = {row["what"]: row["count"] for row in left_out if row["count"]}
    assert queries["query"].to_list() == ["what\u200dis", "why rain"]
    assert counts == {
        "queries with unprintable characters (kept as they are)": 1,
        "queries with zero-width characters (kept as they are)": 1,
        "passages with unprintable characters (kept as they are)": 1,
        "passages with zero-width characters (kept as they are)": 1,
        "judged passages without text": 1,
    }


def test_a_gold_answer_with_nul(catalogued: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import ir_datasets

    bad = [Question("7", "what is tea", ("a leaf", "a\x00drink"))]
    monkeypatch.setattr(ir_datasets.load("ragrelay-test/three"), "queries_iter", lambda: iter(bad))
    with pytest.raises(InputError, match=r"three, answers of query 7: found U\+0000 at character 2 of the text"):
        IrDatasetsCollection("ragrelay-test/three").queries()


def test_prepared_like_any_other(catalogued: str) -> None:
    collection = IrDatasetsCollection(catalogued)
    queries, qrels, _ = prepare_collection(collection, "x")
    references, _ = prepare_references(collection, queries, qrels, GRADES, "x")
    assert references.rows() == [("7", "d1", 3, "Tea is a leaf"), ("3", "d3", 2, "rain falls")]


def test_gold_answers(catalogued: str) -> None:
    queries, *_ = prepare_collection(IrDatasetsCollection("ragrelay-test/three"), "x")
    assert queries.rows() == [("7", "what is tea", ["a leaf", "a drink"]), ("3", "why rain", [])]


def test_gold_answers_brought_along(catalogued: str, tmp_path: Path) -> None:
    """A file gives them to queries without any in the catalogue; where the catalogue has some, it is refused."""
    (tmp_path / "gold.jsonl").write_text('{"qid": "3", "answers": ["clouds"]}\n')
    definition = {"source": "ir_datasets", "id": catalogued, "references": {}, "answers": "gold.jsonl"}
    assert open_collection(definition, tmp_path).queries()["answers"].to_list() == [None, ["clouds"]]
    kind, study = DATASET_KINDS.of(definition), SimpleNamespace(folder=tmp_path)
    assert kind.files(tmp_path) == [tmp_path / "gold.jsonl"]
    kind.check("config key 'datasets.mine", study)
    kind.check_gold("config key 'datasets.mine", study, "gold answers")
    for change, found in (({"answers": "none.jsonl"}, "no file"), ({"id": "ragrelay-test/three"}, "a file, although")):
        with pytest.raises(InputError, match=f"'datasets.mine.answers': found {found}"):
            DATASET_KINDS.of(definition | change).check("config key 'datasets.mine", study)


def test_titles(catalogued: str) -> None:
    """Passages without one are left out."""
    found = IrDatasetsCollection(catalogued).titles(["d1", "d2", "d3", "d9"])
    docs = {line.split("\t")[0]: line.split("\t")[1] for line in DOCS.splitlines()}
    assert found == {docno: title.strip() for docno, title in docs.items() if title.strip()}
    assert found


def test_read_through_the_document_store(catalogued: str, tmp_path: Path) -> None:
    """Once the store is made, the corpus's file is read no more, and nothing of it is copied elsewhere."""
    home = tmp_path / "home/ragrelay-test"
    IrDatasetsCollection(catalogued).texts(["d1"])
    (home / "docs.tsv").write_text("nothing\n")
    other = IrDatasetsCollection("ragrelay-test/three")
    assert other.texts(["d3"]) == {"d3": "rain falls"}
    assert [passage["text"] for passage in other.passages()] == ["Tea is a leaf", "", "rain falls"]
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_query_sets_share_their_corpus(catalogued: str) -> None:
    assert corpus_id(catalogued) == corpus_id("ragrelay-test/two") == "ragrelay-test"
    assert IrDatasetsCollection(catalogued).corpus_identity() == "ir_datasets:ragrelay-test"
    assert IrDatasetsCollection(catalogued).corpus_size() is None
    assert IrDatasetsCollection("msmarco-passage/trec-dl-2019/judged").corpus_size() == 8_841_823
    grades = {"references": {"strict": 1}}
    assert DATASET_KINDS.of({"source": "ir_datasets", "id": catalogued, **grades}).corpus("mine") == "ragrelay-test"
    assert DATASET_KINDS.of({"source": "local", "path": "x", **grades}).corpus("mine") == "mine"


def test_errors(catalogued: str) -> None:
    with pytest.raises(InputError, match="no dataset 'ragrelay-test/four'"):
        IrDatasetsCollection("ragrelay-test/four")
    with pytest.raises(InputError, match="ragrelay-test/two: found no qrels"):
        IrDatasetsCollection("ragrelay-test/two")
    assert is_catalogued(catalogued) and not is_catalogued("ragrelay-test/four")


def test_files_that_are_not_there(catalogued: str, tmp_path: Path) -> None:
    for name in ("docs.tsv", "queries.tsv", "qrels"):
        (tmp_path / "home/ragrelay-test" / name).unlink()
    for part in PARTS.values():
        with pytest.raises(InputError, match=r"ir_datasets home .*home: found .*; expected the dataset's files there"):
            part(IrDatasetsCollection(catalogued))


PARTS: dict[str, Callable[[IrDatasetsCollection], Any]] = {
    "queries": lambda collection: len(collection.queries()),
    "qrels": lambda collection: len(collection.qrels()),
    "texts": lambda collection: len(collection.texts(["d1", "d3"])),
    "passages": lambda collection: len(list(collection.passages())) - 1,
}


@pytest.mark.parametrize("part", PARTS)
def test_first_use_by_one_job_at_a_time(catalogued: str, tmp_path: Path, part: str) -> None:
    """ir_datasets corrupts what two jobs download or build at once; the second says that it waits."""
    found: list[int] = []
    waits = threading.Event()

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "waiting for another job" in record.getMessage():
                waits.set()

    heard, log = Heard(), logging.getLogger("ragrelay.collection.catalogued")
    log.addHandler(heard)
    log.setLevel(logging.INFO)
    try:
        job = threading.Thread(target=lambda: found.append(PARTS[part](IrDatasetsCollection(catalogued))))
        with first_use():
            job.start()
            assert waits.wait(60) and not found
            assert not (tmp_path / "home/ragrelay-test/docs.tsv.pklz4").exists()
        job.join()
    finally:
        log.removeHandler(heard)
    assert found == [2]


def test_catalogue_names_what_ir_datasets_has() -> None:
    import ir_datasets

    datasets = yaml.safe_load((ROOT / "config/config.yaml").read_text())["datasets"]
    metadata = json.loads((Path(ir_datasets.__file__).parent / "etc/metadata.json").read_text())
    for entry in (entry for entry in datasets.values() if entry["source"] == "ir_datasets"):
        IrDatasetsCollection(entry["id"])
        judged = metadata[entry["id"]]["qrels"].get("fields", {}).get("relevance", {}).get("counts_by_value", {})
        assert not judged or {str(label) for label in entry["references"].values()} <= set(judged), entry
