"""Read subtopics, which are aspects of a query, such as nuggets or hops. Each format has its own module."""

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
    """Read a dataset's subtopic judgements from the source that ``subtopics`` specifies.

    Args:
        subtopics: True if the qrels name subtopics; `hops` if each judged passage is a subtopic; or the path of a file.
        definition: The dataset's definition.
        queries: The judged queries, with column qid.
        qrels: The prepared judgements, with columns qid, docno and label.
        place: The beginning of error messages.

    Returns:
        A table with columns SUBTOPIC_COLUMNS, only for ``queries``.

    Raises:
        InputError: No judgement belongs to any of the ``queries``, or the file is malformed.
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
        raise InputError(place, "no judgements for any query", "qids that occur in both queries and subtopics")
    return known.select(*SCHEMA)
