"""Assign imported answers to the cells of a study's grid, and check them against the dataset."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.base.vocabulary.orderings import DESCENDING
from ragrelay.collection.answer_formats.answer_rows import ROWS, read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile
from ragrelay.collection.base import Collection
from ragrelay.generation.store import SCHEMA, THOUGHT
from ragrelay.generation.thought_marks import SHOWN, THINKING, check_shown, without_thinking

KEY = ["retriever", "ordering", "k", "seed", "qid"]
OUTSIDE = "answers outside the grid (left alone)"
UNANSWERED = "queries without an answer in the file"
EMPTY = "answers that are missing in the file (null, or an empty field without quotation marks)"
MOST_CELLS = 3
"""Maximum number of cells named in a message."""
MISSING = "missing"
"""The finish_reason of an imported answer that is missing from the file."""
WHY_MISSING = pl.when(pl.col("answer").is_null()).then(pl.col("finish_reason").fill_null(MISSING))
"""Expression for why an answer is missing: its finish_reason or MISSING; null if there is an answer."""
UNJUDGED = "answers to queries without a judgement (left alone)"


class Places(NamedTuple):
    """The grid's retrievers, orderings, ks and seeds, and the default ``retriever`` and ``k`` for imported answers."""

    retrievers: Sequence[str]
    orderings: Sequence[str]
    ks: Sequence[int]
    seeds: Sequence[int]
    retriever: str | None = None
    k: int | None = None


def placed(rows: pl.DataFrame, places: Places) -> pl.DataFrame:
    """Fill in missing retrievers, orderings, ks and seeds in ``rows`` (columns answer_rows.ROWS).

    The default ordering is descending, and the default seed is the grid's first seed. The default retriever is the one
    in ``places``, or else the grid's only retriever. The default k is the number in ``places``, or else the length of
    the retriever's longest passage list, or else the grid's only k. For answers with the retriever `zeroshot` or k = 0,
    ordering is set to `none` and k to 0. Raises InputError if an answer's retriever or k remains unknown, if an answer
    has more than k passages, or if two answers have the same key.
    """
    contradiction = (pl.col("retriever") == ZEROSHOT) & (pl.col("k") != 0)
    _refuse(rows, contradiction, "retriever zeroshot with k {k}", "k 0 or no k, as zero-shot answers use no passages")
    zeroshot = (pl.col("retriever") == ZEROSHOT) | (pl.col("k") == 0)
    only = places.retriever or (places.retrievers[0] if len(places.retrievers) == 1 else None)
    named = rows.with_columns(
        retriever=pl.when(zeroshot.fill_null(False)).then(pl.lit(ZEROSHOT)).otherwise(
            pl.col("retriever").fill_null(pl.lit(only, pl.String))
        ),
        seed=pl.col("seed").fill_null(places.seeds[0]),
    )  # fmt: skip
    _refuse(named, pl.col("retriever").is_null(), "no retriever", "key retriever, here or in the generator's entry")
    longest = pl.col("docnos").list.len().max().over("retriever").cast(pl.Int64)
    none = pl.col("retriever") == ZEROSHOT
    candidates = [pl.col("k"), pl.lit(places.k, pl.Int64), pl.when(longest > 0).then(longest)]
    candidates.append(pl.lit(places.ks[0] if len(places.ks) == 1 else None, pl.Int64))
    whole = named.with_columns(
        ordering=pl.when(none).then(pl.lit(NO_ORDERING)).otherwise(pl.col("ordering").fill_null(DESCENDING)),
        k=pl.when(none).then(pl.lit(0, pl.Int64)).otherwise(pl.coalesce(candidates)),
    )
    _refuse(whole, pl.col("k").is_null(), "no k", "key k, here or in the generator's entry")
    _refuse(whole, pl.col("docnos").list.len() > pl.col("k"), "{n} passage{s}", "at most {k} (the answer's k)")
    _check_once(whole)
    return whole


def _check_once(rows: pl.DataFrame) -> None:
    twice = rows.filter(pl.struct(KEY).is_duplicated())
    for row in twice.head(1).iter_rows(named=True):
        first, again = twice.join(twice.head(1).select(KEY), on=KEY)["place"].head(2)
        what = "query {qid} with retriever {retriever}, ordering {ordering}, k {k}, seed {seed}".format(**row)
        raise InputError(again, f"a second answer to {what} (first in {first})", "one answer per combination")


