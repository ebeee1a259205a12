"""Predictors of answers that were made elsewhere look at the passages that those answers had, not at the ranking."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction.job import predict_utility
from ragrelay.annexes.prediction.predictor import predictors
from ragrelay.annexes.prediction.table import predictions
from ragrelay.annexes.prediction.terms import count_terms
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.collection.local import LocalCollection
from ragrelay.generation.store import AnswerStore

from tests.annexes.prediction.test_predictor_values import SCORES, TEXTS, VECTORS, query

CONTEXTS = [("descending", 2), ("ascending", 2)]
OWN = {"descending": ["d3", "d9"], "ascending": ["d4"]}
OTHER = "snow ice snow wind cold"


def values(name: str) -> dict[str | None, tuple[float | None, str | None]]:
    """Value and reason by ordering."""
    texts = dict(zip(VECTORS, TEXTS, strict=True)) | {"d9": OTHER}
    whole = query()
    shown = {
        (ordering, 2): whole.with_context(docnos, [texts[docno] for docno in docnos], {})
        for ordering, docnos in OWN.items()
        if name != "context_length" or ordering == "descending"
    }
    [one] = [one for one in predictors({}) if one.name == name]
    table = predictions([(replace(whole, shown=shown), {})], CONTEXTS, [one])
    return {row["ordering"]: (row["value"], row["reason"]) for row in table.iter_rows(named=True)}


def test_lengths_are_of_the_answers_own_passages() -> None:
    assert values("context_length") == {"descending": (8.0, None), "ascending": (None, "no answer")}


def test_scores_are_the_rankings_and_missing_ones_have_no_mean() -> None:
    unknown = (None, "a passage of the context that the ranking does not have")
    assert values("mean_score") == {"descending": unknown, "ascending": (SCORES[3], None)}


def test_vectors_are_of_the_answers_own_passages() -> None:
    both = query().with_context(["d1", "d2"], TEXTS[:2], {})
    [one] = [one for one in predictors({}) if one.name == "pairwise_cosine"]
    table = predictions([(replace(query(), shown={CONTEXTS[0]: both}), {})], CONTEXTS[:1], [one])
    first, second = (np.array(VECTORS[docno]) for docno in ("d1", "d2"))
    expected = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert table["value"].to_list() == pytest.approx([expected])


def test_what_looks_at_the_ranking_alone_has_one_value_for_all_orderings() -> None:
    assert values("max_score") == {None: (SCORES[0], None)}


def test_the_job_reads_them_from_the_files_of_brought_answers(
    tmp_path: Path, write_dataset: Callable[..., Path]
) -> None:
    """One passage of the context is not in the run: it has a length and a quality, no score and no reranker's."""
    collection = LocalCollection(write_dataset())
    queries = collection.queries()
    qid, (first, second, other) = queries["qid"][0], [passage["docno"] for passage in collection.passages()][:3]
    texts = {passage["docno"]: passage["text"] for passage in collection.passages()}
    with gzip.open(tmp_path / "run.gz", "wt") as file:
        file.write(f"{qid} Q0 {first} 1 9.0 x\n{qid} Q0 {second} 2 7.0 x\n")
    candidates = [(qid, 1, first, 9.0), (qid, 2, second, 7.0), (qid, None, other, None)]
    passages = pl.DataFrame(candidates, schema=["qid", "rank", "docno", "score"], orient="row")
    shown = tmp_path / "prompts/@theirs/bm25/descending/k2.parquet"
    answer = tmp_path / "answers/theirs/bm25/descending/k2/seed1.parquet"
    made = {
        "queries": queries, "terms": pl.DataFrame([count_terms(collection, queries, tmp_path)]),
        "contexts": passages.with_columns(text=pl.col("docno").replace_strict(texts)),
        "reranker": pl.DataFrame({"qid": [qid] * 2, "docno": [first, second], "score": [1.0, 2.0]}),
        "quality": pl.DataFrame({"docno": [first, second, other], "quality": [1.0, 2.0, 5.0]}),
        shown: pl.DataFrame({"qid": [qid], "docnos": [[other, second]]}),
        answer: pl.DataFrame(
            {"qid": [qid], "prompt_id": ["p"], "seed": [1], "answer": ["tea"], "answer_tokens": [None],
             "logprob": [None]}, schema_overrides={"answer_tokens": pl.Int64, "logprob": pl.Float64},
        ),
    }  # fmt: skip
    files = {"run": tmp_path / "run.gz"}
    for name, table in made.items():
        path = name if isinstance(name, Path) else tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table.write_ndjson(path) if name == "terms" else table.write_parquet(path)
        files |= {name: path} if isinstance(name, str) else {}
    answers = KeyedFiles("answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet", (answer,))
    own = KeyedFiles("prompts/@{generator}/{retriever}/{ordering}/k{k}.parquet", (shown,))
    table = predict_utility(
        files, answers, AnswerStore(tmp_path, "none"), CONTEXTS, {}, None, tmp_path, 1, {}, own
    )  # fmt: skip
    found = {
        (name, ordering): (value, reason)
        for name, ordering, value, reason in table.filter(qid=qid, k=2)
        .select("predictor", "ordering", "value", "reason").iter_rows()
    }  # fmt: skip
    assert found["passage_quality_mean", "descending"] == (3.5, None)
    assert found["passage_quality_mean", "ascending"] == (None, "no answer")
    assert found["context_length", "descending"] == (len(f"{texts[other]} {texts[second]}".split()), None)
    assert found["mean_score", "descending"] == (None, "a passage of the context that the ranking does not have")
    assert found["reranker_mean", "descending"] == (None, "a passage of the context without a score")
    assert found["max_score", None] == (9.0, None) and found["score_ratio", None][0] == pytest.approx(9 / 7)
    assert found["answer_length", "descending"] == (None, "no count of tokens")
    assert found["first_token_margin", "descending"] == (None, "no margin of the first token")


