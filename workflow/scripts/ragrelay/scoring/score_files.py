"""Read scores from people or from another program, and assign the scores to the study's answers.

Supported formats are CSV, TSV, Parquet and JSON with one score per record, AutoJudge's records (run_id, topic_id,
measure, value), and nuggetizer's assignments (qid, run_id, and nuggets with importance and assignment).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.characters import check_id
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.base.vocabulary.orderings import DESCENDING
from ragrelay.collection.answer_formats.records import name_of, whole_number
from ragrelay.scoring.nugget_lists import IMPORTANCE, folded
from ragrelay.scoring.nugget_scores import VALUES, nugget_score
from ragrelay.scoring.score_records import score_records

KEYS = ("qid", "topic_id", "value", "run", "run_id", "generator", "retriever", "ordering", "k", "seed", "assessor",
        "measure", "probability", "key", "nuggets")  # fmt: skip
"""The keys read from a record. All other keys, such as the texts of query and answer, are ignored."""
FORMAT = '{"qid": ..., "retriever": ..., "value": ...}'
FAILED = "failed"
"""The word that nuggetizer writes if its model returned no label. Nuggetizer's own scores count such a nugget as not
supported."""
VITAL = {**IMPORTANCE, FAILED: False}
ASSIGNMENTS = {"support": 0, "partial_support": 1, "not_support": 2, FAILED: 2}
"""Nuggetizer's assignments and their index in nugget_scores.WORDS."""
NO_VALUE = ("", "nan", "na", "n/a", "#n/a", "null", "none")
"""Texts (in lower case) that stand for a missing value."""
MEANS = "all"
"""The topic_id of AutoJudge's means over topics, which aren't scores of answers."""
ROWS: dict[str, Any] = {
    "place": pl.String,
    "qid": pl.String,
    "run": pl.String,
    "generator": pl.String,
    "retriever": pl.String,
    "ordering": pl.String,
    "k": pl.Int64,
    "seed": pl.Int64,
    "assessor": pl.String,
    "value": pl.Float64,
    "probability": pl.Float64,
    "key": pl.String,
    "failed": pl.Int64,
}
"""``place`` is file and line; ``failed`` is the number of nuggets labelled FAILED. Missing values are null."""
OF_CELL = ["generator", "retriever", "ordering", "k", "seed"]
ANSWER = [*OF_CELL, "qid"]
DRAWN = [*ANSWER, "probability"]


class ScoreScale(NamedTuple):
    """The scale of a file's values, and the measure to read from the file."""

    scale: tuple[float, float] = (0.0, 1.0)
    """The worst and the best value, which become 0 and 1."""
    measure: str | None = None
    """The measure to read from a file with several; for nuggets, one of nugget_scores.VALUES."""


class ScoreCells(NamedTuple):
    """The generators, retrievers, orderings, k and seeds in a study's grid."""

    generators: Sequence[str]
    retrievers: Sequence[str]
    orderings: Sequence[str]
    ks: Sequence[int]
    seeds: Sequence[int]


def read_score_rows(path: Path, scored: ScoreScale) -> pl.DataFrame:
    """Read a file of scores, and return a row per record (columns ROWS), with values converted to the range 0 to 1.

    The value is null for answers that haven't been scored yet. AutoJudge's means over topics are skipped. Assessors'
    names that differ only in case or whitespace are treated as one person. Raises InputError for a malformed record, a
    value outside the scale or a sampling probability outside (0, 1], if only some records have a probability, if the
    file contains several measures and ``scored`` names none, or if it contains no scores.
    """
    kept, measures, people = list[tuple[Any, ...]](), dict[str, str](), dict[str, str]()
    for place, record in score_records(path, KEYS, FORMAT):
        if record.get("topic_id") == MEANS:
            continue
        measure = name_of(place, "measure", record.get("measure"))
        if record.get("nuggets") is None and measure is not None:
            measures.setdefault(measure, place)
            if scored.measure is not None and measure != scored.measure:
                continue
        kept.append(_row(place, _as_drawn(place, record), scored, people))
    if len(measures) > 1 and scored.measure is None:
        expected = f"key measure in the scorer's entry: {one_of(measures)}"
        raise InputError(path, f"{len(measures)} measures", expected)
    if not kept:
        found = f"no scores of measure {scored.measure!r}" if measures else "no scores"
        raise InputError(path, found, one_of(measures) if measures else FORMAT)
    rows = pl.DataFrame(kept, schema=ROWS, orient="row")
    without = rows.filter(pl.col("probability").is_null())
    if 0 < without.height < rows.height:
        raise InputError(without["place"][0], "no probability", "a probability in every record, or in none")
    return rows


