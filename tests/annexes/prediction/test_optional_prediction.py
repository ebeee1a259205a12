"""Predictions of the study with everything optional, and of processed contexts."""

import re

import polars as pl
import pytest

from tests.annexes.prediction.predicted_study import check_predictions
from tests.support.processed_study import every_second, table
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.study, pytest.mark.gate]


def test_predictors_of_the_answers_are_of_the_study(optional: Sandbox) -> None:
    check_predictions(optional)


@pytest.mark.full
def test_predictors_of_a_context_read_the_texts_shown(processed: Sandbox) -> None:
    found = {
        name: table(processed, f"predictions/demo-lm/{name}.parquet").filter(k=2) for name in ("bm25", "halved")
    }  # fmt: skip
    of = {
        (name, predictor): dict(frame.filter(predictor=predictor).select("qid", "value").iter_rows())
        for name, frame in found.items()
        for predictor in ("nqc", "context_length", "wig")
    }
    assert of["halved", "nqc"] == of["bm25", "nqc"] and of["halved", "wig"] == of["bm25", "wig"], "of the ranking"
    texts = table(processed, "contexts/halved.parquet").filter(pl.col("rank") <= 2)
    for qid, words in of["halved", "context_length"].items():
        shown = " ".join(every_second(text) for text in texts.filter(qid=qid)["text"])
        assert words == len(re.findall(r"\w+", shown))
