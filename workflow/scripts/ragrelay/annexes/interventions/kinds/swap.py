"""Replace a passage in the context, once with a relevant passage and once with a non-relevant passage."""

from typing import ClassVar, Literal

import polars as pl
from pydantic import Field

from ragrelay.annexes.interventions.intervention import (
    OTHER,
    RELEVANT,
    ROW,
    Change,
    Given,
    Intervention,
    laid_out,
)

PLACES = {
    "each": lambda k: range(1, k + 1),
    "ends": lambda k: sorted({1, k}),
    "first": lambda k: (1,),
    "last": lambda k: (k,),
}


class Swap(Intervention):
    """Replaces a passage in the context, once with a relevant passage and once with one judged non-relevant. Neither
    replacement is in the original context or a near copy of a passage in the original context. The two replacements
    have similar lengths if possible, and are used at each of the chosen positions. The effect is the difference in P
    between the two changed contexts, so the effect of losing the original passage cancels out.
    """

    population: ClassVar = "whose judgements include a relevant and a non-relevant passage outside the top {k}"
    effect: ClassVar = "replacing a non-relevant passage with a relevant one at the same position changes P by {effect}"
    needs_pairs: ClassVar = True

    places: Literal["each", "ends", "first", "last"] = Field(
        "each",
        description="Positions in the prompt at which a passage is replaced; `ends` means the first and the "
        "last position.",
    )
    draws: int = Field(
        1,
        ge=1,
        description="Number of pairs of passages to draw for each query; a second pair reduces the standard error by "
        "about 10%.",
    )

    def changes(self, given: Given) -> list[Change] | str:
        """Return two contexts per draw and position: one with the relevant, one with the non-relevant passage."""
        docnos = [passage.docno for passage in given.context]
        rows = []
        for draw, pair in enumerate(given.pairs):
            for place in PLACES[self.places](len(docnos)):
                for arm, passage in ((RELEVANT, pair.relevant), (OTHER, pair.other)):
                    ranked = list(docnos)
                    ranked[given.order[place - 1]] = passage.docno
                    rows.append(
                        Change(draw, place, arm, passage.docno, passage.label, tuple(ranked),
                               laid_out(ranked, given.order))
                    )  # fmt: skip
        return rows

    def effects(self, scored: pl.DataFrame) -> pl.DataFrame:
        """Return, for each position, P with the relevant passage minus P with the non-relevant passage."""
        first, second = (scored.filter(arm=arm).select(*ROW, "p", "value") for arm in (RELEVANT, OTHER))
        both = first.join(second, on=ROW, suffix="_other", maintain_order="left")
        return both.select(
            *ROW, side=pl.lit(None, pl.String), effect=pl.col("p") - pl.col("p_other"),
            moved=pl.col("value") - pl.col("value_other"),
        )  # fmt: skip
