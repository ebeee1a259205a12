"""Read qrels that name subtopics, as in TREC's diversity tasks, and derive one label per query and passage."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.text_lines import trec_lines
from ragrelay.collection import open_collection
from ragrelay.collection.catalogued import IrDatasetsCollection, first_use
from ragrelay.collection.local import LABEL, LocalCollection
from ragrelay.collection.subtopics.table import SCHEMA

FIELDS = ("subtopic_id", "iteration")
"""Fields in ir_datasets' qrels that may name a subtopic. The first that a dataset contains is used."""


def read_subtopics(path: Path) -> pl.DataFrame:
    """Read qid, docno, subtopic and label from a TREC qrels file (qid, subtopic, docno, label), in the file's order.

    Raises InputError for the first line that is malformed or repeats a judgement, for an empty file, and for a file in
    which all lines name the same subtopic.
    """
    rows, seen = list[tuple[str, str, str, int]](), dict[tuple[str, str, str], int]()
    for number, (qid, subtopic, docno, label) in trec_lines(path, "qid", "subtopic", "docno", "label"):
        place, judged = f"{path}, line {number}", (qid, docno, subtopic)
        if not LABEL.fullmatch(label):
            raise InputError(place, f"label {label!r}", "an integer with at most 6 digits")
        if judged in seen:
            found = f"duplicate qid {qid!r}, docno {docno!r} and subtopic {subtopic!r} (first on line {seen[judged]})"
            raise InputError(place, found, "one judgement per qid, docno and subtopic")
        seen[judged] = number
        rows.append((*judged, int(label)))
    if not rows:
        raise InputError(path, "no judgements", "lines with qid, subtopic, docno, label")
    return _checked(path, pl.DataFrame(rows, schema=SCHEMA, orient="row"), "subtopics in the second column")


def collapsed(subtopics: pl.DataFrame) -> pl.DataFrame:
    """Return the highest label over all subtopics for each query and passage, with columns qid, docno and label."""
    return subtopics.group_by("qid", "docno", maintain_order=True).agg(pl.col("label").max())


class LocalSubtopics(LocalCollection):
    """A local dataset whose qrels.txt names subtopics."""

    def subtopics(self) -> pl.DataFrame:
        """Read the judgements, with columns qid, docno, subtopic and label."""
        return read_subtopics(self.path / "qrels.txt")

    def qrels(self) -> pl.DataFrame:
        return collapsed(self.subtopics())


class CataloguedSubtopics(IrDatasetsCollection):
    """A dataset in ir_datasets whose qrels name subtopics."""

    def subtopics(self) -> pl.DataFrame:
        """Read the judgements, with columns qid, docno, subtopic and label."""
        field = subtopic_field(self.dataset_id)
        with first_use():
            qrels = [
                (q.query_id, q.doc_id, str(getattr(q, field)), int(q.relevance)) for q in self.dataset.qrels_iter()
            ]
        rows = pl.DataFrame(qrels, schema=SCHEMA, orient="row")
        return _checked(f"ir_datasets {self.dataset_id}, qrels", rows, f"subtopics in the field {field}")

    def qrels(self) -> pl.DataFrame:
        return collapsed(self.subtopics())


def judged_collection(definition: Mapping[str, object]) -> LocalSubtopics | CataloguedSubtopics:
    """Open a dataset's collection, with an additional method that reads subtopics from the qrels.

    The qrels contain each passage's highest label over all subtopics. Raises InputError for sources without subtopics.
    """
    opened = open_collection(definition)
    if isinstance(opened, LocalCollection):
        return LocalSubtopics(opened.path)
    if isinstance(opened, IrDatasetsCollection):
        return CataloguedSubtopics(opened.dataset_id, opened.answers)
    raise InputError(f"source {definition['source']!r}", "qrels without subtopics", "source local or ir_datasets")


def subtopic_field(dataset_id: str) -> str:
    """Return the field in the qrels of ``dataset_id`` that names subtopics, without downloading anything.

    Raises InputError if the qrels have no such field.
    """
    import ir_datasets

    known = ir_datasets.load(dataset_id).qrels_cls()._fields
    for field in FIELDS:
        if field in known:
            return field
    raise InputError(f"ir_datasets {dataset_id}", f"only fields {', '.join(known)}", f"a field {' or '.join(FIELDS)}")


def _checked(place: str | Path, rows: pl.DataFrame, expected: str) -> pl.DataFrame:
    if rows["subtopic"].n_unique() == 1:
        raise InputError(place, f"only subtopic {rows['subtopic'][0]!r}", expected)
    return rows
