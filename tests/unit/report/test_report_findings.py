"""The sentences of the report against the numbers that they speak of."""

import math
from dataclasses import replace

import polars as pl
import pytest
from ragrelay.display.findings import side_of_zero
from ragrelay.report import answer_findings
from ragrelay.report.findings import findings, smallest_r, summary
from ragrelay.report.reading import read_study
from ragrelay.report.study import Study
from scipy import stats

from tests.support.report_study import changed, write_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return read_study(**write_study(tmp_path_factory.mktemp("study")))


def test_summary_counts_the_grid(study: Study):
    text = " ".join(summary(study))
    assert "72 cells" in text  # 4 retrievers x 2 orderings x 3 k x 3 seeds
    assert "4 retrievers (bm25, dense, rel, nrel)" in text
    assert "contexts of 1, 2 and 5 passages" in text
    more = replace(study, sections=(*study.sections, replace(study.sections[0], scorer="rouge")))
    assert "72 cells" in " ".join(summary(more))  # another scorer needs no other answers


def test_highest_and_lowest_are_those_of_the_table(study: Study):
    section = study.sections[0]
    cells = (
        section["utility"]
        .filter(pl.col("k") == 5, pl.col("ordering") == "descending", pl.col("references") == "lenient")
        .sort("mean_utility")
    )
    low, high = cells.row(0, named=True), cells.row(-1, named=True)
    found = findings(section).found[0]
    assert f"highest for {high['retriever']} ({high['mean_utility']:.3f}" in found
    assert f"lowest for {low['retriever']} (−{abs(low['mean_utility']):.3f}" in found


def test_correlations_are_sorted_by_the_side_of_their_interval(study: Study):
    section = study.sections[0]
    # Three made-up intervals: one above zero, one below, one around it; nrel has none.
    ends = {"bm25": (0.4, 0.1, 0.6), "dense": (-0.4, -0.6, -0.1), "rel": (0.1, -0.2, 0.4)}
    correlation = (
        section["correlation"]
        .filter(pl.col("retriever") != "nrel")
        .with_columns(
            pl.col("retriever").replace_strict({name: value[place] for name, value in ends.items()}).alias(column)
            for place, column in enumerate(("value", "low", "high"))
        )
    )
    nrel = section["correlation"].filter(pl.col("retriever") == "nrel")
    text = " ".join(findings(changed(section, correlation=pl.concat([correlation, nrel]))).found)
    assert "positive, with an interval above zero, for bm25 (0.40 [0.10, 0.60])" in text
    assert "negative, with an interval below zero, for dense (−0.40 [−0.60, −0.10])" in text
    assert "undecided, with an interval that includes zero, for rel (0.10 [−0.20, 0.40])" in text
    assert "not defined for nrel (nDCG is constant)" in text
    assert "36 cells have an r of nDCG@k and utility: 12 with an interval above zero, 12 below, 12 with zero" in text


def test_limits_name_n_copying_and_multiplicity(study: Study):
    section = study.sections[0]
    text = " ".join(findings(section).limits)
    assert "With 36 queries, an r nearer to zero than ±0.33" in text
    cell = section["utility"].filter(pl.col("retriever") == "rel", pl.col("k") == 5, pl.col("ordering") == "descending")
    share = cell.filter(pl.col("references") == "lenient")["share_best_in_context"].item()
    unseen = cell.filter(pl.col("references") == "lenient-unseen")["mean_utility"].item()
    assert f"With rel, the reference nearest to the answer stood in the context for {100 * share:.0f}%" in text
    assert f"its mean utility is {unseen:.3f}" in text
    tests = section["significance"].filter(pl.col("references").is_in(section.grades))
    assert f"rest on {tests.height} tests" in text
    assert f"{tests['significant'].sum()} do" in text


def test_smallest_r_is_where_the_test_turns(study: Study):
    for n in (10, 36, 43):
        r = smallest_r(n)
        t = r * math.sqrt((n - 2) / (1 - r * r))
        assert 2 * stats.t.sf(t, n - 2) == pytest.approx(0.05)


def test_nothing_is_said_of_what_is_missing(study: Study):
    section = study.sections[0]
    empty = changed(
        replace(section, reference_retriever=None),
        utility=section["utility"].with_columns(pl.lit(None, pl.Float64).alias("mean_utility")),
        correlation=section["correlation"].clear(),
        significance=section["significance"].clear(),
    )
    found = findings(empty)
    assert found.found == ["No query has a utility here."]
    assert side_of_zero({"low": None, "high": 1.0}) is None


def test_the_seeds_share_of_the_variance_is_that_of_the_table(study: Study):
    section = study.sections[0]
    k, grade = section.grid.k[-1], section.grades[0]
    here = (pl.col("retriever") == "rel") & (pl.col("k") == k) & (pl.col("references") == grade)
    share = pl.when(here).then(0.37).otherwise("share_seeds").alias("share_seeds")
    most = changed(section, variance=section["variance"].with_columns(share))
    said = " ".join(answer_findings.findings(most).found)
    assert f"The seeds make most of P’s variance with rel at k = {k}: 37%" in said
    none = changed(section, variance=section["variance"].clear())
    assert "The seeds make" not in " ".join(answer_findings.findings(none).found)
