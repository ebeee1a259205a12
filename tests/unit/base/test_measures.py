"""Retrieval measures: ir_measures run directly, nDCG by hand, and the ranking's order as what counts."""

import math
import pkgutil
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import ir_measures
import polars as pl
import pytest
from ir_measures.providers.base import Any as AnyValue
from ir_measures.providers.base import Choices, Evaluator, Provider
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.measures import COLUMNS, HIGHEST_LABELS, check_labels, check_measure, measure_ranking

QRELS_SCHEMA = {"qid": pl.String, "docno": pl.String, "label": pl.Int64}


def study(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A random ranking of 12 queries with 30 passages each and judgements of some of them."""
    chance = random.Random(seed)
    ranking, qrels = [], []
    for q in range(12):
        docnos = [f"d{i}" for i in range(40)]
        chance.shuffle(docnos)
        ranking += [(f"q{q}", docno, place) for place, docno in enumerate(docnos[:30], start=1)]
        qrels += [(f"q{q}", docno, chance.choice([0, 0, 1, 2, 3])) for docno in chance.sample(docnos, 20)]
    return (
        pl.DataFrame(ranking, schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64}, orient="row"),
        pl.DataFrame(qrels, schema=QRELS_SCHEMA, orient="row"),
    )


def by_hand(docnos: list[str], labels: dict[str, int], k: int) -> float:
    """nDCG@k with linear gain (trec_eval's), unjudged passages counting as 0."""

    def dcg(gains: list[int]) -> float:
        return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:k], start=1))

    ideal = dcg(sorted(labels.values(), reverse=True))
    return dcg([labels.get(docno, 0) for docno in docnos]) / ideal if ideal else 0.0


def test_equals_ir_measures() -> None:
    ranking, qrels = study(1)
    names, ks = ["nDCG", "P(rel=2)", "AP(rel=2)", "RR(rel=2)"], [1, 2, 5, 10]
    found = measure_ranking(ranking, qrels, names, ks)
    assert dict(found.schema) == schema_of(COLUMNS)
    wanted = {ir_measures.parse_measure(f"{name}@{k}"): (name, k) for name in names for k in ks}
    as_run = [ir_measures.ScoredDoc(qid, docno, 1.0 / rank) for qid, docno, rank in ranking.iter_rows()]
    as_qrels = [ir_measures.Qrel(*row) for row in qrels.iter_rows()]
    expected = {
        (m.query_id, *wanted[m.measure]): m.value for m in ir_measures.iter_calc(list(wanted), as_qrels, as_run)
    }
    assert {tuple(row[:3]): row[3] for row in found.iter_rows()} == expected
    assert len(found) == 12 * 4 * 4


def test_ndcg_by_hand() -> None:
    ranking, qrels = study(2)
    for qid, name, k, value in measure_ranking(ranking, qrels, ["nDCG"], [1, 3, 5, 20]).iter_rows():
        labels = dict(qrels.filter(qid=qid).select("docno", "label").iter_rows())
        assert name == "nDCG"
        assert value == pytest.approx(by_hand(ranking.filter(qid=qid)["docno"].to_list(), labels, k), abs=1e-9)


def test_unjudged_counts_as_not_relevant() -> None:
    ranking = pl.DataFrame({"qid": ["q", "q"], "docno": ["unjudged", "best"], "rank": [1, 2]})
    qrels = pl.DataFrame([("q", "best", 3)], schema=QRELS_SCHEMA, orient="row")
    values = measure_ranking(ranking, qrels, ["nDCG"], [1, 2])["value"].to_list()
    assert values == pytest.approx([0.0, 1 / math.log2(3)])


