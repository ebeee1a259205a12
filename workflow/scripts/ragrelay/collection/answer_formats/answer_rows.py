"""Read imported answers from JSON Lines (plain or in TREC RAG's format), CSV, TSV and Parquet files."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import check_id, check_text
from ragrelay.base.io.compressed_files import plain_name
from ragrelay.base.io.json_values import FAULTS, json_record
from ragrelay.base.io.parquet_files import read_parquet
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.base.vocabulary.columns import CITED_SENTENCES
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.collection.answer_formats.file_patterns import NUMBERS, AnswerFile
from ragrelay.collection.answer_formats.records import csv_records, name_of, tsv_records, whole_number
from ragrelay.collection.answer_formats.trec_rag import RunId, is_trec_rag, joined, read_record

ROWS: dict[str, Any] = {
    "place": pl.String,
    "qid": pl.String,
    "answer": pl.String,
    "retriever": pl.String,
    "ordering": pl.String,
    "k": pl.Int64,
    "seed": pl.Int64,
    "docnos": pl.List(pl.String),
    "cited_sentences": CITED_SENTENCES.dtype,
    "finish_reason": pl.String,
}
"""The columns of imported answers. ``place`` is the file and line. Values missing from a file are null."""
ANSWER = ("answer", "qanswer")
KEYS = ("qid", *ANSWER, "retriever", "ordering", "k", "seed", "docnos", "cited_sentences")


def read_answer_rows(files: Iterable[AnswerFile], single: bool = False) -> pl.DataFrame:
    """Read the answers in ``files`` into a table with columns ROWS, one row per answer, in file order.

    The values in a file's name apply to all rows. A row's own values, except a TREC RAG run_id, must agree with the
    file name. A record has `qid` and `answer` (or PyTerrier's `qanswer`), and may have `retriever`, `ordering`, `k`,
    `seed`, `docnos` and `cited_sentences`; all other keys are ignored. An answer is missing if it is null, an unquoted
    empty field in a CSV file, or an empty field in a TSV file. With ``single``, each answer was generated from one
    passage, named by `docno` (or `docnos`, a list with one id). Raises InputError for the first malformed line or row.
    """
    rows = [
        _row(place, {**(_of_passage(place, record) if single else record), **_file_values(place, record, file)})
        for file in files
        for place, record in _records(file.path)
    ]
    return pl.DataFrame(rows, schema=ROWS, orient="row")


def _file_values(place: str, record: Mapping[str, object], file: AnswerFile) -> Mapping[str, object]:
    """Return the values in the file's name. Raises InputError if ``record`` contradicts them, except for baselines."""
    if file.values.get("retriever") == ZEROSHOT:
        return file.values  # a baseline's name is its configuration key, whatever system it comes from
    for key, expected in file.values.items():
        written = record.get(key)
        value = whole_number(place, key, written) if key in NUMBERS else name_of(place, key, written)
        if value not in (None, expected) and not (key == "retriever" and isinstance(written, RunId)):
            raise InputError(place, f"{key} {value!r}, but {expected!r} in the file's name", "the same value in both")
    return file.values


def _of_passage(place: str, record: Mapping[str, object]) -> dict[str, object]:
    """Return ``record`` with its passage as the only one in `docnos`, and without retriever, ordering and k."""
    docno = record.get("docno")
    docnos = _docnos(place, record.get("docnos")) if docno is None else [str(docno) if type(docno) is int else docno]
    if docnos is None or len(docnos) != 1 or docnos == [""]:
        found = "no docno" if docnos in (None, [""]) else f"{len(docnos or ())} passages"
        raise InputError(place, found, '{"qid": ..., "docno": ..., "answer": ...}')
    return {**record, "docnos": docnos, **dict.fromkeys(("retriever", "ordering", "k", "cited_sentences"))}


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    if path.name.endswith(".parquet"):
        yield from _parquet_records(path)
    elif plain_name(path.name).endswith(".csv"):
        yield from csv_records(path, KEYS, ANSWER, "a header, then a row per answer")
    elif plain_name(path.name).endswith(".tsv"):
        yield from tsv_records(path, KEYS, ANSWER)
    else:
        for number, line in numbered_lines(path):
            place, record = f"{path}, line {number}", json_record(path, number, line)
            yield place, read_record(place, record) if is_trec_rag(record) else record


def _parquet_records(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    table = read_parquet(path, "a Parquet file with columns qid and answer", ("qid",), (*KEYS[1:], "docno"))
    for number, record in enumerate(table.iter_rows(named=True), start=1):
        yield f"{path}, row {number}", record


def _row(place: str, record: Mapping[str, Any]) -> tuple[Any, ...]:
    qid, answer = record.get("qid"), record.get("answer", record.get("qanswer"))
    if isinstance(record.get("qanswer"), str) and record["qanswer"] != answer:
        raise InputError(place, "different texts in answer and qanswer", "only one of them, or the same text in both")
    if type(qid) is int:
        qid = str(qid)
    has_answer = any(key in record for key in ANSWER)
    if not isinstance(qid, str) or not has_answer or not isinstance(answer, str | None):
        missing = "answer" if isinstance(qid, str) else "qid"
        raise InputError(place, f"no text value for key {missing!r}", '{"qid": ..., "answer": ...}')
    check_id(place, "qid", qid)
    check_text(place, answer or "")
    names = [name_of(place, key, record.get(key)) for key in ("retriever", "ordering")]
    numbers = [whole_number(place, key, record.get(key)) for key in ("k", "seed")]
    docnos = _docnos(place, record.get("docnos"))
    sentences = _cited_sentences(place, record.get("cited_sentences"), answer or "")
    if sentences:
        cited = list(dict.fromkeys(docno for sentence in sentences for docno in sentence["citations"]))
        docnos = _docnos(place, cited) if docnos is None else docnos
        known = frozenset(docnos or ())
        if outside := [docno for docno in cited if docno not in known]:
            raise InputError(place, f"citation {outside[0]!r}", "one of the answer's docnos")
    return place, qid, answer, *names, *numbers, docnos, sentences, None


def _docnos(place: str, value: object) -> list[str] | None:
    """Return a list of ids. CSV and TSV files contain it as a JSON list or as ids separated by spaces."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        with suppress(*FAULTS):
            value = json.loads(value) if value.startswith("[") else value.split()
    if not isinstance(value, list) or not all(isinstance(docno, str) for docno in value):
        raise InputError(place, f"docnos {value!r}"[:80], "a list of passage ids")
    for docno in value:
        check_id(place, "docno", docno)
    if twice := next((docno for docno, times in Counter(value).items() if times > 1), None):
        raise InputError(place, f"duplicate docno {twice!r}", "unique docnos within a context")
    return value


def _cited_sentences(place: str, value: object, answer: str) -> list[dict[str, Any]] | None:
    """Return the answer's sentences, each with the ids that it cites (as JSON in CSV); None if none cites anything."""
    if isinstance(value, str):
        with suppress(*FAULTS):
            value = json.loads(value or "null")
    if value is None:
        return None
    if not isinstance(value, list) or not all(_is_cited_sentence(sentence) for sentence in value):
        expected = '[{"text": ..., "citations": ["passage id", ...]}]'
        raise InputError(place, f"cited_sentences {value!r}"[:80], expected)
    if joined([sentence["text"] for sentence in value]) != answer:
        raise InputError(place, "cited_sentences that don't add up to the answer", "all sentences of the answer")
    kept = [{"text": sentence["text"], "citations": sentence["citations"]} for sentence in value]
    return kept if any(sentence["citations"] for sentence in kept) else None


def _is_cited_sentence(item: Any) -> bool:
    citations = item.get("citations") if isinstance(item, dict) else None
    return (
        isinstance(citations, list) and isinstance(item.get("text"), str) and all(isinstance(d, str) for d in citations)
    )
