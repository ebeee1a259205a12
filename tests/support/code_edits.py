"""Edits of code, and what a file of the package imports."""

import ast
from collections.abc import Collection, Iterable
from pathlib import Path

from ragrelay.workflow.jobs.code_digest import SCRIPTS, Code


def each_function_edited(text: str) -> str:
    """The code ``text`` with a statement more in every function and method."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body.append(ast.parse("CHANGED = True").body[0])
    return ast.unparse(tree)


def edit_functions(path: Path) -> None:
    """Add a statement to every function and method of a file."""
    path.write_text(each_function_edited(path.read_text(encoding="utf-8")), encoding="utf-8")


def imported_files(starts: Iterable[Path], folder: Path = SCRIPTS, ends: Collection[Path] = ()) -> set[Path]:
    """``starts`` and every file of the package that they import, directly or not, at the top or in a function.

    Of ``ends``, none of the imports counts.
    """
    code, reached, waiting = Code(folder), set[Path](), list(starts)
    while waiting:
        if (path := waiting.pop()) not in reached:
            reached.add(path)
            if path not in ends:
                waiting += [file for name in _imports(path) for file in files_of(name, code)]
    return reached


def files_of(module: str, code: Code | None = None) -> list[Path]:
    """The files that importing ``module`` runs: its own and the ``__init__`` of every package above it."""
    steps, code = module.split("."), code or Code(SCRIPTS)
    return [path for depth in range(1, len(steps) + 1) if (path := code._path(".".join(steps[:depth])))]


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names
