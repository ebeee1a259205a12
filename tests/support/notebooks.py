"""The notebooks of the docs, run cell by cell as a kernel does."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.sandbox import ROOT, Sandbox


def cells(name: str) -> list[str]:
    found = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def shown_by(name: str, study: Sandbox, folder: Path, instead: Mapping[str, str]) -> list[Any]:
    """What each cell shows, in the current ``folder``, where ``study`` stands in the demo's place.

    ``instead``: texts of the cells that are others in this study.
    """
    (folder / "results").mkdir()
    (folder / "results/demo").symlink_to(study.results)
    for own in ("cache", "resources", "small"):
        (folder / own).symlink_to(study.folder / own)
    names: dict[str, Any] = {}
    shown = []
    for cell in cells(name):
        for text, other in instead.items():
            cell = cell.replace(text, other)
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), name, "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), names))  # noqa: S307
        else:
            exec(compile(ast.Module([last], []), name, "exec"), names)  # noqa: S102
    return shown
