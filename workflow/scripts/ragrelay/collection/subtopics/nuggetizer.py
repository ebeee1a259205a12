"""Read nuggetizer's output, which assigns nuggets to retrieved passages."""

from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.characters import check_id
from ragrelay.base.io.json_values import json_record
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.collection.subtopics.table import SCHEMA

LABELS = {"support": 2, "partial_support": 1, "not_support": 0, "failed": 0}
"""The label for each of nuggetizer's assignments. As in nuggetizer's scores, a failed assignment counts as no
support."""
EXPECTED = '{"qid": ..., "docid": ..., "nuggets": [{"text": ..., "assignment": "support"}, ...]}'


def read_nuggetizer(path: Path) -> pl.DataFrame:
    """Read a JSON Lines file with one line per query and passage. Each nugget's text is the name of a subtopic.

    Raises InputError for the first line that is malformed or repeats a query-passage pair, and for a file without
    nuggets.
    """
    rows, seen = list[tuple[str, str, str, int]](), dict[tuple[str, str], int]()
    for number, line in numbered_lines(path):
        place, record = f"{path}, line {number}", json_record(path, number, line)
        nuggets = record.get("nuggets")
        if not isinstance(nuggets, list) or not {"qid", "docid"} <= record.keys():
            raise InputError(place, line[:60], EXPECTED)
        pair = (str(record["qid"]), str(record["docid"]))
        for name, value in zip(("qid", "docid"), pair, strict=True):
            check_id(place, name, value)
        if pair in seen:
            raise InputError(place, f"duplicate qid {pair[0]!r}, docid {pair[1]!r} (line {seen[pair]})", "unique pairs")
        seen[pair] = number
        rows += [(*pair, *_labelled(place, nugget)) for nugget in nuggets]
    if not rows:
        raise InputError(path, "no nuggets", EXPECTED)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _labelled(place: str, nugget: object) -> tuple[str, int]:
    if not isinstance(nugget, dict) or not isinstance(nugget.get("text"), str):
        raise InputError(place, "a nugget without text", EXPECTED)
    if (assignment := nugget.get("assignment")) not in LABELS:
        raise InputError(place, f"assignment {assignment!r}", one_of(LABELS, assignment))
    return nugget["text"].strip(), LABELS[assignment]
