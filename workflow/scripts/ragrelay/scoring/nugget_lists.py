"""Read nugget lists from files, and declare the columns of nugget tables."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import ZERO_WIDTH, check_id, check_text, composed
from ragrelay.base.io.json_values import json_record
from ragrelay.base.io.parquet_files import read_parquet
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.base.vocabulary.columns import QID, boolean, integer, number, schema_of, text
from ragrelay.generation.likelihoods.mass import MASS

COLUMNS = {
    "qid": QID,
    "nugget": integer("the nugget's position in the query's list, counted from 1"),
    "text": text("the nugget's text"),
    "vital": boolean("whether the nugget is vital (a good answer must contain it) rather than okay"),
    "vital_probability": number(
        "the generator's probability that the nugget is vital rather than okay; empty if the list comes from a file"
    ),
    "mass": MASS,
}
SCHEMA = schema_of(COLUMNS)
IMPORTANCE = {"vital": True, "okay": False}
FORMAT = '{"qid": ..., "nuggets": [{"text": ..., "importance": "vital" or "okay"}]}'


def read_nuggets(path: Path) -> pl.DataFrame:
    """Read nugget lists from a Parquet file (qid, text, vital) or a JSON Lines file, and return a table (COLUMNS).

    In JSON Lines, each line contains a query's list in the format of nuggetizer and TREC RAG (FORMAT); other keys are
    ignored. Raises InputError if a line or row is malformed, a list is empty, an importance isn't vital or okay, a
    query has a second list, a list repeats a nugget, or the file contains no lists.
    """
    rows: list[tuple[str, int, str, bool, None]] = []
    seen: dict[str, set[str]] = {}
    records = _parquet_nuggets(path) if path.suffix == ".parquet" else _json_nuggets(path)
    for place, qid, nugget, vital in records:
        known = seen.setdefault(qid, set())
        if folded(nugget) in known:
            raise InputError(place, f"duplicate nugget {nugget!r} for qid {qid!r}", "unique nuggets per query")
        known.add(folded(nugget))
        rows.append((qid, len(known), nugget, vital, None))
    if not rows:
        raise InputError(path, "no nuggets", FORMAT)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def folded(text: str) -> str:
    """Normalise a nugget's text for comparisons: fold case, compose (NFC), and collapse spaces."""
    seen = ZERO_WIDTH.sub("", composed(text))
    return " ".join(composed(seen.casefold()).split())


def of_queries(place: str | Path, nuggets: pl.DataFrame, qids: Collection[str]) -> tuple[pl.DataFrame, int]:
    """Return the nuggets for the queries in ``qids``, and the number of lists for other queries.

    A file may contain lists for a track's other topics, which aren't in the dataset. Raises InputError if there is no
    list for any query in ``qids``. ``place``: the file, for the message.
    """
    ours = nuggets.filter(pl.col("qid").is_in(list(qids)))
    if ours.is_empty():
        expected = "a list for at least one of the dataset's queries"
        raise InputError(place, f"only lists for other queries, such as qid {nuggets['qid'][0]!r}", expected)
    return ours, nuggets["qid"].n_unique() - ours["qid"].n_unique()


def left_out(
    nuggets: pl.DataFrame, qids: Sequence[str], others: int = 0, written: Mapping[str, int] | None = None
) -> list[dict[str, object]]:
    """Return counts of queries without nuggets or without a vital nugget, and of problems with the lists.

    ``others``: the number of lists in the file for other queries. ``written`` (if a generator wrote the lists): counts
    ``again`` (lists generated twice), ``cut`` (lists truncated both times) and ``repeated`` (duplicate nuggets).
    """
    listed = set(nuggets["qid"])
    vital = set(nuggets.filter("vital")["qid"])
    counts = {
        "queries without nuggets (no score)": len(set(qids) - listed),
        "queries without a vital nugget (no score by these alone)": len(listed - vital),
    }
    if written is None:
        counts["lists of nuggets for unknown queries"] = others
    else:
        counts |= {
            "lists of nuggets cut at max_tokens and written again": written["again"],
            "lists of nuggets cut again (whole texts kept)": written["cut"],
            "nuggets left out because the list had them already": written["repeated"],
        }
    return [{"what": what, "count": count} for what, count in counts.items()]


def _json_nuggets(path: Path) -> Iterator[tuple[str, str, str, bool]]:
    """Yield each nugget's place, qid and text, and whether it is vital."""
    lines: dict[str, int] = {}
    for line_number, line in numbered_lines(path):
        place, record = f"{path}, line {line_number}", json_record(path, line_number, line)
        qid = _qid(place, record.get("qid"))
        if qid in lines:
            raise InputError(place, f"a second list for qid {qid!r} (first on line {lines[qid]})", "one list per query")
        lines[qid] = line_number
        nuggets = record.get("nuggets")
        if not isinstance(nuggets, list):
            raise InputError(place, "no list for key 'nuggets'", FORMAT)
        if not nuggets:
            raise InputError(place, f"an empty list for qid {qid!r}", "at least one nugget, or no line for the query")
        for nugget in nuggets:
            yield place, qid, *_nugget(place, nugget)


def _nugget(place: str, nugget: object) -> tuple[str, bool]:
    if not isinstance(nugget, Mapping):
        raise InputError(place, f"nugget {nugget!r}"[:80], FORMAT)
    importance = nugget.get("importance")
    if not isinstance(importance, str) or importance not in IMPORTANCE:
        raise InputError(place, f"importance {importance!r}", "vital or okay")
    return _text(place, nugget.get("text")), IMPORTANCE[importance]


def _parquet_nuggets(path: Path) -> Iterator[tuple[str, str, str, bool]]:
    frame = read_parquet(path, "a Parquet file with columns qid, text, vital", ("qid", "text", "vital"))
    for row_number, (qid, nugget, vital) in enumerate(frame.iter_rows(), start=1):
        place = f"{path}, row {row_number}"
        if not isinstance(vital, bool):
            raise InputError(place, f"vital {vital!r}", "true or false")
        yield place, _qid(place, qid), _text(place, nugget), vital


def _qid(place: str, value: object) -> str:
    qid = str(value) if type(value) is int else value
    if not isinstance(qid, str):
        raise InputError(place, "no text value for key 'qid'", FORMAT)
    check_id(place, "qid", qid)
    return qid


def _text(place: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(place, f"nugget text {value!r}"[:80], "a text")
    check_text(place, value)
    return " ".join(value.split())
