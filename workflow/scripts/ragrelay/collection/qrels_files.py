"""Judgements in a file of TREC's format."""

import re
from pathlib import Path

import polars as pl

from ragrelay.collection.base import QRELS
from ragrelay.errors import InputError
from ragrelay.io.text_lines import trec_lines

LABEL = re.compile(r"[+-]?[0-9]{1,6}")
"""Python's int would take 1_0 for 10. trec_eval has a counter for every label up to the highest: of nine digits, these
take gigabytes, and where they don't fit its measures are 0."""


def read_qrels(path: Path) -> pl.DataFrame:
    """Columns qid, docno, label of a file in TREC's format (qid, iteration, docno, label), in its order.

    Raises InputError naming the line of the first that is malformed or has a pair again, and for a file without lines.
    """
    rows: list[tuple[str, str, int]] = []
    seen: dict[tuple[str, str], int] = {}
    for number, fields in trec_lines(path, "qid", "iteration", "docno", "label"):
        if not LABEL.fullmatch(fields[3]):
            raise InputError(f"{path}, line {number}", f"label {fields[3]!r}", "an integer of at most 6 digits")
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