def test_the_job_reads_processed_texts_and_the_whole_ranking(
    tmp_path: Path, write_dataset: Callable[..., Path]
) -> None:
    """Of two passages, the first is shortened and the second emptied: lengths are of what is shown, scores not."""
    collection = LocalCollection(write_dataset())
    queries = collection.queries()
    qid, (first, second) = queries["qid"][0], [passage["docno"] for passage in collection.passages()][:2]
    texts = {passage["docno"]: passage["text"] for passage in collection.passages()}
    with gzip.open(tmp_path / "run.gz", "wt") as file:
        file.write(f"{qid} Q0 {first} 1 9.0 x\n{qid} Q0 {second} 2 7.0 x\n")
    made = [[{"k": 2, "text": "three short words"}], []]
    contexts = pl.DataFrame(
        {"qid": [qid] * 2, "rank": [1, 2], "docno": [first, second], "score": [9.0, 7.0],
         "text": [texts[first], texts[second]],
         "shown": pl.Series(made, dtype=pl.List(pl.Struct({"k": pl.Int64, "text": pl.String})))}
    )  # fmt: skip
    answer = tmp_path / "answers/theirs/bm25/descending/k2/seed1.parquet"
    answer.parent.mkdir(parents=True)
    numbers = {"answer_tokens": pl.Int64, "logprob": pl.Float64}
    row = {"qid": [qid], "prompt_id": ["p"], "seed": [1], "answer": ["tea"], "answer_tokens": [1], "logprob": [None]}
    pl.DataFrame(row, schema_overrides=numbers).write_parquet(answer)
    queries.write_parquet(tmp_path / "queries")
    contexts.write_parquet(tmp_path / "contexts")
    pl.DataFrame([count_terms(collection, queries, tmp_path)]).write_ndjson(tmp_path / "terms")
    scored = {"docno": [first, second], "qid": [qid] * 2, "score": [1.0, 2.0]}
    pl.DataFrame(scored).write_parquet(tmp_path / "reranker")
    pl.DataFrame({"docno": [first, second], "quality": [1.0, 2.0]}).write_parquet(tmp_path / "quality")
    files = {name: tmp_path / name for name in ("queries", "contexts", "terms", "reranker", "quality")}
    answers = KeyedFiles("answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet", (answer,))
    table = predict_utility(
        files | {"run": tmp_path / "run.gz"}, answers, AnswerStore(tmp_path, "none"), CONTEXTS[:1], {}, None, tmp_path,
        1, {}, KeyedFiles("", ()),
    )  # fmt: skip
    found = {row[0]: row[1:] for row in table.filter(qid=qid).select("predictor", "value", "reason").iter_rows()}
    assert found["context_length"] == (3.0, None) and found["passage_quality_mean"] == (1.0, None)
    assert found["reranker_mean"] == (None, "the processed texts were not scored")
    assert found["max_score"] == (9.0, None) and found["score_ratio"][0] == pytest.approx(9 / 7), "of the whole ranking"
