"""Find users' own functions and classes, which the configuration names as ``module:name``.

Modules are searched for in the study's folder and then among installed packages. At startup, modules are only parsed;
jobs import them.
"""

import ast
import importlib
import importlib.util
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import file_hash

log = logging.getLogger(__name__)


def check_function(place: str, name: str, folder: Path, kind: str = "function") -> None:
    """Raise InputError if the function or class ``name`` (module:name) is neither in ``folder`` nor installed.

    ``kind``: `function` or `class`, for the message.
    """
    module, _, function = name.partition(":")
    path = _module_file(name, folder)
    if path is None:
        expected = f"a module {module.replace('.', '/')}.py in the working folder, or an installed one"
        raise InputError(place, f"no module {module!r}", expected)
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError) as error:  # NUL raises ValueError
        at = f"{path}, line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else path
        found = f"invalid Python ({error.msg if isinstance(error, SyntaxError) else error})"
        raise InputError(at, found, f"a valid module for {place}") from None
    if function not in _names(tree):
        raise InputError(place, f"no {kind} {function!r} in {path}", f"this {kind} at the module's top level")


def code_hashes(functions: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return a 16-digit hash of each function's module, keyed as in ``functions``. Missing modules are left out."""
    files = {key: _module_file(name, folder) for key, name in functions.items()}
    return {key: file_hash(path)[:16] for key, path in files.items() if path}


def function_named(name: str) -> Callable[..., Any]:
    """Import the function ``name`` (module:function). Raises InputError if there is no such function."""
    module, _, function = name.partition(":")
    loaded = getattr(module_of(name), function, None)
    if not callable(loaded):
        raise InputError(f"module {module}", f"no function {function!r}", "the function that the configuration names")
    return loaded


@contextmanager
def user_errors(place: str, name: str, given: str, expected: str) -> Iterator[None]:
    """Turn an error in the user's function ``name`` into an InputError that names the file, the line and the input.

    The traceback is logged. ``given``: a noun phrase for the input. ``expected``: a noun phrase for the result.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        log.exception("%s: the function failed", place)
        frames = traceback.extract_tb(error.__traceback__)
        at = [frame for frame in frames if frame.filename == str(_module_file(name, Path.cwd()))] or frames
        where = f"in {at[-1].filename}, line {at[-1].lineno}, for {given}"
        message = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise InputError(place, f"{message} {where}", expected) from error


def module_of(name: str) -> ModuleType:
    """Import the module in ``name`` (module:name) from the working folder or, failing that, from installed packages."""
    with _importable(Path()):
        return importlib.import_module(name.partition(":")[0])


def names_from(package: str, name: str, folder: Path) -> list[str]:
    """Return the sorted names (module or module:name) that the module in ``name`` imports from ``package``."""
    path = _module_file(name, folder)
    imported = set()
    for node in ast.walk(ast.parse(path.read_bytes())) if path else ():
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported |= {f"{node.module}:{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    return sorted(entry for entry in imported if entry.startswith((f"{package}.", f"{package}:")))


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
    """Return the source file of the module in ``name`` (module:name)."""
    with _importable(folder):
        try:
            spec = importlib.util.find_spec(name.partition(":")[0])
        except (ImportError, ValueError):
            return None
    if not (spec and spec.origin and spec.origin.endswith(".py")):
        return None
    path, near = Path(spec.origin), folder.resolve()
    return folder / path.relative_to(near) if path.is_relative_to(near) else path


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let Python import modules from ``folder``, which take precedence over others with the same name."""
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(entry)
