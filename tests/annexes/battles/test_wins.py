"""Win rates, order bias, panels, relay and agreement of battles, on hand-worked votes."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.verdicts import TOO_FEW, UNDECIDED
from ragrelay.annexes.battles import wins
from ragrelay.annexes.battles.votes import VOTES
from ragrelay.annexes.battles.wins import LOSES, WINS, Fight
from ragrelay.base.vocabulary.columns import schema_of

IN_CELL = ("descending", 3)
PAIR = ("dense", "bm25")


def votes(first: list[float | None], second: list[float | None], seed: int = 1, pair: tuple[str, str] = PAIR) -> Any:
    """Votes on one query after another."""
    rows = []
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        known = [score for score in (one, other) if score is not None]
        score = None if len(known) < 2 else sum(known) / 2
        rows.append((*pair, *IN_CELL, f"q{place:02}", seed, one, other, score, 1))
    return pl.DataFrame(rows, schema=schema_of(VOTES), orient="row")


def fight(*judges: pl.DataFrame, pairs: tuple[tuple[str, str], ...] = (PAIR,), clusters: Any = None) -> Fight:
    return Fight({f"j{place}": table for place, table in enumerate(judges)}, pairs, "bm25", IN_CELL, clusters)


def row(*judges: pl.DataFrame, **fields: Any) -> dict[str, Any]:
    return next(iter(wins.win_rows(fight(*judges, **fields))))


def test_a_querys_score_is_the_mean_over_orders_and_seeds() -> None:
    """q00: wins and ties, .75; q01: contradicts, .5; its second seed: loses twice, 0."""
    both = pl.concat([votes([1, 1], [0.5, 0]), votes([1, 0], [0.5, 0], seed=2)])
    scored = fight(both).of(IN_CELL, PAIR, ["j0"])
    assert scored.qids.to_list() == ["q00", "q01"] and scored.y.tolist() == [0.25, -0.25]
    found = row(both)
    assert found["win_rate"] == 0.5 and found["n"] == 2 and found["n_decided"] == 2
    assert found["verdict"] == TOO_FEW and found["reason"] == "2 queries, but 12 are needed" and "low" not in found


def test_a_verdict_needs_eight_decided_queries_of_twelve() -> None:
    won = row(votes([1.0] * 11 + [0.5], [1.0] * 10 + [0.5] * 2))
    assert won["verdict"] == WINS and 0.5 < won["low"] < won["win_rate"] < won["high"] == 1
    assert row(votes([0.0] * 11 + [0.5], [0.0] * 10 + [0.5] * 2))["verdict"] == LOSES
    few = row(votes([1.0] * 7 + [0.5] * 5, [1.0] * 7 + [0.5] * 5))
    assert (few["verdict"], few["reason"]) == (TOO_FEW, "7 of 12 queries have a score other than 0.5, but 8 are needed")
    mixed = row(votes([1.0, 0.0] * 6, [1.0, 0.0] * 6))
    assert mixed["verdict"] == UNDECIDED and mixed["win_rate"] == 0.5
    same = row(votes([1.0] * 12, [1.0] * 12))
    assert (same["verdict"], same["reason"]) == (TOO_FEW, "all queries have the same score")


def test_contradicting_orders_give_no_preference_but_an_order_bias() -> None:
    biased = row(votes([1.0] * 13 + [0.5], [0.0] * 13 + [0.5]))
    assert biased["win_rate"] == 0.5 and biased["n_decided"] == 0 and biased["verdict"] == TOO_FEW
    assert biased["contradicting"] == pytest.approx(13 / 14) and biased["order_bias"] == pytest.approx(6.5 / 14)
    assert biased["bias_low"] > 0


def test_a_query_with_an_unreadable_reply_is_left_out_with_all_seeds() -> None:
    both = pl.concat([votes([1.0] * 12, [1.0] * 11 + [None]), votes([1.0] * 12, [0.5] * 12, seed=2)])
    found = row(both)
    assert found["n"] == 11 and found["left_out"] == 1


def test_equal_and_empty_answers_count_and_are_no_evidence_on_order() -> None:
    table = votes([0.5] * 6 + [1.0] * 6, [0.5] * 6 + [0.0] * 6).with_columns(asked=pl.Series([0] * 6 + [1] * 6))
    found = row(table)
    assert found["n"] == 12 and found["same"] == 0.5 and found["contradicting"] == 1.0


def test_several_retrievers_have_wider_intervals_and_only_the_opponents_pairs_verdicts() -> None:
    """Also only the primary cell."""
    first, second = [1.0] * 11 + [0.5], [1.0] * 9 + [0.5] * 3
    pairs = (PAIR, ("rel", "bm25"), ("rel", "dense"))
    table = pl.concat([votes(first, second, pair=pair) for pair in pairs])
    elsewhere = table.with_columns(k=pl.lit(1, pl.Int64))
    rows = list(wins.win_rows(fight(pl.concat([elsewhere, table]), pairs=pairs)))
    assert [(r["k"], r["verdict"]) for r in rows] == [(3, WINS), (3, WINS), (3, None), *[(1, None)] * 3]
    assert {r["level"] for r in rows} == {1 - 0.05 / 2}
    assert rows[0]["low"] < row(votes(first, second))["low"]


def test_a_panel_has_no_verdict_that_rests_on_one_judge() -> None:
    """Two judges see no difference; the third favours the retriever."""
    even, partial = votes([1.0, 0.0] * 18, [1.0, 0.0] * 18), votes([1.0] * 35 + [0.5], [1.0] * 34 + [0.5] * 2)
    alone = row(partial)
    assert alone["verdict"] == WINS
    panel = row(even, even, partial)
    assert panel["win_rate"] == pytest.approx((0.5 + 0.5 + alone["win_rate"]) / 3)
    assert (panel["verdict"], panel["reason"]) == (UNDECIDED, "the verdict changes without j2")
    assert row(partial, partial, partial)["verdict"] == WINS
    parts = [r for r in wins.judge_rows(fight(even, even, partial)) if r["quantity"] == "without"]
    assert [(r["judge"], r["verdict"]) for r in parts] == [("j0", WINS), ("j1", WINS), ("j2", UNDECIDED)]
    kappas = {(r["judge"], r["other"]): r.get("value") for r in wins.judge_rows(fight(even, even, partial))
              if r["quantity"] == "kappa"}  # fmt: skip
    assert kappas["j0", "j1"] == 1.0 and abs(kappas["j0", "j2"] or 1) < 0.2


def test_a_panel_counts_only_queries_that_all_judges_decided() -> None:
    """The third judge fails where the retriever loses; its other queries would say that it wins."""
    harsh = votes([1.0] * 12 + [None] * 12, [1.0] * 12 + [None] * 12)
    even = votes([1.0] * 12 + [0.0] * 12, [1.0] * 12 + [0.0] * 12)
    panel = row(even, even, harsh)
    assert panel["n"] == 12 and panel["left_out"] == 12


def one_order(scores: list[float], first: list[bool]) -> pl.DataFrame:
    table = votes([s if f else None for s, f in zip(scores, first, strict=True)],
                  [None if f else s for s, f in zip(scores, first, strict=True)])  # fmt: skip
    return table.with_columns(score=pl.coalesce("score_first", "score_second"))


def test_the_order_of_votes_in_one_order_is_taken_out() -> None:
    """Whoever is first wins: 14 times the retriever, 10 times its opponent."""
    first = [True] * 14 + [False] * 10
    found = row(one_order([1.0] * 14 + [0.0] * 10, first))
    assert found["win_rate"] == 0.5 and found["verdict"] == TOO_FEW
    mostly = [True] * 18 + [False] * 6
    biased = row(one_order([1.0] * 17 + [0.0] * 6 + [1.0], mostly))
    assert biased["verdict"] == UNDECIDED
    assert biased["reason"] == "18 of 24 pairs with votes in one order have the retriever’s answer first"


def test_clusters_of_queries_are_the_units() -> None:
    table = votes([1.0, 0.5, 1.0, 0.0] * 9, [1.0, 0.5, 1.0, 0.5] * 9)
    clusters = {qid: place // 6 for place, qid in enumerate(table["qid"])}
    assert row(table)["verdict"] == WINS
    found = row(table, clusters=clusters)
    assert (found["verdict"], found["n"]) == (TOO_FEW, 36) and "clusters" in found["reason"]


def test_relay_is_the_slope_of_the_score_on_the_measure() -> None:
    """With one pair and no clusters, the slope is the regression's: a fifth of the score per .1."""
    random = np.random.default_rng(1)
    x = random.uniform(size=(2, 40))
    y = np.clip(0.5 + 2 * (x[0] - x[1]) / 4, 0, 1).round(2)
    table = votes(y.tolist(), y.tolist())
    qids = table["qid"].to_list()
    frames = [pl.DataFrame({"retriever": [name] * 40, "qid": qids, "k": [3] * 40, "value": x[place]})
              for place, name in enumerate(PAIR)]  # fmt: skip
    lists = [pl.DataFrame({"retriever": [name] * 40, "ordering": [IN_CELL[0]] * 40, "k": [3] * 40, "qid": qids,
                           "docnos": [[f"{name}{qid}"] for qid in qids]}) for name in PAIR]  # fmt: skip
    measured, adjusted = wins.relay_rows(fight(table), pl.concat(frames), pl.concat(lists), "nDCG")
    assert measured["slope"] == pytest.approx(np.polyfit(x[0] - x[1], y, 1)[0])
    assert measured["slope"] == pytest.approx(0.5, abs=0.05)
    rows = [{name: one[name] for name in ("verdict", "p_value")} for one in (measured, adjusted)]
    assert relay.answer_of(pl.DataFrame(rows)) == relay.IT_IS
    same = pl.concat(lists).with_columns(docnos=pl.lit(["same"]))
    alike, _ = wins.relay_rows(fight(table), pl.concat(frames), same, "nDCG")
    assert alike["verdict"] == TOO_FEW and alike["n"] == 0


def test_agreement_with_p_is_no_share_of_equal_signs() -> None:
    """Both prefer the retriever on 9 of 12 queries, but not on the same ones."""
    y = np.array([0.5] * 9 + [-0.5] * 3)
    d = np.array([-0.1] * 3 + [0.1] * 6 + [0.1] * 3)
    found = wins.agreement(y, d, None)
    assert found["same_sign"] == 0.5 and found["by_chance"] == pytest.approx(0.75**2 + 0.25**2)
    assert found["rho"] == pytest.approx(-1 / 3) and "for only 3 of 12 queries" in found["reason"]
    linked = wins.agreement(np.tile([-0.5, -0.25, 0, 0.25], 9), np.tile([-0.2, -0.1, 0.1, 0.2], 9) + 0.01, None)
    assert linked["rho"] == pytest.approx(1.0)
