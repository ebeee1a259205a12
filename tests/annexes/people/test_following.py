"""Which scorer follows people: coefficients over answers and systems, paired tests, biases; agreement of assessors."""

import itertools

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.orders import TAU, Families, order_agreement, order_difference, tau_ap
from ragrelay.annexes.people.assessors import assessors_table, krippendorff
from ragrelay.annexes.people.following import agreement, comparisons, paired_answers
from scipy import stats

SCHEMA = ["generator", "retriever", "ordering", "k", "seed", "qid", "value"]


def by_definition(truth: np.ndarray, estimated: np.ndarray) -> float:
    """tau_AP of Yilmaz, Aslam and Robertson, of one order of the systems."""
    order = np.argsort(-estimated, kind="stable")
    shares = [np.mean([(truth[above] > truth[here]) + (truth[above] == truth[here]) / 2 for above in order[:rank]])
              for rank, here in enumerate(order) if rank]  # fmt: skip
    return float(2 * np.mean(shares) - 1)


def test_tau_ap_is_that_of_its_paper() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        truth, estimated = random.permutation(9).astype(float), random.permutation(9).astype(float)
        assert tau_ap(truth, estimated) == pytest.approx(by_definition(truth, estimated))
    best = np.arange(5.0)
    assert (tau_ap(best, best), tau_ap(best, -best)) == (1.0, -1.0)
    # A swap at the top weighs more than one at the bottom.
    top, bottom = np.array([0.0, 1, 2, 4, 3]), np.array([1.0, 0, 2, 3, 4])
    assert tau_ap(best, top) < tau_ap(best, bottom) < 1
    assert np.isnan(tau_ap(best, np.ones(5)))


def test_tau_ap_of_equal_systems_is_the_mean_over_their_orders() -> None:
    truth, estimated = np.array([3.0, 1, 2, 0]), np.array([2.0, 1, 1, 0])
    orders = [estimated + 0.1 * np.array([0, *swap, 0]) for swap in ((1, 0), (0, 1))]
    # Of two equal systems each order is as likely, but they count as half agreed.
    assert tau_ap(truth, estimated) == pytest.approx(np.mean([by_definition(truth, order) for order in orders]))


def test_intervals_over_systems_need_sixteen() -> None:
    random = np.random.default_rng(4)
    x = random.normal(size=20)
    y, z = x + 0.5 * random.normal(size=20), random.normal(size=20)
    row = order_agreement(x, y, TAU, "system")
    assert row["value"] == pytest.approx(stats.kendalltau(x, y).statistic) and row["low"] < row["value"] < row["high"]
    assert order_agreement(x[:15], y[:15], TAU, "system")["reason"] == "fewer than 16 systems"
    difference = order_difference(x, y, z, TAU)
    assert difference["low"] > 0 and difference["p_value"] < 0.01
    assert order_difference(x, y, y, TAU)["reason"] == "leaving out a system never changes the difference"


def test_systems_of_one_retriever_are_left_out_together() -> None:
    """Four systems of each family, which are alike: with each left out alone the interval is far too narrow."""
    random = np.random.default_rng(6)
    of = np.repeat(np.arange(18), 4)
    x, y = (np.repeat(random.normal(size=18), 4) + 0.1 * random.normal(size=72) for _ in range(2))
    families = Families(of, "retrievers")
    alone, together = (order_agreement(x, y, TAU, "system", families=each) for each in (None, families))
    assert alone["value"] == together["value"]
    assert together["high"] - together["low"] > 1.5 * (alone["high"] - alone["low"])
    z = x + random.normal(size=72)
    one, both = (order_difference(x, y, z, TAU, families=each) for each in (None, families))
    assert one["difference"] == both["difference"] and both["high"] - both["low"] > one["high"] - one["low"]
    # As many families as systems: the same as without.
    each = order_agreement(x[:20], y[:20], TAU, "system", families=Families(np.arange(20), "retrievers"))
    assert each["low"] == order_agreement(x[:20], y[:20], TAU, "system")["low"]
    few = order_agreement(x[:60], y[:60], TAU, "system", families=Families(of[:60], "retrievers"))
    assert few["reason"] == "fewer than 16 retrievers"