def test_order_of_the_ranking_counts() -> None:
    """Docnos, which would break the ties of equal scores, do not: this ranking is in neither order of them."""
    qrels = pl.DataFrame([("q", "b", 3), ("q", "c", 1)], schema=QRELS_SCHEMA, orient="row")
    values = {}
    for docnos in (["b", "c", "a"], ["a", "b", "c"], ["c", "a", "b"]):
        ranking = pl.DataFrame({"qid": ["q"] * 3, "docno": docnos, "rank": [1, 2, 3]})
        values["".join(docnos)] = measure_ranking(ranking, qrels, ["nDCG"], [3])["value"].item()
        assert values["".join(docnos)] == pytest.approx(by_hand(docnos, {"b": 3, "c": 1}, 3))
    assert values["bca"] > values["cab"] and values["bca"] > values["abc"]


def test_rows_by_measure_then_k_then_query() -> None:
    ranking, qrels = study(3)
    found = measure_ranking(ranking, qrels, ["P(rel=1)", "nDCG"], [5, 2])
    qids = [f"q{i}" for i in range(12)]
    expected = [(qid, name, k) for name in ("P(rel=1)", "nDCG") for k in (5, 2) for qid in qids]
    assert found.select("qid", "measure", "k").rows() == expected


def test_two_names_of_one_measure_both_have_values() -> None:
    ranking, qrels = study(4)
    found = measure_ranking(ranking, qrels, ["AP", "MAP"], [5])
    assert found.group_by("measure", maintain_order=True).len().rows() == [("AP", 12), ("MAP", 12)]
    assert found.filter(measure="AP")["value"].to_list() == found.filter(measure="MAP")["value"].to_list()


def test_query_without_results_has_no_row() -> None:
    ranking, qrels = study(5)
    found = measure_ranking(ranking.filter(pl.col("qid") != "q3"), qrels, ["nDCG"], [5])
    assert "q3" not in found["qid"].to_list() and len(found) == 11


def test_a_judged_query_without_results_has_0_where_it_counts() -> None:
    ranking, qrels = study(5)
    fewer = ranking.filter(pl.col("qid") != "q3")
    found = measure_ranking(fewer, qrels, ["nDCG", "P"], [5, 2], qids=["q1", "q3", "never judged"])
    assert found.filter(qid="q3").select("measure", "k", "value").rows() == [
        (name, k, 0.0) for name in ("nDCG", "P") for k in (5, 2)
    ]
    without = measure_ranking(fewer, qrels, ["nDCG", "P"], [5, 2])
    assert found.filter(pl.col("qid") != "q3").equals(without)


def test_binary_measures_take_the_lowest_reference_grade_unless_they_say_another() -> None:
    ranking, qrels = study(1)
    found = measure_ranking(ranking, qrels, ["P", "P(rel=3)", "AP", "nDCG"], [5], relevant=2)
    said = measure_ranking(ranking, qrels, ["P(rel=2)", "P(rel=3)", "AP(rel=2)", "nDCG"], [5])
    assert found["value"].to_list() == said["value"].to_list()
    assert found["measure"].unique(maintain_order=True).to_list() == ["P", "P(rel=3)", "AP", "nDCG"]
    assert (
        measure_ranking(ranking, qrels, ["P"], [5])["value"].to_list() != found.filter(measure="P")["value"].to_list()
    )


IDS: dict[str, Callable[[int], str]] = {
    "TREC RAG 2024": lambda q: f"2024-{145979 + q}",
    "letters": lambda q: f"q{q}",
    "turns": lambda q: f"31_{q}",
    "UUIDs": lambda q: f"9f3c1e{q:02d}-7b1e-4e5f-9d8a-{q:012d}",
    "one number after the last hyphen": lambda q: f"{q}-7",
}
OF_PROVIDERS = {"gdeval": ("ERR", "nDCG(dcg='exp-log2')"), "pytrec_eval": ("nDCG", "AP"), "msmarco": ("RR",),
                "judged": ("Judged",)}  # fmt: skip


def renamed(table: pl.DataFrame, name: Callable[[int], str]) -> pl.DataFrame:
    return table.with_columns(pl.Series("qid", [name(int(qid[1:])) for qid in table["qid"]]))


