"""Transmission within queries: against a regression on dummies, by hand, and by simulation."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import within
from ragrelay.analysis.verdicts import ABOVE, TOO_FEW, UNDECIDED
from ragrelay.analysis.within import ALL, DOSES, WITHOUT_ORACLES, repeated_measures, within_queries

KINDS = {"bm25": "bm25", "dense": "dense", "rel": "oracle"}


def tables(
    x: np.ndarray, y: np.ndarray, retrievers: list[str], k: int = 1, ordering: str = "descending", p0: float = 0.0
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Utility and retrieval tables of measures ``x`` and P ``y``, both (queries, retrievers)."""
    rows = [
        {"retriever": name, "ordering": ordering, "k": k, "references": "lenient", "qid": f"q{query:02d}",
         "p": float(y[query, place]), "p0": p0, "measure": "nDCG", "value": float(x[query, place])}
        for query in range(len(x)) for place, name in enumerate(retrievers)
    ]  # fmt: skip
    frame = pl.DataFrame(rows).with_columns(pl.col("p", "value").fill_nan(None))
    return (
        frame.select("retriever", "ordering", "k", "references", "qid", "p", "p0"),
        frame.select("retriever", "qid", "measure", "k", "value"),
    )


def drawn(queries: int = 12, retrievers: int = 3, slope: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Measures and P where a hard query lowers the measure and raises P: over queries the two fall."""
    random = np.random.default_rng(seed)
    hard = random.standard_normal((queries, 1))
    x = random.standard_normal((queries, retrievers)) - 3 * hard
    return x, slope * x + random.standard_normal((queries, retrievers)) * 0.5 + (3 * slope + 2) * hard


def row(frame: pl.DataFrame, **where: object) -> dict:
    return frame.filter(**where).row(0, named=True)


def test_r_is_that_of_a_regression_with_a_dummy_per_query_and_not_that_over_all_answers() -> None:
    x, y = drawn()
    found = row(within_queries(*tables(x, y, list(KINDS)), KINDS), retrievers=ALL, ordering="descending")
    # rmcorr is the signed root of the measure's partial R^2 beside a dummy per query (Bland and Altman 1995).
    dummies = np.kron(np.eye(12), np.ones((3, 1)))

    def unexplained(design: np.ndarray) -> float:
        return float(np.linalg.lstsq(design, y.ravel(), rcond=None)[1].sum())

    full, none = unexplained(np.column_stack([dummies, x.ravel()])), unexplained(dummies)
    assert found["r"] == pytest.approx(np.sqrt(1 - full / none))
    assert np.corrcoef(x.ravel(), y.ravel())[0, 1] < 0 < found["low"]
    assert (found["n_queries"], found["n"], found["verdict"]) == (12, 36, ABOVE)


def test_queries_difficulty_and_p0_of_fixed_references_make_no_difference() -> None:
    x, y = drawn()
    utility, retrieval = tables(x, y, list(KINDS), p0=0.5)
    once = within_queries(utility, retrieval, KINDS)
    shifted = utility.with_columns(pl.col("p") + pl.col("qid").str.slice(1).cast(pl.Float64))
    again = within_queries(shifted, retrieval, KINDS)
    assert again["r"].to_list() == pytest.approx(once["r"].to_list())
    unseen = utility.with_columns(references=pl.lit("lenient-unseen"))
    assert within_queries(unseen, retrieval, KINDS)["r"].to_list() == pytest.approx(once["r"].to_list())


def test_unseen_references_take_p_less_their_own_p0() -> None:
    x, y = drawn()
    utility, retrieval = tables(x, y, list(KINDS))
    own = utility.with_columns(references=pl.lit("lenient-unseen"), p0=pl.col("p") * 0.5)
    half = utility.with_columns(p=pl.col("p") * 0.5)
    first, second = (within_queries(table, retrieval, KINDS)["r"][0] for table in (own, half))
    assert first == pytest.approx(second)
    easy = utility.with_columns(references=pl.lit("lenient-unseen"), p0=pl.col("p"))
    assert within_queries(easy, retrieval, KINDS)["reason"][0] == "P is constant within queries"


def test_orderings_that_are_one_at_a_k_count_once_in_the_pooled_row() -> None:
    x, y = drawn()
    other = drawn(seed=1)
    first, second = tables(x, y, list(KINDS)), tables(*other, list(KINDS), k=2)
    twice = [first[0], first[0].with_columns(ordering=pl.lit("ascending")), second[0]]
    retrieval = pl.concat([first[1], second[1]])
    once = within_queries(pl.concat([first[0], second[0]]), retrieval, KINDS)
    doubled = within_queries(pl.concat(twice), retrieval, KINDS)
    pooled, expected = row(doubled, ordering="all", retrievers=ALL), row(once, ordering="all", retrievers=ALL)
    assert pooled == expected
    assert pooled["k"] is None
    assert pooled["n"] == 2 * 36
    assert doubled.filter(ordering="ascending", k=1).height == once.filter(ordering="descending", k=1).height


def test_who_is_in_which_group() -> None:
    kinds = {**KINDS, "nrel": "oracle", "dose1": "graded", "dose2": "graded", "first": "position", "mine": "run"}
    assert within.members(kinds) == {
        ALL: ["bm25", "dense", "rel", "nrel", "mine"],
        WITHOUT_ORACLES: ["bm25", "dense", "mine"],
        DOSES: ["dose1", "dose2"],
    }
    assert within.members({"bm25": "bm25", "rel": "oracle"}) == {ALL: ["bm25", "rel"]}
    assert within.members({"bm25": "bm25", "dense": "dense"}) == {ALL: ["bm25", "dense"]}, "the same twice says no more"


def test_a_query_with_one_context_says_nothing_and_is_not_counted() -> None:
    x, y = drawn()
    y[0, 1:] = np.nan
    y[1, 0] = np.nan
    found = row(within_queries(*tables(x, y, list(KINDS)), KINDS), retrievers=ALL)
    assert (found["n_queries"], found["n"]) == (11, 32)


def test_queries_whose_contexts_all_agree_are_not_counted_and_few_that_differ_get_no_interval() -> None:
    x, y = drawn(queries=36)
    counts = "6 of 36 queries show a difference, but 8 are needed"
    for differing, verdict, reason in ((6, TOO_FEW, counts), (8, ABOVE, None)):
        # The others have one passage from every retriever, and so one measure and one answer.
        x[differing:], y[differing:] = 0.3, 0.1
        at_1, at_2 = tables(x[::-1], y[::-1], list(KINDS)), tables(*drawn(queries=36), list(KINDS), k=2)
        utility, retrieval = (pl.concat(both) for both in zip(at_1, at_2, strict=True))
        table = within_queries(utility, retrieval, KINDS)
        found, alone = (row(given, retrievers=ALL, k=1) for given in (
            table, within_queries(*tables(x[:differing], y[:differing], list(KINDS)), KINDS)))  # fmt: skip
        assert (found["n_queries"], found["n"], found["r"]) == (differing, 3 * differing, pytest.approx(alone["r"]))
        assert (found["verdict"], found["reason"], found["low"] is None) == (verdict, reason, reason is not None)
        pooled = row(table, retrievers=ALL, ordering="all")
        assert (pooled["n_queries"], pooled["n"], pooled["verdict"]) == (36, 108 + 3 * differing, ABOVE)
        x, y = drawn(queries=36)


def test_what_has_no_r_says_why() -> None:
    x, y = drawn()
    few = row(within_queries(*tables(x[:4], y[:4], list(KINDS)), KINDS), retrievers=ALL)
    assert (few["r"], few["verdict"], few["reason"]) == (None, TOO_FEW, "4 queries, but 12 are needed")
    flat = row(within_queries(*tables(np.ones_like(x), y, list(KINDS)), KINDS), retrievers=ALL)
    assert flat["reason"] == "the measure is constant within queries"
    line = row(within_queries(*tables(x, 2 * x, list(KINDS)), KINDS), retrievers=ALL)
    assert (line["r"], line["low"], line["reason"]) == (
        pytest.approx(1.0), None, "the correlation is perfect, so it has no sampling variance",
    )  # fmt: skip


def sums(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    points = np.full(len(x), x.shape[1])
    return np.array([points, (x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1), np.ones(len(x))])


def test_p_is_below_5_percent_just_where_the_interval_leaves_out_0() -> None:
    random, agree, p_values = np.random.default_rng(3), [], []
    for _ in range(400):
        x = random.standard_normal((20, 3))
        found = repeated_measures(
            sums(x, np.exp(random.standard_normal((20, 1))) * x * 0.2 + random.exponential(size=x.shape))
        )
        agree.append((found["p_value"] < 0.05) == (found["low"] > 0 or found["high"] < 0))
        p_values.append(found["p_value"])
        assert found["low"] < found["r"] < found["high"]
    assert 0.1 < np.mean(np.array(p_values) < 0.05) < 0.9
    assert all(agree)


def test_one_query_that_makes_the_correlation_gives_no_interval() -> None:
    x, y = np.zeros((12, 3)), np.random.default_rng(0).standard_normal((12, 3))
    x[2] = [0.0, 0.5, 1.0]
    found = repeated_measures(sums(x, y))
    assert (found["verdict"], found.get("low"), found["reason"]) == (
        UNDECIDED, None, "without one of the queries, the correlation is undefined or perfect",
    )  # fmt: skip


# Slopes of queries: what answers of a query share. With answers as the unit a quarter of these would be called.
SLOPES = {
    "normal": lambda random: random.standard_normal((43, 1)),
    "log-normal": lambda random: np.exp(random.standard_normal((43, 1))) - np.exp(0.5),
}


@pytest.mark.simulation
@pytest.mark.parametrize("slopes", SLOPES)
def test_queries_whose_slopes_differ_about_none_are_called_nothing_more_often_than_promised(slopes: str) -> None:
    random, called, draws = np.random.default_rng(0), 0, 1500
    for _ in range(draws):
        x = random.standard_normal((43, 4))
        y = SLOPES[slopes](random) * x + random.standard_normal((43, 4))
        called += repeated_measures(sums(x, y))["verdict"] != UNDECIDED
    assert 0.02 < called / draws < 0.06 + np.sqrt(0.05 * 0.95 / draws)


@pytest.mark.simulation
@pytest.mark.parametrize("skewed", [False, True])
def test_eight_queries_that_differ_are_enough_for_a_verdict(skewed: bool) -> None:
    random, called, draws = np.random.default_rng(1), 0, 1000
    for _ in range(draws):
        x, y = np.zeros((2, 12, 3))
        x[:8], y[:8] = random.integers(0, 7, (8, 3)) / 6, random.standard_normal((8, 3))
        of_queries = sums(x, np.exp(y) if skewed else y)
        of_queries[0, 8:] = 0
        called += repeated_measures(of_queries)["verdict"] != UNDECIDED
    assert 0.005 < called / draws < 0.05
