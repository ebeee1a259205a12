"""A reader and measures of answers in PyTerrier experiments: the workflow's numbers to the bit, by the same stores."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
import pyterrier as pt
import pytest
import ragrelay
from ir_measures import nDCG
from ragrelay import pyterrier as ours
from ragrelay.annexes.notebook.study_results import Results
from ragrelay.base.errors import InputError

from tests.support.notebooks import shown_by
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study

HERE = {"ordering": "descending", "k": 2}
RETRIEVERS = ("bm25", "nrel")


@pytest.fixture
def study(finished: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Results:
    monkeypatch.chdir(finished.folder)
    return ragrelay.open("results/small")


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an engine nor an encoder starts: all that is asked for is in the stores."""

    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("an engine or encoder was started")

    monkeypatch.setattr("ragrelay.generation.job.start_checked", started)
    monkeypatch.setattr("ragrelay.scoring.encoder.Encoder.__init__", started)


def retriever(study: Results, name: str) -> pt.Transformer:
    """The workflow's run, as PyTerrier reads it."""
    run = pt.io.read_results(str(study.folder / f"small/runs/{name}.run.gz"))
    return pt.Transformer.from_df(run.merge(ours.topics(study), on="qid"))


def per_query(study: Results, reader: pt.Transformer, measures: list[Any]) -> pd.DataFrame:
    pipelines = [retriever(study, name) >> reader for name in RETRIEVERS]
    topics, qrels = ours.topics(study), ours.qrels(study)
    return pt.Experiment(pipelines, topics, qrels, measures, names=list(RETRIEVERS), perquery=True, validate="error")


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("references", ["lenient", "strict-unseen"])
def test_numbers_are_those_of_the_workflow(study: Results, references: str) -> None:
    scorer = ours.Scorer(study, references)
    found = per_query(study, ours.Reader(study, k=2), [nDCG @ 2, ours.P(scorer), ours.Gain(scorer)])
    values = {(row["name"], row["qid"], row["measure"]): row["value"] for _, row in found.iterrows()}
    expected: dict[tuple[str, str, str], float] = {}
    utility = study["per_query"].filter(pl.col("retriever").is_in(RETRIEVERS), references=references, **HERE)
    for row in utility.drop_nulls("p").iter_rows(named=True):
        expected[row["retriever"], row["qid"], f"P({references})"] = row["p"]
        expected[row["retriever"], row["qid"], f"Gain({references})"] = row["p"] - row["p0"]
    ranked = study["retrieval"].filter(pl.col("retriever").is_in(RETRIEVERS), k=2, measure="nDCG")
    expected |= {(row["retriever"], row["qid"], "nDCG@2"): row["value"] for row in ranked.iter_rows(named=True)}
    assert len(expected) > 30 and values == expected


@pytest.mark.usefixtures("no_engine")
def test_gain_over_another_pipeline_is_the_difference_of_systems(study: Results) -> None:
    scorer, reader = ours.Scorer(study), ours.Reader(study, k=2)
    first, other = (retriever(study, name) >> reader for name in ("rel", "bm25"))
    measures = [ours.Gain(scorer), ours.Gain(scorer, baseline=other, over="bm25"), ours.P(scorer)]
    measures += [ours.Gain(scorer, baseline=first), ours.P(ours.Scorer(study, "strict"))]
    found = pt.Experiment([first], ours.topics(study), ours.qrels(study), measures, validate="error")
    columns = ["Gain(lenient)", "Gain(lenient, over bm25)", "P(lenient)", "Gain(lenient, over baseline)", "P(strict)"]
    assert sorted(found.columns[1:]) == sorted(columns), "a measure of another's name is dropped"
    assert found["Gain(lenient, over baseline)"].to_list() == [0.0] and found["Gain(lenient)"][0] > 0
    rows = study["systems"].filter(retriever="bm25", against_retriever="rel", references="lenient", **HERE)
    assert found["Gain(lenient, over bm25)"].to_list() == pytest.approx(
        (-rows["mean_difference"]).unique().to_list(), abs=1e-12
    )


@pytest.mark.usefixtures("no_engine")
def test_a_pipeline_that_scores(study: Results) -> None:
    """Each query has one row, with PyTerrier-RAG's columns first, and PyTerrier-RAG's own frames are scored too."""
    reader = ours.Reader(study, k=2, one_row=True)
    answers = (retriever(study, "bm25") >> reader)(ours.topics(study))
    assert list(answers.columns) == ["qid", "query", "qcontext", "qanswer", "qanswers", "docnos"]
    texts = study["answers"].filter(retriever="bm25", seed=1, **HERE)
    assert dict(zip(answers["qid"], answers["qanswer"], strict=True)) == dict(texts.select("qid", "answer").iter_rows())
    scored = ours.Scorer(study)(answers.drop(columns=["qanswers"]))
    ones = study["scores"].filter(retriever="bm25", seed=1, references="lenient", **HERE)
    single = dict(ones.select("qid", pl.col("f1").cast(pl.Float64)).iter_rows())
    assert {qid: p for qid, p in zip(scored["qid"], scored["p"], strict=True) if p == p} == single


