"""A digest of the code a rule runs, so that editing a module reruns the stages that import it and no others.

Snakemake's own trigger sees only the modification time of the script file. This one follows the script's
imports through the package and hashes syntax trees, docstrings left out: comments, formatting and documentation
rerun nothing.

Parsing the whole package takes half a second, and each job of a cluster starts Snakemake anew. What was read from a
file is therefore kept, by the file's content, beside Python's own compiled modules.
"""

import ast
import contextlib
import functools
import json
import sys
from collections.abc import Iterable, Iterator
from importlib.util import cache_from_source
from pathlib import Path

from ragrelay.io.atomic_files import write_text
from ragrelay.io.hashing import file_hash, text_hash
from ragrelay.io.workflow_files import ROOT

KEPT = Path(cache_from_source(__file__)).with_suffix(".json")
SCRIPTS = ROOT / "workflow" / "scripts"
PACKAGES = Path(__file__).parents[2]
PACKAGE = "ragrelay"
ANSWERING = (
    *(f"{PACKAGE}.generation.{name}" for name in (
        "endpoint", "endpoint_replies", "engine", "engines", "fingerprint", "job", "past_jobs", "status",
        "store")),
    *(f"{PACKAGE}.likelihoods.{name}" for name in ("engines", "job", "past_jobs", "scoring", "store")),
    *(f"{PACKAGE}.{name}" for name in (
        "display.progress", "io.atomic_files", "io.parquet_parts", "jobs", "models", "scoring.store",
        "scoring.store_filling")),
)  # fmt: skip
"""Modules and packages that answer what a job asks, and keep the answers. They decide none of the questions."""


@functools.cache
def code_digest(script: str, *modules: str, folder: Path = SCRIPTS, without: tuple[str, ...] = ()) -> str:
    """16 hex digits for ``script`` (a file name in ``folder``) and every package module it imports, directly or not.

    ``without``: modules and packages that don't count, nor what they alone import.

    The package is in ``folder`` too; an installed one has the workflow's own scripts inside.
    ``modules`` are those that it imports by a name that its code doesn't say: the kind's that the job asks for.
    """
    packages, known = PACKAGES if folder == SCRIPTS else folder, len(_trees())
    named = [file for module in modules for file in _files(module, packages)]
    imported = _reached([folder / script, *named], packages, without) - {folder / script}
    files = {Path(script): folder / script} | {path.relative_to(packages): path for path in imported}
    digest = text_hash("\n".join(f"{name} {_tree(files[name])[1]}" for name in sorted(files)))[:16]
    if len(_trees()) > known:
        _keep_trees()
    return digest


def questions_digest(script: str, *modules: str, folder: Path = SCRIPTS) -> str:
    """The code_digest of what ``script`` asks an engine, without what answers it (ANSWERING).

    An edit of the engine's part must not ask again what has been answered; one of the questions must ask.
    """
    return code_digest(script, *modules, folder=folder, without=ANSWERING)


def _reached(starts: Iterable[Path], folder: Path, without: tuple[str, ...] = ()) -> set[Path]:
    left_out = tuple(f"{name}." for name in without)
    reached: set[Path] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            names = [name for name in _tree(path)[0] if not f"{name}.".startswith(left_out)]
            waiting += [file for name in names for file in _files(name, folder)]
    return reached


@functools.cache
def _tree(path: Path) -> tuple[frozenset[str], str]:
    """Names a file imports from the package, and a hash of its syntax tree without docstrings and descriptions."""
    text, trees = path.read_text(encoding="utf-8"), _trees()
    if (content := text_hash(text)) not in trees:
        trees[content] = _parsed(text, path)
    *names, tree = trees[content]
    return frozenset(names), tree


@functools.cache
def _maker() -> str:
    """What a tree depends on besides a file's text: this module and Python's parser."""
    return f"{file_hash(__file__)} {sys.version}"


@functools.cache
def _trees() -> dict[str, list[str]]:
    """What _parsed gives, by the SHA-256 of a file's text; to begin with what earlier processes have kept."""
    try:
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = None  # none yet, or not ours: it is made again
    return kept["trees"] if isinstance(kept, dict) and kept.get("maker") == _maker() else {}


def _keep_trees() -> None:
    """Keep the trees for the next process."""
    if not sys.dont_write_bytecode:
        with contextlib.suppress(OSError):  # as with compiled modules: where it can't write, the next reads again
            write_text(json.dumps({"maker": _maker(), "trees": _trees()}), KEPT)


def _parsed(text: str, path: Path) -> list[str]:
    tree = ast.parse(text, filename=str(path))
    names: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []  # read by type checkers alone
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:]
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            # What a kind's keys mean: documentation, as docstrings are.
            node.value.keywords = [keyword for keyword in node.value.keywords if keyword.arg != "description"]
    inside = sorted(name for name in names if name.split(".")[0] == PACKAGE)
    return [*inside, text_hash(ast.dump(tree, annotate_fields=False))]


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The module and every statement in it. Expressions, most of a tree, contain no imports or docstrings."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, name, [])


@functools.cache
def _files(name: str, folder: Path) -> list[Path]:
    """The files that importing ``name`` runs: its module and the ``__init__`` of every package above it."""
    steps = name.split(".")
    found = [folder.joinpath(*steps[:depth], "__init__.py") for depth in range(1, len(steps) + 1)]
    return [path for path in [*found, folder.joinpath(*steps).with_suffix(".py")] if path.is_file()]
