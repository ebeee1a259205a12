"""Context perplexity by vLLM equals that of transformers on the demo's model; cutoffs, and what has no value."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.prediction.context_perplexity.requests import PASSAGE_TOKENS, context_requests, whole_tokens
from ragrelay.annexes.prediction.model_scores import model_scores
from ragrelay.annexes.prediction.predictor import Predictor, predictors, valued
from ragrelay.annexes.prediction.subject import Subject
from ragrelay.base.io.atomic_files import write_parquet

from tests.annexes.prediction.test_predictor_values import query
from tests.support.asking import asked as ask
from tests.support.asking import read
from tests.support.sandbox import ROOT
from tests.unit.generation.test_likelihoods import by_transformers

pytestmark = pytest.mark.engine

MODEL = str(ROOT / "resources/demo/model")
QUERIES = pl.DataFrame({"qid": ["q1", "q2", "q3"], "query": ["where does tea grow", "why does rain fall", "who"]})
TEXTS = {
    "q1": ["Tea grows on hills in the cool rain.", "A computer stores numbers.", "Iron"],
    "q2": ["", "Rain falls."],
}
CONTEXTS = pl.DataFrame(
    [(qid, rank, text) for qid, texts in TEXTS.items() for rank, text in enumerate(texts, start=1)],
    schema=["qid", "rank", "text"],
    orient="row",
)
NAMED: dict[str, Predictor] = {one.name: one for one in predictors({}) if one.name.startswith("context_perplexity")}


def given(qid: str, table: Path, **changes: object) -> Mapping[str, object]:
    found = model_scores(CONTEXTS.with_columns(docno=pl.col("text")), {"likelihoods": table}, {})
    return {
        "texts": TEXTS.get(qid, []),
        "passage_scores": found.passages.get(qid, {}),
        "whole_logprobs": found.wholes.get(qid, {}),
    }


def test_equal_to_transformers(generator: dict[str, Any], tmp_path: Path) -> None:
    """The authors take the mean log-probability of the tokens after the query, by one pass in float32.

    Both engines compute in float32, whose rounding alone moves such a mean by up to 5e-6 against float64.
    """
    definition = {**generator, "model": MODEL, "chat": False, "max_model_len": 256}
    paths = {name: tmp_path / f"{name}.parquet" for name in ("queries", "contexts", "asked", "table")}
    write_parquet(QUERIES, paths["queries"])
    write_parquet(CONTEXTS, paths["contexts"])
    files = {name: paths[name] for name in ("queries", "contexts")}
    job = ("score_contexts", files, {"ks": [1, 2]}, definition, tmp_path / "cache")
    asked, receipt = ask(*job)
    assert asked is not None
    # Of q1 two passages and two contexts, the first of which is the first passage; of q2 one text, thrice.
    assert (asked.height, receipt["asked"], receipt["made"]) == (6, 4, 4)
    assert ask(*job)[1]["made"] == 0
    write_parquet(asked, paths["asked"])
    made = read("score_contexts", {"asked": paths["asked"]}, {}, receipt, tmp_path / "cache")
    write_parquet(made["table"], paths["table"])

    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)

    def theirs(text: str) -> float:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        return by_transformers(MODEL, "Q: where does tea grow\nA: ", ids) / len(ids)

    one, two, both = (theirs(text) for text in (*TEXTS["q1"][:2], "".join(TEXTS["q1"][:2])))
    expected = {"max": min(one, two), "min": max(one, two), "mean": (one + two) / 2, "whole": both}
    subject = Subject(query(**given("q1", paths["table"])), 2)
    for name, logprob in expected.items():
        value = NAMED[f"context_perplexity_{name}"].value(subject)
        assert -math.log(value) == pytest.approx(logprob, abs=1e-5), name
    assert expected["max"] < expected["min"]
    whole = NAMED["context_perplexity_whole"]
    second = query(**given("q2", paths["table"]))
    assert valued(whole, Subject(second, 2))[0] == NAMED["context_perplexity_max"].value(Subject(second, 2))
    assert valued(NAMED["context_perplexity_max"], Subject(second, 1)) == (None, "no passage with a score")
    assert valued(whole, Subject(query(**given("q3", paths["table"])), 1)) == (None, "nothing retrieved")
    assert valued(whole, Subject(query(), 1)) == (None, "no context perplexity in the study")


def test_from_given_log_probabilities(tmp_path: Path) -> None:
    """Passages of 4 and 2 tokens have means of -0.5 and -2; both as one text of 6 tokens have a mean of -1.25."""
    columns = ["qid", "rank", "k", "tokens", "logprob"]
    rows = [("q1", 1, None, 4, -2.0), ("q1", 2, None, 2, -4.0), ("q1", None, 2, 6, -7.5)]
    write_parquet(pl.DataFrame(rows, schema=columns, orient="row"), tmp_path / "table")
    subject = Subject(query(**given("q1", tmp_path / "table")), 2)
    expected = {"max": math.exp(2), "min": math.exp(0.5), "mean": math.exp(1.25), "whole": math.exp(1.25)}
    for name, perplexity in expected.items():
        assert NAMED[f"context_perplexity_{name}"].value(subject) == pytest.approx(perplexity, abs=1e-12), name


def test_long_texts_are_cut(generator: dict[str, Any]) -> None:
    """The cuts are the authors' (512; 1,024 and 256 for each passage after five) or that of the window."""
    long = pl.DataFrame({"qid": ["q3"] * 2, "rank": [1, 2], "text": ["a" * 3000, "b" * 3000]})
    definition = {**generator, "max_model_len": 4000}
    prompt = 1 + len("Q: who\nA: ")
    asked = context_requests(QUERIES, long, [1, 6], definition)
    assert asked.select("rank", "k").rows() == [(1, None), (2, None), (None, 1), (None, 6)]
    assert asked["token_ids"].list.len().to_list() == [
        PASSAGE_TOKENS - prompt, PASSAGE_TOKENS - prompt, whole_tokens(1) - prompt, 1024 + 256 - prompt,
    ]  # fmt: skip
    short = context_requests(QUERIES, long, [1], {**generator, "max_model_len": 100})
    assert short["token_ids"].list.len().to_list() == [99 - prompt] * 2
    assert context_requests(QUERIES, long, [1], {**generator, "max_model_len": 8}).is_empty()
