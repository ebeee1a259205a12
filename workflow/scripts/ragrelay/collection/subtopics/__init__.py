"""Read subtopics, the parts of what a query asks for: nuggets, aspects, hops. A module per form of the judgements."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.compressed_files import COMPRESSED
from ragrelay.collection.subtopics.hops import read_hops
from ragrelay.collection.subtopics.judgements import judged_collection, read_subtopics
from ragrelay.collection.subtopics.nuggetizer import read_nuggetizer
from ragrelay.collection.subtopics.table import HOPS, SCHEMA

NUGGETIZER = tuple(f".jsonl{ending}" for ending in ("", *COMPRESSED))


def prepare_subtopics(
    subtopics: bool | str, definition: Mapping[str, object], queries: pl.DataFrame, qrels: pl.DataFrame, place: str
) -> pl.DataFrame:
    """Return a dataset's judgements of subtopics, in the form that its key ``subtopics`` names.

    Args:
        subtopics: True if its qrels name them, `hops`, or a file.
        definition: The dataset's definition.
        queries: The judged queries; column qid.
        qrels: The prepared judgements; columns qid, docno, label.
        place: How messages begin.

    Returns:
        Columns SUBTOPIC_COLUMNS, of ``queries`` only.

    Raises:
        InputError: No judgement belongs to a query, or the file is malformed.
    """
    if subtopics is True:
        rows = judged_collection(definition).subtopics()
    elif subtopics == HOPS:
        rows = read_hops(qrels)
    else:
        path = Path(str(subtopics))
        rows = read_nuggetizer(path) if path.name.endswith(NUGGETIZER) else read_subtopics(path)
    known = rows.join(queries, on="qid", how="semi", maintain_order="left")
    if known.is_empty():
        raise InputError(place, "no judgement for any query", "qids shared by queries and subtopics")
    return known.select(*SCHEMA)
