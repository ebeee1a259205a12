"""Correlations of measures from labels with P and utility, and the lead of the best source."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.leads import leads, with_holds
from ragrelay.annexes.labels.study_tables import gather
from ragrelay.annexes.labels.within_queries import label_within
from ragrelay.base.vocabulary.columns import named
from scipy import stats

N, RETRIEVERS = 40, ("bm25", "dense")


def study(noise: dict[str, float]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Values of sources that follow P with ``noise``, and the utility table; query 0 has no utility, 1 no value."""
    draws = np.random.default_rng(5)
    values, ends = [], []
    for retriever in RETRIEVERS:
        p = draws.random(N)
        for number in range(N):
            cell = {"retriever": retriever, "k": 2, "references": "lenient", "qid": f"q{number}"}
            utility = None if number == 0 else 2 * p[number] - 0.5
            ends.append(cell | {"ordering": "descending", "p": p[number], "utility": utility})
            ends.append(cell | {"ordering": "ascending", "p": 1 - p[number], "utility": 0.0})
            for source, size in noise.items():
                value = None if number == 1 else p[number] + size * draws.random()
                row = {"source": source, "measure": "P", "value": value, "n_ranked": 1 if number == 2 else 2}
                values.append(cell | row)
                values.append(cell | row | {"measure": "AP", "value": None})
    return pl.DataFrame(values, infer_schema_length=None), pl.DataFrame(ends, infer_schema_length=None)


def test_coefficients_are_scipys_over_the_descending_cells() -> None:
    values, utility = study({"erag": 0.5})
    table = label_correlations(values, utility, 200, 0)
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    for quantity in ("p", "utility"):
        ends = utility.filter(retriever="bm25", ordering="descending").drop_nulls(quantity)
        pairs = ends.join(values.filter(measure="P").drop_nulls("value"), on=["retriever", "qid"])
        for coefficient, test in tests.items():
            row = table.filter(
                retriever="bm25", measure="P", quantity=quantity, coefficient=coefficient
            ).row(0, named=True)  # fmt: skip
            assert row["value"] == pytest.approx(test(pairs["value"], pairs[quantity]).statistic)
            assert row["low"] < row["value"] < row["high"]
            nulls = 0 if quantity == "p" else 1
            assert (row["n"], row["n_null"], row["n_unmeasured"], row["n_short"]) == (N - 1 - nulls, nulls, 1, 1)
    assert set(table.filter(measure="AP")["reason"]) == {"AP is not defined for these labels"}


def test_a_wide_lead_holds_and_a_narrow_one_does_not() -> None:
    values, utility = study({"qrels": 5.0, "erag": 0.1, "both": 0.1})
    for others, holds in ((["erag", "qrels"], True), (["erag", "both"], False)):
        some = values.filter(pl.col("source").is_in(others))
        table = leads(label_correlations(some, utility, 500, 0), some, utility, 500, 0)
        found = with_holds(table.with_columns(generator=pl.lit("g")))
        of_p = found.filter(quantity="p", coefficient="kendall")
        assert of_p["holds"].to_list() == [holds] * len(RETRIEVERS)
        assert set(of_p["family_size"]) == {len(RETRIEVERS)}
        assert (of_p["lead"] - (of_p["value"] - of_p["against_value"])).abs().max() < 1e-12
        assert (of_p["low"] <= of_p["lead"]).all() and (of_p["lead"] <= of_p["high"]).all()


def test_a_lone_source_has_no_lead() -> None:
    values, utility = study({"erag": 0.1})
    assert leads(label_correlations(values, utility, 100, 0), values, utility, 100, 0).is_empty()


def test_gathered_tables_mark_the_best_of_each_column(tmp_path: Path) -> None:
    values, utility = study({"qrels": 5.0, "erag": 0.1})
    correlations = label_correlations(values, utility, 300, 0)
    ahead = leads(correlations, values, utility, 300, 0)
    for dataset in ("one", "two"):
        part = {"dataset": dataset, "generator": "g", "scorer": "s"}
        named(correlations, part).write_csv(tmp_path / f"{dataset}.c.csv")
        named(ahead, part).write_csv(tmp_path / f"{dataset}.l.csv")
    kinds = {"erag": "erag", "qrels": "qrels"}
    gathered = gather(sorted(tmp_path.glob("*.c.csv")), sorted(tmp_path.glob("*.l.csv")), [], [], kinds)
    table, tested = gathered["annotations"], gathered["annotation_leads"]
    best = table.filter(pl.col("best"), quantity="p", coefficient="kendall")
    assert best.select("dataset", "retriever", "source", "holds").rows() == [
        (dataset, retriever, "erag", True) for dataset in ("one", "two") for retriever in RETRIEVERS
    ]
    assert set(tested["family_size"]) == {4}, "Holm goes over dataset x retriever"
    assert not table.filter(source="qrels")["best"].any()


def test_every_source_is_set_against_the_null() -> None:
    values, utility = study({"qrels": 5.0, "erag": 0.1, "null": 0.4})
    correlations = label_correlations(values, utility, 300, 0)
    table = leads(correlations, values, utility, 300, 0, ["null"]).filter(quantity="p", coefficient="kendall")
    against = table.filter(comparison="null", retriever="bm25")
    assert against.select("source", "against_source").rows() == [("erag", "null"), ("qrels", "null")]
    assert against["lead"].to_list()[0] > 0 > against["lead"].to_list()[1]
    assert table.filter(comparison="best").equals(
        leads(correlations, values, utility, 300, 0).filter(quantity="p", coefficient="kendall")
    )


def test_within_queries_by_source() -> None:
    """Each source's values follow P over the two retrievers of a query; a constant source has no r, and says why."""
    values, utility = study({"erag": 0.05, "null": 0.05})
    utility = utility.with_columns(p0=pl.lit(0.5))
    found = label_within(values, utility, {"bm25": "bm25", "dense": "dense"}, ["null"])
    one = found.filter(source="erag", measure="P", k=2, retrievers="all").row(0, named=True)
    assert one["r"] > 0.99 and one["verdict"] == "above zero" and one["n_queries"] == N - 1
    (reason,) = set(found.filter(source="null")["reason"])
    assert reason == "all passages of a query have the same label"
    assert set(found.filter(source="erag", measure="AP")["reason"]) == {"AP is not defined for these labels"}
