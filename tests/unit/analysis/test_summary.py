"""The summary table by hand, and the whole analysis through the two workflow scripts."""

import itertools
import os
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.summary import utility_summary
from ragrelay.analysis.transmission import (
    Comparisons,
    JudgedRankings,
    Rankings,
    ScoresOfAnswers,
    Transmission,
    analyse_transmission,
)
from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.execution.study import files
from ragrelay.generation.answer_files import read_answers
from scipy import stats

from tests.support.scripts import named

TABLES = files.modules_of("analyse_transmission")
SCORES = {"scores": "{retriever}.parquet", "uses": "{retriever}", "contexts": "{retriever}"}
MEASURES = {"retrieval": "{retriever}.measures.parquet"}
RANKINGS = {"rankings": "contexts/{retriever}.parquet"}
PROMPTS = {"prompts": "d/prompts/t/{retriever}/{ordering}/k{k}.parquet"}
KINDS = {"bm25": "bm25", "rel": "oracle"}
ANALYSED = {"patterns": MEASURES, "kinds": KINDS, "seed": 0, "equivalence_margin": 0.02, "relevant": 1}
PART = {"dataset": "demo", "scorer": "minilm", "generator": "demo-lm"}
SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"


def utility_rows() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "qid": ["q1", "q2", "q3", "q4"],
            "p": [0.6, 0.2, 0.5, None],
            "p0": [0.5, 0.0, 0.05, 0.4],
            "utility": [0.2, None, 9.0, None],
            "best_in_context": [1.0, 0.5, 0.0, None],
            "without_results": [None, True, None, None],
        }
    ).with_columns(
        retriever=pl.lit("bm25"), ordering=pl.lit("descending"), k=pl.lit(2, pl.Int64), references=pl.lit("lenient")
    )


def measure_rows() -> pl.DataFrame:
    rows = [
        ("q1", "nDCG", 2, 0.9), ("q2", "nDCG", 2, 0.3), ("q3", "nDCG", 2, 0.0), ("q9", "nDCG", 2, 1.0),
        ("q1", "nDCG", 5, 0.1), ("q1", "P", 2, 0.5), ("q2", "P", 2, float("nan")),
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=["qid", "measure", "k", "value"], orient="row")


def test_summary_by_hand() -> None:
    (row,) = utility_summary(utility_rows(), measure_rows()).iter_rows(named=True)
    low, high = stats.ttest_1samp([0.2, 9.0], 0).confidence_interval(0.95)
    expected = {
        "retriever": "bm25", "ordering": "descending", "k": 2, "references": "lenient", "n": 4,
        "mean_p": pytest.approx(1.3 / 3), "mean_p0": pytest.approx(0.55 / 3), "mean_utility": pytest.approx(4.6),
        "low": pytest.approx(low), "high": pytest.approx(high), "method": "t over queries",
        "median_utility": pytest.approx(4.6), "n_null": 2, "n_low_p0": 2, "n_without_results": 1,
        "share_best_in_context": pytest.approx(0.5),
        "reason": None, "P": pytest.approx(0.5), "nDCG": pytest.approx(0.4),
    }  # fmt: skip
    assert row == expected


def test_without_spread_or_queries_there_is_a_reason() -> None:
    (constant,) = utility_summary(utility_rows().with_columns(utility=0.25), measure_rows()).iter_rows(named=True)
    assert (constant["mean_utility"], constant["low"], constant["reason"]) == (0.25, None, "utility is constant")
    nothing = utility_rows().with_columns(utility=pl.lit(None, pl.Float64))
    (row,) = utility_summary(nothing, measure_rows()).iter_rows(named=True)
    assert (row["mean_utility"], row["n_null"], row["reason"]) == (None, 4, "fewer than 2 queries with utility")


