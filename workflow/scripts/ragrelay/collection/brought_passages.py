"""Add passages from users' files to a collection. These passages may occur in contexts, but aren't indexed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.collection.base import Collection
from ragrelay.collection.local import numbered_passages


class BroughtPassage(NamedTuple):
    """A passage from a user's file, for the contexts of query ``qid`` or, if ``qid`` is None, of any query."""

    path: Path
    docno: str
    text: str
    qid: str | None


def read_brought(paths: Iterable[Path]) -> list[BroughtPassage]:
    """Read passages from JSON Lines files, plain or compressed, with keys doc_id, text and, optionally, qid.

    Raises InputError for the first line that is malformed or repeats a docno.
    """
    found = []
    for path in paths:
        for number, docno, text, record in numbered_passages(path):
            qid = record.get("qid")
            if type(qid) is int:
                qid = str(qid)
            if qid is not None and not isinstance(qid, str):
                raise InputError(f"{path}, line {number}", f"qid {qid!r}", "one of the dataset's qids, or no key 'qid'")
            found.append(BroughtPassage(path, docno, text, qid))
    return found


def with_brought(collection: Collection, brought: Sequence[BroughtPassage]) -> Collection:
    """Return a collection that also contains the texts of the passages in ``brought``.

    Raises InputError if a passage's docno is already in the collection, or if a docno has two different texts.
    """
    if not brought:
        return collection
    texts: dict[str, str] = {}
    known = collection.texts([passage.docno for passage in brought])
    for passage in brought:
        if passage.docno in known:
            expected = "docnos that aren't in the collection"
            raise InputError(passage.path, f"docno {passage.docno!r}, which is also in the collection", expected)
        if texts.setdefault(passage.docno, passage.text) != passage.text:
            raise InputError(passage.path, f"docno {passage.docno!r} with two texts in two files", "the same text")
    return _WithBrought(collection, texts)


class _WithBrought(Collection):
    """A collection with additional texts. Everything else comes from the collection."""

    def __init__(self, collection: Collection, brought: Mapping[str, str]) -> None:
        self.collection, self.brought = collection, brought

    def queries(self) -> pl.DataFrame:
        return self.collection.queries()

    def qrels(self) -> pl.DataFrame:
        return self.collection.qrels()

    def passages(self) -> Iterator[dict[str, str]]:
        return self.collection.passages()

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        wanted = list(docnos)
        brought = {docno: self.brought[docno] for docno in wanted if docno in self.brought}
        return {**self.collection.texts([docno for docno in wanted if docno not in brought]), **brought}

    def counted_texts(self, judged: Mapping[str, str]) -> Iterable[str]:
        return self.collection.counted_texts(judged)

    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        return self.collection.titles([docno for docno in docnos if docno not in self.brought])

    def corpus_identity(self) -> str:
        return self.collection.corpus_identity()

    def corpus_size(self) -> int | None:
        return self.collection.corpus_size()
