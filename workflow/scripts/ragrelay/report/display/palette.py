"""Assign each retriever a colour, a dash pattern and a symbol for use in all figures.

Colour-blind readers can distinguish the colours, which come from Okabe and Ito, "Color Universal Design" (2008). Black
and yellow are left out, because pages have a white or black background. Dash patterns and symbols help in greyscale.
"""

from collections.abc import Sequence
from dataclasses import dataclass

BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
ORANGE, SKY, GREEN, GREY = "#E69F00", "#56B4E9", "#009E73", "#8A8A8A"
COLOURS = (BLUE, VERMILLION, PURPLE, ORANGE, SKY, GREEN, GREY)
KEPT = {"rel": GREEN, "nrel": GREY}  # for common oracles: relevant is green, non-relevant grey
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (8, 3), (2, 2), (8, 3, 2, 3), (12, 3), (4, 4))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")


@dataclass(frozen=True)
class Look:
    """The hex colour, dash pattern (in pixels) and Vega symbol with which a retriever is drawn."""

    colour: str
    dash: tuple[int, ...]
    shape: str


def looks(retrievers: Sequence[str]) -> dict[str, Look]:
    """Assign a look to each retriever, based only on the retrievers' names and order.

    ``rel`` is green, ``nrel`` is grey, and the other retrievers share the remaining colours. Retrievers with the same
    colour still differ in dash pattern or symbol.
    """
    kept = {retriever: KEPT[retriever] for retriever in retrievers if retriever in KEPT}
    free = [colour for colour in COLOURS if colour not in kept.values()]
    others = [retriever for retriever in retrievers if retriever not in kept]
    colours = kept | {retriever: free[place % len(free)] for place, retriever in enumerate(others)}
    return {
        retriever: Look(colours[retriever], DASHES[place % len(DASHES)], SHAPES[place % len(SHAPES)])
        for place, retriever in enumerate(retrievers)
    }
