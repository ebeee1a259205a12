"""Build the page's tables about search rounds."""

import polars as pl

from ragrelay.annexes.rounds.sentences import PER, tokens
from ragrelay.annexes.rounds.study import RoundsShown
from ragrelay.report.display.numbers import count, p_value, share
from ragrelay.report.display.tables import Table, between, name, numeric, table_of, textual, yes_no


def slope_table(study: RoundsShown, most_rows: int | None = None) -> Table:
    """Show relay's slope for each step and for all steps together, unadjusted and adjusted."""
    slopes = ("slope", "low", "high")
    frame = study["round_slopes"].with_columns(pl.col(slopes) * PER)
    return table_of(
        frame, name("references"), textual("step", lambda row: str(row["step"] or "all")),
        yes_no("adjusted", "adjusted"), between(f"per {PER} {study.asked['measure']}", "slope"), name("verdict"),
        numeric("p", "p_value", p_value), numeric("queries with different lists", "n", count),
        numeric("identical lists", "share_same", share), textual("remark", "reason"), most=most_rows,
    )  # fmt: skip


def round_table(study: RoundsShown, most_rows: int | None = None) -> Table:
    """Show mean P, statistics on the lists, and prompt lengths, for each round and retriever."""
    return table_of(
        study["round_scores"], name("references"), numeric("round", "round", count), name("retriever"),
        between("mean P", "p"), numeric("queries", "n", count), numeric("worse", "worse", count),
        numeric("better", "better", count), numeric("repeated passages", "repeated", share),
        numeric("lists without new passages", "empty", share),
        numeric("unjudged new passages", "unjudged", share),
        numeric("missing answers", "missing", share),
        numeric("tokens per prompt", "prompt_tokens", tokens), most=most_rows,
    )  # fmt: skip
