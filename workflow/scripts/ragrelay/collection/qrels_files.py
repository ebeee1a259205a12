"""Judgements in a file of TREC's format, or in a Parquet file."""

import re
from pathlib import Path

import polars as pl

from ragrelay.collection.base import QRELS
from ragrelay.errors import InputError
from ragrelay.io.text_lines import trec_lines

LABEL = re.compile(r"[+-]?[0-9]{1,9}")
"""Python's int would take 1_0 for 10."""


def read_qrels(path: Path) -> pl.DataFrame:
    """Columns qid, docno, label of a file in TREC's format (qid, iteration, docno, label), in its order.

    Raises InputError naming the line of the first that is malformed or has a pair again, and for a file without lines.
    """
    rows: list[tuple[str, str, int]] = []
    seen: dict[tuple[str, str], int] = {}
    for number, fields in trec_lines(path, "qid", "iteration", "docno", "label"):
        if not LABEL.fullmatch(fields[3]):
            raise InputError(f"{path}, line {number}", f"label {fields[3]!r}", "an integer")
        pair = (fields[0], fields[2])
        if pair in seen:
            raise InputError(
                f"{path}, line {number}",
                f"qid {pair[0]!r} with docno {pair[1]!r} again (line {seen[pair]})",
                "each pair once",
            )
        seen[pair] = number
        rows.append((*pair, int(fields[3])))
    if not rows:
        raise InputError(path, "no judgement", "lines of qid, iteration, docno, label")
    return pl.DataFrame(rows, schema=QRELS, orient="row")


def read_labels(path: Path) -> pl.DataFrame:
    """Columns qid, docno, label of a Parquet file (by its ending) with these columns, or of a file in TREC's format.

    Raises InputError as read_qrels does, and for a Parquet file without the columns, with a label that is null or no
    whole number, or with a pair twice.
    """
    if path.suffix != ".parquet":
        return read_qrels(path)
    expected = "a Parquet file with columns qid, docno, label"
    if not path.is_file():
        raise InputError(path, "no such file", expected)
    try:
        frame = pl.read_parquet(path, glob=False)
    except pl.exceptions.PolarsError as error:
        raise InputError(path, f"no Parquet file ({str(error).splitlines()[0]})", expected) from None
    if missing := [name for name in QRELS if name not in frame.columns]:
        raise InputError(path, f"no column {', '.join(missing)}", expected)
    if not frame.schema["label"].is_numeric():
        raise InputError(f"{path}, column label", str(frame.schema["label"]), "whole numbers")
    frame = frame.select(pl.col("qid", "docno").cast(pl.String), pl.col("label").cast(pl.Float64))
    for name in QRELS:
        if frame[name].null_count():
            raise InputError(f"{path}, column {name}", "a null", "a value in each row")
    if (odd := frame.filter(~(pl.col("label") % 1 == 0))).height:
        raise InputError(f"{path}, column label", str(odd["label"][0]), "whole numbers")
    if (again := frame.filter(frame.select("qid", "docno").is_duplicated())).height:
        raise InputError(path, f"qid {again['qid'][0]!r} with docno {again['docno'][0]!r} again", "each pair once")
    if frame.is_empty():
        raise InputError(path, "no judgement", "at least one row")
    return frame.with_columns(pl.col("label").cast(pl.Int64))
