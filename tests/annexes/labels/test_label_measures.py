"""Measures from labels: real gains agree with trec_eval's whole ones, and what is short or lacking is told apart."""

import ir_measures
import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.labels.measures import How, measure_labels
from ragrelay.base.errors import InputError
from ragrelay.erag.library import evaluate, label_passages

RANKING = pl.DataFrame(
    [(qid, f"{qid}{rank}", rank) for qid, n in (("a", 4), ("b", 4), ("c", 2)) for rank in range(1, n + 1)],
    schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64},
    orient="row",
)


def labels(values: list[float]) -> pl.DataFrame:
    return RANKING.select("qid", "docno").with_columns(pl.Series("label", values, dtype=pl.Float64))


def found(given: pl.DataFrame, measure: str, k: int, relevant: float | None = None) -> dict[str, float | None]:
    values = measure_labels(RANKING, given, [measure], [k], relevant and How(whole=True, relevant=relevant))
    return dict(values.select("qid", "value").iter_rows())


@pytest.mark.parametrize("k", [1, 2, 4, 10])
def test_gains_between_0_and_1_give_the_ndcg_of_whole_ones_in_proportion(k: int) -> None:
    """nDCG does not change with the gains' unit, so that grades over 4 must give trec_eval's values of the grades."""
    grades = [3, 0, 1, 2, 0, 1, 4, 0, 0, 2]
    of_quarters = found(labels([grade / 4 for grade in grades]), "nDCG", k)
    qrels = labels(list(map(float, grades))).with_columns(pl.col("label").cast(pl.Int64))
    judged = [ir_measures.Qrel(*row) for row in qrels.iter_rows()]
    run = [ir_measures.ScoredDoc(qid, docno, -rank) for qid, docno, rank in RANKING.iter_rows()]
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.nDCG @ k], judged, run)}
    assert of_quarters == pytest.approx(expected, abs=1e-9)
    assert found(labels(list(map(float, grades))), "nDCG", k) == pytest.approx(expected, abs=1e-9)


def test_precision_is_the_mean_and_hit_ratio_the_greatest() -> None:
    given = labels([0.1, 0.5, 0.3, 0.9, 0, 0, 0, 0, 0.25, 0.75])
    assert found(given, "P", 2) == pytest.approx({"a": 0.3, "b": 0.0, "c": 0.5})
    assert found(given, "Success", 3) == pytest.approx({"a": 0.5, "b": 0.0, "c": 0.75})
    assert found(given, "P", 4)["c"] == pytest.approx(0.25), "a short list counts as if label 0 followed"
    counted = measure_labels(RANKING, given, ["P"], [4])
    assert dict(counted.select("qid", "n_ranked").iter_rows()) == {"a": 4, "b": 4, "c": 2}


def test_grades_count_from_the_lowest_relevant_one() -> None:
    given = labels([1, 2, 3, 0, 1, 1, 1, 1, 2, 0])
    assert found(given, "P", 4, relevant=2.0) == {"a": 0.5, "b": 0.0, "c": 0.25}
    assert found(given, "R", 2, relevant=2.0) == {"a": 0.5, "b": 0.0, "c": 1.0}
    assert found(given, "RR", 4, relevant=2.0) == {"a": 0.5, "b": 0.0, "c": 1.0}


def test_what_lacks_a_label_within_the_cutoff_has_no_value() -> None:
    given = labels([0.5] * len(RANKING)).filter(pl.col("docno") != "a3")
    assert found(given, "P", 2)["a"] == 0.5
    assert found(given, "P", 3) == {"a": None, "b": 0.5, "c": pytest.approx(1 / 3)}


def test_measures_of_whole_labels_alone() -> None:
    given = labels([0.5] * len(RANKING))
    for name in ("R", "AP", "RR"):
        assert set(found(given, name, 2).values()) == {None}


def test_wrong_measures_and_labels_are_told() -> None:
    with pytest.raises(InputError, match=r"found 'NDCG'; expected one of P, .*nDCG"):
        measure_labels(RANKING, labels([0.5] * len(RANKING)), ["NDCG"], [2])
    with pytest.raises(InputError, match=r"found -0\.5; expected labels of at least 0"):
        measure_labels(RANKING, labels([-0.5] * len(RANKING)), ["P"], [2])


def test_a_run_is_labelled_in_one_batch_of_distinct_pairs() -> None:
    calls: list[int] = []
    run = pl.DataFrame({"qid": ["1", "1", "2", "2"], "docno": ["x", "y", "x", "z"], "rank": [1, 2, 1, 2]})
    texts = {"x": "same", "y": "same", "z": "other"}

    def generate(pairs: list[tuple[str, str]]) -> list[str]:
        calls.append(len(pairs))
        return [f"{query} {text}" for query, text in pairs]

    def score(pairs: list[tuple[str, str]]) -> list[float]:
        calls.append(len(pairs))
        return [float(answer.endswith("same")) for _, answer in pairs]

    evaluation = evaluate(run, {"1": "one", "2": "two"}, texts, generate, score, ["P"], [1, 2])
    assert calls == [3, 3]
    assert evaluation.labels["label"].to_list() == [1.0, 1.0, 1.0, 0.0]
    assert evaluation.means["mean"].to_list() == [1.0, 0.75]
    shallow = label_passages(run, {"1": "one", "2": "two"}, texts, generate, score, depth=1)
    assert shallow["docno"].to_list() == ["x", "x"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": {"x": "x"}}, "run, docno 'y': found no text"),
        ({"queries": {}}, "run, qid '1': found no text"),
        ({"generate": lambda pairs: []}, "function generate: found 0 results for 2 pairs"),
        ({"score": lambda pairs: [1.5 for _ in pairs]}, "found 1.5; expected a number from 0 to 1"),
        ({"score": lambda pairs: [np.nan for _ in pairs]}, "found nan; expected a number from 0 to 1"),
    ],
)
def test_what_cannot_be_labelled_is_told(change: dict, message: str) -> None:
    given = {
        "run": pl.DataFrame({"qid": ["1", "1"], "docno": ["x", "y"], "rank": [1, 2]}),
        "queries": {"1": "one"},
        "texts": {"x": "x", "y": "y"},
        "generate": lambda pairs: [text for _, text in pairs],
        "score": lambda pairs: [1.0 for _ in pairs],
    }
    with pytest.raises(InputError, match=message):
        label_passages(**{**given, **change})


def test_what_is_counted_goes_by_definition_not_by_values() -> None:
    given = labels([1.0] * len(RANKING))
    continuous = measure_labels(RANKING, given, ["R", "nDCG"], [2], How(whole=False))
    assert continuous.filter(measure="R")["value"].null_count() == continuous.height / 2
    assert continuous.filter(measure="nDCG")["value"].null_count() == 0
    assert measure_labels(RANKING, given, ["R"], [2], How(whole=True))["value"].null_count() == 0
    constant = measure_labels(RANKING, given, ["P", "nDCG"], [2], How(whole=False, constant=True))
    assert constant.filter(measure="nDCG")["value"].null_count() == constant.height / 2
    assert constant.filter(measure="P")["value"].null_count() == 0
