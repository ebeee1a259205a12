"""Context use of answers: what is asked, the table, its place beside utility, and the split of utility."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.context_use_split import split_utility
from ragrelay.analysis.utility import mean_use
from ragrelay.generation.likelihoods.continuations import with_continuation
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.questions.context_use.requests import AnswerScores
from ragrelay.questions.context_use.table import SCHEMA, use_table
from scipy import stats

CELL = {"retriever": "rel", "ordering": "descending", "k": 1}
ANSWERS = [("q1", "p1", 1, "tea grows", 0), ("q1", "p1", 2, "", 0), ("q2", "p2", 1, "rain falls", 1),
           ("q2", "p2", 2, "rain", 0)]  # fmt: skip


def frames(prompt: str = "Q: ") -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Answers, their prompts, and those without context."""
    answers = pl.DataFrame(ANSWERS, schema=["qid", "prompt_id", "seed", "answer", "dropped_passages"], orient="row")
    texts = {"prompt": f"context {prompt}", "system": ""}
    prompts = pl.DataFrame([{"qid": f"q{i}", "prompt_id": f"p{i}", **texts} for i in (1, 2)])
    zeroshot = pl.DataFrame([{"qid": f"q{i}", "prompt_id": f"z{i}", **texts, "prompt": prompt} for i in (1, 2)])
    return answers.with_columns(**{name: pl.lit(value) for name, value in CELL.items()}), prompts, zeroshot


def test_each_answer_is_asked_twice(generator: dict[str, Any]) -> None:
    """An empty answer, and one whose prompt had been cut, are left out."""
    scores = AnswerScores(*frames(), generator)
    asked = with_continuation(scores.asked())
    assert asked["prompt_id"].to_list() == ["p1", "p2", "z1", "z2"]
    decoded = [scores.tokenizer.tokenizer.decode(ids) for ids in asked["token_ids"].to_list()]
    assert decoded == ["tea grows", "rain"] * 2
    assert asked["continuation"][0] == asked["continuation"][2]


def test_a_prompt_without_a_space_at_its_end_is_continued_with_one(generator: dict[str, Any]) -> None:
    scores = AnswerScores(*frames("Q:"), generator)
    assert scores.tokenizer.tokenizer.decode(scores.asked()["token_ids"][0].to_list()) == " tea grows"


def test_what_does_not_fit_the_window_has_no_value(generator: dict[str, Any]) -> None:
    """The prompt has 12 tokens with its BOS, the answers 9 and 4."""
    assert AnswerScores(*frames(), generator | {"max_model_len": 17}).asked().height == 2
    assert AnswerScores(*frames(), generator | {"max_model_len": 16}).asked().height == 0


def test_table(generator: dict[str, Any], tmp_path: Path) -> None:
    answers, prompts, zeroshot = frames()
    scores = AnswerScores(answers, prompts, zeroshot, generator)
    store = LikelihoodStore(tmp_path, "f")
    keys = with_continuation(scores.asked()).select("prompt_id", "continuation").rows()
    values = dict(zip(["p1", "p2", "z1", "z2"], [-2.0, -1.0, -11.0, -0.5], strict=True))
    tokens = {"p1": 9, "z1": 9, "p2": 4, "z2": 4}
    store.append([{"prompt_id": p, "continuation": c, "tokens": tokens[p], "logprob": values[p]} for p, c in keys], {})
    without = pl.DataFrame({"qid": ["q1", "q1", "q2"], "seed": [1, 2, 1], "answer": ["tea", "", "rain falls"]})
    table = use_table(answers, without, scores.rows, store)
    assert table.schema == pl.Schema(SCHEMA) and table["qid"].to_list() == ["q1", "q1", "q2", "q2"]
    assert table["context_use"].to_list() == pytest.approx([1.0, None, None, -0.125])
    assert table["text_change"].to_list() == pytest.approx([1 / 3, 0.0, 0.0, None])
    means = mean_use(table)
    assert means["context_use"].to_list() == pytest.approx([1.0, -0.125])
    assert means["text_change"].to_list() == pytest.approx([1 / 6, 0.0])


def test_utility_is_split_by_a_good_and_a_used_context(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    retrieval, rows = {}, []
    for retriever in ("one", "two"):
        values = [float(i % 3) for i in range(12)]
        path = tmp_path / f"{retriever}.parquet"
        pl.DataFrame({"qid": [f"q{i}" for i in range(12)], "measure": "nDCG", "k": 1, "value": values}).write_parquet(
            path
        )
        retrieval[retriever] = path
        rows += [{"retriever": retriever, "ordering": "descending", "k": 1, "references": references, "qid": f"q{i}",
                  "utility": None if i == 11 else float(chance.normal()), "context_use": float(chance.normal()),
                  "text_change": 0.5} for references in ("strict", "strict-unseen") for i in range(12)]  # fmt: skip
    utility = pl.DataFrame(rows, infer_schema_length=None)
    utility.write_parquet(tmp_path / "utility.parquet")
    table = split_utility(tmp_path / "utility.parquet", retrieval, "nDCG", 200, 0)
    assert table.select("retriever", "references", "n", "n_null").rows() == [
        ("one", "strict", 11, 1), ("two", "strict", 11, 1), ("all retrievers", "strict", 22, 2),
    ]  # fmt: skip
    whole = table.row(2, named=True)
    own = utility.filter(pl.col("references") == "strict", pl.col("utility").is_not_null())
    used_from = own["context_use"].median()
    good = pl.col("qid").str.slice(1).cast(pl.Int64) % 3 >= 1
    chosen = own.filter(good, pl.col("context_use") >= used_from)
    assert (whole["n_good_used"], whole["utility_good_used"]) == (
        chosen.height, pytest.approx(chosen["utility"].mean()),
    )  # fmt: skip
    assert sum(whole[f"n_{name}"] for name in ("good_used", "good_unused", "poor_used", "poor_unused")) == 22
    one = own.filter(retriever="one")
    expected = stats.spearmanr(one["utility"], one["context_use"])
    assert (table["rho"][0], table["p_value"][0]) == pytest.approx((expected.statistic, expected.pvalue))
    assert table["low"][0] < table["rho"][0] < table["high"][0]
    assert whole["reason"] == "no test, because the retrievers share their queries"
