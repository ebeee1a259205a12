"""Read a dataset in a local folder: passages.jsonl (plain or compressed), queries.tsv, qrels.txt, answers.jsonl."""

import functools
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import check_id, check_query, check_text, is_seen
from ragrelay.base.io.compressed_files import COMPRESSED
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.io.json_values import json_record
from ragrelay.base.io.text_lines import numbered_lines, trec_lines
from ragrelay.collection.base import QRELS, QUERIES, Collection

PASSAGES = ("passages.jsonl", *(f"passages.jsonl{ending}" for ending in COMPRESSED))
QID_HEADERS = {"qid", "query_id", "query-id", "queryid", "query", "id", "_id", "topic", "topic_id", "number", "num"}
"""Lower-case names by which a queries file's first field is recognised as part of a header."""
LABEL = re.compile(r"[+-]?[0-9]{1,6}")
"""A label. This pattern is stricter than Python's int, which reads 1_0 as 10. Labels have at most six digits because
trec_eval keeps a counter for every label up to the highest one. With nine digits, the counters would take gigabytes,
and if memory runs out, trec_eval reports measures of 0."""

log = logging.getLogger(__name__)


class LocalCollection(Collection):
    """A dataset in the folder ``path``. All methods raise InputError for the first malformed line that they read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def files(self) -> list[Path]:
        """Return the dataset's existing files, passages first."""
        names = (*PASSAGES, "queries.tsv", "qrels.txt", "answers.jsonl")
        return [self.path / name for name in names if (self.path / name).is_file()]

    def queries(self) -> pl.DataFrame:
        path, seen = self.path / "queries.tsv", dict[str, int]()
        rows: list[tuple[str, str]] = []
        for number, line in numbered_lines(path):
            qid, tab, text = line.partition("\t")
            if not tab:
                raise InputError(f"{path}, line {number}", "no tab", "qid<TAB>text")
            if not rows and qid.lower() in QID_HEADERS and qid not in set(self.qrels()["qid"]):
                raise InputError(
                    f"{path}, line {number}", f"an apparent header ({qid!r} has no judgements)", "no header line"
                )
            _check_id(path, number, "qid", qid, seen)
            rows.append((qid, _query(f"{path}, line {number}", qid, text)))
        if not rows:
            raise InputError(path, "no queries", "at least one line of the form qid<TAB>text")
        frame = pl.DataFrame(rows, schema=QUERIES, orient="row")
        answers = self.path / "answers.jsonl"
        return with_gold(frame, answers) if answers.is_file() else frame

    def qrels(self) -> pl.DataFrame:
        return read_qrels(self.path / "qrels.txt")

    def passages(self) -> Iterator[dict[str, str]]:
        """Yield each passage's docno and text. Passages without visible characters are left out."""
        for _, docno, text, _ in numbered_passages(self._passages_path):
            yield {"docno": docno, "text": text}

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        return {docno: self._texts[docno] for docno in docnos if docno in self._texts}

    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        wanted, path = set(docnos), self._passages_path
        records = (json_record(path, number, line) for number, line in numbered_lines(path))
        titles = {docno: record.get("title") for record in records if (docno := _docno(record)) in wanted}
        return {docno: title.strip() for docno, title in titles.items() if isinstance(title, str) and title.strip()}

    def counted_texts(self, judged: Mapping[str, str]) -> Iterable[str]:
        return self._texts.values()

    def corpus_identity(self) -> str:
        return "passages:" + value_hash(sorted(self._texts.items()), digits=32)

    def corpus_size(self) -> int:
        return len(self._texts)

    @property
    def _passages_path(self) -> Path:
        found = (self.path / name for name in PASSAGES)
        return next(filter(Path.is_file, found), self.path / PASSAGES[0])

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        return {passage["docno"]: passage["text"] for passage in self.passages()}