def _row(place: str, record: Mapping[str, Any], scored: ScoreScale, people: dict[str, str]) -> tuple[object, ...]:
    ids = {str(record[key]) for key in ("qid", "topic_id") if record.get(key) not in (None, "")}
    if len(ids) != 1:
        raise InputError(place, _lacks("qid", record) if not ids else f"qid and topic_id {sorted(ids)}", FORMAT)
    (qid,) = ids
    check_id(place, "qid", qid)
    value = _value(place, record, scored)
    names = {key: name_of(place, key, record.get(key)) for key in ("run", "run_id", "generator", "retriever",
                                                                   "ordering", "key")}  # fmt: skip
    numbers = [whole_number(place, key, record.get(key)) for key in ("k", "seed")]
    assessor = " ".join(str("" if record.get("assessor") is None else record["assessor"]).split())
    failed = sum(FAILED in (each["importance"], each["assignment"]) for each in record.get("nuggets") or ())
    return (
        place, qid, names["run"] or names["run_id"], names["generator"], names["retriever"], names["ordering"],
        *numbers, people.setdefault(folded(assessor), assessor) or None, value,
        _probability(place, record.get("probability")), names["key"], failed,
    )  # fmt: skip


def _lacks(key: str, record: Mapping[str, object]) -> str:
    return f"no {key}, only {', '.join(map(str, record))}"


def _value(place: str, record: Mapping[str, object], scored: ScoreScale) -> float | None:
    if record.get("nuggets") is not None:
        return _nugget_value(place, record["nuggets"], scored.measure)
    if "value" not in record:
        raise InputError(place, _lacks("value", record), FORMAT)
    if record["value"] is None or str(record["value"]).strip().casefold() in NO_VALUE:
        return None
    number, (low, high) = _number(record["value"]), scored.scale
    if number is None or not min(low, high) <= number <= max(low, high):
        raise InputError(place, f"value {record['value']!r}", f"a number from {low:g} to {high:g} (key scale)")
    if _GROUPED.fullmatch(text := str(record["value"]).strip()):
        grouped = float(text.replace(",", ""))
        if min(low, high) <= grouped <= max(low, high):
            raise InputError(place, f"value {text!r}", f"{number:g} or {grouped:g}, written without a comma")
    return (number - low) / (high - low)


_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
"""A number with a comma that may separate thousands."""


def _number(value: object) -> float | None:
    """Return a record's number, which may be text with a decimal comma; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        number = float(value.replace(",", ".") if isinstance(value, str) else value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _probability(place: str, value: object) -> float | None:
    if value is None or value == "":
        return None
    number = _number(value)
    if number is None or not 0.0 < number <= 1.0:
        raise InputError(place, f"probability {value!r}", "the probability of being drawn, above 0 and at most 1")
    return number


def _nugget_value(place: str, nuggets: object, measure: str | None) -> float | None:
    """Return nuggetizer's score; None if no nugget counts."""
    if measure not in VALUES:
        raise InputError(place, f"nuggets with measure {measure!r}", f"key measure: {one_of(VALUES)}")
    if not isinstance(nuggets, list) or not all(isinstance(nugget, dict) for nugget in nuggets):
        raise InputError(place, "nuggets that aren't a list of records", "a list of nuggets")
    for nugget in nuggets:
        for key, known in (("importance", VITAL), ("assignment", ASSIGNMENTS)):
            if not isinstance(nugget.get(key), str) or nugget[key] not in known:
                raise InputError(place, f"{key} {nugget.get(key)!r}", one_of(known))
    rows = [(ASSIGNMENTS[nugget["assignment"]], VITAL[nugget["importance"]]) for nugget in nuggets]
    frame = pl.DataFrame(rows, schema={"label": pl.Int64, "vital": pl.Boolean}, orient="row")
    value: float | None = frame.select(nugget_score(measure, pl.col("label"), pl.col("vital"))).item()
    return value


