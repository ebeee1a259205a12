"""What answers and scores are like, against cases computed by hand."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.cost import answer_cost
from ragrelay.analysis.lengths import MISSING, answer_lengths, check_answered
from ragrelay.analysis.positions import utility_by_position
from ragrelay.analysis.spread import seed_spread
from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.generation.answer_files import CONTEXT as KINDS
from ragrelay.generation.store import AnswerStore
from scipy import stats

CELL = {"retriever": "bm25", "ordering": "descending", "k": 2}


def test_lengths_and_ends():
    answers = pl.DataFrame(
        {"answer": ["a b", " ", "c", "d"], "finish_reason": ["stop", "length", None, "stop"],
         "answer_tokens": [10, 20, 30, 40], "qid": ["q1", "q1", "q2", "q3"]}
    ).with_columns(**{name: pl.lit(value) for name, value in CELL.items()})  # fmt: skip
    row = answer_lengths(answers).row(0, named=True)
    assert {name: row[name] for name in CELL} == CELL
    assert (row["n"], row["mean_tokens"], row["median"]) == (4, 25.0, 25.0)
    assert (row["q05"], row["q75"]) == pytest.approx(tuple(np.quantile([10, 20, 30, 40], [0.05, 0.75])))
    assert (row["stop"], row["length"], row["other"], row["blank"]) == (2, 1, 1, 1)
    assert (row["several"], row["alike"]) == (1, 0)
    same = answer_lengths(answers.with_columns(answer=pl.lit("a"))).row(0, named=True)
    assert (same["several"], same["alike"]) == (1, 1)


def test_missing_answers_have_no_length_and_no_end():
    """The reply does not matter: a thought of many tokens, or a stop without a text, is not counted."""
    answers = pl.DataFrame(
        {"answer": ["a b", None, None, "d", None, None],
         "finish_reason": ["stop", "thinking", "length", "refused", "stop", "missing"],
         "answer_tokens": [10, 900, 900, 30, 900, None], "qid": ["q1", "q1", "q2", "q2", "q3", "q3"]}
    ).with_columns(**{name: pl.lit(value) for name, value in CELL.items()})  # fmt: skip
    lengths = answer_lengths(answers)
    row = lengths.row(0, named=True)
    assert (row["n"], row["mean_tokens"], row["q95"]) == (6, 20.0, 29.0)
    assert (row["stop"], row["length"], row["other"], row["blank"]) == (1, 0, 1, 0)
    assert lengths.select(MISSING).item() == 4
    assert (row["several"], row["alike"]) == (0, 0)
    none = answer_lengths(answers.with_columns(answer=pl.lit(None, pl.String))).row(0, named=True)
    assert (none["n"], none["mean_tokens"], none["stop"], none["other"]) == (6, None, 0, 0)


def test_all_answers_missing_is_an_error():
    answers = pl.DataFrame({"answer": [None, None, None], "finish_reason": ["thinking", "refusal", "thinking"]})
    with pytest.raises(InputError) as error:
        check_answered(answers, "answers of generator lm to demo")
    assert str(error.value) == (
        "answers of generator lm to demo: found 3 answers, none with text (finish_reason: thinking 2, refusal 1); "
        "expected at least one answer with text to score"
    )
    check_answered(answers.with_columns(answer=pl.Series(["", None, None])), "one is blank, but not missing")
    check_answered(answers.clear(), "none was asked for")


def stored(prompt: str, tokens: int) -> dict[str, object]:
    return {"prompt_id": prompt, "seed": 1, "answer": "x", "finish_reason": "stop", "prompt_tokens": tokens,
            "cached_tokens": tokens // 2, "answer_tokens": 5, "logprob": -1.0, "dropped_passages": 0}  # fmt: skip


def test_cost_counts_a_shared_answer_once_and_only_what_was_asked_for(tmp_path: Path):
    store = AnswerStore(tmp_path, "f")
    made = {"engine": "vllm", "version": "1", "device": "H100"}
    store.append(
        [stored(prompt, 100) for prompt in ("shared", "b1", "of another study", "b2")],
        made | {"seconds": "8", "engines": "3"},
    )
    store.append([stored("r1", 40)], made | {"seconds": "3", "device": "cpu", "engines": "2"})
    asked = [("bm25", 1, "shared"), ("bm25", 1, "b1"), ("bm25", 2, "b2"), ("rel", 1, "shared"), ("rel", 1, "r1"),
             ("rel", 1, "shared")]  # fmt: skip
    keys = pl.DataFrame(asked, schema=["retriever", "k", "prompt_id"], orient="row").with_columns(
        seed=pl.lit(1, pl.Int64)
    )
    rows = {(row["retriever"], row["k"]): row for row in answer_cost(keys, store, devices=2).iter_rows(named=True)}
    assert set(rows) == {("bm25", 1), ("bm25", 2), ("rel", 1), ("bm25", None), ("rel", None), ("all", None)}
    whole = rows["all", None]
    # The first part's four answers took 2 s each, of three engines on two devices; three of them are asked for.
    # Engines on a CPU share it.
    assert (whole["answers"], whole["prompt_tokens"], whole["cached_tokens"]) == (4, 340, 170)
    assert whole["device_seconds"] == pytest.approx(2 * (3 * 3 * 8 / 4 + 3))
    assert whole["made_by"] == "vllm 1 on H100; vllm 1 on cpu"
    assert rows["rel", None]["device_seconds"] == pytest.approx(2 * (3 * 8 / 4 + 3))
    assert (rows["bm25", 1]["answers"], rows["bm25", 1]["device_seconds"]) == (2, None)


def test_answers_that_finish_first_do_not_pay_for_their_batch(tmp_path: Path):
    store = AnswerStore(tmp_path, "f")
    made = {"engine": "vllm", "version": "1", "device": "cpu"}
    store.append([stored("first", 100)], made | {"seconds": "600"})
    store.append([stored(prompt, 100) for prompt in ("second", "third", "fourth")], made | {"seconds": "60"})
    keys = pl.DataFrame({"retriever": ["bm25", "rel"], "k": [1, 1], "prompt_id": ["first", "second"], "seed": [1, 1]})
    cost = answer_cost(keys, store, devices=1).filter(pl.col("k").is_null(), pl.col("retriever") != "all")
    assert cost["device_seconds"].to_list() == [165.0, 165.0]


def test_spread_over_seeds(tmp_path: Path):
    values = {"a": [0.1, 0.3, 0.2], "b": [0.5, 0.5, 0.5], "c": [0.9, 0.6, 0.0]}
    rows = [
        {"qid": qid, "ordering": "descending", "k": 2, "seed": seed, "references": "lenient", "f1": f1, "n_zero": seed}
        for qid, scores in values.items() for seed, f1 in enumerate(scores)
    ]  # fmt: skip
    # The zero-shot answers of a retriever's file are not of its contexts.
    rows.append({"qid": "a", "ordering": "none", "k": 2, "seed": 0, "references": "lenient-unseen", "f1": 0.0,
                 "n_zero": 9})  # fmt: skip
    pl.DataFrame(rows).write_parquet(tmp_path / "bm25.parquet")
    found = seed_spread({"bm25": tmp_path / "bm25.parquet"})
    assert found.height == 1
    row = found.row(0, named=True)
    deviations = [np.std(scores, ddof=1) for scores in values.values()]
    assert (row["n"], row["n_zero"]) == (3, 3 * (0 + 1 + 2)), "pairs of all answers of the cell"
    assert row["median"] == pytest.approx(np.median(deviations))
    assert (row["q25"], row["q75"]) == pytest.approx(tuple(np.quantile(deviations, [0.25, 0.75])))


def test_one_seed_has_no_spread(tmp_path: Path):
    rows = [{"qid": qid, "ordering": "random", "k": 1, "seed": 1, "references": "strict", "f1": 0.5} for qid in "ab"]
    # A measure without precision and recall: nothing to count is not 0.
    pl.DataFrame(rows).with_columns(n_zero=pl.lit(None, pl.Int64)).write_parquet(tmp_path / "x.parquet")
    row = seed_spread({"x": tmp_path / "x.parquet"}).row(0, named=True)
    assert (row["n"], row["median"], row["n_zero"]) == (0, None, None)


def test_positions_of_relevant_passages(tmp_path: Path):
    contexts = {"one": ["d1", "x"], "two": ["x", "d1"], "both": ["d1", "d2"], "none": ["x", "y"], "three": ["x", "d1"]}
    path = tmp_path / "bm25/descending/k2.parquet"
    path.parent.mkdir(parents=True)
    pl.DataFrame({"qid": list(contexts), "docnos": list(contexts.values())}).write_parquet(path)
    qrels = pl.DataFrame(
        [(qid, docno, label) for qid in contexts for docno, label in (("d1", 2), ("d2", 3), ("y", 1))],
        schema=["qid", "docno", "label"], orient="row",
    )  # fmt: skip
    gains = {"one": 0.1, "two": 0.2, "both": 0.4, "none": -0.3, "three": 0.6}
    utility = pl.DataFrame({"qid": list(gains), "utility": list(gains.values())}).with_columns(
        references=pl.lit("lenient"), **{name: pl.lit(value, KINDS[name]) for name, value in CELL.items()}
    )
    found = utility_by_position(
        KeyedFiles("{retriever}/{ordering}/k{k}.parquet", (path,)), qrels, utility, {"lenient": 2}
    )
    means = {
        (row["relevant"], row["position"]): (row["n"], pytest.approx(row["mean_utility"]))
        for row in found.iter_rows(named=True)
    }
    assert means == {
        ("any number", 0): (1, -0.3), ("any number", 1): (2, 0.25), ("any number", 2): (3, 0.4),
        ("exactly one", 0): (1, -0.3), ("exactly one", 1): (1, 0.1), ("exactly one", 2): (2, 0.4),
    }  # fmt: skip
    row = found.row(by_predicate=(pl.col("relevant") == "any number") & (pl.col("position") == 2), named=True)
    half = stats.t.ppf(0.975, 2) * stats.sem([0.2, 0.4, 0.6])
    assert (row["low"], row["high"]) == pytest.approx((0.4 - half, 0.4 + half))
