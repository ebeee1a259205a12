"""Score answers against all references, add the scores to the store, and read the scores in batches of queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import polars as pl

from ragrelay.scoring.aggregation import aggregation
from ragrelay.scoring.reference_sets import QueryReferences, references_for
from ragrelay.scoring.scorer import make_scorer
from ragrelay.scoring.store import KEY, VALUES, ScoreStore
from ragrelay.scoring.store_filling import Answers, fill_store, missing_pairs

Given = TypeVar("Given", bound=Answers)


class QueryScores(NamedTuple):
    """A query's references, answers and scores. ``values``: arrays (answers, references), keyed by the score's name."""

    qid: str
    query: QueryReferences
    answers: pl.DataFrame
    values: Mapping[str, np.ndarray]


class ScoredAnswers(Generic[Given]):
    """Answers and scores. Scores that aren't in the store yet are computed.

    ``answers``: a function that returns the answers to given queries. ``references``: the file of judged references or,
    for gold answers, the file of queries. Raises InputError if the model isn't available or the scorer would ignore too
    many of the answers' words.
    """

    def __init__(
        self,
        answers: Callable[[Sequence[str]], Given],
        references: str | Path,
        scorer: Mapping[str, Any],
        cache_dir: str | Path,
        threads: int,
    ) -> None:
        self.gold = scorer.get("references") == "gold"
        self.queries = references_for(scorer, references)
        self.answers = answers(list(self.queries))
        measure = make_scorer(scorer, cache_dir, threads)
        distinct = self.answers.keys.unique("answer_hash", keep="first", maintain_order=True)
        measure.check_answers(text for _, text in self.answers.texts(distinct))
        self.fingerprint = measure.fingerprint
        self._store = ScoreStore(cache_dir, measure.fingerprint)
        self._located, _ = fill_store(self._store, measure, self.answers, self.queries)
        self.aggregate = aggregation(scorer.get("aggregate", "max"), measure)
        if self.aggregate.norm is not None:
            measure.prepare([text for query in self.queries.values() for text in query.texts])

    def batches(self, queries_at_once: int, order: Sequence[str]) -> Iterator[list[QueryScores]]:
        """Yield scores in batches of ``queries_at_once`` queries. ``order``: the columns by which to sort answers."""
        qids = list(self.queries)
        for start in range(0, len(qids), queries_at_once):
            some = qids[start : start + queries_at_once]
            hashes = pl.DataFrame({"qid": some, "references_hash": [self.queries[qid].hash for qid in some]})
            keys = self.answers.keys.join(hashes, on="qid")
            scores = self._store.read(self._located.join(keys, on=KEY, how="semi"))
            by_query = keys.join(scores, on=KEY).sort(order).partition_by("qid", as_dict=True)
            yield [self._of(qid, by_query[(qid,)]) for qid in some if (qid,) in by_query]

    def _of(self, qid: str, scored: pl.DataFrame) -> QueryScores:
        query = self.queries[qid]
        values = {
            name: scored[name].explode().to_numpy().reshape(-1, len(query.docnos)).astype(np.float64) for name in VALUES
        }
        return QueryScores(qid, query, scored.drop(VALUES), values)


def fill_scores(
    cells: Mapping[str, Callable[[Sequence[str]], Answers]],
    references: str | Path,
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    threads: int = 1,
    shard: int = 0,
    shards: int = 1,
) -> dict[str, Any]:
    """Score all retrievers' answers to a shard's queries, unless the scores are already in the store.

    ``cells``: functions, keyed by retriever, that return the answers to given queries. Returns the receipt:
    fingerprint, number of pairs (an answer with its query's references), and number of newly scored pairs.
    """
    measure = make_scorer(scorer, cache_dir, threads)
    of_shard = _queries_of_shard(scorer, references, shard, shards)
    store, pairs, scored = ScoreStore(cache_dir, measure.fingerprint), 0, 0
    for read in cells.values():
        located, number = fill_store(store, measure, read(list(of_shard)), of_shard)
        pairs, scored = pairs + len(located), scored + number
    return {"fingerprint": measure.fingerprint, "pairs": pairs, "scored": scored}


def count_scores(
    cells: Mapping[str, Callable[[Sequence[str]], Answers]],
    references: str | Path,
    scorer: Mapping[str, object],
    cache_dir: str | Path,
    shard: int = 0,
    shards: int = 1,
) -> int:
    """Return how many pairs (an answer and its query's references) `fill_scores` would score with these arguments."""
    of_shard = _queries_of_shard(scorer, references, shard, shards)
    store = ScoreStore(cache_dir, make_scorer(scorer, cache_dir).fingerprint)
    missing = [missing_pairs(store, read(list(of_shard)), of_shard) for read in cells.values()]
    return pl.concat(missing).n_unique() if missing else 0


def _queries_of_shard(
    scorer: Mapping[str, object], references: str | Path, shard: int, shards: int
) -> dict[str, QueryReferences]:
    queries = references_for(scorer, references)
    return {qid: queries[qid] for qid in list(queries)[shard::shards]}
