"""Score the answers from a round; scores in the score store are reused."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from ragrelay.annexes.rounds.queries import STATE
from ragrelay.base.vocabulary.columns import QID, REFERENCES, SEED, number, schema_of
from ragrelay.scoring.query_scores import ScoredAnswers
from ragrelay.scoring.store import VALUES
from ragrelay.scoring.table_answers import TableAnswers

QUERIES_AT_ONCE = 200
COLUMNS = {
    "references": REFERENCES._replace(about="name of the reference set"),
    "qid": QID,
    "seed": SEED,
    "p": number("answer's score with the reference set", "the scorer's"),
}
SCHEMA = schema_of(COLUMNS)


def score_round_answers(
    answers: str | Path,
    references: str | Path,
    grades: Mapping[str, int],
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    threads: int = 1,
) -> pl.DataFrame:
    """Score the non-missing answers in the file ``answers`` (columns answers.COLUMNS); returns columns COLUMNS.

    For the other arguments, see retriever_table.score_answers. There are no unseen reference sets, because contexts
    grow with each round.
    """
    scored = ScoredAnswers(lambda qids: TableAnswers(answers, qids, STATE), references, scorer, cache_dir, threads)
    frames = [pl.DataFrame(schema=SCHEMA)]
    for batch in scored.batches(QUERIES_AT_ONCE, STATE):
        for _, query, rows, values in batch:
            for grade, label in grades.items():
                members = query.labels >= label
                if members.any():
                    nothing = np.zeros((len(rows), len(members)), dtype=bool)  # the best reference is not needed
                    numbers, _ = scored.aggregate(values, members, query.texts, nothing)
                    p = pl.Series("p", numbers[:, VALUES.index("f1")], nan_to_null=True)
                    frames.append(rows.select(pl.lit(grade).alias("references"), *STATE, p))
    return pl.concat(frames).sort("references", *STATE)
