"""Drawing the figures of a report as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.display.chart_files import draw
from ragrelay.display.outputs import Figure, file_name, resolve


def draw_figures(shown: Any, outputs: Sequence[Figure], folder: Path, keys: Mapping[str, str] | None = None) -> None:
    """Draw ``outputs`` of ``shown``, what they are ``of``, in ``folder``, in each of their formats.

    ``keys`` distinguish the files: those of ``shown``, unless given.
    """
    for output in outputs:
        spec = resolve(output.draw)(shown, "paper")
        for ending in output.endings:
            draw(spec, folder / file_name(output, ending, shown.keys if keys is None else keys))
