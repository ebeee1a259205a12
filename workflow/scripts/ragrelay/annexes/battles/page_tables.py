"""Build the tables about battles for the page."""

import polars as pl

from ragrelay.annexes.battles.study import BattleShown
from ragrelay.report.display.numbers import count, p_value, share
from ragrelay.report.display.tables import Table, between, name, numeric, table_of, textual, yes_no

PER = 0.1
"""The page states slopes as the change in win rate per this increase in the measure."""
WHERE = (name("ordering"), numeric("k", "k", count))
PAIR = (name("retriever"), name("against"))


def battle_wins_table(study: BattleShown, most_rows: int | None = None) -> Table:
    """Show the win rate, contradictory votes and order bias for each cell and pair of systems."""
    frame = study["battle_wins"]
    return table_of(
        frame, *WHERE, *PAIR, between("win rate", "win_rate"), name("verdict"), textual("remark", "reason"),
        numeric("queries", "n", count), numeric("decided", "n_decided", count),
        numeric("contradictory votes", "contradicting", share),
        between("order bias", "order_bias", ends=("bias_low", "bias_high")),
        numeric("decided without a vote", "same", share), numeric("left-out queries", "left_out", count),
        most=most_rows,
    )  # fmt: skip


def battle_relay_table(study: BattleShown, most_rows: int | None = None) -> Table:
    """Show each cell's slope of the win rate on the retrieval measure, unadjusted and adjusted."""
    frame = study["battle_relay"].with_columns(pl.col("slope", "low", "high") * PER)
    return table_of(
        frame, *WHERE, name("measure"), yes_no("adjusted", "adjusted"), between(f"win rate per {PER}", "slope"),
        name("verdict"), numeric("p", "p_value", p_value), numeric("queries with different contexts", "n", count),
        textual("remark", "reason"), most=most_rows,
    )  # fmt: skip


def battle_agreement_table(study: BattleShown, most_rows: int | None = None) -> Table:
    """Show how well a battle's votes agree with differences in P, for each scorer."""
    return table_of(
        study["battle_agreement"], *WHERE, *PAIR, name("P from", "with_scorer"), name("references"),
        between("ρ", "rho"), numeric("same winner", "same_sign", share),
        numeric("expected by chance", "by_chance", share), numeric("queries", "n", count), textual("remark", "reason"),
        most=most_rows,
    )  # fmt: skip


def battle_strengths_table(study: BattleShown, most_rows: int | None = None) -> Table:
    """Show each system's Bradley-Terry strength."""
    return table_of(
        study["battle_strengths"], *WHERE, name("system"), between("strength", "strength"),
        numeric("queries", "n", count), textual("remark", "reason"), most=most_rows,
    )  # fmt: skip


def battle_judges_table(study: BattleShown, most_rows: int | None = None) -> Table:
    """Show a panel's win rates when each judge is left out in turn, and the agreement between judges."""
    return table_of(
        study["battle_judges"], name("quantity"), *PAIR, name("judge"), name("other"), between("value", "value"),
        name("verdict"), numeric("queries", "n", count), most=most_rows,
    )  # fmt: skip
