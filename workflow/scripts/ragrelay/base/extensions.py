"""Find classes that other installed packages add through entry points in the group ``ragrelay``.

An entry point's name consists of a base class in ``ragrelay.extend``, a dot, and the name that configurations use. The
entry point's value is the class's module (``"Scorer.brevity" = "a_lab.brevity"``) or an annex's package
(``"Annex.battles" = "a_lab.battles"``). Looking up entry points doesn't import these modules.
"""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import file_hash, value_hash

GROUP = "ragrelay"
C = TypeVar("C")


@cache
def _entries() -> EntryPoints:
    """Return all entry points in the group. Cached, because searching the installed packages takes about 40 ms."""
    return entry_points(group=GROUP)


@cache
def extensions(base: str) -> dict[str, str]:
    """Return all entry points that extend the class named ``base``, as a mapping from names to modules.

    Raises InputError for an unusable entry point.
    """
    modules: dict[str, str] = {}
    for entry in _entries():
        place = f"entry point {entry.name!r} of {entry.dist.name if entry.dist else 'a package'}"
        kind, _, name = entry.name.partition(".")
        if not kind.isidentifier() or not name.isidentifier():
            raise InputError(place, "a name in another form", "a base class, a dot and a name, such as Scorer.brevity")
        if source_folder(entry.value.partition(".")[0]) is None:
            raise InputError(place, f"no package {entry.value.partition('.')[0]!r}", "a package with an __init__.py")
        if kind == base and modules.setdefault(name, entry.value) != entry.value:
            raise InputError(
                place, f"{entry.value} and {modules[name]} under the same name", "a name that no other package uses"
            )
    return modules


def extended() -> set[str]:
    """Return the names of the base classes that entry points extend."""
    return {entry.name.partition(".")[0] for entry in _entries()}


def import_extension(module: str) -> ModuleType:
    """Import a module that an entry point refers to. Raises InputError if the import fails."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # the other package may raise anything
        if module.startswith("ragrelay."):
            raise
        found = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"module {module}", found, "a module that can be imported") from error


def classes_of(module: ModuleType, base: type[C]) -> list[type[C]]:
    """Return the subclasses of ``base`` that are defined in ``module`` itself."""
    own = (member for member in vars(module).values() if getattr(member, "__module__", "") == module.__name__)
    return [member for member in own if isinstance(member, type) and issubclass(member, base)]


@cache
def extending_packages() -> tuple[str, ...]:
    """Return the sorted names of the top-level packages that entry points refer to."""
    return tuple(sorted({entry.value.partition(".")[0] for entry in _entries()}))


@cache
def source_folder(package: str) -> Path | None:
    """Return the folder that contains a top-level package or module, or None if no Python source is installed."""
    spec = find_spec(package)
    if not (spec and spec.origin and spec.origin.endswith(".py")):
        return None
    return Path(spec.origin).parents[1 if spec.submodule_search_locations is not None else 0]


def source_file(module: str) -> Path | None:
    """Return the source file of a module in an extending package, or None if there is none."""
    folder = source_folder(module.partition(".")[0])
    if folder is None:
        return None
    path = folder.joinpath(*module.split("."))
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def package_folder(package: str) -> Path:
    """Return a package's folder. Raises InputError if ``package`` isn't a package."""
    path = source_file(package)
    if path is None or path.name != "__init__.py":
        raise InputError(f"module {package}", "no folder with an __init__.py", "a package")
    return path.parent


@cache
def source_hash(module: str) -> str:
    """Return a 16-digit hash of the source of ``module`` and of all modules that it imports from the same package."""
    waiting, files = [module], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name not in files and (path := source_file(name)):
            files[name] = file_hash(path)
            waiting += filter(None, [name.rpartition(".")[0], *_imported(name, path)])
    return value_hash(files)


def _imported(module: str, path: Path) -> Iterator[str]:
    """Yield the names that a module imports from its own top-level package; not all of them are modules."""
    top, above = module.partition(".")[0], module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes(), filename=str(path))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            steps = above.split(".")[: len(above.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*steps, *([node.module] if node.module else [])])
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] == top)