def frames(queries: int = 40, seed: int = 1) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame]:
    """People's scores, those of two scorers of which `wordy` follows length, and the answers' words."""
    random = np.random.default_rng(seed)
    cells = list(itertools.product(["one", "two"], ["bm25", "dense"], [f"q{n:02}" for n in range(queries)]))
    people = random.normal(size=len(cells))
    words = random.integers(5, 200, size=len(cells))
    good = people + 0.5 * random.normal(size=len(cells)) + np.array([0.8 * (cell[0] == "two") for cell in cells])
    wordy = people + np.log2(words) + 0.5 * random.normal(size=len(cells))

    def frame(values: np.ndarray) -> pl.DataFrame:
        rows = [(g, r, "descending", 1, 1, q, float(v)) for (g, r, q), v in zip(cells, values, strict=True)]
        return pl.DataFrame(rows, schema=SCHEMA, orient="row")

    return frame(people), {"good": frame(good), "wordy": frame(wordy)}, frame(words).rename({"value": "words"})


def test_agreement_comparison_and_biases() -> None:
    people, scores, words = frames()
    paired = paired_answers(people, scores, words, None)
    rows = {(row["scorer"], row["quantity"], row.get("of")): row for row in agreement(paired, scores)}
    joined = paired["good"]
    assert rows["good", "r", None]["value"] == pytest.approx(np.corrcoef(joined["people"], joined["scorer"])[0, 1])
    assert "low" not in rows["good", "r", None] and rows["good", "rho", None]["low"] > 0.7
    spearman = stats.spearmanr(joined["people"], joined["scorer"]).statistic
    assert rows["good", "rho", None]["value"] == pytest.approx(spearman)
    assert (rows["good", "r", None]["n"], rows["good", "r", None]["n_queries"]) == (160, 40)
    assert rows["wordy", "length", None]["low"] > 0 > rows["good", "length", None]["low"]
    assert rows["good", "generator", "two"]["low"] > 0 > rows["good", "generator", "one"]["high"]
    by_quantity = {row["quantity"]: row for row in comparisons(paired, scores)}
    assert by_quantity["rho"]["scorer"] == "wordy" and by_quantity["rho"]["high"] < 0
    assert by_quantity["rho"]["p_value"] < 0.02
    of_systems = ("fewer than 16 pairs of generator and retriever", "the systems have equal means")
    assert by_quantity["tau"]["reason"] in of_systems


def test_a_declared_cluster_is_the_unit() -> None:
    people, scores, words = frames()
    twins = {qid: int(qid[1:]) // 3 for qid in people["qid"].unique()}
    widths = []
    for clusters in (None, twins):
        rows = agreement(paired_answers(people, scores, words, clusters), scores)
        row = next(row for row in rows if (row["scorer"], row["quantity"]) == ("good", "rho"))
        widths.append(row["high"] - row["low"])
    assert widths[0] != widths[1]


def test_alpha_is_krippendorffs() -> None:
    """His example of four observers with interval differences (2011, part C): alpha = 0.849."""
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]  # fmt: skip
    found = [(value, unit) for row in rows for unit, value in enumerate(row) if value is not None and unit < 11]
    values, units = (np.array(column) for column in zip(*found, strict=True))
    assert krippendorff(values.astype(float), units) == pytest.approx(0.849, abs=5e-4)


def test_assessors_are_compared_two_by_two_and_together() -> None:
    random = np.random.default_rng(7)
    truth = random.integers(0, 4, size=60)
    rows = []
    for assessor, shift in (("ada", 0), ("bo", 1), ("cy", 0)):
        for number, value in enumerate(truth):
            given = np.clip(value + (random.random() < 0.3 * shift), 0, 3) / 3
            if assessor != "cy" or number < 20:
                rows.append(("lm", "bm25", "descending", 1, 1, f"q{number:02}", float(given), assessor))
    table = pl.DataFrame(rows, schema=[*SCHEMA, "assessor"], orient="row")
    found = list(assessors_table(table, None))
    assert [(row["quantity"], row.get("assessor"), row.get("against"), row["n"]) for row in found] == [
        ("alpha", None, None, 60), ("kappa_weighted", "ada", "bo", 60), ("kappa_weighted", "ada", "cy", 20),
        ("kappa_weighted", "bo", "cy", 20),
    ]  # fmt: skip
    assert 0.5 < found[1]["low"] < found[1]["value"] < found[1]["high"] < 1
    assert found[2]["value"] == 1 and found[2]["reason"] == "fewer than 40 answers with two scores"
    rare = table.with_columns(value=(pl.col("qid") == "q00").cast(pl.Float64))
    few = "fewer than 5 human scores differ from the most frequent score"
    assert next(assessors_table(rare, None))["reason"] == few
    fine = table.with_columns(value=pl.col("value") + pl.col("qid").rank("dense") / 1000)
    assert next(assessors_table(fine, None))["reason"] == "more than 20 different scores"
    assert list(assessors_table(table.filter(assessor="ada"), None)) == []