@pytest.mark.parametrize("measures", OF_PROVIDERS.values(), ids=OF_PROVIDERS)
@pytest.mark.parametrize("name", IDS.values(), ids=IDS)
def test_ids_of_queries_decide_nothing(name: Callable[[int], str], measures: tuple[str, ...]) -> None:
    tables = study(6)
    (by_number, of_numbers), (by_name, of_names) = ([renamed(table, to) for table in tables] for to in (str, name))
    expected = measure_ranking(by_number, of_numbers, measures, [1, 5])
    found = measure_ranking(by_name, of_names, measures, [1, 5])
    assert found.drop("qid").equals(expected.drop("qid")) and expected["value"].max() > 0
    assert found["qid"].to_list() == [name(int(qid)) for qid in expected["qid"]]


def test_gdeval_of_ids_with_hyphens_by_hand() -> None:
    """The formula is that of Chapelle et al. (CIKM 2009), with gdeval's highest label."""
    ranking, qrels = (renamed(table, IDS["TREC RAG 2024"]) for table in study(7))
    for qid, _, k, value in measure_ranking(ranking, qrels, ["ERR"], [3, 10]).iter_rows():
        labels = dict(qrels.filter(qid=qid).select("docno", "label").iter_rows())
        expected, unsatisfied = 0.0, 1.0
        for rank, docno in enumerate(ranking.filter(qid=qid)["docno"].head(k), 1):
            stops = (2 ** labels.get(docno, 0) - 1) / 2**4
            expected, unsatisfied = expected + unsatisfied * stops / rank, unsatisfied * (1 - stops)
        assert value == pytest.approx(expected, abs=6e-6), "gdeval prints five digits"


