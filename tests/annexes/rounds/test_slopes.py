"""Slopes over search rounds: by hand, against relay with a single round, and which changes must leave them."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.mean_tests import SKEWNESS, ratio_interval
from ragrelay.analysis.verdicts import ABOVE, TOO_FEW, UNDECIDED
from ragrelay.annexes.rounds.slopes import STEP_AT_LEAST, TABLE, round_slopes
from ragrelay.base.vocabulary.columns import schema_of

Rows = list[dict[str, Any]]
LISTS = ["bm25", "dense", "mono"]
CELL = {"references": "lenient", "ordering": "descending", "measure": "nDCG"}


def cell(dx: list[float], dp: list[float], times: int = 1) -> relay.Cell:
    """Two lists with these differences of the measure and of P, each query several times."""
    x, p = (np.array([values, [0.0] * len(values)]).repeat(times, axis=1) for values in (dx, dp))
    context = np.arange(2.0)[:, None] * np.ones_like(x)
    return relay.Cell(context, x, p, x.mean(axis=0), np.full(x.shape[1], np.nan))


def drawn(seed: int, queries: int = 40, lists: int = 3, slope: float = 0.4) -> relay.Cell:
    """Lists of which the first two are often equal, with the same P where they are."""
    random = np.random.default_rng(seed)
    context = np.arange(float(lists))[:, None] * np.ones(queries)
    x = random.uniform(0, 1, (lists, queries))
    p = 0.3 + slope * x + random.normal(0, 0.08, (lists, queries))
    equal = random.random(queries) < 0.2
    for values in (context, x, p):
        values[1, equal] = values[0, equal]
    return relay.Cell(context, x, p, x.mean(axis=0), random.uniform(0.2, 0.4, queries))


def kept(given: relay.Cell, queries: np.ndarray) -> relay.Cell:
    """The cell with a selection of its queries."""
    return relay.Cell(*(values[..., queries] for values in given[:5]))


def apart(given: relay.Cell) -> relay.Cell:
    """The cell with lists that all differ."""
    return given._replace(context=np.arange(float(len(given.x)))[:, None] * np.ones(given.x.shape[1]))


def row(rows: Rows, step: int | None, adjusted: bool = False) -> dict[str, Any]:
    (found,) = (one for one in rows if one["step"] == step and one["adjusted"] == adjusted)
    return found


def alike(rows: Rows, others: Rows) -> None:
    """Equal but for the last digits."""
    assert len(rows) == len(others) > 0
    for one, other in zip(rows, others, strict=True):
        assert one == {
            name: pytest.approx(value) if isinstance(value, float) else value for name, value in other.items()
        }


def test_two_queries_and_two_rounds_by_hand() -> None:
    """Differences less their mean over queries: .4 and .1, then .3 and .15, each with both signs."""
    rounds = {1: ([0.6, -0.2], [0.3, 0.1]), 2: ([-0.1, 0.5], [-0.2, 0.1])}
    few = round_slopes({step: [cell(*given)] for step, given in rounds.items()})
    assert [(one["step"], one["adjusted"]) for one in few] == [
        (step, adjusted) for step in (1, 2, None) for adjusted in (False, True)
    ]
    for step, needed in ((1, 36), (2, 36), (None, 12)):
        found = row(few, step)
        assert (found["n"], found["slope"], found["verdict"]) == (2, None, TOO_FEW)
        assert found["reason"] == f"both queries have contexts that differ, but {needed} are needed"
    thrice = round_slopes({step: [cell(*given, times=3)] for step, given in rounds.items()})
    assert row(thrice, 1)["slope"] == pytest.approx(0.04 / 0.16)
    assert row(thrice, 2)["slope"] == pytest.approx(0.045 / 0.09)
    # Less their mean over a query's two rounds, they would have the slope .04375 / .1225.
    assert row(thrice, None)["slope"] == pytest.approx((0.04 + 0.045) / (0.16 + 0.09))
    assert row(thrice, None)["n"] == 6 and row(thrice, None)["n_eff"] == pytest.approx(6)


def study(queries: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """A cell's utility, retrieval and contexts, with a missing answer, from ``drawn``."""
    given = drawn(3, queries)
    frame = pl.DataFrame([
        {"retriever": name, "ordering": "descending", "k": 2, "qid": f"q{query:03}", "references": "lenient",
         "measure": "nDCG", "value": given.x[place, query], "p0": given.p0[query],
         "p": None if (place, query) == (0, 4) else given.p[place, query],
         "docnos": [f"{given.context[place, query]:.0f}"]}
        for place, name in enumerate(LISTS) for query in range(queries)
    ])  # fmt: skip
    return (
        frame.select("retriever", "ordering", "k", "references", "qid", "p", "p0"),
        frame.select("retriever", "qid", "measure", "k", "value"),
        frame.select("retriever", "ordering", "k", "qid", "docnos"),
    )


