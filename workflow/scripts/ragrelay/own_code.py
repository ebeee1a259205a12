"""Functions that a user writes: named in the configuration as ``module:function``, in the study's folder or installed.

At the start a module is found and parsed, and not run; a job imports it.
"""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError
from ragrelay.io.hashing import file_hash


def check_function(place: str, name: str, folder: Path) -> None:
    """Raise InputError where ``name`` (module:function) is not found, neither in ``folder`` nor installed."""
    module, _, function = name.partition(":")
    path = _module_file(name, folder)
    if path is None:
        expected = f"a module {module.replace('.', '/')}.py in the working folder, or an installed one"
        raise InputError(place, f"no module {module!r}", expected)
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError) as error:  # a NUL is a ValueError
        at = f"{path}, line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else path
        found = f"no Python ({error.msg if isinstance(error, SyntaxError) else error})"
        raise InputError(at, found, f"the module of {place}") from None
    if function not in _names(tree):
        raise InputError(place, f"no function {function!r} in {path}", "one at the top of the module")


def code_hashes(functions: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Key → 16 hex digits of the file of the module that the key's function is in, for those that are found."""
    files = {key: _module_file(name, folder) for key, name in functions.items()}
    return {key: file_hash(path)[:16] for key, path in files.items() if path}


def function_named(name: str) -> Callable[..., Any]:
    """The function ``name`` (module:function), imported; raises InputError where the module has none."""
    module, _, function = name.partition(":")
    with _importable(Path()):
        found = getattr(importlib.import_module(module), function, None)
    if not callable(found):
        raise InputError(f"module {module}", f"no function {function!r}", "the one that the config names")
    return found


def _names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _module_file(name: str, folder: Path) -> Path | None:
    """The source file of the module in ``module:function``."""
    with _importable(folder):
        try:
            spec = importlib.util.find_spec(name.partition(":")[0])
        except (ImportError, ValueError):
            return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let modules in ``folder`` be imported, before those of the same name elsewhere."""
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(entry)
