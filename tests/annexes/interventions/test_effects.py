"""Effects of changed contexts by hand, and by scipy where the test is that of another module."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.mean_tests import ClusterMeans, Means
from ragrelay.analysis.relay import WITHOUT_P0
from ragrelay.annexes.interventions.columns import KEY
from ragrelay.annexes.interventions.effects import _relay, by_query, intervention_effects, passage_effects
from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS

from tests.annexes.interventions.made_effects import DEFINITIONS, effects_of, made, relay_table
from tests.unit.report.second_way import between


def row_of(effects: pl.DataFrame, **where: object) -> dict[str, object]:
    (row,) = effects.filter(**where).to_dicts()
    return row


def interval(values: np.ndarray) -> tuple[float, float]:
    found = between(values)
    assert found
    return found


OVERALL = {"part": "overall", "references": "lenient"}


def columns(scores: pl.DataFrame, k: int) -> np.ndarray:
    """Differences of both arms (queries, places)."""
    rows = scores.filter(intervention="swap", k=k, references="lenient").sort("qid", "place")
    relevant, other = (rows.filter(arm=arm)["p"].to_numpy().reshape(-1, k) for arm in ("relevant", "other"))
    return relevant - other


def test_the_effect_of_a_swap_is_the_mean_over_queries_of_both_arms_difference() -> None:
    tables = made()
    row = row_of(effects_of(tables), intervention="swap", k=3, **OVERALL)
    differences = columns(tables[0], 3).mean(axis=1)
    tested = Means.cautious(differences[:, None])
    (low,), (high,) = tested.interval()
    assert row["effect"] == pytest.approx(differences.mean())
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    assert (row["n"], row["n_queries"], row["n_changes"], row["level"]) == (20, 24, 60, 0.95)
    assert row["verdict"] == "better by more than the margin"
    assert row["p_relevant"] - row["p_other"] == pytest.approx(row["effect"])  # type: ignore[operator]


@pytest.mark.parametrize(("noise", "stays"), [(0.01, False), (0.03, False), (0.2, True)])
def test_a_slope_stays_where_one_more_query_hardly_moves_its_interval(noise: float, stays: bool) -> None:
    tables = made(n=24, noise=noise)
    row = row_of(effects_of(tables), intervention="swap", k=3, **OVERALL)
    differences = columns(tables[0], 3).mean(axis=1)
    low, high = interval(differences)
    less, more = (interval(np.append(differences, differences.mean() + sign * 0.25)) for sign in (-1, 1))
    assert row["slope_stands"] is stays
    assert stays is bool(max(low - less[0], more[1] - high) <= (high - low) / 2)
    alone = row_of(effects_of(tables), intervention="twice", k=3, **OVERALL)
    assert alone["slope"] is None and alone["slope_stands"] is None


def test_what_any_exchange_costs_is_in_no_effect() -> None:
    """Half of the rows are worth nothing: in neither a swap nor leaving out does the exchange of .03 show."""
    effects = effects_of(made(n=24, worth=0.0, noise=0.0))
    for name, k in (("swap", 3), ("without", 3), ("twice", 3)):
        assert row_of(effects, intervention=name, k=k, **OVERALL)["effect"] == pytest.approx(0.0, abs=1e-12)


def test_places_hold_together_and_the_test_of_places_is_paired() -> None:
    tables = made(falls=0.1)
    effects = effects_of(tables)
    of_place = columns(tables[0], 3)
    for place in (1, 2, 3):
        row = row_of(effects, intervention="swap", k=3, references="lenient", part="place", place=place)
        (low,), _ = Means.cautious(of_place[:, [place - 1]]).interval(1 - 0.05 / 3)
        assert (row["effect"], row["low"]) == (pytest.approx(of_place[:, place - 1].mean()), pytest.approx(low))
        assert row["level"] == pytest.approx(1 - 0.05 / 3)
    row = row_of(effects, intervention="swap", k=3, references="lenient", part="first less last")
    assert row["effect"] == pytest.approx((of_place[:, 0] - of_place[:, 2]).mean())
    assert row["verdict"] == "better by more than the margin"
    assert effects.filter(k=1, part="place").is_empty()


def test_a_slope_is_the_ratio_of_both_means_beside_relay() -> None:
    effects = effects_of(made())
    row = row_of(effects, intervention="swap", k=3, **OVERALL)
    assert row["slope"] == pytest.approx(row["effect"] / 0.3)  # type: ignore[operator]
    # The measure differs by the same in all queries, so that Fieller's interval is that of the mean, over .3.
    assert row["slope_low"] == pytest.approx(row["low"] / 0.3)  # type: ignore[operator]
    assert (row["relay"], row["relay_low"], row["relay_high"]) == (0.2, 0.1, 0.3)
    unseen = row_of(effects, intervention="swap", k=3, part="overall", references="lenient-unseen")
    assert unseen["relay"] is None and unseen["effect"] < row["effect"]  # type: ignore[operator]
    assert row_of(effects, intervention="twice", k=3, **OVERALL)["slope"] is None
    assert row_of(effects, intervention="without", k=3, **OVERALL)["slope"] == pytest.approx(0.2, abs=0.05)


def coefficient_of_relevance(scores: pl.DataFrame) -> float:
    """By least squares on relevance, an indicator per query and one per place."""
    rows = scores.filter(pl.col("arm").is_in(["relevant", "other"]), intervention="without", references="lenient")
    columns = rows.select("qid", "place").with_columns(pl.col("place").cast(pl.String)).to_dummies(drop_first=True)
    design = [(rows["arm"] == "relevant").to_numpy(), np.ones(rows.height), *columns.to_numpy().T]
    # P without the passage: the context as it was is one number per query, which its indicator takes.
    return float(np.linalg.lstsq(np.array(design, dtype=float).T, -rows["p"].to_numpy(), rcond=None)[0][0])


FEW = "{} of 24 queries have contexts that differ, but {} are needed"


@pytest.mark.parametrize(
    ("own", "adjusted", "reason"),
    [
        (("too few queries", FEW.format(4, 12)), ("too few queries", FEW.format(4, 12)), FEW.format(4, 20)),
        (("too few queries", FEW.format(9, 12)), ("too few queries", FEW.format(9, 20)), FEW.format(9, 20)),
        (("undecided", None), ("too few queries", FEW.format(15, 20)), FEW.format(15, 20)),
        (("too few queries", FEW.format(9, 12)), ("undecided", WITHOUT_P0), FEW.format(9, 12)),
        (("undecided", None), ("above zero", None), None),
        (("undecided", "the slope is perfect, so it has no sampling variance"), ("undecided", None), None),
    ],
)
def test_relay_beside_an_effect_has_its_reason(own: Any, adjusted: Any, reason: str | None) -> None:
    """It is the page's, which needs both slopes; with the numbers of relay.csv's own row."""
    cell = ("descending", 1, "lenient", "nDCG")
    table = relay_table([(*cell, 0.2, 0.1, 0.3)])
    for column, values in zip(("verdict", "reason"), zip(own, adjusted, strict=True), strict=True):
        table = table.with_columns(pl.Series(column, values, pl.String))
    where = dict(zip(("ordering", "k", "references", "measure"), cell, strict=True))
    assert _relay(table, {"part": "overall", **where}) == {
        "relay": 0.2, "relay_low": 0.1, "relay_high": 0.3, "relay_reason": reason,
    }  # fmt: skip
    assert _relay(table, {"part": "place", **where}) == _relay(table, {"part": "overall", **where, "k": 3}) == {}


def test_leaving_out_compares_at_equal_places_within_queries_that_have_both() -> None:
    scores, contexts = made()
    row = row_of(effects_of((scores, contexts)), intervention="without", k=3, **OVERALL)
    assert (row["n"], row["n_changes"], row["p_relevant"]) == (15, 30, None)
    assert row["effect"] == pytest.approx(coefficient_of_relevance(scores))
    alone = pl.col("intervention").ne("without") | pl.col("arm").ne("other") | pl.col("qid").ne("q01")
    fewer = row_of(effects_of((scores.filter(alone), contexts)), intervention="without", k=3, **OVERALL)
    assert fewer["n"] == 14 and fewer["effect"] == pytest.approx(
        coefficient_of_relevance(scores.filter(pl.col("qid") != "q01"))
    )


def test_what_any_passage_does_at_its_place_is_not_in_it() -> None:
    """The slope is not either: nDCG falls by more where the first passage is left out."""
    scores, contexts = made()
    row = row_of(effects_of((scores, contexts)), intervention="without", k=3, **OVERALL)
    first = (pl.col("place") == 1) & (pl.col("intervention") == "without")
    placed = (
        scores.with_columns(p=pl.col("p") - 0.3 * first),
        contexts.with_columns(value=pl.col("value") - 0.1 * first),
    )
    again = row_of(effects_of(placed), intervention="without", k=3, **OVERALL)
    for name in ("effect", "low", "high", "moved", "slope", "slope_low"):
        assert again[name] == pytest.approx(row[name]), name


@pytest.mark.parametrize(
    ("n", "k"), [(6, 2), (11, 7), (16, 7), (17, 6), (20, 5), (23, 7), (24, 3), (28, 5), (36, 10), (43, 5)]
)
def test_each_querys_part_is_its_part_of_the_regression(n: int, k: int) -> None:
    """Places add up to 0 within a query, so their matrix is singular: its null direction must not be inverted."""
    design = np.column_stack([np.repeat(np.eye(n), k, axis=0), np.tile(np.eye(k)[:, 1:], (n, 1))])
    basis, _ = np.linalg.qr(design)

    def rest(column: np.ndarray) -> np.ndarray:
        return column - basis @ (basis.T @ column)

    for seed in range(3):
        random = np.random.default_rng([n, k, seed])
        relevant = random.random((n, k)) < 0.4
        relevant[:, 0] = np.arange(n) % 3 > 0
        relevant[:, -1] = ~relevant[:, 0]
        names = {"qid": [f"q{query:02}" for query in range(n) for _ in range(k)], "draw": 1,
                 "place": [*range(1, k + 1)] * n,
                 "side": ["relevant" if one else "other" for one in relevant.ravel()]}  # fmt: skip
        columns = {"effect": random.normal(0, 0.1, n * k), "moved": random.normal(0, 0.1, n * k)}
        sides, found = rest(relevant.ravel().astype(np.float64)), by_query(pl.DataFrame(names | columns))
        for name, column in columns.items():
            parts = (sides * rest(column)).reshape(n, k).sum(axis=1) / (sides**2).sum() * n
            np.testing.assert_allclose(found[name].to_numpy(), parts, atol=1e-12)


def test_without_a_place_that_both_have_nothing_is_compared() -> None:
    scores, contexts = made()
    at = {"unchanged": 0, "relevant": 1, "other": 2, "between": 3}
    swapped = pl.col("intervention") == "swap"
    fixed = [
        table.with_columns(
            place=pl.when(swapped).then("place").otherwise(pl.col("arm").replace_strict(at, return_dtype=pl.Int64))
        )
        for table in (scores, contexts)
    ]
    row = row_of(effects_of((fixed[0], fixed[1])), intervention="without", k=3, **OVERALL)
    assert (row["n"], row["effect"], row["reason"]) == (
        0,
        None,
        "relevant and non-relevant passages are never at the same position",
    )
    alone = pl.col("intervention").ne("without") | pl.col("arm").ne("other") | pl.col("qid").ne("q01")
    fewer = row_of(effects_of((scores.filter(alone), contexts)), intervention="without", k=3, **OVERALL)
    assert fewer["n"] == 14


def test_each_passage_has_its_own_effect_with_its_sign() -> None:
    scores, contexts = made(worth=-0.06, noise=0.0)
    named = contexts.with_columns(docno=pl.col("arm"), label=pl.lit(1, pl.Int64))
    table = passage_effects({"bm25": scores}, {"bm25": named}, DEFINITIONS, ["descending"])
    assert set(table.select("intervention", "what", "ordering").unique().iter_rows()) == {
        ("without", "P with it minus P without it", "descending"),
        ("twice", "P with a copy at the end minus P without it", "descending"),
    }
    of = table.filter(references="lenient", qid="q01", intervention="without", k=3)
    effects = dict(of.select("docno", "effect").iter_rows())
    # Without any passage P is .03 lower, and .06 higher without the relevant one, which does harm.
    assert effects == {"relevant": pytest.approx(-0.03), "other": pytest.approx(0.03), "between": pytest.approx(0.03)}
    assert of["place"].to_list() == [1, 2, 3]


def test_a_passage_without_an_effect_has_no_sign() -> None:
    scores, contexts = made(worth=-0.06, noise=0.0)
    same = scores.with_columns(p=pl.Series([0.5] * scores.height))
    named = contexts.with_columns(docno=pl.col("arm"), label=pl.lit(1, pl.Int64))
    table = passage_effects({"bm25": same}, {"bm25": named}, DEFINITIONS, ["descending"])
    assert {"without", "twice"} == set(table["intervention"]) and set(map(str, table["effect"])) == {"0.0"}


def test_a_place_without_one_arms_answer_says_nothing() -> None:
    scores, contexts = made()
    lost = (pl.col("qid") == "q01") & (pl.col("arm") == "other") & (pl.col("intervention") == "swap")
    row = row_of(effects_of((scores.filter(~lost), contexts)), intervention="swap", k=3, **OVERALL)
    assert (row["n"], row["n_changes"]) == (19, 57)
    null = scores.with_columns(p=pl.when(lost & (pl.col("place") == 2)).then(None).otherwise("p"))
    row = row_of(effects_of((null, contexts)), intervention="swap", k=3, **OVERALL)
    assert (row["n"], row["n_changes"]) == (20, 59)


def test_queries_in_clusters_are_tested_by_cluster() -> None:
    tables = made(n=40)
    clusters = {f"q{place:02}": place // 2 for place in range(40)}
    row = row_of(effects_of(tables, 40, clusters), intervention="swap", k=3, **OVERALL)
    numbers = np.arange(40) // 2
    (low,), _ = ClusterMeans.of(columns(tables[0], 3).mean(axis=1), numbers).interval()
    assert row["low"] == pytest.approx(low)
    alone = row_of(effects_of(tables, 40), intervention="swap", k=3, **OVERALL)
    assert row["slope_low"] != alone["slope_low"] and row["slope"] == alone["slope"]


def test_an_identity_has_an_effect_of_exactly_0() -> None:
    """Both arms have one answer, as one prompt has."""
    scores, contexts = made(n=12, worth=0.0, noise=0.03)
    same = scores.with_columns(p=pl.col("p").first().over("references", *[name for name in KEY if name != "arm"]))
    row = row_of(effects_of((same, contexts)), intervention="swap", k=3, **OVERALL)
    assert (row["effect"], row["verdict"], row["reason"]) == (0.0, "too few queries", "all differences are equal")


@pytest.mark.parametrize(("n", "word"), [(3, "too few queries"), (11, "too few queries"), (12, "better")])
def test_few_queries_say_nothing(n: int, word: str) -> None:
    row = row_of(effects_of(made(n=n)), intervention="swap", k=3, **OVERALL)
    assert str(row["verdict"]).startswith(word)


def test_draws_and_places_of_a_query_count_alike() -> None:
    rows = pl.DataFrame(
        {"qid": ["a", "a", "a", "b"], "draw": [0, 0, 1, 0], "place": [1, 2, 1, 1], "side": [None] * 4,
         "effect": [0.1, 0.3, 0.5, 1.0], "moved": [0.0, 0.0, 0.3, 0.2]},
        schema_overrides={"side": pl.String},
    )  # fmt: skip
    assert by_query(rows)["effect"].to_list() == [pytest.approx(0.3), 1.0]
    assert by_query(rows)["n_changes"].to_list() == [3, 1]


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_effects_on_scores_from_0_to_1_end_at_1_but_not_differences_of_effects(scale: float) -> None:
    """The effect at the first place less that at the last may be 2."""
    scores, contexts = made(n=6, sets=("lenient",))
    far = pl.when(pl.col("qid") == "q00").then(0.0).otherwise(1.0)
    arms = pl.when(arm="relevant", place=1).then(far).when(arm="other", place=3).then(far).otherwise(1 - far)
    effects = effects_of((scores.with_columns(p=scale * arms), contexts))
    rows = effects.filter(intervention="swap").drop_nulls("low")
    of_arms = rows.filter(pl.col("part") == "place", k=3)
    ends = of_arms.select(pl.max_horizontal(pl.col("low", "high").abs())).to_series()
    assert of_arms.height == 2 and ((ends == 1.0).any() and ends.max() == 1.0 if scale == 1.0 else ends.max() > scale)
    (paired,) = rows.filter(part="first less last").to_dicts()
    assert paired["high"] > 2 * scale


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_effects_of_own_passages_on_scores_from_0_to_1_end_at_1(scale: float) -> None:
    """P as it was is in the effects of both passages, so their difference is one of two scores."""
    scores, contexts = made(n=12, sets=("lenient",))
    without_relevant = pl.when(arm="relevant").then(0.0).otherwise(1.0)
    other_way = (pl.col("qid") == "q01") & pl.col("arm").is_in(["relevant", "other"])
    p = pl.when(other_way).then(1.0 - without_relevant).otherwise(without_relevant)
    effects = effects_of((scores.with_columns(p=scale * p), contexts))
    row = row_of(effects, intervention="without", k=3, **OVERALL)
    assert row["n"] == 9 and row["high"] == 1.0 if scale == 1.0 else float(str(row["high"])) > scale


def test_no_scores_no_rows() -> None:
    scores, contexts = made(n=2)
    tables = {"bm25": scores.clear()}, {"bm25": contexts.clear()}
    rest = relay_table([]), ["q1"], ["lenient"], ["descending"], "nDCG", 0.02, None
    made_of = intervention_effects(*tables, DEFINITIONS, *rest)
    assert made_of.is_empty()


def test_kinds_say_what_they_measure() -> None:
    for name in INTERVENTION_KINDS.names():
        kind = INTERVENTION_KINDS[name]
        assert kind.population and kind.effect and kind.description()
