"""Read a dataset from the ir_datasets catalogue. Passages are read from ir_datasets' document store."""

import contextlib
import functools
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import NO_BLANK, check_id, check_query, check_text, is_seen
from ragrelay.collection.base import QRELS, QUERIES, Collection
from ragrelay.collection.local import with_gold

log = logging.getLogger(__name__)


def is_catalogued(dataset_id: str) -> bool:
    """Return whether ir_datasets contains the dataset ``dataset_id``, without downloading anything."""
    import ir_datasets

    try:
        ir_datasets.registry[dataset_id]
    except KeyError:
        return False
    return True


def has_gold(dataset_id: str) -> bool:
    """Return whether the queries in ``dataset_id`` have gold answers, without downloading anything."""
    import ir_datasets

    return "answers" in ir_datasets.load(dataset_id).queries_cls()._fields


def corpus_id(dataset_id: str) -> str:
    """Return the id of the corpus that ``dataset_id`` uses. Several query sets may share a corpus."""
    import ir_datasets

    return str(ir_datasets.docs_parent_id(dataset_id))


@contextlib.contextmanager
def first_use() -> Iterator[None]:
    """Lock ir_datasets' home folder, because two jobs that download or build the same files would corrupt them.

    While one job downloads, other jobs wait. If the files already exist, the lock is only held for a moment. Raises
    InputError if a file is missing and can't be downloaded, for example on nodes without a network.
    """
    import ir_datasets
    from filelock import FileLock, Timeout

    logging.getLogger("ir_datasets").setLevel(logging.ERROR)  # otherwise it logs each attempt's exceptions
    lock = FileLock((ir_datasets.util.home_path() / "ragrelay").with_suffix(".lock"))  # not a module's name
    try:
        lock.acquire(timeout=0)
    except Timeout:
        log.info("waiting for another job to release %s", lock.lock_file)
        lock.acquire()
    try:
        yield
    except (OSError, RuntimeError) as error:  # errors from requests are OSErrors
        expected = "the dataset's files there, or a network to download them"
        # The library concatenates the errors from all its sources.
        source = re.search(r"https?://[^\s'\"),]+", str(error))
        found = f"a file that can't be downloaded from {source[0]}" if source else " ".join(str(error).split())[:120]
        raise InputError(f"ir_datasets home {ir_datasets.util.home_path()}", found, expected) from error
    finally:
        lock.release()


class IrDatasetsCollection(Collection):
    """The dataset ``dataset_id`` in ir_datasets (https://ir-datasets.com). Raises InputError if the id is unknown.

    Queries, qrels and documents are each downloaded and prepared on first use, by one job at a time. ``answers``: path
    of a file with gold answers, for datasets that have none in the catalogue.
    """

    def __init__(self, dataset_id: str, answers: Path | None = None) -> None:
        import ir_datasets

        if not is_catalogued(dataset_id):
            raise InputError("ir_datasets", f"no dataset {dataset_id!r}", "an id in the ir_datasets catalogue")
        self.dataset_id, self.answers = dataset_id, answers
        self.dataset: Any = ir_datasets.load(dataset_id)
        for part in ("docs", "queries", "qrels"):
            if not getattr(self.dataset, f"has_{part}")():
                raise InputError(f"ir_datasets {dataset_id}", f"no {part}", "a dataset with docs, queries and qrels")

    def queries(self) -> pl.DataFrame:
        with first_use():
            queries = list(self.dataset.queries_iter())
        rows = [(query.query_id, query.default_text().strip()) for query in queries]
        for qid, text in rows:
            check_id(f"ir_datasets {self.dataset_id}, queries", "qid", qid)
            if not is_seen(text):
                found = f"no text for qid {qid!r}"
                raise InputError(f"ir_datasets {self.dataset_id}, queries", found, "a text for each query")
            # Some datasets join several fields into a multi-line text.
            check_query(f"ir_datasets {self.dataset_id}, query {qid}", text, NO_BLANK)
        frame = pl.DataFrame(rows, schema=QUERIES, orient="row")
        if self.answers is not None:
            return with_gold(frame, self.answers)
        if "answers" not in self.dataset.queries_cls()._fields:
            return frame
        answers = [list(query.answers) for query in queries]
        for (qid, _), gold in zip(rows, answers, strict=True):
            for text in gold:
                check_text(f"ir_datasets {self.dataset_id}, answers of query {qid}", text)
        return frame.with_columns(pl.Series("answers", answers, dtype=pl.List(pl.String)))

    def qrels(self) -> pl.DataFrame:
        with first_use():
            rows = [(q.query_id, q.doc_id, int(q.relevance)) for q in self.dataset.qrels_iter()]
        qrels = pl.DataFrame(rows, schema=QRELS, orient="row")
        for name in ("qid", "docno"):
            for value in qrels[name].unique(maintain_order=True):
                check_id(f"ir_datasets {self.dataset_id}, qrels", name, value)
        return qrels.unique(["qid", "docno"], keep="last", maintain_order=True)

    def passages(self) -> Iterator[dict[str, str]]:
        _ = self._store  # built first, because docs_iter reads from it if it exists
        for doc in self.dataset.docs_iter():
            check_id(f"ir_datasets {self.dataset_id}, docs", "docno", doc.doc_id)
            yield {"docno": doc.doc_id, "text": self._text(doc)}

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        texts = {docno: self._text(doc) for docno, doc in self._store.get_many(list(docnos)).items()}
        return {docno: text for docno, text in texts.items() if is_seen(text)}

    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        documents = self._store.get_many(list(docnos))
        titles = {docno: getattr(doc, "title", "") for docno, doc in documents.items()}
        return {docno: title.strip() for docno, title in titles.items() if title.strip()}

    def corpus_identity(self) -> str:
        return f"ir_datasets:{corpus_id(self.dataset_id)}"

    def corpus_size(self) -> int | None:
        size: int | None = self.dataset.docs_metadata().get("count")
        return size

    def _text(self, doc: Any) -> str:
        text = str(doc.default_text())
        check_text(f"ir_datasets {self.dataset_id}, doc {doc.doc_id}", text)
        return text

    @functools.cached_property
    def _store(self) -> Any:
        with first_use():
            store = self.dataset.docs_store()
            if hasattr(store, "build"):
                store.build()
        return store
