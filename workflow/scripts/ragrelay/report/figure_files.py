"""Draw a report's figures and write them to files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.report.display.chart_files import draw
from ragrelay.report.display.outputs import SIZES, Figure, file_name, resolve


def draw_figures(shown: Any, outputs: Sequence[Figure], folder: Path, keys: Mapping[str, str] | None = None) -> None:
    """Draw ``outputs`` from the data ``shown`` and write them to ``folder`` in all formats.

    ``keys``: the wildcard values in the file names; by default ``shown.keys``.
    """
    keys = shown.keys if keys is None else keys
    for output in outputs:
        by_size: dict[str, list[Path]] = {}
        for ending in output.endings:
            by_size.setdefault(ending.rpartition(".")[0], []).append(folder / file_name(output, ending, keys))
        for size, paths in by_size.items():
            draw(resolve(output.draw)(shown, "paper", *([SIZES[size]] if size else [])), *paths)
