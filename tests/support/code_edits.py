"""Edits of code, and what a file of the package imports."""

import ast
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from ragrelay.execution.jobs.code_digest import SCRIPTS, Code


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


class Reworded(ast.NodeTransformer):
    """Adds a word to each string of a message, but for those that select a value or that a function gets."""

    MESSAGES = re.compile(
        r"(\w+\.)*(InputError|RequestError|NoEngineError|RefusedError|say|tell|user_errors)"
        r"|(log|logging)\.(debug|info|warning|error|exception)"
    )

    def __init__(self) -> None:
        self.inside, self.count = False, 0

    def visit_Call(self, node: ast.Call) -> ast.Call:
        called, outside = ast.unparse(node.func), self.inside
        if not self.MESSAGES.fullmatch(called) and outside:
            return node
        self.inside = outside or self.MESSAGES.fullmatch(called) is not None
        self.generic_visit(node)
        self.inside = outside
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if self.inside and isinstance(node.value, str):
            self.count += 1
            return ast.Constant(f"{node.value} indeed")
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        self.visit(node.value)  # not how it is formatted
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        if not self.inside:
            self.generic_visit(node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        if not self.inside:
            self.generic_visit(node)
        return node


def reword_messages(path: Path) -> int:
    """Add a word to the messages of a file. Return to how many strings."""
    edit = Reworded()
    tree = edit.visit(ast.parse(path.read_text(encoding="utf-8")))
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    return edit.count


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
