"""Cases of prediction for shared tables (tests.support.annex_cases)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.annexes.prediction.model_scores import read_quality
from ragrelay.annexes.prediction.predictor import predictors, valued
from ragrelay.annexes.prediction.subject import Subject

from tests.support.asked_world import Given, World
from tests.support.bad_input_changes import Case, Expected, key
from tests.support.tiny_encoders import build_tiny_cross_encoder

CEILING = {"annex prediction": 6850}  # tests of it that the core had; public names' Args; clearer sentences
BAD_INPUT = {
    "Configuration": [
        Case("Reranker of predictors that isn't one", key("prediction.reranker", "bm25")),
        Case("Judge of predictors outside the grid", key("prediction.judge", "llm")),
        Case("Agreement by an unknown scorer", key("prediction.agreement_scorers", ["mini-lm"])),
        Case("Missing file of passage quality", key("prediction.passage_quality", "quality.parquet")),
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


TARGETS = dict.fromkeys(("optional", "processed"), "predict")
TINY = {"kind": "rerank", "first_stage": "bm25", "reranker": "cross_encoder", "model": "tiny_cross_encoder"}
PREDICTION = {"context_perplexity": True, "agreement_scorers": ["token_f1"], "reranker": "tiny"}
CONFIG: dict[str, dict[str, Any]] = {
    "optional": {
        "retrievers": {"tiny": TINY},
        "prediction": {**PREDICTION, "passage_quality": "quality/{dataset}.parquet"},
    },
    "of files": {"prediction": {"context_perplexity": False, "agreement_scorers": [], "reranker": None}},
    "params": {
        "retrievers": {"tiny": {"batch_size": 8}},
        "prediction": {"score_depth": 50, "agreement_scorers": ["token_f1", "minilm"]},
    },
}


def _models(folder: Path) -> None:
    """Make a tiny reranker; the quality of a passage is its length."""
    build_tiny_cross_encoder(folder / "tiny_cross_encoder")
    (folder / "quality").mkdir()
    quality = {"docno": "doc_id", "quality": pl.col("text").str.len_chars()}
    pl.read_ndjson(folder / "small/passages.jsonl").select(**quality).write_parquet(folder / "quality/small.parquet")


def _squared(folder: Path) -> None:
    file = folder / "quality/small.parquet"
    pl.read_parquet(file).with_columns(pl.col("quality") ** 2).write_parquet(file)


FILES = {"optional": _models, "inputs": _squared}
FILE_KEYS = {"prediction.passage_quality": ["quality/small.parquet"]}
NO_FILE_KEYS = {"cross_encoder", "judge", "reranker"}
UNCLUSTERED = {"prediction"}
DELETED = {("predict",): ["build_run", "view_answers", "predict_utility"]}
ASKED_BY = {
    "annexes/prediction/context_perplexity/requests.py": {"score_contexts"},
    "generation/tokens.py": {"score_contexts"},
    "generation/likelihoods/continuations.py": {"score_contexts"},
}
NOT_COUNTED = {
    "rerank_contexts": "keeps nothing in the cache: it scores anew whenever it runs",
    "score_agreement": "keeps nothing in the cache: it scores anew whenever it runs",
    "count_terms": "uses no GPU",
}