@pytest.mark.usefixtures("no_engine")
def test_queries_without_results_count_as_zero_shot(study: Results) -> None:
    """The workflow does so where a retriever finds nothing: the answer is the one without passages."""
    scorer = ours.Scorer(study)
    answers = (retriever(study, "bm25") >> ours.Reader(study, k=2))(ours.topics(study))
    gone = study["per_query"].filter(retriever="bm25", references="lenient", **HERE).drop_nulls("p")["qid"][0]
    found = scorer.scores(answers[answers["qid"] != gone]).filter(qid=gone)
    assert found["p"].to_list() == found["p0"].to_list() and found["p"][0] > 0


def test_a_query_without_a_value_is_no_0() -> None:
    """A query without a reference at the grade is left out of the means."""
    scores = pl.DataFrame({"qid": ["a", "b", "c"], "p": [0.5, None, 0.7], "p0": [0.4, 0.1, None]})
    scorer: Any = SimpleNamespace(references="strict", named=[], scores=lambda frame: scores)
    run = pd.DataFrame({"qid": ["a", "b", "c"], "query": "x", "docno": "d", "score": 1.0, "qanswer": "y"})
    qrels = pd.DataFrame({"qid": ["a", "b", "c"], "docno": "d", "label": 1})
    measures = [ours.P(scorer), ours.Gain(scorer)]
    found = pt.Experiment([run], run[["qid", "query"]], qrels, measures, names=["x"], perquery=True)
    known = {(row["qid"], row["measure"]): row["value"] for _, row in found.dropna().iterrows()}
    assert known == {
        ("a", "P(strict)"): 0.5, ("c", "P(strict)"): 0.7, ("a", "Gain(strict)"): pytest.approx(0.1),
    }  # fmt: skip
    means = ir_measures.calc_aggregate(measures, pt.model.to_ir_measures(qrels), pt.model.to_ir_measures(run))
    assert [means[measure] for measure in measures] == pytest.approx([0.6, 0.1])


def test_what_is_wrong_is_said(study: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"references: found 'lenien'.*did you mean 'lenient'"):
        ours.Scorer(study, "lenien")
    with pytest.raises(InputError, match="generator: found 'lm'"):
        ours.Reader(study, k=1, generator="lm")
    with pytest.raises(pt.validate.InputValidationError):
        ours.Reader(study, k=1)(ours.topics(study))
    compressor = pt.apply.generic(lambda frame: frame.assign(text="tea"), required_columns=["qid"])
    with pytest.raises(
        InputError, match=r"a ranking given to the reader: found texts of .* differ from the collection's"
    ):
        (retriever(study, "bm25") >> compressor >> ours.Reader(study, k=1))(ours.topics(study))
    opened = ragrelay.open(study.folder.resolve())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no folder cache; expected Python started in the folder where the study was"):
        ours.Reader(opened, k=1)


@pytest.mark.usefixtures("no_engine")
def test_the_notebook(real: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    (real.folder / "docs").mkdir(exist_ok=True)
    monkeypatch.chdir(real.folder / "docs")
    table, over, scored = shown_by("pyterrier.ipynb")
    assert list(table["name"]) == ["bm25", "rel"]
    assert over["Gain(lenient, over bm25)"][0] == pytest.approx(table["P(lenient)"][1] - table["P(lenient)"][0])
    assert {"qid", "qcontext", "qanswer", "p", "p0"} <= set(scored.columns)


@pytest.mark.engine
def test_answers_made_in_a_notebook_are_not_made_again(
    copied: Callable[[], Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = copied()
    twin_keys = twin.distinct_keys()
    monkeypatch.chdir(twin.folder)
    study = ragrelay.open("results/small")
    answers = (retriever(study, "bm25") >> ours.Reader(study, k=3, one_row=True))(ours.topics(study))
    twin.config["grid"] = {**twin.config["grid"], "k": [1, 2, 3]}
    twin.write_config()
    twin.snakemake("results/small/small/answers/demo-lm/bm25/descending/k3/seed1.parquet")
    keys = twin.distinct_keys()
    made = twin.receipts()["demo-lm/shard0"]["made"]
    given = pl.read_parquet(twin.results / "small/prompts/tian2025/bm25/descending/k3.parquet")
    assert made == keys - twin_keys - 2 * len(given), "those of bm25's descending order are there"
    view = pl.read_parquet(twin.results / "small/answers/demo-lm/bm25/descending/k3/seed1.parquet")
    assert dict(view.select("qid", "answer").iter_rows()) == dict(zip(answers["qid"], answers["qanswer"], strict=True))
