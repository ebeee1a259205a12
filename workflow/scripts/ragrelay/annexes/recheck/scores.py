"""Score stored and regenerated answers together, without using the score store."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragrelay.annexes.recheck.sides import SIDES
from ragrelay.base.vocabulary.columns import PROMPT_ID, QID, REFERENCES, SEED, number, schema_of
from ragrelay.scoring.aggregation import aggregation
from ragrelay.scoring.reference_sets import references_for
from ragrelay.scoring.scorer import Task, make_scorer
from ragrelay.scoring.store import VALUES

COLUMNS = {
    "qid": QID,
    "prompt_id": PROMPT_ID,
    "seed": SEED,
    "references": REFERENCES,
    **{side: number(f"score of {what}; empty if the answer is missing or the query has no references",
                    "the scorer's") for side, what in SIDES.items()},
}  # fmt: skip
"""Columns of a scorer's file."""


def score_recheck(
    answers: pl.DataFrame,
    references: str | Path,
    grades: Mapping[str, int],
    scorer: Mapping[str, Any],
    cache_dir: str | Path,
    threads: int = 1,
) -> pl.DataFrame:
    """Score both answers in each row of ``answers``, against the first reference set in ``grades``.

    ``answers`` has columns comparison.COLUMNS; the result has COLUMNS. The two answers in a row are scored in the same
    call, so that equal texts get equal scores. For ``references``, see scoring.query_scores.ScoredAnswers. Raises
    InputError if a model isn't available, or if the scorer can't read the answers' words.
    """
    queries, (name, grade) = references_for(scorer, references), next(iter(grades.items()))
    measure = make_scorer(scorer, cache_dir, threads)
    members = {qid: query.labels >= grade for qid, query in queries.items() if (query.labels >= grade).any()}
    composed = answers.with_columns(pl.col(f"answer_{side}").str.normalize("NFC") for side in SIDES)
    by_query = composed.filter(pl.col("qid").is_in(list(members))).partition_by("qid", as_dict=True)
    asked = [(queries[str(qid)], members[str(qid)], rows) for (qid,), rows in by_query.items()]
    texts = [_texts(rows) for _, _, rows in asked]
    measure.check_answers(text for some in texts for text in some)
    if asked:
        measure.prepare([text for query, _, _ in asked for text in query.texts])
    aggregate = aggregation(scorer.get("aggregate", "max"), measure)
    scored = [answers.select("qid", "prompt_id", "seed").clear().with_columns(_empty())]
    tasks = [Task(some, query.texts) for (query, _, _), some in zip(asked, texts, strict=True)]
    for (query, of_set, rows), task, scores in zip(asked, tasks, measure.score(tasks), strict=True):
        values = {value: np.asarray(getattr(scores, value), dtype=np.float64) for value in VALUES}
        numbers, _ = aggregate(values, of_set, query.texts, np.zeros(values["f1"].shape, dtype=bool))
        of_text = dict(zip(task.answers, numbers[:, VALUES.index("f1")].tolist(), strict=True))
        known = [pl.Series(side, [of_text.get(text) for text in rows[f"answer_{side}"]], pl.Float64) for side in SIDES]
        scored.append(rows.select("qid", "prompt_id", "seed").with_columns(known))
    found = answers.select("qid", "prompt_id", "seed").join(
        pl.concat(scored), on=["qid", "prompt_id", "seed"], how="left", maintain_order="left"
    )
    return found.with_columns(references=pl.lit(name)).select(*schema_of(COLUMNS))


def _texts(rows: pl.DataFrame) -> list[str]:
    """Return the distinct texts on both sides."""
    return pl.concat([rows[f"answer_{side}"] for side in SIDES]).drop_nulls().unique(maintain_order=True).to_list()


def _empty() -> list[pl.Expr]:
    return [pl.lit(None, pl.Float64).alias(side) for side in SIDES]
