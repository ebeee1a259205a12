"""A study's answers scored through the score store, without the files of a workflow."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from ragrelay.base.io.hashing import text_hash, value_hash
from ragrelay.scoring.reference_sets import QueryReferences
from ragrelay.scoring.scorer import Task
from ragrelay.scoring.scorers.bertscore import BertMeasure
from ragrelay.scoring.store import ScoreStore
from ragrelay.scoring.store_filling import fill_store


class GivenAnswers:
    """Answers of queries 0, 1, …; ``keys``: qid, answer_hash."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.by_hash = {text_hash(text): text for task in tasks for text in task.answers}
        rows = [(str(qid), text_hash(text)) for qid, task in enumerate(tasks) for text in task.answers]
        self.keys = pl.DataFrame(rows, schema=["qid", "answer_hash"], orient="row")

    def texts(self, keys: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """(answer_hash, answer) of a selection of ``keys``."""
        return ((one, self.by_hash[one]) for one in keys["answer_hash"])


def scored(scorer: BertMeasure, tasks: Sequence[Task], cache: Path, clock: Callable[[], float]) -> float:
    """Seconds to score ``tasks``, as far as they are missing in the store ``cache``; the model is loaded beforehand."""
    _ = scorer.encoder
    queries = {
        str(qid): QueryReferences(
            qid, [None] * len(task.references), list(task.references), np.ones(len(task.references)), value_hash(qid)
        )
        for qid, task in enumerate(tasks)
    }
    started = clock()
    fill_store(ScoreStore(cache, scorer.fingerprint), scorer, GivenAnswers(tasks), queries)
    return clock() - started
