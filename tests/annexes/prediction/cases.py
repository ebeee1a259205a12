"""Cases of prediction for shared tables (tests.support.annex_cases)."""

from collections.abc import Callable
from typing import Any

from ragrelay.annexes.prediction.model_scores import read_quality
from ragrelay.annexes.prediction.predictor import predictors, valued
from ragrelay.annexes.prediction.subject import Subject

from tests.support.asked_world import Given, World
from tests.support.bad_input_changes import Case, Expected, key

BAD_INPUT = {
    "Configuration": [
        Case("Reranker of predictors that is none", key("prediction.reranker", "bm25")),
        Case("Judge of predictors that the grid does not have", key("prediction.judge", "llm")),
        Case("Agreement by an unknown scorer", key("prediction.agreement_scorers", ["mini-lm"])),
        Case("Quality of passages that is missing", key("prediction.passage_quality", "quality.parquet")),
    ]
}
HOSTILE: list[Expected] = [
    (f"{path}: {value}", key(path, value), path) for path, value in (
        ("prediction.score_share", 0),
        ("prediction.score_share", float("nan")), ("prediction.feedback_depth", 1),
        ("prediction.same_meaning", 1.5),
    )
]  # fmt: skip


N = 40
FLIPPED: dict[str, Any] = {
    "quality": (
        {"docno": [f"q{number}" for number in range(N)], "quality": [number / 7 for number in range(N)]},
        read_quality,
    )
}


def contexts(world: World) -> Given:
    return {"queries": world.files("queries"), "contexts": world.files("contexts/bm25")}, {"ks": [1, 2]}, {}


ASKED = {"score_contexts": contexts}


def predicted(text: str) -> object:
    """All predictors, of a query, passages and answers with this text."""
    from tests.annexes.prediction.test_predictor_values import ANSWERS, query

    answers = [answer._replace(text=text) for answer in ANSWERS]
    subject = Subject(query(text=text, texts=[text, text[::-1], text]), 3, answers)
    return [valued(one, subject) for one in predictors({"scorers": []})]


PASSES: dict[str, Callable[[str], object]] = {"predictors": predicted}
