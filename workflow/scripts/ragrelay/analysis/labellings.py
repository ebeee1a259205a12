"""Name the labellings in holes.csv, and look up the conclusion on relay for each labelling."""

import polars as pl

from ragrelay.analysis import relay

HOLES_ABOVE = 0.05
"""The share of unjudged passages above which their labels are varied (see holes)."""
NONE, ALL, LOWEST, HIGHEST = "none relevant", "all relevant", "lowest slope", "highest slope"


def answers_by_labelling(table: pl.DataFrame, k: int) -> dict[str, str]:
    """Return the conclusion on relay for each labelling at one k, given the rows of holes.csv."""
    return {
        labelling: relay.answer_of(table.filter(k=k, labelling=labelling))
        for labelling in table.filter(k=k)["labelling"].unique(maintain_order=True)
    }
