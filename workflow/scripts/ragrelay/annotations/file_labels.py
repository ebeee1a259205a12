"""Labels that a file gives: judgements in TREC's format, or a Parquet file."""

from pathlib import Path

import polars as pl

from ragrelay.collection.base import QRELS, QRELS_COLUMNS
from ragrelay.collection.qrels_files import read_qrels
from ragrelay.errors import InputError
from ragrelay.vocabulary.columns import text

COLUMNS = {"references": text("empty: the same for all reference sets"), **QRELS_COLUMNS}


def label_by_file(path: Path) -> pl.DataFrame:
    """Columns COLUMNS of the file ``path``; raises as read_labels does."""
    return read_labels(path).select(pl.lit(None, pl.String).alias("references"), "*")


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