def test_one_round_is_relay_to_the_last_bit() -> None:
    tables, kinds = study(60), dict.fromkeys(LISTS, "bm25")
    ((_, cells),) = relay.cells_of(*tables, kinds)
    rows = round_slopes({1: [cells[2]]})
    of_study = relay.relay(*tables, kinds).filter(**CELL, k=2, retrievers=relay.ALL_RANKINGS)
    assert of_study["verdict"].to_list() == [ABOVE, ABOVE]
    for expected in of_study.iter_rows(named=True):
        for step in (1, None):
            found = row(rows, step, expected["adjusted"])
            assert found["level"] == 0.95 and found.keys() == TABLE.keys()
            assert {name: found[name] for name in TABLE.keys() & expected.keys()} == {
                name: expected[name] for name in TABLE.keys() & expected.keys()
            }
    assert pl.DataFrame(rows, schema=schema_of(TABLE)).height == 4


@pytest.mark.parametrize("queries", [11, 12, STEP_AT_LEAST - 1, STEP_AT_LEAST])
def test_a_step_has_a_verdict_from_36_queries_that_differ_and_all_steps_from_12(queries: int) -> None:
    rows = round_slopes({step: [apart(drawn(step, queries, lists=2, slope=1.0))] for step in (1, 2)})
    for step, needed in ((1, STEP_AT_LEAST), (2, STEP_AT_LEAST), (None, 12)):
        found = row(rows, step)
        reason = f"all {queries} queries have contexts that differ, but {needed} are needed"
        assert (found["verdict"], found["reason"]) == ((ABOVE, None) if queries >= needed else (TOO_FEW, reason))
    assert row(rows, None, adjusted=True)["verdict"] == (ABOVE if queries >= 20 else TOO_FEW)


def test_intervals_of_the_steps_hold_together() -> None:
    given = drawn(1, lists=2)
    (_, sums), *_ = relay.pair_sums(given, False)
    xx, xp, _ = sums.products[:, sums.differs]
    rows = round_slopes({1: [given], 2: [drawn(2, lists=2)], 3: [drawn(5, lists=2)]})
    assert [one["level"] for one in rows[::2]] == [pytest.approx(1 - 0.05 / 3)] * 3 + [0.95]
    assert (row(rows, 1)["low"], row(rows, 1)["high"]) == ratio_interval(xp, xx, skewness=SKEWNESS, level=1 - 0.05 / 3)


def test_equal_lists_are_left_out_and_other_passages_with_an_equal_measure_are_not() -> None:
    given = drawn(1, lists=2)
    differ = given.context[0] != given.context[1]
    nothing = round_slopes({step: [kept(given, ~differ)] for step in (1, 2)})
    for one in nothing[::2]:
        assert (one["n"], one["share_same"], one["slope"], one["verdict"]) == (0, 1.0, None, TOO_FEW)
        assert str(one["reason"]).startswith(f"0 of {(~differ).sum()} queries have contexts that differ, ")
    assert row(round_slopes({1: [given]}), 1) == row(round_slopes({1: [kept(given, differ)]}), 1) | {
        "share_same": float((~differ).mean())
    }
    x = given.x.copy()
    x[1, :20] = x[0, :20]
    dx, dp = (x[0] - x[1])[differ], (given.p[0] - given.p[1])[differ]
    assert row(round_slopes({1: [given._replace(x=x)]}), 1)["slope"] == pytest.approx(np.polyfit(dx, dp, 1)[0])


