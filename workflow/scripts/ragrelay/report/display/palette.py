"""Give each retriever one look in all figures: colour, dash and shape.

Colours are those of Okabe and Ito, "Color Universal Design" (2008), which colour-blind readers can distinguish; black
and yellow are left out, because pages have a white or black background. Dash and shape differ too, for grey prints.
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
    """How a retriever's line and points are drawn: hex colour, dash pattern in pixels, and Vega symbol."""

    colour: str
    dash: tuple[int, ...]
    shape: str


def looks(retrievers: Sequence[str]) -> dict[str, Look]:
    """Return a look for each of ``retrievers``, which depends only on their order.

    ``rel`` is green and ``nrel`` grey; the others take the remaining colours in order and start over when these run
    out. Dashes and shapes, which repeat with different periods, still distinguish them.
    """
    kept = {retriever: KEPT[retriever] for retriever in retrievers if retriever in KEPT}
    free = [colour for colour in COLOURS if colour not in kept.values()]
    others = [retriever for retriever in retrievers if retriever not in kept]
    colours = kept | {retriever: free[place % len(free)] for place, retriever in enumerate(others)}
    return {
        retriever: Look(colours[retriever], DASHES[place % len(DASHES)], SHAPES[place % len(SHAPES)])
        for place, retriever in enumerate(retrievers)
    }
