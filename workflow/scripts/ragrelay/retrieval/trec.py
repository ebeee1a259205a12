"""TREC runs: read with checks, brought into trec_eval's order, written with ranks from 1."""

import gzip
import math
from pathlib import Path

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError
from ragrelay.io.atomic_files import atomic
from ragrelay.io.text_lines import numbered_lines

RUN = {"qid": pl.String, "docno": pl.String, "score": pl.Float64}


def read_run(path: str | Path) -> pl.DataFrame:
    """Read a TREC run file (qid, Q0, docno, rank, score, tag), plain or .gz, into qid, docno, score in file order.

    Raises InputError naming the line for wrong columns, a score that is no finite number, or a docno twice for a query.
    """
    path, rows = Path(path), []
    seen: dict[tuple[str, str], int] = {}
    for number, line in numbered_lines(path):
        fields = line.split()
        if len(fields) != 6:
            raise InputError(f"{path}, line {number}", f"{len(fields)} columns", "6: qid, Q0, docno, rank, score, tag")
        qid, _, docno, _, text, _ = fields
        try:
            score = float(text)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise InputError(f"{path}, line {number}", f"score {text!r}", "a finite number")
        if (qid, docno) in seen:
            raise InputError(
                f"{path}, line {number}",
                f"docno {docno!r} again for qid {qid!r} (line {seen[qid, docno]})",
                "each docno once per query",
            )
        seen[qid, docno] = number
        rows.append((qid, docno, score))
    return pl.DataFrame(rows, schema=RUN, orient="row")


def check_run(path: str | Path, queries: pl.DataFrame, collection: Collection) -> None:
    """Read a run file brought along as read_run does, and see that it is of this dataset.

    Raises InputError also where it has no result for any of ``queries``, or no docno with a text in ``collection``.
    """
    run = ranked(read_run(path), queries)
    if run.is_empty():
        raise InputError(path, "no result for any query", "qids of the dataset's queries")
    docnos = run.sort("rank", maintain_order=True)["docno"].unique(maintain_order=True)
    # The best ranked first: one look-up is enough unless something is wrong.
    slices = (docnos.slice(start, 1000) for start in range(0, len(docnos), 1000))
    if not any(collection.texts(some.to_list()) for some in slices):
        raise InputError(path, "no docno with a text in the collection", "docnos of the dataset's passages")


def ranked(run: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """``run`` (qid, docno, score) in trec_eval's order with a rank column from 1; queries in the order of ``queries``.

    trec_eval ignores a run's ranks: it compares scores as float32, descending, and breaks ties by docno, descending.
    """
    order = queries.select("qid").with_row_index("place")
    # Byte-wise order of docnos, as strcmp has it: polars compares strings so.
    return (
        run.join(order, on="qid")
        .with_columns(single=pl.col("score").cast(pl.Float32))
        .sort("place", "single", "docno", descending=[False, True, True])
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("place"))
        .select("qid", "docno", "rank", "score")
    )


def write_run(run: pl.DataFrame, path: str | Path, tag: str) -> None:
    """Write a ranked run (qid, docno, rank, score) as a gzipped TREC file, the same bytes for the same run."""
    lines = (f"{qid} Q0 {docno} {rank} {score!r} {tag}\n" for qid, docno, rank, score in run.iter_rows())
    with atomic(path) as temporary, temporary.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as file:
        for line in lines:
            file.write(line.encode("utf-8"))