def test_a_step_has_the_mean_over_its_seeds() -> None:
    first, second, other = drawn(1), drawn(2), drawn(3)
    alike(round_slopes({1: [first], 2: [second, second]}), round_slopes({1: [first], 2: [second]}))

    def products(given: relay.Cell) -> np.ndarray:
        return relay.all_pairs(sums for _, sums in relay.pair_sums(given, False)).products

    xx, xp, _ = (products(first) + (products(second) + products(other)) / 2).sum(axis=1)
    assert row(round_slopes({1: [first], 2: [second, other]}), None)["slope"] == pytest.approx(xp / xx)
    same = sum((given.context[0] == given.context[1]).mean() / 3 for given in (second, other)) / 2
    assert row(round_slopes({2: [second, other]}), 2)["share_same"] == pytest.approx(same)


def test_a_cluster_of_equal_queries_counts_once() -> None:
    def copied(given: relay.Cell, times: int) -> relay.Cell:
        return kept(given, np.arange(40).repeat(times))._replace(cluster=np.arange(40).repeat(times))

    steps = {1: drawn(1), 2: drawn(2)}
    once, four = (round_slopes({step: [copied(given, times)] for step, given in steps.items()}) for times in (1, 4))
    alike(four, [one | {"n": 4 * one["n"]} for one in once])
    alike(once, round_slopes({step: [given] for step, given in steps.items()}))
    few = round_slopes(
        {step: [copied(given, 4)._replace(cluster=np.arange(160) // 20)] for step, given in steps.items()}
    )
    assert row(few, None)["reason"] == "all 8 clusters of queries have contexts that differ, but 12 are needed"
    assert row(few, None)["n"] == 160


def test_a_lead_at_a_step_changes_nothing() -> None:
    given, lead = {step: apart(drawn(step)) for step in (1, 2, 3)}, np.arange(3.0)[:, None]
    leading = {step: one._replace(x=one.x + step * lead, p=one.p - step * lead) for step, one in given.items()}
    alike(*(round_slopes({step: [one] for step, one in cells.items()}) for cells in (leading, given)))


def test_missing_values_are_left_out_at_their_step() -> None:
    whole, given = drawn(1, lists=2), drawn(2, lists=2)
    x, p, p0 = (values.copy() for values in (given.x, given.p, given.p0))
    x[0, 0], p[1, 1], p0[2] = np.nan, np.nan, np.nan
    rows = round_slopes({1: [whole], 2: [given._replace(x=x, p=p, p0=p0)]})
    for adjusted, missing in ((False, 2), (True, 3)):
        alone = round_slopes({1: [kept(whole, np.arange(missing, 40))], 2: [kept(given, np.arange(missing, 40))]})
        alike([row(rows, 2, adjusted)], [row(alone, 2, adjusted)])
        assert row(rows, 1, adjusted)["n"] == int((whole.context[0] != whole.context[1]).sum())


def test_without_p_before_a_step_no_adjusted_row_has_numbers_for_all() -> None:
    none = drawn(2)._replace(p0=np.full(40, np.nan))
    rows = round_slopes({1: [none], 2: [drawn(1)]})
    for step in (1, None):
        found = row(rows, step, adjusted=True)
        assert (found["verdict"], found["slope"], found["reason"]) == (UNDECIDED, None, relay.WITHOUT_P0)
    assert row(rows, 2, adjusted=True)["slope"] is not None and row(rows, None)["verdict"] == ABOVE


def test_a_single_list_has_no_rows() -> None:
    given = drawn(1)
    alone = given._replace(context=given.context[:1], x=given.x[:1], p=given.p[:1])
    assert round_slopes({1: [alone]}) == []