@pytest.mark.parametrize(
    ("evaluator", "measure"),
    [("gdeval_provider.GdevalEvaluator", "ERR"), ("pytrec_eval_provider.PytrecEvalEvaluator", "nDCG"),
     ("msmarco_provider.MsMarcoEvaluator", "RR"), ("judged_provider.JudgedEvaluator", "Judged")],
)  # fmt: skip
def test_a_query_for_which_a_provider_has_no_value_is_no_0(
    evaluator: str, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = evaluator.split(".")
    kind = getattr(getattr(ir_measures.providers, module), name)
    real = kind._iter_calc
    monkeypatch.setattr(kind, "_iter_calc", lambda self, run: (m for m in real(self, run) if m.query_id != "3"))
    ranking, qrels = study(8)
    found = rf"measure {measure}@5: found no value for 1 of 12 queries, such as 'q2'; expected a value"
    with pytest.raises(InputError, match=found):
        measure_ranking(ranking, qrels, [measure], [5])


def test_a_query_without_a_relevant_passage_has_0() -> None:
    """gdeval prints no line for such a query."""
    ranking, qrels = study(9)
    none = pl.when(pl.col("qid") == "q4").then(0).otherwise("label").alias("label")
    found = measure_ranking(ranking, qrels.with_columns(none), ["ERR", "nDCG", "RR", "AP"], [5])
    assert found.filter(qid="q4")["value"].to_list() == [0.0] * 4 and len(found) == 4 * 12


def test_labels_above_those_of_a_provider_are_refused() -> None:
    ranking, qrels = study(1)
    high = qrels.with_columns(label=pl.col("label") * 2)
    for measure in ("ERR", "nDCG(dcg='exp-log2')"):
        found = (
            f"judgements: found label 6; expected labels up to 4, the highest that measure {re.escape(measure)} accepts"
        )
        with pytest.raises(InputError, match=found):
            measure_ranking(ranking, high, ["nDCG", measure], [5])
    assert len(measure_ranking(ranking, high, ["nDCG", "RR", "Judged"], [5])) == 3 * 12
    check_labels(["ERR"], pl.Series([-2, 0, 4]), "qrels")
    script = (pkgutil.get_data("ir_measures", "bin/gdeval.pl") or b"").decode()
    assert {"gdeval": int(re.findall(r"MAX_JUDGMENT = (\d+);", script)[0])} == HIGHEST_LABELS


REFUSED = {
    "RBP(p=0.8)": ["installed ir_measures provider", "a provider that does (pip install ir-measures["],
    "SDCG(max_rel=3)": ["installed ir_measures provider", "a provider that does (pip install ir-measures["],
    "RR(judged_only=True)": ["no installed ir_measures provider", "expected another measure"],
    "Accuracy": ["no value for many queries", "a value for every query with results"],
    "NERR8": ["max_rel is not given"],
    **{
        name: ["a subtopic measure", "StRecall, alpha_nDCG, or a measure of judged passages"]
        for name in ("ERR_IA", "P_IA", "NRBP", "AP_IA", "alpha_DCG(alpha=0.3)", "nERR_IA")
    },
}


@pytest.fixture
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the packages of the extra ``measures`` are there, as far as ir_measures knows."""
    for provider in (ir_measures.cwl_eval, ir_measures.pyndeval):
        monkeypatch.setattr(provider, "_is_available", request.param)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("installed", [False], indirect=True)
@pytest.mark.parametrize(("name", "parts"), REFUSED.items(), ids=REFUSED)
def test_a_measure_that_cannot_be_computed_is_refused(name: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as error:
        check_measure("config key 'grid.measures'", name)
    message = str(error.value)
    assert all(part in message for part in ["config key 'grid.measures': found '" + name, *parts]), message
    assert "\n" not in message and "object at" not in message


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("installed", [True], indirect=True)
def test_a_measure_whose_package_is_there_is_taken() -> None:
    for name in ("RBP(p=0.8)", "SDCG(max_rel=3)", "BPM(max_rel=3)", "NERR8(max_rel=3)", "nDCG", "ERR", "P(rel=2)"):
        check_measure("x", name)
    with pytest.raises(InputError, match="a subtopic measure"):
        check_measure("x", "ERR_IA")


class RbpEvaluator(Evaluator):
    def __init__(self, measures: Any, qrels: dict[str, dict[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        self.qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        for measure in self.measures:
            for qid, scores in run.items():
                ranked = sorted(scores, key=lambda docno: -scores[docno])
                hits = [self.qrels[qid].get(docno, 0) >= measure["rel"] for docno in ranked]
                p = measure["p"]
                value = (1 - p) * sum(hit * p**place for place, hit in enumerate(hits))
                yield ir_measures.Metric(qid, measure, value)


class Rbp(Provider):
    """RBP of whole rankings, as cwl-eval has it."""

    NAME = "rbp"
    SUPPORTED_MEASURES = [  # noqa: RUF012
        ir_measures.measures._RBP(cutoff=Choices(ir_measures.providers.base.NOT_PROVIDED), rel=AnyValue(), p=AnyValue())
    ]

    def _evaluator(self, measures: Any, qrels: Any) -> Evaluator:
        return RbpEvaluator(measures, qrels)


def test_a_measure_without_a_cutoff_of_its_own_gets_rankings_that_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir_measures.DefaultPipeline, "providers", [*ir_measures.DefaultPipeline.providers, Rbp()])
    monkeypatch.setattr(ir_measures.cwl_eval, "_is_available", False)
    ranking, qrels = study(1)
    found = measure_ranking(ranking, qrels, ["RBP(p=0.5)", "P"], [1, 3], relevant=2)
    p1, p3 = (found.filter(measure="P", k=k)["value"] for k in (1, 3))
    rbp1, rbp3 = (found.filter(measure="RBP(p=0.5)", k=k)["value"] for k in (1, 3))
    assert rbp1.to_list() == (p1 * 0.5).to_list()
    assert (rbp3 > 0).to_list() == (p3 > 0).to_list() and rbp3.max() <= 0.875
