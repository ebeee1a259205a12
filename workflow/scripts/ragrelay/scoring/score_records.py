"""Read records from score files in common formats: CSV, TSV, Parquet, JSON lines or a JSON array."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from ragrelay.base.errors import InputError, type_name
from ragrelay.base.io.compressed_files import plain_name
from ragrelay.base.io.json_values import DECODER, FAULTS, json_fault, json_record
from ragrelay.base.io.parquet_files import FAULTS as FAULTS_OF_PARQUET
from ragrelay.base.io.parquet_files import read_parquet
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.collection.answer_formats.records import csv_records, named_keys, tsv_records

SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")


def score_records(path: Path, keys: Sequence[str], expected: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each non-empty record in a file, with the record's location for error messages. NaN becomes None.

    ``keys``: the keys to read, regardless of case. ``expected``: a description of a record, for messages. Raises
    InputError if the file can't be read.
    """
    for place, record in _records(path, keys, expected):
        values = [None if isinstance(value, float) and math.isnan(value) else value for value in record.values()]
        if any(value is not None and str(value).strip() for value in values):
            yield place, dict(zip(named_keys(place, list(record), keys), values, strict=True))


def _records(path: Path, keys: Sequence[str], expected: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    name = plain_name(path.name)
    if not path.is_file():
        raise InputError(path, "no such file", "a file of scores (docs/people.md says how to draw answers to score)")
    if name.endswith(SPREADSHEETS):
        raise InputError(path, "a spreadsheet", "the sheet saved as CSV (in Excel, CSV UTF-8)")
    if name.endswith(".parquet"):
        table = read_parquet(path, f"a Parquet file with columns as in {expected}", (), _columns(path, keys))
        for number, record in enumerate(table.iter_rows(named=True), start=1):
            yield f"{path}, row {number}", record
    elif name.endswith(".csv"):
        yield from csv_records(path, keys, (), "a header, then a row per score")
    elif name.endswith(".tsv"):
        yield from tsv_records(path, keys)
    else:
        yield from _json_records(path)


def _columns(path: Path, keys: Sequence[str]) -> Sequence[str]:
    """Return which of ``keys`` a Parquet file has as columns; all of them for a file that can't be read."""
    try:
        names = pq.read_schema(path).names
    except FAULTS_OF_PARQUET:
        return keys
    return [name for name, key in zip(names, named_keys(str(path), names, keys), strict=True) if key in keys]


def _json_records(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    lines = numbered_lines(path)
    for number, line in lines:
        if line.lstrip().startswith("["):
            yield from _array_records(path, "\n".join([line, *(other for _, other in lines)]))
        elif not line.lstrip().startswith("{"):
            found = f"{line.strip()[:60]!r}, which isn't JSON"
            raise InputError(f"{path}, line {number}", found, "JSON, or a file name ending in .csv, .tsv or .parquet")
        else:
            yield f"{path}, line {number}", json_record(path, number, line)


def _array_records(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    try:
        records = DECODER.decode(text)
    except FAULTS as error:
        raise InputError(path, json_fault(error), "a JSON array of records, or one record per line") from None
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise InputError(f"{path}, record {number}", type_name(record), "a JSON object")
        yield f"{path}, record {number}", record
