"""Studies whose scores, measures or answers do not vary, or are few or missing, for every kind of scorer.

A kind's scores have its range, its utility, its sets of references and its columns; the values are made up.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.outputs import resolve
from ragrelay.report.outputs import RESULT_TABLES
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.retriever_table import SCHEMA
from ragrelay.scoring.scorer import SCORER_KINDS

from tests.support.measured_study import Measured

Array = npt.NDArray[np.float64]
GRID: dict[str, Any] = {
    "retrievers": ["bm25", "dense", "rel"], "orderings": ["descending", "ascending"], "k": [1, 2], "seeds": [1, 2],
    "measures": ["nDCG"], "kinds": {"bm25": "bm25", "dense": "dense", "rel": "oracle"},
}  # fmt: skip
MISSING = np.nan


class Scores(NamedTuple):
    """Scores from 0, the lowest, to 1, the highest, of n queries; NaN: the answer is missing."""

    p0: Array
    p: Array
    """Of all retrievers."""
    dense: Array | None = None
    """Of the retriever ``dense``, where its are other than ``p``."""


def _first(n: int, value: float, others: float = 0.0, count: int = 1) -> Array:
    return np.array([value] * min(count, n) + [others] * max(n - count, 0))


def _alternating(n: int, one: float, other: float) -> Array:
    return np.resize([one, other], n)


PATTERNS: dict[str, Callable[[int], Scores]] = {
    "all the lowest": lambda n: Scores(np.zeros(n), np.zeros(n)),
    "all the highest": lambda n: Scores(np.ones(n), np.ones(n)),
    "all equal, between both": lambda n: Scores(np.full(n, 0.1), np.full(n, 0.7)),
    "all the highest, some without passages": lambda n: Scores(_first(n, 1.0, count=max(n // 4, 1)), np.ones(n)),
    "all the lowest, some without passages": lambda n: Scores(_first(n, 1.0, count=max(n // 2, 1)), np.zeros(n)),
    "one query differs": lambda n: Scores(np.zeros(n), np.zeros(n), _first(n, 1.0)),
    "one query without passages differs": lambda n: Scores(_first(n, 1.0), np.zeros(n)),
    "one query does not differ": lambda n: Scores(np.zeros(n), np.ones(n), _first(n, 0.0, 1.0)),
    "one retriever the highest, others the lowest": lambda n: Scores(np.zeros(n), np.zeros(n), np.ones(n)),
    "two values": lambda n: Scores(_alternating(n, 0.0, 1.0), _alternating(n, 1.0, 0.0), _alternating(n, 1.0, 1.0)),
    "two values, close together": lambda n: Scores(np.full(n, 0.5), _alternating(n, 0.5, 0.5 + 1e-15)),
    "twice as high": lambda n: Scores(np.linspace(0.1, 0.45, n), 2 * np.linspace(0.1, 0.45, n)),
    "everything missing": lambda n: Scores(np.full(n, MISSING), np.full(n, MISSING)),
    "missing with passages": lambda n: Scores(np.linspace(0.0, 1.0, n), np.full(n, MISSING)),
    "missing without passages": lambda n: Scores(np.full(n, MISSING), np.linspace(0.0, 1.0, n)),
    "missing with one retriever": lambda n: Scores(
        np.zeros(n), np.linspace(0.0, 1.0, n), np.full(n, MISSING)
    ),
    "all but one missing": lambda n: Scores(np.zeros(n), _first(n, 1.0, MISSING)),
}  # fmt: skip
RANGES = {"length": (0.0, 240.0), "python": (-1e4, 1e5), "cosine": (-0.2, 1.0), "bertscore": (-0.3, 1.0)}
"""The lowest and highest scores of kinds whose scores are not from 0 to 1."""
NO_BASELINE = ("context",)
"""References that answers without context do not have."""


class Shape(NamedTuple):
    """What the analysis sees of a kind of scorer."""

    mode: str
    references: str
    judged: bool
    low: float
    high: float


def shape(kind: str, **keys: Any) -> Shape:
    scorer = SCORER_KINDS.of({"kind": kind, **NEEDED.get(kind, {}), **keys})
    low, high = RANGES.get(kind, (0.0, 1.0))
    return Shape(scorer.utility, scorer.references, isinstance(scorer, JudgeScorer), low, high)


NEEDED: Mapping[str, Mapping[str, Any]] = {
    **{name: {"generator": "lm", "prompt": "p"} for name in ("llm_judge", "faithfulness", "support", "nuggets")},
    "rouge": {"variant": "rougeL"},
    "cosine": {"model": "m"},
    "python": {"function": "score:score"},
    "file": {"path": "scores.csv", "scale": [0, 1]},
    "panel": {"of": ["a", "b"]},
    "bertscore": {"model": "m", "layer": 1},
}
"""Keys without a default."""


def degenerate(of: Shape, pattern: str, n: int) -> Measured:
    """A study of ``n`` queries whose scores have a ``pattern``."""
    names = PATTERNS[pattern](n)
    qids = [f"q{place}" for place in range(n)]
    grades = {"lenient": 2, "strict": 3} if of.references == "judged" else {of.references: 0}
    scores, answers, contexts, retrieval = [], [], [], []
    for place, qid in enumerate(qids):
        cells = [("zeroshot", "none", 0)] if of.references not in NO_BASELINE else []
        cells += [(r, o, k) for r in GRID["retrievers"] for o in GRID["orderings"] for k in GRID["k"]]
        for retriever, ordering, k in cells:
            own = names.p if retriever != "dense" or names.dense is None else names.dense
            value = float((own if k else names.p0)[place])
            docnos = [f"{retriever}{place}", f"d{place}"][:k]
            contexts.append({"retriever": retriever, "ordering": ordering, "k": k, "qid": qid,
                             "docnos": docnos if ordering == "descending" else docnos[::-1]})  # fmt: skip
            for seed in GRID["seeds"]:
                row = {"retriever": retriever, "ordering": ordering, "k": k, "seed": seed, "qid": qid}
                missing = bool(np.isnan(value))
                answers.append(
                    row | {"answer": None if missing else f"{value:.3f}", "answer_tokens": 7,
                           "finish_reason": "refusal" if missing else "stop"}
                )  # fmt: skip
                scored = {"f1": of.low + value * (of.high - of.low), "n_references": 2, "n_zero": 0,
                          "best_in_context": None if of.judged or of.references != "judged" else bool(k)}  # fmt: skip
                for grade in grades if not missing else ():
                    scores.append(row | {"references": grade, "n_near_copies": None} | scored)
                    if of.references == "judged" and k:
                        zero = float(names.p0[place])
                        unseen = {"references": f"{grade}-unseen", "n_near_copies": 0, "best_in_context": False}
                        scores.append(row | scored | unseen)
                        if not np.isnan(zero):
                            f1 = of.low + zero * (of.high - of.low)
                            scores.append(row | scored | unseen | {"ordering": "none", "f1": f1})
    for retriever in GRID["retrievers"]:
        for k in GRID["k"]:
            values = np.ones(n) if retriever == "rel" else np.linspace(0.2, 1.0, n) ** (1 + (retriever == "dense"))
            retrieval += [{"retriever": retriever, "qid": qid, "measure": "nDCG", "k": k, "value": float(value)}
                          for qid, value in zip(qids, values, strict=True)]  # fmt: skip
    of_scores = {"retriever": pl.String, **SCHEMA}
    names_of = ("retriever", *(name for name in SCHEMA if name not in ("precision", "recall", "best_docno")))
    scored_rows = pl.DataFrame(scores, schema={name: of_scores[name] for name in names_of}).unique(
        ["retriever", "ordering", "k", "seed", "references", "qid"], maintain_order=True
    )
    answered = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "seed": pl.Int64, "qid": pl.String,
                "answer": pl.String, "finish_reason": pl.String, "answer_tokens": pl.Int64}  # fmt: skip
    first = next(iter(grades))
    return Measured(
        "degenerate",
        scored_rows,
        pl.DataFrame(answers, schema=answered),
        pl.DataFrame(contexts),
        pl.DataFrame(retrieval),
        cost=pl.DataFrame(schema=schema_of(resolve(RESULT_TABLES["cost"].columns))),
        qrels=pl.DataFrame({"qid": qids, "docno": [f"d{place}" for place in range(n)], "label": [3] * n}),
        grid=GRID,
        primary=Primary("dense", "bm25", "descending", 2, first, "nDCG", "degenerate"),
        reference="rel",
        mode=of.mode,
        judged=of.judged,
        grades=grades,
    )
