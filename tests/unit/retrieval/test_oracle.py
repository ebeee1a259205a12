"""Oracle retrievers: label bounds, one seeded permutation per query, nested contexts, and the ideal ranking."""

from collections.abc import Iterable
from math import log2
from typing import Any

import polars as pl
import pytest
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask
from ragrelay.retrieval.trec import RUN, ranked

QRELS = pl.DataFrame(
    [(f"q{q}", f"d{d:02}", d % 4) for q in range(6) for d in range(24)],
    schema={"qid": pl.String, "docno": pl.String, "label": pl.Int64},
    orient="row",
)
LABELS = {(qid, docno): label for qid, docno, label in QRELS.iter_rows()}
TEXTS = {f"d{d:02}": f"text {d}" for d in range(24)}
QUERIES = pl.DataFrame({"qid": [f"q{q}" for q in range(6)], "query": ["x"] * 6})


class Texts:
    """A collection of ``texts`` alone."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.found = texts

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        return {docno: self.found[docno] for docno in docnos if docno in self.found}


def oracle_run(qrels: pl.DataFrame, definition: dict[str, Any], texts: dict[str, str]) -> pl.DataFrame:
    return RETRIEVER_KINDS.of(definition).run(RunTask(QUERIES, qrels, Texts(texts)))  # type: ignore[arg-type]


def oracle(
    qrels: pl.DataFrame = QRELS, texts: dict[str, str] = TEXTS, seed: int = 0, **bounds: int
) -> dict[str, list[str]]:
    """The oracle's rankings by query."""
    found = oracle_run(qrels, {"kind": "oracle", "seed": seed, **bounds}, texts)
    assert dict(found.schema) == RUN
    grouped = ranked(found, QUERIES).group_by("qid", maintain_order=True).agg("docno")
    return {str(qid): docnos for qid, docnos in grouped.iter_rows()}


@pytest.mark.parametrize(
    ("bounds", "labels"),
    [
        ({"min_label": 2}, {2, 3}),
        ({"max_label": 0}, {0}),
        ({"min_label": 1, "max_label": 2}, {1, 2}),
        ({"min_label": 3}, {3}),
        ({"min_label": 0}, {0, 1, 2, 3}),
    ],
)
def test_label_bounds(bounds: dict[str, int], labels: set[int]) -> None:
    for qid, docnos in oracle(**bounds).items():
        expected = {docno for (q, docno), label in LABELS.items() if q == qid and label in labels}
        assert set(docnos) == expected and len(docnos) == len(expected)


def test_scores_fall_with_the_place() -> None:
    scores = (
        ranked(oracle_run(QRELS, {"kind": "oracle", "seed": 0, "min_label": 2}, TEXTS), QUERIES)
        .filter(qid="q1")["score"]
        .to_list()
    )
    assert scores == [float(n) for n in range(12, 0, -1)]


def test_permutation_by_seed_and_query() -> None:
    first, again, other = oracle(min_label=0), oracle(min_label=0), oracle(min_label=0, seed=1)
    assert first == again
    assert all(first[qid] != other[qid] for qid in first)
    assert len({tuple(docnos) for docnos in first.values()}) == 6
    assert all(docnos != sorted(docnos) and docnos != sorted(docnos, reverse=True) for docnos in first.values())


def test_permutation_does_not_look_at_labels() -> None:
    """It is a sample, not a ranking: the mean label of the first places is that of all."""
    qrels = pl.concat([QRELS.with_columns(qid=pl.col("qid") + f"-{i}") for i in range(100)])
    found = oracle_run(qrels, {"kind": "oracle", "seed": 0, "min_label": 0}, TEXTS)
    top = found.sort("score", descending=True).group_by("qid").head(1).join(qrels, on=["qid", "docno"])["label"]
    assert len(top) == 600 and abs(top.mean() - 1.5) < 0.2  # standard error 0.046


def test_independent_of_other_queries_and_of_the_files_order() -> None:
    whole = oracle(min_label=2)
    alone = oracle(QRELS.filter(qid="q3"), min_label=2)
    assert alone == {"q3": whole["q3"]}
    assert oracle(QRELS.sample(fraction=1.0, shuffle=True, seed=5), min_label=2) == whole


