"""The paper's findings on drawn queries, where it is known which holds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.reproduction.findings import (
    AS_IN_THE_PAPER,
    BETTER,
    CORRELATED,
    FALLS,
    OPPOSITE,
    degrees_of_freedom,
    paper_findings,
)
from ragrelay.annexes.reproduction.page import reproduction_sentences
from ragrelay.annexes.reproduction.study import Reproduction

from benchmarks.shared.known_truth import correlated_data, falling_data
from benchmarks.shared.real_columns import Real
from benchmarks.verdict_errors import finding_errors

pytestmark = pytest.mark.simulation

KS = (1, 5, 15)


def drawn(
    random: np.random.Generator, n: int, slopes: tuple[float, ...], gain: float
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Utility that follows the measure with the weight of each k, and a better ranking whose P is ``gain`` higher."""
    utility, measured = [], []
    query = random.normal(0.0, 0.1, n)
    for retriever, level in (("bm25", 0.4), ("monot5", 0.6)):
        skill = random.normal(0.0, 0.2, n)
        for k, slope in zip(KS, slopes, strict=True):
            value = skill + random.normal(0.0, 0.05, n)
            for ordering in ("descending", "ascending"):
                follows = slope * value / value.std() + np.sqrt(1.0 - slope**2) * random.normal(size=n)
                p = 0.6 + query + 0.05 * random.normal(size=n) + gain * (retriever == "monot5")
                cell = {"retriever": retriever, "ordering": ordering, "k": k, "references": "strict"}
                utility += [{**cell, "qid": f"q{q}", "p": p[q], "utility": follows[q]} for q in range(n)]
            measured += [{"retriever": retriever, "qid": f"q{q}", "measure": "nDCG", "k": k, "value": level + value[q]}
                         for q in range(n)]  # fmt: skip
    return pl.DataFrame(utility), pl.DataFrame(measured)


def of_study(utility: pl.DataFrame, measured: pl.DataFrame) -> dict[str, dict]:
    found = paper_findings(utility, measured, ["bm25", "monot5"], "nDCG", ["strict"])
    return {row["finding"]: row for row in found.iter_rows(named=True)}


def test_findings_that_hold_are_found() -> None:
    found = of_study(*drawn(np.random.default_rng(1), 400, (0.5, 0.3, 0.0), 0.05))
    assert {name: row["verdict"] for name, row in found.items()} == dict.fromkeys(
        (CORRELATED, FALLS, BETTER), AS_IN_THE_PAPER
    )
    assert found[CORRELATED]["low"] < (0.5 + 0.3 + 0.0) / 3 < found[CORRELATED]["high"]
    slope = np.polyfit(KS, (0.5, 0.3, 0.0), 1)[0]
    assert found[FALLS]["low"] < slope < found[FALLS]["high"]
    assert found[BETTER]["of"] == "monot5 − bm25" and found[BETTER]["low"] < 0.05 < found[BETTER]["high"]
    assert [found[name]["n_cells"] for name in (CORRELATED, FALLS, BETTER)] == [12, 12, 6]


def test_the_opposite_is_called_so() -> None:
    found = of_study(*drawn(np.random.default_rng(2), 400, (-0.5, -0.2, 0.0), -0.05))
    assert {row["verdict"] for row in found.values()} == {OPPOSITE}


def test_where_there_is_nothing_the_tests_keep_their_level() -> None:
    """In 300 studies of 43 queries, a rate of 5% has a standard error of 1.3%."""
    random, draws = np.random.default_rng(3), 300
    rows = [row for _ in range(draws) for row in of_study(*drawn(random, 43, (0.0, 0.0, 0.0), 0.0)).items()]
    for name in (CORRELATED, FALLS, BETTER):
        rate = np.mean([row["p_value"] < 0.05 for finding, row in rows if finding == name])
        assert 0.015 <= rate <= 0.09, (name, rate)


DATA = [(finding, kind, data) for finding, kinds in ((CORRELATED, correlated_data), (FALLS, falling_data))
        for kind, data in kinds(Real([])).items()]  # fmt: skip


@pytest.mark.parametrize(("finding", "kind", "data"), DATA, ids=[f"{finding}, {kind}" for finding, kind, _ in DATA])
def test_words_are_said_wrongly_in_one_of_twenty(finding: str, kind: str, data: Callable[..., Any]) -> None:
    """In 400 studies of 43 queries, the rate has a standard error of 1.1%; half of the words are the paper's."""
    said = finding_errors(finding, data(np.random.default_rng(6), 400, 43))
    assert len(said["either"]) == 400
    assert 0.02 <= said["either"].mean() <= 0.085
    assert 0.005 <= said[AS_IN_THE_PAPER].mean() <= 0.05


def test_oracles_and_other_references_do_not_count() -> None:
    utility, measured = drawn(np.random.default_rng(4), 60, (0.5, 0.3, 0.0), 0.05)
    ideal = [frame.filter(retriever="bm25").with_columns(retriever=pl.lit("ideal")) for frame in (utility, measured)]
    unseen = utility.with_columns(references=pl.lit("strict-unseen"))
    both = pl.concat([utility, unseen, ideal[0]]), pl.concat([measured, ideal[1]])
    with_both = paper_findings(*both, ["bm25", "monot5"], "nDCG", ["strict"])
    assert with_both.equals(paper_findings(utility, measured, ["bm25", "monot5"], "nDCG", ["strict"]))


def test_without_a_test_there_is_a_reason() -> None:
    utility, measured = drawn(np.random.default_rng(5), 43, (0.5, 0.3, 0.0), 0.05)
    one_k = of_study(utility.filter(k=5), measured.filter(k=5))
    assert (
        one_k[FALLS]["reason"] == "no retriever with a correlation at two k" and one_k[FALLS]["verdict"] == "undecided"
    )
    constant = of_study(utility, measured.with_columns(value=pl.lit(0.5)))
    assert constant[CORRELATED]["reason"] == "no cell with a correlation" and BETTER not in constant
    assert pytest.approx(0.05, abs=0.03) == one_k[BETTER]["estimate"]


def test_the_page_says_how_many_verdicts_chance_would_give() -> None:
    draws = [drawn(np.random.default_rng(seed), 40, (0.0,) * 3, 0.0) for seed in range(7)]
    parts = [paper_findings(*draw, ["bm25", "monot5"], "nDCG", ["strict"]) for draw in draws]
    (said,) = reproduction_sentences(Reproduction({"reproduced_findings": pl.concat(parts)}))
    assert "21 tests are uncorrected; if no finding held, chance alone would make about 1 of them significant" in said


def test_degrees_of_freedom_are_those_of_a_sample_variance() -> None:
    """Normal values have nearly n - 1 and never more; long-tailed ones have 2 / CV^2, as drawn variances do."""
    random = np.random.default_rng(7)
    normal = [degrees_of_freedom(random.normal(size=200)) for _ in range(200)]
    assert max(normal) <= 199 and np.mean(normal) > 180
    variances = random.laplace(size=(20_000, 200)).var(axis=1, ddof=1)
    expected = 2.0 * (variances.mean() / variances.std()) ** 2
    long_tailed = [degrees_of_freedom(random.laplace(size=200)) for _ in range(500)]
    assert np.median(long_tailed) == pytest.approx(expected, rel=0.25)
