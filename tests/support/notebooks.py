"""The notebooks of the docs, run cell by cell as a kernel does."""

import ast
import json
from typing import Any

from tests.support.sandbox import ROOT

INSTEAD = {
    "results/demo_real/demo": "results/small/small", "results/demo_real": "results/small", '"dense"': '"rel"',
    "k=3": "k=2", "nDCG @ 3": "nDCG @ 2",
}  # fmt: skip
"""Texts of the cells, and those of the tests' small study, by the same model, which are run in their place."""


def cells(name: str) -> list[str]:
    found = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def shown_by(name: str) -> list[Any]:
    """What each cell shows, in the current folder, which is the small study's."""
    names: dict[str, Any] = {}
    shown = []
    for cell in cells(name):
        for text, other in INSTEAD.items():
            cell = cell.replace(text, other)
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), name, "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), names))  # noqa: S307
        else:
            exec(compile(ast.Module([last], []), name, "exec"), names)  # noqa: S102
    return shown
