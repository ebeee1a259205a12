"""Score answers against all of their queries' references into the store, and read them back some queries at a time."""

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
    """A query's references, the keys of its ``answers``, and ``values``: (answers, references) arrays by name."""

    qid: str
    query: QueryReferences
    answers: pl.DataFrame
    values: Mapping[str, np.ndarray]


class ScoredAnswers(Generic[Given]):
    """Answers with their scores. The function ``answers`` builds them, given the qids with references.

    ``references``: the file with the dataset's references or, if the scorer's key ``references`` is `gold`, with the
    queries; ``gold`` is then true. Raises InputError for an unavailable model, and for answers whose words the scorer
    can't read.
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
        """Yield the scores of ``queries_at_once`` queries at a time, to limit memory; answers are in ``order``."""
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
    """Score the answers in ``cells`` (keyed by retriever) whose scores the store lacks, with a single model.

    ``references``: see ScoredAnswers. A shard has every ``shards``-th query. Returns the receipt: fingerprint, number
    of pairs (an answer with its query's references), and number of pairs scored now.
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
    """Return how many pairs of an answer and its references have no scores in the store yet (see fill_scores)."""
    of_shard = _queries_of_shard(scorer, references, shard, shards)
    store = ScoreStore(cache_dir, make_scorer(scorer, cache_dir).fingerprint)
    missing = [missing_pairs(store, read(list(of_shard)), of_shard) for read in cells.values()]
    return pl.concat(missing).n_unique() if missing else 0


def _queries_of_shard(
    scorer: Mapping[str, object], references: str | Path, shard: int, shards: int
) -> dict[str, QueryReferences]:
    queries = references_for(scorer, references)
    return {qid: queries[qid] for qid in list(queries)[shard::shards]}
