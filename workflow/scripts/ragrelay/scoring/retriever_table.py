"""Write a retriever's score table: the best reference of every answer, per set of references."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    QID,
    REFERENCES,
    SEED,
    boolean,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.scoring.aggregation import Aggregation
from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, AnswerCells, Cell
from ragrelay.scoring.near_copies import PassageTexts, Shown, of_context, shown_references
from ragrelay.scoring.query_scores import QueryScores, ScoredAnswers
from ragrelay.scoring.reference_sets import QueryReferences
from ragrelay.scoring.store import VALUES

log = logging.getLogger(__name__)

SCORE_COLUMNS = {
    "qid": QID,
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": CONTEXT_COLUMNS["k"],
    "seed": SEED,
    "references": REFERENCES,
    "precision": number("precision with the best reference", "the scorer's"),
    "recall": number("recall with the best reference", "the scorer's"),
    "f1": number("F1, or the score, with the best reference: P of this seed", "the scorer's"),
    "best_docno": text("id of the best reference; empty if none is best"),
    "best_in_context": boolean("whether the best reference was in the context"),
    "n_references": integer("the query's references in the set", "references"),
    "n_near_copies": integer("references that an unseen set excludes because a passage in the context is a near copy",
                             "references"),
    "n_zero": integer("references in the set whose F1 is set to 0 because bert-score's formula makes a positive F1 "
                      "from a negative precision or recall; empty for a measure with one value", "references"),
}  # fmt: skip
SCHEMA = schema_of(SCORE_COLUMNS)

ANSWERS_AT_ONCE = 20_000


class AnswerFiles(NamedTuple):
    """A retriever's ``answers`` by (ordering, k, seed), ``prompts`` by (ordering, k), ``zeroshot`` answers by seed.

    If the retriever is `zeroshot` itself, its answers have ordering `none` and k 0, and ``zeroshot`` is empty.
    ``contexts``: files with the texts of the prompts' passages.
    """

    answers: Mapping[Cell, Path]
    prompts: Mapping[tuple[str, int], Path]
    zeroshot: Mapping[int, Path]
    contexts: Sequence[str | Path] = ()


class References(NamedTuple):
    """The references' file, or the queries' file with gold answers if the scorer's key ``references`` is `gold`.

    ``grades``: name to lowest label. ``near_copy``: the share of 5-grams from which a reference counts as seen in a
    passage (near_copies.shown_references; None: only docnos count).
    """

    path: str | Path
    grades: Mapping[str, int]
    near_copy: float | None = None


def score_answers(
    given: AnswerFiles,
    references: References,
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    output: str | Path,
    threads: int = 1,
) -> None:
    """Score those of a retriever's answers that the store does not have yet, and write its table.

    Rows: SCHEMA. Aggregation and the scorer's key ``aggregate`` define the best reference; a measure of one value has
    it in f1. best_docno and best_in_context are null for gold answers, n_near_copies for sets that are not unseen.
    ``references`` is `gold`, or a grade's name, or that name with `-unseen`: the references that no context of the
    query with this k shows. Unseen rows exist for the k-shot answers and, with ordering `none` and the same k, for the
    zero-shot answers on the same set (Tian et al., ECIR 2025, eq. 1: P_k and P_0). A query without a reference in a set
    has no row for it. Rows are sorted by the query's index in the references' file, then ordering, k, seed, references.
    Raises InputError for contradictory input and an unavailable model.
    """
    path, grades, near_copy = references
    zero_cells = {(*ZEROSHOT_CONTEXT, seed): path for seed, path in given.zeroshot.items()}
    if zero_cells.keys() & given.answers.keys():
        raise InputError(output, "zero-shot answers given twice", "only those of the retriever zeroshot")
    files = {**given.answers, **zero_cells}
    scored = ScoredAnswers(partial(AnswerCells, files, given.prompts), path, scorer, cache_dir, threads)
    schema = pl.DataFrame(schema=SCHEMA).to_arrow().schema.with_metadata({"fingerprint": scored.fingerprint})
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as file:
        for batch in scored.batches(max(1, ANSWERS_AT_ONCE // max(1, len(files))), COLUMNS):
            rows = [pl.DataFrame(schema=SCHEMA)]
            passages = PassageTexts(() if near_copy is None else given.contexts).of([query.qid for query in batch])
            for query in batch:
                shown = _contexts(scored.answers, query.qid)
                docnos: dict[Shown, str] = {docno: "" for some in shown.values() for docno in some}
                texts = {**docnos, **passages[query.qid]}
                seen = shown_references(query.query, texts, near_copy)
                table = query_rows(query, shown, seen, grades, set(zero_cells), scored.aggregate, not scored.gold)
                rows.append(table.sort("ordering", "k", "seed", "references"))
            file.write_table(pl.concat(rows).to_arrow().cast(schema), row_group_size=1 << 20)


def _contexts(cells: AnswerCells, qid: str) -> dict[tuple[str, int], list[str]]:
    return {context: docnos[qid] for context, docnos in cells.contexts.items() if qid in docnos}


def query_rows(
    scored: QueryScores,
    contexts: Mapping[tuple[str, int], list[str]],
    shown: Mapping[Shown, np.ndarray],
    grades: Mapping[str, int],
    zero_cells: set[Cell],
    aggregate: Aggregation,
    unseen: bool,
) -> pl.DataFrame:
    """Return one query's rows of the table (see score_answers), unsorted.

    ``scored``: its answers (ordering, k, seed) and their values. ``contexts``: docnos by (ordering, k). ``shown``:
    which references (references,) each of these passages (near_copies.Shown) shows. ``zero_cells``: the cells of
    ``scored`` that are zero-shot answers in a retriever's file; they only give unseen rows. ``unseen``: whether there
    are unseen sets, which gold answers don't have.
    """
    qid, query, answers, values = scored
    cells = list(answers.select("ordering", "k", "seed").iter_rows())
    nowhere = np.zeros(len(query.docnos), dtype=bool)
    in_context = shown_by_context(query, contexts, shown)
    own = np.array([in_context.get((ordering, k), nowhere) for ordering, k, _ in cells])
    is_baseline, asked_k = np.array([cell in zero_cells for cell in cells]), answers["k"].to_numpy()
    zero, tables = _zero_instead(values), []
    for name, left_out, members, near in query_sets(query, contexts, in_context, grades, unseen):
        applies = ~is_baseline if left_out is None else is_baseline | (asked_k == left_out)
        if members.any() and applies.any():
            rows = np.flatnonzero(applies)
            numbers, best = aggregate({value: values[value][rows] for value in VALUES}, members, query.texts, own[rows])
            ks = asked_k[rows] if left_out is None else np.full(len(rows), left_out)
            same = [np.full(len(rows), constant) for constant in (name, members.sum(), near)]
            zeros = zero[np.ix_(rows, members)].sum(axis=1)
            tables.append((rows, ks, best.data, ~np.ma.getmaskarray(best), numbers, zeros, *same))
    if not tables:
        return pl.DataFrame(schema=SCHEMA)
    columns = [np.concatenate(column) for column in zip(*tables, strict=True)]
    rows, ks, chosen, known, numbers, zeros, names, sizes, copies = columns
    best_docnos = [query.docnos[place] if there else None for place, there in zip(chosen, known, strict=True)]
    # Gold answers have no docnos, so none can be in a context.
    shown_best = pl.when(pl.col("best_docno").is_not_null()).then("best_in_context").alias("best_in_context")
    return pl.DataFrame(
        {
            "qid": np.full(len(rows), qid),
            "ordering": answers["ordering"][rows.tolist()],
            "k": ks,
            "seed": answers["seed"][rows.tolist()],
            "references": names,
            **dict(zip(VALUES, numbers.T, strict=True)),
            "best_docno": best_docnos,
            "best_in_context": own[rows, chosen],
            "n_references": sizes,
            "n_near_copies": pl.Series(copies, nan_to_null=True).cast(pl.Int64),
            "n_zero": pl.Series(zeros, nan_to_null=True).cast(pl.Int64),
        },
        schema=SCHEMA,
        nan_to_null=True,
    ).with_columns(shown_best)


def _zero_instead(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return 1 for pairs whose F1 is 0 although 2PR / (P + R), bert-score 0.3.13's formula, is positive, else 0.

    This happens if one of P and R is negative, and their sum too. NaN for a measure without P and R.
    """
    precision, recall, f1 = (values[name] for name in VALUES)
    instead = (f1 == 0) & (precision * recall < 0) & (precision + recall < 0)
    filled: np.ndarray = np.where(np.isnan(precision), np.nan, instead)
    return filled