def run_name(cell: Mapping[str, object]) -> str:
    """Return a cell's run name for AutoJudge, such as `qwen.bm25.descending.k3.seed1`."""
    return "{generator}.{retriever}.{ordering}.k{k}.seed{seed}".format(**cell)


def of_runs(rows: pl.DataFrame, cells: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Fill in each row's missing generator, retriever, ordering, k and seed from the run's name.

    A run is named after a retriever or after a cell (as in `run_name`, with or without the generator). Any other name
    is assumed to be a retriever that isn't in the study.
    """
    known = dict[str, Mapping[str, Any]]()
    for cell in cells:
        name = run_name(cell)
        known[name] = cell
        known[name.removeprefix(f"{cell['generator']}.")] = {key: cell[key] for key in OF_CELL if key != "generator"}
        known.setdefault(cell["retriever"], {"retriever": cell["retriever"]})
    runs = pl.DataFrame([(name, *(cell.get(key) for key in OF_CELL)) for name, cell in known.items()],
                        schema={"run": pl.String, **{key: ROWS[key] for key in OF_CELL}}, orient="row")  # fmt: skip
    joined = rows.join(runs, on="run", how="left", suffix="_of_run", maintain_order="left")
    for row in joined.iter_rows(named=True):
        for key in OF_CELL:
            if row[key] is not None and row[f"{key}_of_run"] not in (None, row[key]):
                raise InputError(row["place"], f"run {row['run']!r} with {key} {row[key]!r}", f"the run's own {key}")
    filled = joined.with_columns(pl.col(key).fill_null(pl.col(f"{key}_of_run")) for key in OF_CELL)
    return filled.with_columns(pl.col("retriever").fill_null(pl.col("run"))).select(*ROWS)


def placed_scores(rows: pl.DataFrame, cells: ScoreCells) -> pl.DataFrame:
    """Fill in the default seed and ordering and, if the grid has only one, a missing generator, retriever or k.

    For zero-shot scores (retriever `zeroshot`, or k = 0), ordering is set to `none` and k to 0. Raises InputError if a
    score has no generator, retriever or k although the grid has several, or if an assessor scored an answer twice.
    """
    every = [
        {"generator": generator, "retriever": retriever, "ordering": ordering, "k": k, "seed": seed}
        for generator in cells.generators
        for seed in cells.seeds
        for retriever, ordering, k in [
            (ZEROSHOT, NO_ORDERING, 0),
            *((name, ordering, k) for name in cells.retrievers for ordering in cells.orderings for k in cells.ks),
        ]
    ]
    named = of_runs(rows, every)
    zeroshot = ((pl.col("retriever") == ZEROSHOT) | (pl.col("k") == 0)).fill_null(False)
    ordering = DESCENDING if DESCENDING in cells.orderings else cells.orderings[0]
    only = {"generator": cells.generators, "retriever": cells.retrievers, "k": cells.ks}
    whole = named.with_columns(
        retriever=pl.when(zeroshot).then(pl.lit(ZEROSHOT)).otherwise("retriever"),
        ordering=pl.when(zeroshot).then(pl.lit(NO_ORDERING)).otherwise(pl.col("ordering").fill_null(ordering)),
        k=pl.when(zeroshot).then(pl.lit(0, pl.Int64)).otherwise("k"),
        seed=pl.col("seed").fill_null(cells.seeds[0]),
    ).with_columns(
        pl.col(key).fill_null(pl.lit(values[0] if len(values) == 1 else None, ROWS[key]))
        for key, values in only.items()
    )
    for key, values in only.items():
        for place in whole.filter(pl.col(key).is_null())["place"].head(1):
            raise InputError(place, f"neither {key} nor a run of this study", f"key {key}: {one_of(values)}")
    _check_once(whole)
    return whole


def _check_once(rows: pl.DataFrame) -> None:
    by = [*ANSWER, "assessor"]
    for row in rows.filter(rows.select(by).is_duplicated()).head(1).iter_rows(named=True):
        same = rows.join(pl.DataFrame([row], schema=rows.schema).select(by), on=by, nulls_equal=True)
        first, again = same["place"].head(2)
        what = "qid {qid}, {retriever}, {ordering}, k {k}, seed {seed}".format(**row)
        who = f" by assessor {row['assessor']}" if row["assessor"] else ""
        found = f"a second score for {what}{who} (first in {first})"
        raise InputError(again, found, "one score per answer and assessor")


def mean_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Average each answer's scores over assessors; return ANSWER, value, n (scores per answer), probability and key."""
    known = rows.drop_nulls("value")
    return known.group_by(ANSWER, maintain_order=True).agg(
        pl.col("value").mean(), pl.len().cast(pl.Int64).alias("n"), pl.col("probability", "key").first()
    )


def answer_key(qid: str, answer: str) -> str:
    """Return a hash of an answer's text (12 hex digits), to detect whether the text has changed since scoring."""
    return value_hash([qid, answer], digits=12)


def row_key(row: Mapping[str, Any]) -> str:
    """Return a sampled answer's key: a string with the cell, qid, probability and a hash of the answer.

    Spreadsheets leave this string unchanged, but convert qids and names such as 007, 1e5 or 3-4 to numbers or dates.
    """
    return " ".join([*(f"{name}={row[name]}" for name in DRAWN), f"text={answer_key(row['qid'], row['answer'])}"])


def _as_drawn(place: str, record: Mapping[str, object]) -> Mapping[str, object]:
    """Return ``record`` with the answer that its row_key names, even if a spreadsheet changed other columns.

    In an older file, the key is only an answer_key, and a qid that begins like a formula follows an apostrophe.
    """
    key = str(record.get("key") or "")
    if "=" not in key:
        qid = re.sub("^'(?=[=+@-])", "", str(record.get("qid") or ""))
        return {**record, "key": key, "qid": qid} if key else record
    named = dict(part.partition("=")[::2] for part in key.split())
    if [*named] != [*DRAWN, "text"]:
        raise InputError(place, f"key {key!r}", "the key of a drawn answer, or no key")
    return {**record, **named, "topic_id": None, "run": None, "run_id": None, "key": named["text"]}


def _same_text(key: str | None, own: str) -> bool:
    """Return whether ``key`` is ``own`` (an answer_key) or what a spreadsheet made of it, such as 1.2E+11."""
    number, own_number = (_number(text) for text in (key, own))
    same = number is not None and own_number is not None and math.isclose(number, own_number, rel_tol=1e-5)
    return key in (None, own) or same


def of_answers(scores: pl.DataFrame, answers: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the scores of answers that exist and haven't changed since scoring, and four counts.

    ``unknown``: scores for answers that don't exist; ``changed``: scores for answers whose text is now different;
    ``scored`` and ``unscored``: answers with and without a score.
    """
    texts = answers.drop_nulls("answer")
    keys = [answer_key(qid, answer) for qid, answer in texts.select("qid", "answer").iter_rows()]
    known = texts.select(*ANSWER, pl.Series("own_key", keys, pl.String))
    found = scores.join(known, on=ANSWER, how="inner", maintain_order="left")
    kept = [_same_text(*keys) for keys in found.select("key", "own_key").iter_rows()]
    same = found.filter(pl.Series(kept, dtype=pl.Boolean)).drop("own_key")
    counts = {
        "unknown": scores.height - found.height,
        "changed": found.height - same.height,
        "scored": same.height,
        "unscored": texts.height - same.height,
    }
    return same, counts
