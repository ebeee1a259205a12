"""List the names in ``ragrelay.extend`` and the modules that define them."""

import ast
from functools import cache
from pathlib import Path

from ragrelay.base.annex import annexes
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.extensions import extended

EXTEND = "ragrelay.extend"


FILE = Path(__file__).parents[1] / "extend.py"


@cache
def public_names(file: Path = FILE) -> dict[str, str]:
    """Return the public names declared in ``file`` and by annexes, each mapped to the module that defines the name."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imports = [node for each in tree.body if isinstance(each, ast.If) for node in each.body]
    core = [node for node in imports if isinstance(node, ast.ImportFrom)]
    return {
        **{alias.name: str(node.module) for node in core for alias in node.names},
        **{name: module for annex in annexes() for name, module in annex.extends.items()},
    }


def check_extensions() -> None:
    """Raise InputError if a package has an entry point for anything but a public base class."""
    for base in sorted(extended() - public_names().keys()):
        raise InputError(f"entry point {base}.*", f"base class {base!r}", one_of(sorted(public_names()), base))


def defined_at(name: str) -> str:
    """Replace ``ragrelay.extend`` in ``name`` (module:name) with the module that defines the public name."""
    module, _, public = name.partition(":")
    return f"{public_names()[public]}:{public}" if module == EXTEND and public in public_names() else name
