"""A dataset of the ir_datasets catalogue, read through its document store: the corpus is never copied."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from ragrelay.collection.base import QRELS, QUERIES, Collection
from ragrelay.errors import InputError


def is_catalogued(dataset_id: str) -> bool:
    """Whether ir_datasets knows ``dataset_id``; nothing is downloaded."""
    import ir_datasets

    try:
        ir_datasets.registry[dataset_id]
    except KeyError:
        return False
    return True


def corpus_id(dataset_id: str) -> str:
    """The id of the corpus that ``dataset_id`` draws on, shared by its query sets."""
    import ir_datasets

    return str(ir_datasets.docs_parent_id(dataset_id))


def corpus_name(dataset: str, definition: Mapping[str, Any]) -> str:
    """A file name for the corpus of a dataset's definition: shared by the query sets of one catalogued corpus."""
    return dataset if definition["source"] == "local" else corpus_id(definition["id"]).replace("/", "_")


class IrDatasetsCollection(Collection):
    """Dataset ``dataset_id`` of ir_datasets (https://ir-datasets.com). Raises InputError for an unknown id."""

    def __init__(self, dataset_id: str) -> None:
        import ir_datasets

        if not is_catalogued(dataset_id):
            raise InputError("ir_datasets", f"no dataset {dataset_id!r}", "an id of its catalogue")
        self.dataset_id = dataset_id
        self.dataset: Any = ir_datasets.load(dataset_id)
        for part in ("docs", "queries", "qrels"):
            if not getattr(self.dataset, f"has_{part}")():
                raise InputError(f"ir_datasets {dataset_id}", f"no {part}", "docs, queries and qrels")

    def queries(self) -> pl.DataFrame:
        rows = [(q.query_id, q.default_text().strip()) for q in self.dataset.queries_iter()]
        return pl.DataFrame(rows, schema=QUERIES, orient="row")

    def qrels(self) -> pl.DataFrame:
        rows = [(q.query_id, q.doc_id, int(q.relevance)) for q in self.dataset.qrels_iter()]
        return pl.DataFrame(rows, schema=QRELS, orient="row").unique(["qid", "docno"], keep="last", maintain_order=True)

    def passages(self) -> Iterator[dict[str, str]]:
        for doc in self.dataset.docs_iter():
            yield {"docno": doc.doc_id, "text": doc.default_text()}

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        found = self._store.get_many(list(docnos))
        return {docno: doc.default_text() for docno, doc in found.items() if doc.default_text().strip()}

    def corpus_identity(self) -> str:
        return f"ir_datasets:{corpus_id(self.dataset_id)}"

    @functools.cached_property
    def _store(self) -> Any:
        return self.dataset.docs_store()
