"""Build the page's table about the effects of interventions."""

import polars as pl

from ragrelay.annexes.interventions.effects import AT_PLACE
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.report.display.numbers import count, p_value
from ragrelay.report.display.tables import LATER, REMARK, Row, Table, between, depth, name, numeric, table_of, textual

PER = 0.1
"""The page states slopes as the change in P per this increase in the measure."""


def effect_table(study: EffectStudy, most_rows: int | None = None) -> Table:
    """Show the effects: a row per intervention, retriever, k and reference set, and rows for single positions."""
    slopes = ("slope", "slope_low", "slope_high", "relay", "relay_low", "relay_high")
    frame = study.effects.with_columns(pl.col(slopes) * PER)
    measure = frame["measure"][0] if frame.height else "measure"
    return table_of(
        frame, name("intervention"), name("retriever"), name("ordering"), depth(), name("references"),
        textual("position", _place), name("verdict"), between("effect", "effect"),
        numeric("mean P, relevant", "p_relevant"), numeric("mean P, non-relevant", "p_other"),
        between(f"per {PER} {measure}", "slope", 3, ("slope_low", "slope_high")),
        between(f"relay, per {PER} {measure}", "relay", 3, ("relay_low", "relay_high")),
        numeric("p", "p_value", p_value), numeric("queries", "n", count), numeric("all queries", "n_queries", count),
        numeric("changes", "n_changes", count), textual("remark", _remark), most=most_rows, later=LATER,
    )  # fmt: skip


def _remark(row: Row) -> str:
    moved = "one more query could move the slope’s interval considerably" if row["slope_stands"] is False else ""
    relay = f"relay: {row['relay_reason']}" if row["relay_reason"] else ""
    return "; ".join(filter(None, [REMARK.text(row), moved, relay]))


def _place(row: Row) -> str:
    return str(row["place"]) if row["part"] == AT_PLACE else str(row["part"])
