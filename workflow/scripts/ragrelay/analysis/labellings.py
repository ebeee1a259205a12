"""Name the labellings of unjudged passages, and look up relay's answer under each."""

import polars as pl

from ragrelay.analysis import relay

HOLES_ABOVE = 0.05
"""Holes are examined if the share of unjudged passages exceeds this."""
NONE, ALL, LOWEST, HIGHEST = "none relevant", "all relevant", "lowest slope", "highest slope"


def answers_by_labelling(table: pl.DataFrame, k: int) -> dict[str, str]:
    """Return relay's answer under each labelling, from the rows of ``holes`` at one k."""
    return {
        labelling: relay.answer_of(table.filter(k=k, labelling=labelling))
        for labelling in table.filter(k=k)["labelling"].unique(maintain_order=True)
    }
