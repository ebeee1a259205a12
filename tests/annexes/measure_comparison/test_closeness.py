"""Measures are compared by leave-one-query-out losses, in pairs; only a measure with demonstrated relay is ahead."""

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.mean_tests import SKEWNESS, Means
from ragrelay.analysis.verdicts import ABOVE, BELOW, TOO_FEW, UNDECIDED
from ragrelay.annexes.measure_comparison.closeness import (
    BEATEN,
    CLOSER,
    MOST_CLOSELY,
    NOT_BEATEN,
    WITHOUT_RELAY,
    compare_measures,
    losses_of,
)
from scipy import stats

Cells = dict[str, relay.Cell]
CELL = {"ordering": "descending", "k": 5, "references": "lenient"}


def cell(x: np.ndarray, p: np.ndarray, cluster: np.ndarray | None = None, same: tuple[int, ...] = ()) -> relay.Cell:
    """A cell whose contexts all differ, except that the first two rankings agree on the queries ``same``."""
    context = np.repeat(np.arange(len(x), dtype=float)[:, None], x.shape[1], axis=1)
    context[1, list(same)] = 0.0
    return relay.Cell(context, x, p, x.mean(0), np.zeros(x.shape[1]), None, cluster)


def made(n: int = 40, rankings: int = 3, noise: float = 0.3, seed: int = 1, clusters: int = 0) -> Cells:
    """P follows `close`; `coarse` is its sign and `apart` follows nothing."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((rankings, n))
    p = x + noise * random.standard_normal((rankings, n))
    cluster = np.arange(n) // clusters if clusters else None
    values = {"close": x, "coarse": np.sign(x), "apart": random.standard_normal((rankings, n))}
    return {name: cell(value, p, cluster) for name, value in values.items()}


def relayed(answers: dict[str, str]) -> pl.DataFrame:
    """relay.csv with the rows that give these answers."""
    verdicts = {relay.IT_IS: ABOVE, relay.IT_IS_NOT: BELOW, relay.NOT_KNOWN: UNDECIDED, TOO_FEW: TOO_FEW}
    rows = [
        {**CELL, "retrievers": relay.ALL_RANKINGS, "measure": name, "adjusted": adjusted, "p_value": 0.001,
         "verdict": verdicts[answer]}
        for name, answer in answers.items()
        for adjusted in (False, True)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def compared(cells: Cells, answers: dict[str, str] | None = None, **options: Any) -> tuple[Any, Any]:
    """Return the rows of both tables: by measure, and by pair."""
    known = dict.fromkeys(cells, relay.IT_IS) | (answers or {})
    named = [({**CELL, "measure": name}, {5: one}) for name, one in cells.items()]
    fits, pairs = compare_measures(named, relayed(known), **options)
    return (
        {row["measure"]: row for row in fits.to_dicts()},
        {(row["measure"], row["against_measure"]): row for row in pairs.to_dicts()},
    )


def by_hand(cells: Cells, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The losses of a measure and the squared differences of P, query by query."""
    x, p = cells[name].x, cells[name].p
    sums = np.zeros((3, x.shape[1]))
    for one, other in itertools.combinations(range(len(x)), 2):
        differs = cells[name].context[one] != cells[name].context[other]
        a, b = (values[one, differs] - values[other, differs] for values in (x, p))
        a, b = a - a.mean(), b - b.mean()
        sums[:, differs] += [a * a, a * b, b * b]
    loss = []
    for query in range(x.shape[1]):
        rest = np.delete(sums, query, axis=1).sum(axis=1)
        xx, xp, pp = sums[:, query]
        slope = rest[1] / rest[0]
        loss.append(pp - 2 * slope * xp + slope**2 * xx)
    return np.array(loss), sums[2]


