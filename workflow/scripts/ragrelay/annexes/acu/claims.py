"""Read and check claims with evidence, from CSV, TSV or JSON lines files with DRUID's columns."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.acu.stances import STANCES
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.json_values import json_record
from ragrelay.base.io.text_lines import numbered_lines, tsv_rows

SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "claim_id": pl.String,
    "claim": pl.String,
    "claimant": pl.String,
    "claim_date": pl.String,
    "evidence": pl.String,
    "evidence_source": pl.String,
    "evidence_date": pl.String,
    "evidence_stance": pl.String,
    "relevant": pl.Boolean,
    "factcheck_verdict": pl.String,
    "is_gold": pl.Boolean,
    "is_factcheck_article": pl.Boolean,
}
REQUIRED = ("id", "claim", "evidence")
TRUTHS = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
ENDINGS = (".csv", ".tsv", ".jsonl")
# Texts that tools write for missing values.
MISSING = ("", "nan", "none", "null", "n/a")

Records = Iterator[tuple[str, Mapping[str, Any]]]
"""Rows, each preceded by its place in the file, for error messages."""


def claims_frame(records: Records, origin: str | Path) -> pl.DataFrame:
    """Return ``records`` as a table with columns SCHEMA, in the same order.

    Other columns are dropped; missing columns are null. If rows have no claim_id, rows with the same claim get the same
    new claim_id. Raises InputError for an invalid row (missing value, unknown stance, duplicate id, malformed boolean,
    or a claim_id that is used for two claims), if there are no rows, or if no row has a stance. ``origin``: the
    source's name, for error messages that don't concern a single row.
    """
    rows: list[dict[str, Any]] = []
    ids: dict[str, str] = {}
    claims: dict[str, tuple[str, str]] = {}
    for place, record in records:
        row = _row(place, record)
        if row["id"] in ids:
            raise InputError(place, f"duplicate id {row['id']!r} (first on {ids[row['id']]})", "unique ids")
        ids[row["id"]] = place.rpartition(", ")[2]
        claim, where = claims.setdefault(row["claim_id"], (row["claim"], place.rpartition(", ")[2]))
        if claim != row["claim"]:
            found = f"claim_id {row['claim_id']!r} with a claim that differs from the claim on {where}"
            raise InputError(place, found, "one claim per claim_id")
        rows.append(row)
    if not rows:
        raise InputError(origin, "no claims", "at least one claim")
    if all(row["evidence_stance"] is None for row in rows):
        raise InputError(origin, "no evidence_stance in any row", one_of(STANCES, what="a row with a stance"))
    return pl.DataFrame(rows, schema=SCHEMA)


def with_stance(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that have a stance. ACU is computed, and requests are sent, only for these rows."""
    return claims.filter(pl.col("evidence_stance").is_not_null())


def file_records(path: Path) -> Records:
    """Read the rows of a CSV, TSV or JSON lines file. Raises InputError for other file types or a malformed line."""
    if path.suffix == ".csv":
        return _csv_records(path)
    if path.suffix == ".tsv":
        return _tsv_records(path)
    if path.suffix == ".jsonl":
        return json_records(path)
    raise InputError(path, f"the file extension {path.suffix!r}", one_of(ENDINGS))


def json_records(path: Path) -> Records:
    """Yield the objects of a JSON lines file."""
    for number, line in numbered_lines(path):
        yield f"{path}, line {number}", json_record(path, number, line, halves=True)


def _tsv_records(path: Path) -> Records:
    rows = tsv_rows(path)
    _, names = next(rows, (0, []))
    _check_header(path, names)
    for number, fields in rows:
        yield f"{path}, line {number}", dict(zip(names, fields, strict=True))


def _check_header(path: Path, names: Sequence[str]) -> None:
    if twice := [name for name in SCHEMA if names.count(name) > 1]:
        raise InputError(f"{path}, line 1", f"duplicate column {twice[0]!r}", "unique column names")


def _csv_records(path: Path) -> Records:
    if not path.is_file():
        raise InputError(path, "no such file", "a file of claims with evidence")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            _check_header(path, reader.fieldnames or ())
            for record in reader:
                if None in record or None in record.values():
                    raise InputError(
                        f"{path}, line {reader.line_num}", "more or fewer fields than in the header", "the same number"
                    )
                yield f"{path}, line {reader.line_num}", record
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.object[error.start]:#04x}", "UTF-8 text") from None
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}", str(error), "correctly quoted CSV fields") from None


def _row(place: str, record: Mapping[str, object]) -> dict[str, Any]:
    row = {name: _value(place, name, record.get(name), kind) for name, kind in SCHEMA.items()}
    for name in REQUIRED:
        if row[name] is None:
            found = f"no {name}" if name not in record else f"an empty value for {name}"
            raise InputError(place, found, "non-empty values for " + ", ".join(REQUIRED))
    if (stance := row["evidence_stance"]) not in (None, *STANCES):
        raise InputError(place, f"evidence_stance {stance!r}", one_of(STANCES, stance))
    row["claim_id"] = row["claim_id"] or text_hash(row["claim"])[:16]
    return row


def _value(place: str, name: str, value: object, kind: object) -> Any:
    """Return the value as text or boolean; None if it is missing or one of the texts in MISSING."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, dict | list):
        raise InputError(place, f"{name} with a JSON {type(value).__name__}", "a single value")
    text = str(value).strip()
    if not text or (name not in REQUIRED and text.lower() in MISSING):
        return None
    if kind is pl.Boolean:
        if text.lower() not in TRUTHS:
            raise InputError(place, f"{name} {text!r}", "true or false")
        return TRUTHS[text.lower()]
    _check_text(place, name, text)
    return text


def _check_text(place: str, name: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(place, f"an unpaired surrogate in {name}", "text that UTF-8 can encode") from None
