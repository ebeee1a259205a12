"""Score distinct answers against their queries' references, unless the scores are already in the store."""

import logging
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Protocol

import polars as pl

from ragrelay.base.display.progress import Progress
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.characters import composed
from ragrelay.base.io.missing_counts import before_work
from ragrelay.scoring.reference_sets import QueryReferences
from ragrelay.scoring.scorer import Measure, Task
from ragrelay.scoring.store import KEY, VALUES, ScoreStore

log = logging.getLogger(__name__)

# Distinct answers to score at a time, enough to fill a GPU's batches; 512 MB with 512 tokens and 1,024 dimensions.
ANSWERS_AT_ONCE = 256
# Distinct answers whose texts are read at a time; each read takes a pass over the answer files.
TEXTS_AT_ONCE = 16384
# A killed job loses at most this many seconds of work.
FLUSH_SECONDS = 60.0
KNOWN = {"qid": pl.String, "place": pl.Int64, "references_hash": pl.String}


class Answers(Protocol):
    """Answers to score. ``keys`` has a row per answer, with columns qid, answer_hash and possibly more."""

    keys: pl.DataFrame

    def texts(self, keys: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """Read the texts of the answers in ``keys`` and yield pairs (answer_hash, answer). Hashes must be unique."""


def fill_store(
    store: ScoreStore,
    scorer: Measure,
    cells: Answers,
    queries: Mapping[str, QueryReferences],
) -> tuple[pl.DataFrame, int]:
    """Score the answers in ``cells`` against their queries' references, unless the scores are already in ``store``.

    Each distinct text is read and encoded only once, even if it answers several queries. Answers are processed in the
    order of the queries. Returns all pairs of an answer and its query's references (answer_hash, references_hash,
    part), and the number of pairs that were newly scored.
    """
    pairs, missing = _pairs(store, cells, queries)
    if len(missing):
        check_writable(f"{len(missing)} of {len(pairs)} scores are not in", store.folder)
        _score_missing(missing, store, scorer, cells, queries)
    located = store.held(pairs)
    if len(located) < len(pairs):
        raise InputError(
            store.folder,
            f"no scores for {len(pairs) - len(located)} of {len(pairs)} pairs",
            "a store from which nothing is deleted during the job",
        )
    return located, len(missing)


def missing_pairs(store: ScoreStore, cells: Answers, queries: Mapping[str, QueryReferences]) -> pl.DataFrame:
    """Return the distinct pairs (answer_hash, references_hash) for which ``store`` has no scores yet."""
    return _pairs(store, cells, queries)[1].select(KEY)


def _pairs(
    store: ScoreStore, cells: Answers, queries: Mapping[str, QueryReferences]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the distinct pairs in ``cells``, in the order of their queries, and those that ``store`` lacks."""
    known = pl.DataFrame([(qid, query.place, query.hash) for qid, query in queries.items()], schema=KNOWN, orient="row")
    pairs = cells.keys.join(known, on="qid", maintain_order="left").sort("place", maintain_order=True)
    pairs = pairs.unique(KEY, keep="first", maintain_order=True)
    missing = pairs.join(store.held(pairs), on=KEY, how="anti")
    log.info("%d answer-reference pairs, %d already scored", len(pairs), len(pairs) - len(missing))
    return pairs, missing


def _score_missing(
    missing: pl.DataFrame,
    store: ScoreStore,
    scorer: Measure,
    cells: Answers,
    queries: Mapping[str, QueryReferences],
) -> None:
    """Score the pairs in ``missing``, block by block."""
    before_work()
    started, scored = time.monotonic(), 0
    scorer.prepare([text for query in queries.values() for text in query.texts])
    metadata = {"fingerprint": scorer.fingerprint, "torch": version("torch")}
    progress = Progress(len(missing), "pairs of answer and references")
    with store.writer(metadata, FLUSH_SECONDS) as writer:
        for large_block in _blocks(missing, TEXTS_AT_ONCE):
            texts = _texts(large_block, cells)
            for block in _blocks(large_block, ANSWERS_AT_ONCE):
                for rows in _score(block, texts, scorer, queries):
                    writer.add(rows)
                    progress.add(len(rows))
                    scored += len(rows)
    log.info("scored %d pairs in %.1f s", scored, time.monotonic() - started)


def _blocks(missing: pl.DataFrame, answers_at_once: int) -> Iterator[pl.DataFrame]:
    """Yield ``missing`` in blocks of distinct answers, each with all its pairs, sorted by their first query."""
    ordered = missing.with_columns(first=pl.col("place").min().over("answer_hash"))
    ordered = ordered.sort("first", "answer_hash", "place")
    number = pl.col("answer_hash").rle_id() // answers_at_once
    for _, block in ordered.group_by(number.alias("block"), maintain_order=True):
        yield block


def _texts(missing: pl.DataFrame, cells: Answers) -> dict[str, str]:
    """Return the composed text for each answer_hash."""
    texts = cells.texts(missing.unique("answer_hash", keep="first", maintain_order=True))
    return {answer_hash: composed(text) for answer_hash, text in texts}


def _score(
    block: pl.DataFrame, texts: Mapping[str, str], scorer: Measure, queries: Mapping[str, QueryReferences]
) -> Iterator[pl.DataFrame]:
    """Yield rows of the store for the pairs in ``block``, one frame per query."""
    groups = [(str(qid), rows["answer_hash"].to_list()) for (qid,), rows in block.group_by("qid", maintain_order=True)]
    tasks = [Task([texts[answer] for answer in answers], queries[qid].texts) for qid, answers in groups]
    for (qid, answers), scores in zip(groups, scorer.score(tasks), strict=True):
        values = {name: list(getattr(scores, name)) for name in VALUES}
        yield pl.DataFrame({"answer_hash": answers, "references_hash": [queries[qid].hash] * len(answers), **values})