def study(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Scores of zero-shot, bm25 and rel for 20 queries, and their nDCG; rel lacks one query."""
    random = np.random.default_rng(0)
    qids = [f"q{number}" for number in range(20)]

    def cell(ordering: str, k: int, seed: int, level: float) -> pl.DataFrame:
        f1 = random.normal(level, 0.1, len(qids)).clip(0.05, 1)
        return pl.DataFrame({"qid": qids, "f1": f1}).with_columns(
            ordering=pl.lit(ordering), k=pl.lit(k, pl.Int64), seed=pl.lit(seed, pl.Int64), references=pl.lit("lenient"),
            best_in_context=pl.lit(k > 0), n_references=pl.lit(3, pl.Int64), n_near_copies=pl.lit(0, pl.Int64),
        )  # fmt: skip

    scores, retrieval = {"zeroshot": folder / "zeroshot.parquet"}, {}
    pl.concat([cell("none", 0, seed, 0.5) for seed in (1, 2)]).write_parquet(scores["zeroshot"])
    for retriever, level in (("bm25", 0.6), ("rel", 0.7)):
        cells = [cell(o, k, s, level) for o in ("descending", "ascending") for k in (1, 2) for s in (1, 2)]
        scores[retriever] = folder / f"{retriever}.parquet"
        pl.concat(cells).filter((pl.col("qid") != "q7") | (retriever != "rel")).write_parquet(scores[retriever])
        measured = [{"qid": qid, "measure": "nDCG", "k": k, "value": random.random()} for qid in qids for k in (1, 2)]
        retrieval[retriever] = folder / f"{retriever}.measures.parquet"
        pl.DataFrame(measured).write_parquet(retrieval[retriever])
    return scores, retrieval


def prompts(folder: Path) -> list[str]:
    """Files of every cell's prompts, whose contexts are the retriever's own."""
    paths = []
    for retriever in ("bm25", "rel"):
        for ordering, k in itertools.product(("descending", "ascending"), (1, 2)):
            path = folder / "d/prompts/t" / retriever / ordering / f"k{k}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            docnos = [[f"{retriever}{place}" for place in range(k)]] * 20
            pl.DataFrame({"qid": [f"q{query}" for query in range(20)], "docnos": docnos}).write_parquet(path)
            paths.append(str(path))
    return paths


def ranked() -> pl.DataFrame:
    """What is in these contexts."""
    rows = [(name, f"q{query}", place + 1, f"{name}{place}")
            for name in ("bm25", "rel") for query in range(20) for place in range(2)]  # fmt: skip
    return pl.DataFrame(rows, schema=["retriever", "qid", "rank", "docno"], orient="row")


def rankings(folder: Path) -> list[str]:
    paths = [folder / f"contexts/{name}.parquet" for name in ("bm25", "rel")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        ranked().filter(retriever=path.stem).drop("retriever").write_parquet(path)
    return list(map(str, paths))


def judgements(folder: Path) -> str:
    """Judge bm25's first passage for every query, and another that nobody ranks."""
    path = folder / "qrels.parquet"
    rows = [(f"q{query}", docno, 1) for query in range(20) for docno in ("bm250", "other")]
    pl.DataFrame(rows, schema=["qid", "docno", "label"], orient="row").write_parquet(path)
    return str(path)


def run(script: str, **snakemake: object) -> None:
    runpy.run_path(
        str(SCRIPTS / script),
        init_globals={"snakemake": SimpleNamespace(wildcards=named(**PART), log=[os.devnull], **snakemake)},
    )


def test_the_scripts_make_the_tables_twice_alike(tmp_path: Path) -> None:
    scores, retrieval = study(tmp_path)
    made = []
    for attempt in ("one", "two"):
        folder = tmp_path / attempt
        utility = folder / "utility.parquet"
        run(
            "analysis/compute_utility.py",
            input=named(scores=[str(path) for path in scores.values()], uses=[], contexts=[]),
            output=named(utility=str(utility)),
            params=SimpleNamespace(patterns=SCORES, mode="relative", counted=[]),
        )
        tables = {name: str(folder / f"{name}.csv") for name in TABLES}
        run(
            "analysis/analyse_transmission.py",
            input=named(
                utility=str(utility),
                retrieval=[str(path) for path in retrieval.values()],
                prompts=prompts(tmp_path),
                rankings=rankings(tmp_path),
                qrels=judgements(tmp_path),
                clusters=[],
                parts=[],
                scores=[str(path) for name, path in scores.items() if name != "zeroshot"],
                answers=[],
            ),
            output=named(**tables),
            params=SimpleNamespace(
                patterns=MEASURES
                | PROMPTS
                | RANKINGS
                | {"scores": SCORES["scores"], "answers": "{retriever}", "parts": "{scorer}/{table}.csv"},
                kinds=KINDS,
                draws={"resamples": 200, "seed": 0},
                reference_retriever="rel",
                equivalence_margin=0.02,
                primary=None,
                relevant=1,
                tables=TABLES,
            ),
        )
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]

    assert all(pl.read_csv(tmp_path / "one" / f"{name}.csv").columns[:3] == ["dataset", "generator", "scorer"]
               for name in TABLES)  # fmt: skip
    per_query = pl.read_parquet(tmp_path / "one" / "utility.parquet")
    summary = pl.read_csv(tmp_path / "one" / "utility.csv")
    assert summary["retriever"].unique(maintain_order=True).to_list() == ["zeroshot", "bm25", "rel"]
    assert summary.height == 1 + 2 * 4
    cell = {"retriever": "rel", "ordering": "descending", "k": 2}
    utilities = per_query.filter(**cell)["utility"]
    # As they are: the CSV holds every digit.
    assert summary.filter(**cell)["mean_utility"].item() == utilities.mean()
    assert summary.filter(**cell).select("n", "n_null").row(0) == (20, 1)

    unjudged = summary.unique(["retriever", "k"]).select("retriever", "k", "share_unjudged").sort("retriever", "k")
    assert unjudged.rows() == [("bm25", 1, 0), ("bm25", 2, 0.5), ("rel", 1, 1), ("rel", 2, 1), ("zeroshot", 0, None)]

    correlation = pl.read_csv(tmp_path / "one" / "correlation.csv")
    paired = (
        per_query.filter(**cell).join(pl.read_parquet(retrieval["rel"]).filter(k=2), on="qid").drop_nulls("utility")
    )
    expected = stats.pearsonr(paired["utility"], paired["value"])
    row = correlation.filter(**cell, subset="all", coefficient="pearson").row(0, named=True)
    assert (row["value"], row["n"], row["n_null"]) == (pytest.approx(expected.statistic), 19, 1)
    assert correlation.height == 2 * 4 * 2 * 3

    significance = pl.read_csv(tmp_path / "one" / "significance.csv")
    assert significance.group_by("mark").len().sort("mark").rows() == [("†", 8), ("‡", 8)]
    # The two orderings at k = 1 have the same prompts, so four cells make three tests.
    assert significance.filter(mark="†")["family_size"].unique().to_list() == [3]


