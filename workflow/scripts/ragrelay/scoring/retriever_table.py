"""Write a retriever's score table: for every answer and reference set, the scores against the best reference."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq

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
    "precision": number("the answer's precision against the best reference", "the scorer's"),
    "recall": number("the answer's recall against the best reference", "the scorer's"),
    "f1": number("the answer's F1 against the best reference, or the score if the scorer has only one value; this is "
    "the answer's P for the seed", "the scorer's"),
    "best_docno": text("docno of the best reference; empty if there is none"),
    "best_in_context": boolean("whether the best reference was in the context"),
    "n_references": integer("number of the query's references in the reference set", "references"),
    "n_near_copies": integer("number of references that an unseen set excludes only because they are near copies of a "
    "passage in the context",
                             "references"),
    "n_zero": integer("number of references in the set for which F1 is set to 0, because bert-score's formula would "
    "turn a negative precision or recall into a positive F1; empty for a measure with only one value", "references"),
}  # fmt: skip
SCHEMA = schema_of(SCORE_COLUMNS)

ANSWERS_AT_ONCE = 20_000


class References(NamedTuple):
    """A dataset's references. ``path``: the file of judged references or, for gold answers, the file of queries.

    ``grades``: the lowest label in each grade. ``near_copy``: the minimum share of common 5-grams for a passage to
    count as a near copy of a reference, or None to compare only docnos.
    """

    path: str | Path
    grades: Mapping[str, int]
    near_copy: float | None = None


def score_answers(
    answers: Mapping[Cell, Path],
    prompts: Mapping[tuple[str, int], Path],
    references: References,
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    output: str | Path,
    threads: int = 1,
    contexts: Sequence[str | Path] = (),
) -> None:
    """Write a retriever's score table (columns SCHEMA). Scores that aren't in the store are computed first.

    ``answers``: files with answers, keyed by cell: the retriever's cells and the zero-shot cells (for `zeroshot`, only
    the zero-shot cells). ``contexts``: files with the texts of the passages in prompts.

    The column ``references`` contains `gold`, a grade's name, or a grade's name followed by `-unseen`. An unseen set
    contains only references that appear in none of the query's contexts with the same k. Answers with context and
    zero-shot answers are both scored against unseen sets (P_k and P_0 in Tian et al., ECIR 2025, eq. 1); zero-shot rows
    have ordering `none` and the set's k. A query has no rows for a set without references. The best reference depends
    on the scorer's key ``aggregate``. A measure that is a single value is stored in f1. For gold answers, best_docno
    and best_in_context are null; n_near_copies is null except for unseen sets. Rows are sorted by query (in the order
    of the references' file), ordering, k, seed and references. Raises InputError for contradictory input or an
    unavailable model.
    """
    scored = ScoredAnswers(partial(AnswerCells, answers, prompts), references.path, scorer, cache_dir, threads)
    zeroshot = {cell for cell in answers if cell[:2] == ZEROSHOT_CONTEXT}
    baseline = zeroshot if zeroshot < answers.keys() else set()
    passages = PassageTexts(() if references.near_copy is None else contexts)
    unseen, queries_at_once = not scored.gold, max(1, ANSWERS_AT_ONCE // max(1, len(answers)))
    with _written(output, scored.fingerprint) as append:
        for batch in scored.batches(queries_at_once, COLUMNS):
            texts = passages.of([query.qid for query in batch])
            rows = [pl.DataFrame(schema=SCHEMA)]
            for query in batch:
                docnos = _docnos_by_context(scored.answers, query.qid)
                shown = _shown(query.query, docnos, texts[query.qid], references.near_copy)
                rows.append(query_rows(query, docnos, shown, references.grades, baseline, scored.aggregate, unseen))
            append(pl.concat(rows))


@contextmanager
def _written(output: str | Path, fingerprint: str) -> Iterator[Callable[[pl.DataFrame], None]]:
    """Yield a function that appends rows (SCHEMA) to the table ``output``; its metadata has the ``fingerprint``."""
    schema = pl.DataFrame(schema=SCHEMA).to_arrow().schema.with_metadata({"fingerprint": fingerprint})
    with atomic(output) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as file:
        yield lambda rows: file.write_table(rows.to_arrow().cast(schema), row_group_size=1 << 20)


def _docnos_by_context(cells: AnswerCells, qid: str) -> dict[tuple[str, int], list[str]]:
    return {context: docnos[qid] for context, docnos in cells.contexts.items() if qid in docnos}


def _shown(
    query: QueryReferences,
    contexts: Mapping[tuple[str, int], list[str]],
    texts: Mapping[Shown, str],
    near_copy: float | None,
) -> dict[Shown, np.ndarray]:
    """Return which references each passage in a query's ``contexts`` shows. ``texts`` may lack a passage's text."""
    without_text: dict[Shown, str] = {docno: "" for docnos in contexts.values() for docno in docnos}
    return shown_references(query, {**without_text, **texts}, near_copy)


def query_rows(
    scored: QueryScores,
    contexts: Mapping[tuple[str, int], list[str]],
    shown: Mapping[Shown, np.ndarray],
    grades: Mapping[str, int],
    baseline: Set[Cell],
    aggregate: Aggregation,
    unseen: bool,
) -> pl.DataFrame:
    """Return a query's rows for the score table, sorted by ordering, k, seed and references.

    ``scored``: the query's answers and scores. ``contexts``: the docnos in each context, by (ordering, k). ``shown``: a
    bool array (references,) for each passage, true for the references that the passage reveals. ``baseline``: zero-shot
    cells; only their rows on unseen sets are returned (the others are in `zeroshot`'s table). ``unseen``: whether there
    are unseen sets (gold answers have none).
    """
    qid, query, answers, values = scored
    cells = list(answers.select("ordering", "k", "seed").iter_rows())
    nowhere = np.zeros(len(query.docnos), dtype=bool)
    in_context = shown_by_context(query, contexts, shown)
    own = np.array([in_context.get((ordering, k), nowhere) for ordering, k, _ in cells])
    is_baseline, asked_k = np.array([cell in baseline for cell in cells]), answers["k"].to_numpy()
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
    return (
        pl.DataFrame(
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
        )
        .with_columns(shown_best)
        .sort("ordering", "k", "seed", "references")
    )


def _zero_instead(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return 1 for pairs with F1 = 0 whose 2PR / (P + R), the formula of bert-score 0.3.13, is positive, otherwise 0.

    This happens if P or R is negative, and so is their sum. NaN for a measure without P and R.
    """
    precision, recall, f1 = (values[name] for name in VALUES)
    instead = (f1 == 0) & (precision * recall < 0) & (precision + recall < 0)
    filled: np.ndarray = np.where(np.isnan(precision), np.nan, instead)
    return filled


def shown_by_context(
    query: QueryReferences, contexts: Mapping[tuple[str, int], list[str]], shown: Mapping[Shown, np.ndarray]
) -> dict[tuple[str, int], np.ndarray]:
    """Find the references that each context reveals. Return a bool array (references,) for each context."""
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
    """Yield each reference set as a tuple: name, k, members and number of near copies.

    Unseen sets exclude references revealed in contexts of k passages; near copies are the excluded references whose
    docno isn't in these contexts. Members: a bool array (references,). For other sets, k is None and near copies NaN.
    """
    # Orderings with the same k show the same passages, unless some were cut to fit a window. They share one set.
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