def test_contexts_nest() -> None:
    definition: dict[str, Any] = {"kind": "oracle", "seed": 0, "min_label": 2}
    scores = dict(oracle_run(QRELS.filter(qid="q2"), definition, TEXTS).select("docno", "score").iter_rows())
    assert len(set(scores.values())) == len(scores), "no ties: every smaller context is the head of every larger one"


def test_passages_without_text_are_never_drawn() -> None:
    texts = {docno: text for docno, text in TEXTS.items() if docno > "d12"}
    assert all(set(docnos) <= set(texts) for docnos in oracle(texts=texts, min_label=2).values())


def test_query_without_any_has_no_row() -> None:
    qrels = QRELS.filter((pl.col("qid") != "q4") | (pl.col("label") < 2))
    assert "q4" not in oracle(qrels, min_label=2)


def test_error_where_no_query_has_any(write_dataset: Any) -> None:
    from ragrelay.base.errors import InputError
    from ragrelay.collection.local import LocalCollection

    collection = LocalCollection(write_dataset())
    with pytest.raises(InputError, match=r"oracle \(min_label 9\): found no results for any query; expected judgement"):
        build_run(collection, collection.queries(), collection.qrels(), {"kind": "oracle", "seed": 0, "min_label": 9})


IDEAL: dict[str, Any] = {"kind": "oracle", "ideal": True}
GRADED = {
    # All with text.
    "whole": {"a3": 3, "a2": 2, "a1": 1, "a0": 0},
    # The only passage of label 3 has no text: less than ideal from the first place on.
    "best-lost": {"lost": 3, "b2": 2, "b0": 0},
    # One of two of label 3 has no text: ideal at k = 1, less at 2.
    "second-lost": {"c3": 3, "lost": 3, "c0": 0},
    # What has no text is not relevant: ideal at every k.
    "nothing-lost": {"d2": 2, "d1": 1, "lost": 0},
}


def test_ideal_ranks_all_judged_passages_by_label() -> None:
    found = ranked(oracle_run(QRELS, IDEAL, TEXTS), QUERIES).join(QRELS, on=["qid", "docno"])
    for _, of_query in found.sort("rank").group_by("qid", maintain_order=True):
        assert of_query["label"].to_list() == [3] * 6 + [2] * 6 + [1] * 6 + [0] * 6
        assert of_query["docno"].to_list() != sorted(of_query["docno"], reverse=True), "ties in the seeded order"
    bounded = ranked(oracle_run(QRELS, {**IDEAL, "min_label": 2}, TEXTS), QUERIES).join(QRELS, on=["qid", "docno"])
    assert bounded.filter(qid="q0").sort("rank")["label"].to_list() == [3] * 6 + [2] * 6


@pytest.mark.parametrize("k", [1, 2, 3])
def test_ideal_has_ndcg_1_exactly_where_the_highest_labels_have_text(k: int) -> None:
    """nDCG is of the ranking that is prompted, against all judgements, those of passages without text included."""
    rows = [(qid, docno, label) for qid, labels in GRADED.items() for docno, label in labels.items()]
    qrels = pl.DataFrame(rows, schema=QRELS.schema, orient="row")
    texts = {docno: docno for _, docno, _ in rows if docno != "lost"}
    queries = pl.DataFrame({"qid": list(GRADED), "query": ["x"] * len(GRADED)})
    run = ranked(oracle_run(qrels, IDEAL, texts), queries)
    contexts, _ = build_contexts(run, qrels, Texts(texts), 50, "ideal")  # type: ignore[arg-type]
    found = dict(measure_ranking(contexts, qrels, ["nDCG"], [k], 2).select("qid", "value").iter_rows())
    for qid, labels in GRADED.items():
        best = sorted(labels.values(), reverse=True)[:k]
        shown = sorted((label for docno, label in labels.items() if docno in texts), reverse=True)[:k]
        gained, possible = (sum(gain / log2(2 + place) for place, gain in enumerate(row)) for row in (shown, best))
        assert (found[qid] == 1.0) == (gained == possible), qid
        assert found[qid] == pytest.approx(gained / possible)
    ideal = {1: {"whole", "second-lost", "nothing-lost"}, 2: {"whole", "nothing-lost"}, 3: {"whole", "nothing-lost"}}
    assert {qid for qid, value in found.items() if value == 1.0} == ideal[k]
