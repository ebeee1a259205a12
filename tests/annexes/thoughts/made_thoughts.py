"""Made-up thoughts of seeded lognormal lengths, with known differences between contexts, as answer files have them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from ragrelay.annexes.thoughts.lengths import describe_thoughts
from ragrelay.annexes.thoughts.study import ThoughtStudy
from ragrelay.base.vocabulary.columns import named
from ragrelay.generation.answer_files import CONTEXT

from tests.support.report_study import GRID, PRIMARY

KEYS = {"dataset": "demo", "generator": "demo-lm"}
LONGER = {"bm25": 1.0, "dense": 1.0, "rel": 0.6, "nrel": 1.6}
"""Factor on the thoughts without context."""
SCHEMA = {**CONTEXT, "qid": pl.String, "seed": pl.Int64, "thought_tokens": pl.Int64, "thought_end": pl.String}


def answers(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Rows of answer files: retriever, ordering, k, qid, seed, thought_tokens, thought_end."""
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def made(n: int = 36, budget: int = 10**6, grid: dict[str, Any] = GRID, seed: int = 5) -> pl.DataFrame:
    """Rows of answer files to ``n`` queries; thoughts longer than ``budget`` are cut, and those of each 9th do not end.

    Every 12th answer has a thought of unknown length, and every 15th none.
    """
    random = np.random.default_rng(seed)
    base = {f"q{number}": random.lognormal(5, 0.6) for number in range(n)}
    cells = [(r, o, k) for r in grid["retrievers"] for o in grid["orderings"] for k in grid["k"]]
    rows: list[tuple[Any, ...]] = []
    for retriever, ordering, k in [*cells, ("zeroshot", "none", 0)]:
        for qid, length in base.items():
            for number in grid["seeds"]:
                tokens = round(length * LONGER.get(retriever, 1.0) ** min(k, 2) * random.lognormal(0, 0.2))
                end = "budget" if tokens > budget else "unfinished" if len(rows) % 9 == 8 else "mark"
                known = None if len(rows) % 12 == 11 else min(tokens, budget)
                known, end = (0, "none") if len(rows) % 15 == 14 else (known, end)
                rows.append((retriever, ordering, k, qid, number, known, end))
    return answers(rows)


def study_of(frame: pl.DataFrame, grid: dict[str, Any] = GRID, budget: int = 4096, **keys: str) -> ThoughtStudy:
    """The study that a page shows of these answers; one retriever has no primary comparison."""
    primary = PRIMARY._asdict() if len(grid["retrievers"]) > 1 else None
    tables = describe_thoughts(frame, primary and primary["reference"], None, budget)
    keys = {**KEYS, **keys}
    params = {"grid": grid, "primary": {keys["dataset"]: primary}}
    return ThoughtStudy(keys, {name: named(table, keys) for name, table in tables.items()}, params)