@pytest.mark.parametrize("reference", [None, "perfect"])
def test_without_the_reference_retriever_there_is_no_dagger(reference: str | None, tmp_path: Path) -> None:
    scores, retrieval = study(tmp_path)
    utility = tmp_path / "utility.parquet"
    run(
        "analysis/compute_utility.py",
        input=named(scores=[str(path) for path in scores.values()], uses=[], contexts=[]),
        output=named(utility=utility),
        params=SimpleNamespace(patterns=SCORES, mode="absolute", counted=[]),
    )
    tables = {name: tmp_path / f"{name}.csv" for name in TABLES}
    run(
        "analysis/analyse_transmission.py",
        input=named(
            utility=str(utility),
            retrieval=[str(path) for path in retrieval.values()],
            prompts=prompts(tmp_path),
            rankings=rankings(tmp_path),
            qrels=judgements(tmp_path),
            clusters=[],
            parts=[],
            scores=[str(path) for name, path in scores.items() if name != "zeroshot"],
            answers=[],
        ),
        output=named(**tables),
        params=SimpleNamespace(
            patterns=MEASURES
            | PROMPTS
            | RANKINGS
            | {"scores": SCORES["scores"], "answers": "{retriever}", "parts": "{scorer}/{table}.csv"},
            kinds=KINDS,
            draws={"resamples": 50, "seed": 0},
            reference_retriever=reference,
            equivalence_margin=0.02,
            primary=None,
            relevant=1,
            tables=TABLES,
        ),
    )
    assert set(pl.read_csv(tables["significance"])["mark"]) == {"‡"}


def test_without_answers_without_context_p_and_transmission_within_queries_are_left(tmp_path: Path) -> None:
    scores, retrieval = study(tmp_path)
    means = pl.read_parquet(scores["bm25"]).group_by("ordering", "k").agg(pl.col("f1").mean())
    pl.read_parquet(scores["zeroshot"]).clear().write_parquet(scores["zeroshot"])
    write_utility(compute_utility(scores, "relative"), tmp_path / "utility.parquet")
    contexts = read_answers(KeyedFiles(PROMPTS["prompts"], tuple(map(Path, prompts(tmp_path)))), ["qid", "docnos"])
    judged = JudgedRankings(ranked(), pl.read_parquet(judgements(tmp_path)), 1)
    transmission = Transmission(
        ScoresOfAnswers(tmp_path / "utility.parquet", {name: scores[name] for name in retrieval}),
        Rankings(retrieval, KINDS, contexts, judged),
        Comparisons("rel", 0.02, None),
        resamples=100,
        seed=0,
    )
    found = dict(analyse_transmission(transmission, TABLES))
    for row in found["utility"].filter(retriever="bm25").iter_rows(named=True):
        expected = means.filter(ordering=row["ordering"], k=row["k"])["f1"].item()
        assert row["mean_p"] == pytest.approx(expected)
        assert (row["n"], row["mean_p0"], row["mean_utility"], row["n_null"]) == (20, None, None, 20)
    assert found["gain"]["n"].sum() == 0 and found["coupling"].is_empty()
    assert set(found["gain"]["reason"]) == {"no query has both P and P₀"}
    assert found["within"]["r"].null_count() == 0 and found["equivalence"]["p_value"].null_count() == 0


def test_an_answer_that_is_missing_is_no_empty_ranking(tmp_path: Path) -> None:
    scores, _ = study(tmp_path)
    of_rel = [pl.concat(compute_utility(scores, "relative", None, ["rel"], ranked)).filter(retriever="rel", qid="q7")
              for ranked in (None, {"rel": ["q7"]})]  # fmt: skip
    assert of_rel[0]["without_results"].all() and (of_rel[0]["p"] == of_rel[0]["p0"]).all()
    assert of_rel[1]["p"].null_count() == of_rel[1].height == 4 and not of_rel[1]["without_results"].any()
