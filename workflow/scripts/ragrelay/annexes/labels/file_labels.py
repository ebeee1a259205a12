"""Read labels from a file in TREC's format or from a Parquet file."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import check_id
from ragrelay.base.io.coverage import count_missing
from ragrelay.base.io.parquet_files import read_parquet
from ragrelay.base.vocabulary.columns import text
from ragrelay.collection.base import QRELS, QRELS_COLUMNS
from ragrelay.collection.local import read_qrels

BEYOND = 10**6
"""Labels must be below this limit: at most six digits, as in TREC files (collection.local.LABEL)."""
QUERIES = ("queries", "queries without a label in the file (left out)")
PASSAGES = ("passages ranked for labelled queries", "ranked passages without a label in the file (they count as 0)")
"""Names of the things to label and of the number without a label, for queries and for passages."""
COLUMNS = {"references": text("always empty, because the label is the same for all reference sets"), **QRELS_COLUMNS}


def label_by_file(
    path: Path, queries: str | Path, contexts: Iterable[str | Path], depth: int
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Read the labels in the file ``path`` (COLUMNS), and count the queries and passages without a label.

    ``queries``: the file of the dataset's queries (qid); ``contexts``: files of rankings (qid, rank, docno), in which
    passages down to rank ``depth`` need labels. Raises InputError if the file is malformed, or labels none of the
    queries or none of the passages.
    """
    labels, qids = read_labels(path), pl.read_parquet(queries, columns=["qid"])
    ours = labels.join(qids, on="qid", how="semi")
    first = "first label: qid {!r}, docno {!r}".format
    counts = [
        count_missing(path, ours["qid"].n_unique(), qids.height, QUERIES, first(*labels.row(0)[:2]),
                      "qids of the dataset's queries")
    ]  # fmt: skip
    ranked = ranked_passages(contexts, depth).join(ours.select("qid").unique(), on="qid", how="semi")
    labelled = ranked.join(ours, on=["qid", "docno"], how="semi").height
    counts.append(
        count_missing(path, labelled, ranked.height, PASSAGES, first(*ours.row(0)[:2]),
                      "docnos of the dataset's passages")
    )  # fmt: skip
    return labels.select(pl.lit(None, pl.String).alias("references"), "*"), counts


def ranked_passages(contexts: Iterable[str | Path], depth: int) -> pl.DataFrame:
    """Read the distinct (qid, docno) pairs with a rank of at most ``depth`` from ranking files."""
    frames = [
        pl.read_parquet(path, columns=["qid", "rank", "docno"]).filter(pl.col("rank") <= depth) for path in contexts
    ]
    return pl.concat(frames).select("qid", "docno").unique(maintain_order=True)


def read_labels(path: Path) -> pl.DataFrame:
    """Read the columns qid, docno and label from a Parquet file (extension .parquet) or a file in TREC's format.

    Raises InputError for an invalid file in TREC's format (see read_qrels), and for a Parquet file if a column is
    missing, an id is neither text nor an integer, a label is null or not an integer, or a pair is duplicated.
    """
    if path.suffix != ".parquet":
        return read_qrels(path)
    frame = read_parquet(path, "a Parquet file with columns qid, docno, label", tuple(QRELS))
    if frame.is_empty():
        raise InputError(path, "no labels", "at least one row")
    for name in QRELS:
        if frame[name].null_count():
            raise InputError(f"{path}, column {name}", "a null", "a value in each row")
    if not frame.schema["label"].is_numeric():
        raise InputError(f"{path}, column label", str(frame.schema["label"]), "a column of whole numbers")
    for name in ("qid", "docno"):
        if not (frame.schema[name] == pl.String or frame.schema[name].is_integer()):
            raise InputError(f"{path}, column {name}", str(frame.schema[name]), "a column of strings or whole numbers")
    frame = frame.select(pl.col("qid", "docno").cast(pl.String), pl.col("label").cast(pl.Float64))
    for name in ("qid", "docno"):
        for value in frame[name].unique(maintain_order=True):
            check_id(f"{path}, column {name}", name, value)
    whole = (pl.col("label") % 1 == 0) & (pl.col("label").abs() < BEYOND)
    for row, label in frame.with_row_index("row", 1).filter(~whole).select("row", "label").head(1).iter_rows():
        raise InputError(f"{path}, row {row}, column label", str(label), f"whole numbers below {BEYOND:,d}")
    if (again := frame.filter(frame.select("qid", "docno").is_duplicated())).height:
        raise InputError(path, f"duplicate qid {again['qid'][0]!r}, docno {again['docno'][0]!r}", "one row per pair")
    return frame.with_columns(pl.col("label").cast(pl.Int64))