def numbered_passages(path: Path) -> Iterator[tuple[int, str, str, dict[str, object]]]:
    """Yield the line number, docno, text and full record of each passage in a JSON Lines file.

    Passages without visible characters are left out. Raises InputError for the first line that is malformed or repeats
    a docno, and for a file in which no passage has any text.
    """
    empty, seen = list[str](), dict[str, int]()
    for number, line in numbered_lines(path):
        record = json_record(path, number, line)
        docno, text = _docno(record), record.get("text")
        if not isinstance(docno, str) or not isinstance(text, str):
            missing = "doc_id" if not isinstance(docno, str) else "text"
            raise InputError(
                f"{path}, line {number}", f"no text value for key {missing!r}", '{"doc_id": ..., "text": ...}'
            )
        _check_id(path, number, "doc_id", docno, seen)
        if not is_seen(text):
            empty.append(docno)
            continue
        check_text(f"{path}, line {number}", text)
        yield number, docno, text, record
    if len(seen) == len(empty):
        raise InputError(path, "no passages with text" if empty else "no passages", "at least one passage with text")
    if empty:
        log.warning("%s: left out passages without text: %d; the first is %r", path, len(empty), empty[0])


def with_gold(queries: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Add a column ``answers`` to ``queries`` from a JSON Lines file. Queries that aren't in the file get null.

    Raises InputError for the first line that is malformed or repeats a qid.
    """
    answers, seen = dict[str, list[str]](), dict[str, int]()
    for number, line in numbered_lines(path):
        record = json_record(path, number, line)
        qid, texts = record.get("qid"), record.get("answers")
        if not isinstance(qid, str) or not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            raise InputError(f"{path}, line {number}", line[:60], '{"qid": "...", "answers": ["...", ...]}')
        _check_id(path, number, "qid", qid, seen)
        for text in texts:
            check_text(f"{path}, line {number}", text)
        answers[qid] = texts
    column = pl.Series("answers", [answers.get(qid) for qid in queries["qid"]], dtype=pl.List(pl.String))
    return queries.with_columns(column)


def _query(place: str, qid: str, text: str) -> str:
    """Return a query's text without surrounding whitespace."""
    text = text.strip(" \t")
    if "\t" in text:
        raise InputError(place, f"{text.count(chr(9)) + 2} columns", "2: qid<TAB>text")
    if not is_seen(text):
        raise InputError(place, f"no text for qid {qid!r}", "qid<TAB>text")
    check_query(place, text)
    return text.strip()


def _docno(record: Mapping[str, object]) -> object:
    """Return a passage's ``doc_id``; an integer is converted to a string."""
    docno = record.get("doc_id")
    return str(docno) if type(docno) is int else docno


def _check_id(path: Path, number: int, name: str, value: str, seen: dict[str, int]) -> None:
    # This fast test is enough for almost all of the millions of passages.
    if not (value.isascii() and value.isprintable() and value) or " " in value:
        check_id(f"{path}, line {number}", name, value)
    if value in seen:
        raise InputError(
            f"{path}, line {number}", f"duplicate {name} {value!r} (first on line {seen[value]})", f"unique {name}s"
        )
    seen[value] = number


def read_qrels(path: Path) -> pl.DataFrame:
    """Read qid, docno and label from a TREC qrels file (qid, iteration, docno, label), in the file's order.

    Raises InputError for the first line that is malformed or repeats a query-passage pair, and for an empty file.
    """
    rows: list[tuple[str, str, int]] = []
    seen: dict[tuple[str, str], int] = {}
    for number, fields in trec_lines(path, "qid", "iteration", "docno", "label"):
        if not LABEL.fullmatch(fields[3]):
            raise InputError(f"{path}, line {number}", f"label {fields[3]!r}", "an integer with at most 6 digits")
        pair = (fields[0], fields[2])
        if pair in seen:
            raise InputError(
                f"{path}, line {number}",
                f"duplicate judgement for qid {pair[0]!r} and docno {pair[1]!r} (first on line {seen[pair]})",
                "one judgement per qid and docno",
            )
        seen[pair] = number
        rows.append((*pair, int(fields[3])))
    if not rows:
        raise InputError(path, "no judgements", "lines with qid, iteration, docno, label")
    return pl.DataFrame(rows, schema=QRELS, orient="row")