def answer_rows(files: Iterable[tuple[str, dict[str, object]]], single: bool = False) -> pl.DataFrame:
    """Read the answers in ``files``, and remove thoughts. ``files`` pairs each path with values for all its answers.

    Raises InputError for malformed rows, and for thought marks that the file's value `thinking` doesn't name.
    """
    frames = [pl.DataFrame(schema=ROWS)]
    for path, values in files:
        setting, named = values.get(THINKING), {key: value for key, value in values.items() if key != THINKING}
        rows = read_answer_rows([AnswerFile(Path(path), named)], single)
        if isinstance(setting, list):
            unknown = {name: pl.lit(None, SCHEMA[name]) for name in ("answer_tokens", *THOUGHT)}
            told = without_thinking(rows.with_columns(finish_reason=pl.lit("stop"), **unknown), setting)
            changed, unfinished = told["answer"].ne_missing(rows["answer"]), told["finish_reason"] == THINKING
            rows = rows.with_columns(
                told["answer"],
                cited_sentences=pl.when(~changed).then("cited_sentences"),
                finish_reason=pl.when(unfinished).then(pl.lit(THINKING)),
            )
        for place, answer in rows.filter(pl.col("answer").str.contains(SHOWN)).select("place", "answer").iter_rows():
            check_shown(answer, place, "the answer", setting)
        frames.append(rows)
    return pl.concat(frames)


def check_against(rows: pl.DataFrame, collection: Collection) -> None:
    """Raise InputError for the first row whose query or passages aren't in the ``collection``."""
    known = collection.queries()["qid"]
    _refuse(rows, ~pl.col("qid").is_in(known.implode()), "qid {qid!r}", "one of the dataset's qids")
    docnos = rows.select("place", "docnos").explode("docnos").drop_nulls()
    texts = collection.texts(docnos["docnos"].unique().to_list())
    known_docnos = pl.Series(list(texts), dtype=pl.String)
    _refuse(docnos, ~pl.col("docnos").is_in(known_docnos.implode()), "docno {docnos!r}", "one of the dataset's docnos")


def in_grid(rows: pl.DataFrame, places: Places) -> pl.DataFrame:
    """Return rows whose retriever, ordering, k and seed are in the grid; for zero-shot rows, only the seed matters."""
    zeroshot = pl.col("retriever") == ZEROSHOT
    in_cells = (
        pl.col("retriever").is_in(list(places.retrievers))
        & pl.col("ordering").is_in(list(places.orderings))
        & pl.col("k").is_in(list(places.ks))
    )
    return rows.filter(pl.col("seed").is_in(list(places.seeds)), zeroshot | in_cells)


def checked_answers(
    files: Iterable[tuple[str, dict[str, object]]],
    places: Mapping[str, Any],
    generator: str,
    collection: Collection,
    qids: Sequence[str],
) -> tuple[pl.DataFrame, Places]:
    """Read the answers in ``files``, assign them to grid cells, and check them against the dataset.

    ``qids``: judged queries. Returns rows and places. Raises InputError if an answer is invalid or none fits the grid.
    """
    grid = Places(**places)
    rows = placed(answer_rows(files), grid)
    check_against(rows, collection)
    own = in_grid(rows, grid).filter(pl.col("qid").is_in(list(qids)))
    if own["answer"].null_count() == own.height:
        retrievers, orderings = " or ".join(grid.retrievers), " or ".join(grid.orderings)
        ks, seeds = (" or ".join(map(str, numbers)) for numbers in (grid.ks, grid.seeds))
        expected = f"answers to judged queries with retriever {retrievers}, ordering {orderings}, k {ks}, seed {seeds}"
        unfinished = (own["finish_reason"] == THINKING).sum()
        found = f"only answers without text ({own.height}, of which {unfinished} with an unfinished thought)"
        if own.is_empty():
            found = f"no answers in the grid ({len(rows)} outside{_cells_of(rows)})"
        raise InputError(f"answers of generator {generator}", found, expected)
    return rows, grid


def _cells_of(rows: pl.DataFrame) -> str:
    """List the first cells of placed ``rows`` after a colon, with the number of other cells."""
    cells = rows.select("retriever", "ordering", "k", "seed").unique(maintain_order=True)
    named = [", ".join(f"{key} {value}" for key, value in cell.items() if value is not None)
             for cell in cells.head(MOST_CELLS).to_dicts()]  # fmt: skip
    more = cells.height - len(named)
    listed = "; ".join([*named, *([f"and {more} more cell{'s'[: more != 1]}"] if more else [])])
    return f": {listed}" if listed else ""


def counts_of_file(rows: pl.DataFrame, places: Places, qids: Iterable[str]) -> list[dict[str, object]]:
    """Return counts (`what`, `count`) of answers outside the grid and of answers to queries without judgements."""
    own = in_grid(rows, places)
    unjudged = own.filter(~pl.col("qid").is_in(list(qids))).height
    return [{"what": OUTSIDE, "count": rows.height - own.height}, {"what": UNJUDGED, "count": unjudged}]


def count_of_cell(answered: int, asked: int, **cell: object) -> dict[str, object]:
    """Count the queries without an answer in ``cell`` (ordering, k, seed); return `what`, `count` and `of`."""
    return {"what": UNANSWERED, "count": asked - answered, "of": cell}


def _refuse(rows: pl.DataFrame, wrong: pl.Expr, found: str, expected: str) -> None:
    for row in rows.filter(wrong.fill_null(False)).head(1).iter_rows(named=True):
        values = {**row, "n": (n := len(row.get("docnos") or "")), "s": "s"[: n != 1]}
        raise InputError(row["place"], found.format(**values), expected.format(**values))
