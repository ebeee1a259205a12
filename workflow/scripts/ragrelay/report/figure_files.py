"""Draw the figures of a report as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.display.chart_files import draw
from ragrelay.display.outputs import SIZES, Figure, file_name, resolve


def draw_figures(shown: Any, outputs: Sequence[Figure], folder: Path, keys: Mapping[str, str] | None = None) -> None:
    """Draw ``outputs`` from ``shown`` into ``folder``, in each of their formats.

    ``keys`` distinguish the files; by default they are those of ``shown``.
    """
    for output in outputs:
        specs = {size: resolve(output.draw)(shown, "paper", *([SIZES[size]] if size else []))
                 for size in dict.fromkeys(ending.rpartition(".")[0] for ending in output.endings)}  # fmt: skip
        for ending in output.endings:
            draw(
                specs[ending.rpartition(".")[0]],
                folder / file_name(output, ending, shown.keys if keys is None else keys),
            )
