"""Labels that a file gives: judgements in TREC's format, or a Parquet file."""

from pathlib import Path

import polars as pl

from ragrelay.collection.base import QRELS, QRELS_COLUMNS
from ragrelay.collection.qrels_files import read_qrels
from ragrelay.errors import InputError
from ragrelay.io.characters import check_id
from ragrelay.io.parquet_files import read_parquet
from ragrelay.vocabulary.columns import text

BEYOND = 10**6
"""Of labels, as in files of TREC's format, where they have at most six digits (qrels_files.LABEL)."""
COLUMNS = {"references": text("empty: the same for all reference sets"), **QRELS_COLUMNS}


def label_by_file(path: Path, queries: str | Path) -> pl.DataFrame:
    """Columns COLUMNS of the file ``path``; ``queries``: the dataset's (qid).

    Raises as read_labels does, and where the file has no label for any of them.
    """
    labels = read_labels(path)
    if labels.join(pl.read_parquet(queries, columns=["qid"]), on="qid", how="semi").is_empty():
        raise InputError(path, "no label for any query of the dataset", "qids of its queries")
    return labels.select(pl.lit(None, pl.String).alias("references"), "*")


def read_labels(path: Path) -> pl.DataFrame:
    """Columns qid, docno, label of a Parquet file (by its ending) with these columns, or of a file in TREC's format.

    Raises InputError as read_qrels does, and for a Parquet file without the columns, with an id that is neither text
    nor a whole number, a label that is null or no whole number, or a pair twice.
    """
    if path.suffix != ".parquet":
        return read_qrels(path)
    frame = read_parquet(path, "a Parquet file with columns qid, docno, label", tuple(QRELS))
    if frame.is_empty():
        raise InputError(path, "no judgement", "at least one row")
    for name in QRELS:
        if frame[name].null_count():
            raise InputError(f"{path}, column {name}", "a null", "a value in each row")
    if not frame.schema["label"].is_numeric():
        raise InputError(f"{path}, column label", str(frame.schema["label"]), "whole numbers")
    for name in ("qid", "docno"):
        if not (frame.schema[name] == pl.String or frame.schema[name].is_integer()):
            raise InputError(f"{path}, column {name}", str(frame.schema[name]), "texts or whole numbers")
    frame = frame.select(pl.col("qid", "docno").cast(pl.String), pl.col("label").cast(pl.Float64))
    for name in ("qid", "docno"):
        for value in frame[name].unique(maintain_order=True):
            check_id(f"{path}, column {name}", name, value)
    whole = (pl.col("label") % 1 == 0) & (pl.col("label").abs() < BEYOND)
    if (odd := frame.filter(~whole)).height:
        raise InputError(f"{path}, column label", str(odd["label"][0]), f"whole numbers below {BEYOND:,d}")
    if (again := frame.filter(frame.select("qid", "docno").is_duplicated())).height:
        raise InputError(path, f"qid {again['qid'][0]!r} with docno {again['docno'][0]!r} again", "each pair once")
    return frame.with_columns(pl.col("label").cast(pl.Int64))
