"""Labels and measures against the package erag 0.0.1 itself, run on shared inputs."""

from collections.abc import Callable

import erag as package
import numpy as np
import polars as pl
import pytest
from ragrelay.erag.library import Evaluation, evaluate

CUTS = (1, 3, 5)
NAMES = {"P": "P_{}", "Success": "success_{}", "R": "recall_{}", "AP": "map_cut_{}", "nDCG": "ndcg_cut_{}"}
QUERIES, DEPTH = 12, 7
RESULTS = {f"query {q}": [f"passage {q}-{d}" for d in range(DEPTH)] for q in range(QUERIES)}
RUN = pl.DataFrame(
    [(query, text, rank) for query, texts in RESULTS.items() for rank, text in enumerate(texts, 1)],
    schema=["qid", "docno", "rank"],
    orient="row",
)

Values = dict[str, dict[str, float]]


def _answers(value: Callable[[np.random.Generator], float]) -> dict[str, str]:
    """What a generator makes of each passage: a text that ends with its score."""
    draws = np.random.default_rng(3)
    return {text: f"an answer of {value(draws)!r}" for texts in RESULTS.values() for text in texts}


def _score(answer: str) -> float:
    return float(answer.split()[-1])


def _theirs(answers: dict[str, str], metrics: set[str]) -> tuple[Values, dict[tuple[str, str], float]]:
    """The package's values, and the labels that it got: it asks for those of one rank after another."""
    labels, calls = {}, []

    def generated(asked: dict[str, list[str]]) -> dict[str, str]:
        calls.append(asked)
        return {query: answers[documents[0]] for query, documents in asked.items()}

    def scored(outputs: dict[str, str], _: object) -> dict[str, float]:
        found = {query: _score(answer) for query, answer in outputs.items()}
        labels.update({(query, calls[-1][query][0]): score for query, score in found.items()})
        return found

    found = package.eval(RESULTS, {query: [""] for query in RESULTS}, generated, scored, metrics)
    return found["per_input"], labels


def _ours(answers: dict[str, str], measures: list[str], cuts: tuple[int, ...] = CUTS) -> Evaluation:
    return evaluate(
        RUN,
        {query: query for query in RESULTS},
        {text: text for text in answers},
        lambda pairs: [answers[passage] for _, passage in pairs],
        lambda pairs: [_score(answer) for _, answer in pairs],
        measures,
        cuts,
    )


def continuous(draws: np.random.Generator) -> float:
    return float(draws.random())


def binary(draws: np.random.Generator) -> float:
    return float(draws.random() < 0.3)


@pytest.mark.parametrize(("value", "measures"), [(continuous, ["P", "Success"]), (binary, list(NAMES))])
def test_equals_the_package(value: Callable[[np.random.Generator], float], measures: list[str]) -> None:
    answers = _answers(value)
    theirs, labels = _theirs(answers, {NAMES[name].format(k) for name in measures for k in CUTS})
    ours = _ours(answers, measures)
    assert {(qid, docno): label for qid, docno, _, label in ours.labels.iter_rows()} == labels
    assert ours.values.height == QUERIES * len(measures) * len(CUTS)
    for qid, name, k, found in ours.values.select("qid", "measure", "k", "value").iter_rows():
        assert found == pytest.approx(theirs[qid][NAMES[name].format(k)], abs=1e-9), (qid, name, k)


def test_reciprocal_rank_of_the_whole_list_equals_the_package() -> None:
    answers = _answers(binary)
    theirs, _ = _theirs(answers, {"recip_rank"})
    ours = _ours(answers, ["RR"], (DEPTH,)).values
    expected = {qid: values["recip_rank"] for qid, values in theirs.items()}
    assert dict(ours.select("qid", "value").iter_rows()) == pytest.approx(expected, abs=1e-9)
