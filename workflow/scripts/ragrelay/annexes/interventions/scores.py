"""Score the answers to prompts with changed contexts; scores in the score store are reused."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragrelay.annexes.interventions.columns import CHANGE, KEY
from ragrelay.base.vocabulary.columns import REFERENCES, integer, number, schema_of
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.scoring.aggregation import Aggregation
from ragrelay.scoring.near_copies import PassageTexts, Shown, shown_references
from ragrelay.scoring.query_scores import QueryScores, ScoredAnswers
from ragrelay.scoring.store import VALUES
from ragrelay.scoring.table_answers import TableAnswers

QUERIES_AT_ONCE = 200
COLUMNS = {
    "references": REFERENCES._replace(
        about="name of the reference set; a set whose name ends in `-unseen` excludes all passages that appear in any "
        "of the intervention's contexts for the query at the same k, so that these contexts share one set"
    ),
    **CHANGE,
    "p": number("the answer's score against the reference set, averaged over seeds", "the scorer's"),
    "n_seeds": integer("number of seeds with a score", "seeds"),
}
SCHEMA = schema_of(COLUMNS)
OF_SEED: dict[str, Any] = {
    **{name: SCHEMA[name] for name in ("references", *KEY)},
    "seed": pl.Int64,
    "score": pl.Float64,
}


def score_changed_answers(
    answers: str | Path,
    references: str | Path,
    grades: Mapping[str, int],
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    threads: int = 1,
    passages: Sequence[str | Path] = (),
    near_copy: float | None = None,
) -> pl.DataFrame:
    """Score the answers in a file (columns answers.COLUMNS); returns columns COLUMNS, sorted by references and KEY.

    ``passages``: files with the texts of the context passages (qid, docno, text). For the other arguments, see
    retriever_table.score_answers. A query without references in a reference set has no rows for that set.
    """
    columns = [*KEY, "docnos", "seed"]
    scored = ScoredAnswers(lambda qids: TableAnswers(answers, qids, columns), references, scorer, cache_dir, threads)
    texts = PassageTexts(() if near_copy is None else passages)
    frames = [pl.DataFrame(schema=OF_SEED)]
    for batch in scored.batches(QUERIES_AT_ONCE, [*KEY, "seed"]):
        of_batch = texts.of([query.qid for query in batch])
        for query in batch:
            shown: Mapping[Shown, np.ndarray] | None = None
            if not scored.gold:
                docnos: dict[Shown, str] = {docno: "" for some in query.answers["docnos"] for docno in some}
                shown = shown_references(query.query, {**docnos, **of_batch[query.qid]}, near_copy)
            frames += _of_query(query, grades, scored.aggregate, shown)
    # Means are taken over collected lists, so that the number of threads doesn't change the last digit.
    return (
        pl.concat(frames)
        .sort("references", *KEY, "seed")
        .group_by("references", *KEY, maintain_order=True)
        .agg("score")
        .with_columns(p=pl.col("score").list.mean(), n_seeds=pl.col("score").list.len().cast(pl.Int64))
        .select(*SCHEMA)
    )


def _of_query(
    scored: QueryScores, grades: Mapping[str, int], aggregate: Aggregation, shown: Mapping[Shown, np.ndarray] | None
) -> Iterator[pl.DataFrame]:
    """Yield the scores of one query's answers for each set. ``shown``: references that passages show; None for gold."""
    _, query, answers, values = scored
    numbered = answers.with_row_index("row")
    for (_, _), rows in numbered.partition_by("intervention", "k", as_dict=True, maintain_order=True).items():
        places = rows["row"].to_numpy()
        docnos = {docno for some in rows["docnos"] for docno in some}
        seen = None if shown is None else np.any([shown[docno] for docno in sorted(docnos)], axis=0)
        for grade, label in grades.items():
            judged = query.labels >= label
            sets = {grade: judged} if seen is None else {grade: judged, grade + UNSEEN: judged & ~seen}
            for name, members in sets.items():
                if not members.any():
                    continue
                nothing = np.zeros((len(places), len(members)), dtype=bool)  # the best reference isn't needed
                of_rows = {value: values[value][places] for value in VALUES}
                numbers, _ = aggregate(of_rows, members, query.texts, nothing)
                score = pl.Series("score", numbers[:, VALUES.index("f1")], nan_to_null=True)
                yield rows.select(pl.lit(name).alias("references"), *KEY, "seed", score).select(*OF_SEED)