def test_losses_use_the_slope_of_the_other_queries() -> None:
    cells = made()
    cells = {name: cell(one.x, one.p, same=(0, 1, 2)) for name, one in cells.items()}
    losses = losses_of(cells)
    for name in cells:
        loss, without = by_hand(cells, name)
        np.testing.assert_allclose(losses.of_measure[name], loss, rtol=1e-10)
        np.testing.assert_allclose(losses.without, without, rtol=1e-10)
    fits, pairs = compared(cells)
    r2 = {name: 1 - by_hand(cells, name)[0].sum() / by_hand(cells, name)[1].sum() for name in cells}
    assert {name: row["r2"] for name, row in fits.items()} == pytest.approx(r2)
    lead = by_hand(cells, "apart")[0] - by_hand(cells, "close")[0]
    pair = pairs["close", "apart"]
    assert pair["difference"] == pytest.approx(r2["close"] - r2["apart"])
    assert pair["p_value"] == pytest.approx(Means.cautious(lead[:, None]).p_value()[0])
    assert SKEWNESS == 1.75


def test_r_has_the_jackknife_interval_on_fishers_z() -> None:
    cells = made(noise=1.0)
    row = compared(cells)[0]["close"]
    x, p = (values - values.mean(0) - values.mean(1, keepdims=True) + values.mean() for values in cells["close"][1:3])

    def z(columns: np.ndarray) -> float:
        a, b = x[:, columns], p[:, columns]
        return float(np.arctanh((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())))

    n, every = 40, np.arange(40)
    values = np.array([n * z(every) - (n - 1) * z(np.delete(every, query)) for query in every])
    reach = stats.t.ppf(1 - 0.05 / 3 / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    assert [row["r"], row["low"], row["high"]] == pytest.approx(np.tanh(z(every) + np.array([0, -reach, reach])))
    assert row["level"] == pytest.approx(1 - 0.05 / 3)


def test_levels_hold_together_over_pairs_and_measures() -> None:
    fits, pairs = compared(made())
    assert [row["level"] for row in pairs.values()] == pytest.approx([1 - 0.05 / 3] * 3)
    assert [row["level"] for row in fits.values()] == pytest.approx([1 - 0.05 / 3] * 3)
    fits, pairs = compared(made(), declared="coarse")
    assert list(pairs) == [("coarse", "close"), ("coarse", "apart")]
    assert [row["level"] for row in pairs.values()] == pytest.approx([1 - 0.05 / 2] * 2)
    for row in (*fits.values(), *pairs.values()):
        assert row["low"] <= (row["r"] if "r" in row else row["difference"]) <= row["high"]


def test_the_followed_measure_comes_out_first() -> None:
    fits, pairs = compared(made(n=100))
    assert fits["close"]["verdict"] == MOST_CLOSELY
    assert fits["coarse"]["verdict"] == fits["apart"]["verdict"] == BEATEN
    assert pairs["close", "coarse"]["verdict"] == ABOVE
    # It is named neither last nor first.
    cells = made(n=100)
    fits, pairs = compared({name: cells[name] for name in ("apart", "close", "coarse")})
    assert fits["close"]["verdict"] == MOST_CLOSELY
    assert pairs["apart", "close"]["verdict"] == BELOW


def test_the_largest_alone_is_not_the_closest() -> None:
    random = np.random.default_rng(3)
    signal = random.standard_normal((3, 40))
    p = signal + random.standard_normal((3, 40))
    cells = {name: cell(signal + random.standard_normal((3, 40)), p) for name in "abcde"}
    fits, pairs = compared(cells)
    assert {row["verdict"] for row in fits.values()} == {NOT_BEATEN}
    assert {row["verdict"] for row in pairs.values()} == {UNDECIDED}


def test_only_a_measure_with_known_relay_is_ahead() -> None:
    fits, pairs = compared(made(n=100), {"close": relay.NOT_KNOWN})
    assert pairs["close", "apart"]["verdict"] == pairs["close", "coarse"]["verdict_alone"] == UNDECIDED
    assert pairs["close", "apart"]["reason"] == "close is ahead, but relay is not demonstrated for it"
    assert [fits[name]["verdict"] for name in ("close", "coarse", "apart")] == [WITHOUT_RELAY, NOT_BEATEN, BEATEN]
    reversed_ = made(n=100)
    reversed_ = {name: one._replace(x=-one.x) for name, one in reversed_.items()}
    fits, _ = compared(reversed_, dict.fromkeys(reversed_, relay.IT_IS_NOT))
    assert {row["verdict"] for row in fits.values()} == {WITHOUT_RELAY}


def test_a_declared_measure_is_compared_alone() -> None:
    fits, _ = compared(made(n=100), declared="coarse")
    assert [fits[name]["verdict"] for name in ("coarse", "close", "apart")] == [BEATEN, CLOSER, BEATEN]
    fits, _ = compared(made(n=100), declared="close")
    assert fits["close"]["verdict"] == MOST_CLOSELY
    fits, _ = compared(made(n=100), {"apart": relay.NOT_KNOWN}, declared="apart")
    assert fits["close"]["verdict"] == CLOSER and fits["apart"]["verdict"] == WITHOUT_RELAY


def test_few_queries_have_no_verdict() -> None:
    fits, pairs = compared(made(n=19))
    assert {row["verdict"] for row in (*fits.values(), *pairs.values())} == {TOO_FEW}
    assert pairs["close", "apart"]["reason"] == "19 queries have contexts that differ, but 20 are needed"
    heavy = made(n=40)
    scale = np.where(np.arange(40) < 3, 50.0, 1.0)
    heavy = {name: one._replace(p=one.p * scale) for name, one in heavy.items()}
    fits, _ = compared(heavy)
    assert fits["close"]["verdict"] == TOO_FEW and "effective queries, but 6 are needed" in fits["close"]["reason"]


def test_clusters_are_the_units() -> None:
    cells = made(n=80, clusters=2)
    assert len(losses_of(cells).without) == 40
    fits, pairs = compared(made(n=60, clusters=4))
    assert fits["close"]["reason"] == "15 clusters of queries have contexts that differ, but 20 are needed"
    assert pairs["close", "apart"]["n"] == 60


def test_equal_and_constant_measures_and_missing_values() -> None:
    cells = made(n=60)
    cells["again"] = cells["close"]._replace(x=2 * cells["close"].x)
    cells["constant"] = cells["close"]._replace(x=np.ones((3, 60)))
    fits, pairs = compared(cells, {"constant": relay.NOT_KNOWN})
    assert pairs["close", "again"]["verdict"] == UNDECIDED
    assert pairs["close", "again"]["reason"] == "0 of 60 queries show a difference, but 8 are needed"
    assert fits["close"]["verdict"] == fits["again"]["verdict"] == NOT_BEATEN
    assert fits["constant"]["r2"] == 0 and fits["constant"]["share_tied"] == 1
    assert fits["coarse"]["share_tied"] == pytest.approx(
        np.mean([np.equal(*cells["coarse"].x[list(pair)]) for pair in itertools.combinations(range(3), 2)])
    )
    holes = cells["apart"].x.copy()
    holes[:, :5] = np.nan
    cells["apart"] = cells["apart"]._replace(x=holes)
    fits, _ = compared(cells)
    assert {row["n"] for row in fits.values()} == {55}


def test_a_panel_is_ahead_only_without_each_judge() -> None:
    cells = made(n=100)
    weak = {name: one._replace(p=np.random.default_rng(5).standard_normal(one.p.shape)) for name, one in cells.items()}
    named = [({**CELL, "measure": name}, {5: one}) for name, one in cells.items()]
    table = relayed(dict.fromkeys(cells, relay.IT_IS))
    _, strong = compare_measures(named, table)
    _, undecided = compare_measures([({**CELL, "measure": name}, {5: one}) for name, one in weak.items()], table)
    fits, pairs = compare_measures(named, table, parts={"one": strong, "two": undecided})
    assert set(pairs["verdict"]) == {UNDECIDED} and MOST_CLOSELY not in set(fits["verdict"])
    assert "not without two" in pairs["reason"][0]
    fits, _ = compare_measures(named, table, parts={"one": strong, "two": strong})
    assert MOST_CLOSELY in set(fits["verdict"])