def shown_by_context(
    query: QueryReferences, contexts: Mapping[tuple[str, int], list[str]], shown: Mapping[Shown, np.ndarray]
) -> dict[tuple[str, int], np.ndarray]:
    """Return which references (references,) each context shows. ``contexts`` and ``shown`` as in query_rows."""
    nowhere = np.zeros(len(query.docnos), dtype=bool)
    return {
        (ordering, k): np.any([nowhere, *(of_context(shown, docno, k) for docno in docnos)], axis=0)
        for (ordering, k), docnos in contexts.items()
    }


def query_sets(
    query: QueryReferences,
    contexts: Mapping[tuple[str, int], list[str]],
    in_context: Mapping[tuple[str, int], np.ndarray],
    grades: Mapping[str, int],
    unseen: bool,
) -> Iterator[tuple[str, int | None, np.ndarray, float]]:
    """Yield each set's name, the k whose contexts it leaves out (or None), its members (references,), and near copies.

    The latter is the number of references left out only as near copies; NaN for a set that leaves none out.
    ``in_context``: what shown_by_context returns.
    """
    # The orderings of a k show the same passages, unless some were cut to fit a window. All share one set per k.
    seen, held = {}, {}
    for k in sorted({k for _, k in contexts if k and unseen}):
        seen[k] = np.any([flags for (_, of_k), flags in in_context.items() if of_k == k], axis=0)
        docnos = {docno for (_, of_k), some in contexts.items() if of_k == k for docno in some}
        held[k] = np.array([docno in docnos for docno in query.docnos])
    for grade, label in grades.items():
        judged = query.labels >= label
        yield grade, None, judged, np.nan
        for k, flags in seen.items():
            yield grade + UNSEEN, k, judged & ~flags, float((judged & flags & ~held[k]).sum())
