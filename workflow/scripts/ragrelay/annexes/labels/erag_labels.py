"""Compute eRAG labels: a passage's label is the score of the answer generated from that passage alone.

See Salemi and Zamani, SIGIR 2024, equation 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ragrelay.annexes.labels.single_answers import PASSAGE
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import DOCNO, QID, REFERENCES, integer, number, schema_of
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.scoring.aggregation import Aggregation
from ragrelay.scoring.near_copies import PassageTexts, shown_references
from ragrelay.scoring.query_scores import QueryScores, ScoredAnswers
from ragrelay.scoring.store import VALUES
from ragrelay.scoring.table_answers import TableAnswers

QUERIES_AT_ONCE = 200
ROUNDING = 1e-3
"""How far a score computed with 16-bit numbers may exceed 1 because of rounding."""
COLUMNS = {
    "references": REFERENCES,
    "qid": QID,
    "docno": DOCNO,
    "label": number("score of the answer that was generated from the passage alone, averaged over "
        "seeds", "the scorer's"),
    "n_seeds": integer("number of seeds with a score", "seeds"),
    "n_below_0": integer("number of seeds with a score below 0; such scores count as 0", "seeds"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)
_ANSWER: dict[str, type[pl.DataType]] = {
    "references": pl.String,
    "qid": pl.String,
    "docno": pl.String,
    "seed": pl.Int64,
    "score": pl.Float64,
}


def label_passages(
    answers: str | Path,
    references: str | Path,
    grades: Mapping[str, int],
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    threads: int = 1,
    contexts: Sequence[str | Path] = (),
    near_copy: float | None = None,
) -> pl.DataFrame:
    """Label all passages from which an answer was generated.

    Returns the columns in SCHEMA; rows are sorted by references, qid and docno. ``answers``: a table of answers to
    single passages; for the other arguments, see retriever_table.score_answers. Like P, a label is the answer's score
    against a reference set, averaged over seeds. At k = 1, P therefore equals the label of the only passage. In the set
    ``<grade>-unseen``, the references exclude the passage and its near copies, because the answer may copy these texts.
    If no reference is left, there is no label. Negative scores count as 0. Raises InputError if a score is above 1.
    """
    columns = [*PASSAGE, "seed"]
    scored = ScoredAnswers(lambda qids: TableAnswers(answers, qids, columns), references, scorer, cache_dir, threads)
    passages = PassageTexts(() if near_copy is None else contexts, original=True)
    frames: list[pl.DataFrame] = []
    for batch in scored.batches(QUERIES_AT_ONCE, [*PASSAGE, "seed"]):
        texts = passages.of([query.qid for query in batch])
        for query in batch:
            alone = {**dict.fromkeys(query.answers["docno"], ""), **texts[query.qid]}
            shown = None if scored.gold else shown_references(query.query, alone, near_copy)
            frames += _query_frames(query, grades, scored.aggregate, shown)
    scores = pl.concat([pl.DataFrame(schema=_ANSWER), *frames])
    for qid, score in scores.filter(pl.col("score") > 1 + ROUNDING).select("qid", "score").head(1).iter_rows():
        above = f"{score:.4g} for an answer to query {qid}"
        raise InputError(f"scorer of kind {scorer['kind']}", above, "scores from 0 to 1, which labels require")
    return _over_seeds(scores)


def _over_seeds(scores: pl.DataFrame) -> pl.DataFrame:
    floored = scores.with_columns(pl.max_horizontal("score", pl.lit(0.0)).alias("label"))
    # Means are taken over collected lists, so that the number of threads doesn't change the last digit.
    return (
        floored.sort("references", *PASSAGE, "seed")
        .group_by("references", *PASSAGE, maintain_order=True)
        .agg(
            "label",
            pl.len().cast(pl.Int64).alias("n_seeds"),
            (pl.col("score") < 0).sum().cast(pl.Int64).alias("n_below_0"),
        )
        .with_columns(pl.col("label").list.mean())
        .select(*SCHEMA)
    )


def _query_frames(
    scored: QueryScores, grades: Mapping[str, int], aggregate: Aggregation, shown: Mapping[str, np.ndarray] | None
) -> Iterator[pl.DataFrame]:
    """Yield the scores of one query's answers against each of their reference sets.

    ``shown``: the references (references,) that each passage contains; None without unseen sets.
    """
    _, query, answers, values = scored
    docnos = answers["docno"].to_numpy()
    for grade, label in grades.items():
        judged = query.labels >= label
        sets = [(grade, judged, np.ones(len(docnos), dtype=bool))]
        if shown is not None:
            own = [docno for docno in dict.fromkeys(docnos) if shown[docno].any()]
            sets.append((grade + UNSEEN, judged, ~np.isin(docnos, own)))
            sets += [(grade + UNSEEN, judged & ~shown[docno], docnos == docno) for docno in own]
        for name, members, rows in sets:
            if members.any() and rows.any():
                nothing = np.zeros((int(rows.sum()), len(members)), dtype=bool)  # the best reference isn't needed
                numbers, _ = aggregate({name: values[name][rows] for name in VALUES}, members, query.texts, nothing)
                kept = answers.select("qid", "docno", "seed").filter(pl.Series(rows))
                yield kept.select(
                    pl.lit(name).alias("references"), "*", pl.Series("score", numbers[:, 2], nan_to_null=True)
                )
