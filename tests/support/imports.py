"""What Python files import, as far as it can be read from them: at the top, in functions, and for types alone."""

import ast
from functools import cache
from pathlib import Path

from tests.support.sandbox import ROOT

SCRIPTS = ROOT / "workflow" / "scripts"
PACKAGE = SCRIPTS / "ragrelay"


def imported(path: Path) -> tuple[str, ...]:
    """Modules that a file names in its imports; what is imported from a module may be one, and is named as well."""
    return _imported(path, path.stat().st_mtime_ns)


@cache
def _imported(path: Path, changed: int) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(found)


def importers(folder: Path, modules: set[str], but: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Files below ``folder`` that import any of ``modules``, or of what is in them. ``but``: subfolders left out."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if name.parts[0].startswith(".") or str(name).startswith(but):
            continue
        if own := sorted({one for one in imported(path) if is_in(one, modules)}):
            found[str(name)] = own
    return found


def is_in(module: str, modules: set[str]) -> bool:
    """Whether ``module`` is one of ``modules`` or in one of them."""
    return any(module == one or module.startswith(f"{one}.") for one in modules)
