"""What the page says of a battle, from made-up tables."""

from typing import Any

import polars as pl
import pytest
from ragrelay.analysis.verdicts import ABOVE, BELOW, TOO_FEW, UNDECIDED
from ragrelay.annexes.battles.sentences import battle_answer, battle_sentences, battle_warnings
from ragrelay.annexes.battles.study import BattleShown
from ragrelay.annexes.battles.wins import LOSES, WINS
from ragrelay.base.vocabulary.columns import schema_of

NAMES = {"dataset": "demo", "battle": "b", "generator": "lm"}
CELL = {"ordering": "descending", "k": 3}
WON = {**CELL, "retriever": "dense", "against": "bm25", "n": 36, "n_decided": 20, "win_rate": 0.62, "low": 0.51,
       "high": 0.73, "level": 0.95, "verdict": WINS, "contradicting": 0.25, "order_bias": -0.1, "bias_low": -0.18,
       "bias_high": -0.02, "same": 0.5, "left_out": 2}  # fmt: skip


def shown(kind: str = "judge", opponent: str = "bm25", **tables: list[dict[str, Any]]) -> BattleShown:
    frames = {
        name: pl.DataFrame([{key: ({**NAMES, **row}).get(key) for key in columns} for row in tables.get(name, [])],
                           schema=schema_of(columns), orient="row")
        for name, columns in BattleShown.COLUMNS.items()
    }  # fmt: skip
    battle = {"kind": kind, "opponent": opponent, "generator": ["lm"]}
    return BattleShown(NAMES, frames, {"cell": CELL, "battles": {"b": battle}})


def said(**changes: Any) -> str:
    opponent = changes.get("against", "bm25")
    return battle_answer(shown(opponent=opponent, battle_wins=[{**WON, **changes}])).sentence


def test_the_winner_is_the_subject() -> None:
    assert said() == (
        "Answers with dense win more often than they lose against answers with bm25: dense has a win rate of "
        "0.620 [0.510, 0.730] over 36 queries."
    )
    assert said(verdict=LOSES).startswith("Answers with bm25 win more often than they lose against answers with dense:")
    assert said(verdict=LOSES, against="zeroshot").startswith("Answers without context win more often than they lose")
    assert said(verdict=UNDECIDED, reason="the verdict changes without j2").endswith(
        "over 36 queries (the verdict changes without j2)."
    )
    assert said(verdict=TOO_FEW).startswith("Too few votes to compare answers with dense and answers with bm25")


def test_a_judge_that_follows_the_order_is_on_the_first_screen() -> None:
    study = shown(battle_wins=[{**WON, "contradicting": 0.8}])
    assert (
        battle_answer(study).remark
        == "Votes change with the order of the answers for 80% of the answer pairs with dense."
    )
    assert battle_warnings(study) == [
        "Battle b: votes change with the order of the answers for 80% of the answer pairs with dense. Such a judge "
        "says little about which answer is better."
    ]
    assert battle_warnings(shown(battle_wins=[{**WON, "contradicting": 0.5}])) == []


def test_order_bias_and_pairs_without_a_vote() -> None:
    bias, counts = battle_sentences(shown(battle_wins=[WON]))
    assert bias == ("dense against bm25: 25% of the answer pairs judged in both orders have contradictory votes; being "
                    "shown second adds 0.100 [0.020, 0.180] to an answer’s score.")  # fmt: skip
    assert "50% with dense" in counts and "a vote couldn’t be read: 2 with dense" in counts
    none = battle_sentences(shown(battle_wins=[{**WON, "bias_high": 0.01, "same": 0.0, "left_out": 0}]))
    assert none[0].endswith("(being shown first adds −0.100 [−0.180, 0.010] to an answer’s score).")
    assert len(none) == 1
    few = {**WON, "bias_low": None, "bias_high": None, "same": 0.0, "left_out": 0}
    assert battle_sentences(shown(battle_wins=[few])) == [f"{bias.partition(';')[0]}."]


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ((ABOVE, ABOVE), "Where a retriever’s list is better than usual, its answer wins more often"),
        ((BELOW, BELOW), "Where a retriever’s list is better than usual, its answer wins less often"),
        ((ABOVE, UNDECIDED), "We do not know whether answers from better lists win more often"),
    ],
)
def test_relay_needs_both_slopes(verdicts: tuple[str, str], words: str) -> None:
    rows = [{**CELL, "measure": "nDCG", "adjusted": place == 1, "n": 36, "slope": 0.5, "low": 0.1, "high": 0.9,
             "p_value": 0.001, "verdict": verdict} for place, verdict in enumerate(verdicts)]  # fmt: skip
    (sentence,) = battle_sentences(shown(battle_relay=rows))
    assert sentence.startswith(f"{words}: per 0.1 of nDCG, the win rate changes by 0.050 [0.010, 0.090]")


def test_agreement_stands_beside_what_chance_gives_and_a_panel_names_its_judges() -> None:
    follows = {**CELL, "retriever": "dense", "against": "bm25", "with_scorer": "minilm", "references": "lenient",
               "n": 36, "rho": 0.3, "low": 0.01, "high": 0.55, "same_sign": 0.7, "by_chance": 0.64}  # fmt: skip
    (sentence,) = battle_sentences(shown(battle_agreement=[follows]))
    assert "ρ = 0.30 [0.01, 0.55]" in sentence.replace("0.300", "0.30").replace("0.010", "0.01").replace(
        "0.550", "0.55"
    )
    assert sentence.endswith("they favour the same answer 70% of the time (64% expected by chance).")
    pair = {**CELL, "retriever": "dense", "against": "bm25"}
    judges = [{**pair, "quantity": "without", "judge": name, "value": 0.6, "low": 0.52, "high": 0.68} for name in "xy"]
    kappa = {**CELL, "quantity": "kappa", "judge": "x", "other": "y", "value": 0.4, "low": 0.2, "high": 0.6}
    without, agree = battle_sentences(shown("panel", battle_judges=[*judges, kappa]))
    assert without == (
        "dense: the panel’s win rate is 0.600 [0.520, 0.680] without x and 0.600 [0.520, 0.680] without y."
    )
    assert agree == "Agreement between judges’ votes (Cohen’s κ): 0.400 [0.200, 0.600] for x and y."
