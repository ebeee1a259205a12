"""Compute a digest of the code that a rule runs, so that after an edit, only stages that use the edited code rerun.

Snakemake's own trigger only considers the script file's modification time. Starting from the script, the digest
includes every function, class and constant that the code refers to, directly or indirectly, in any module of the
package. The digest ignores human-readable text (docstrings, comments, descriptions of columns and keys, wording of
messages), configuration keys that no job reads, function annotations and the version (see message_texts).

Module and file names don't affect the digest, because each name that is imported or defined in the module is replaced
by a hash of its definition, including the definition's dependencies. Code can therefore move between modules, and
modules can be renamed or split. Definitions that depend on each other are hashed together.

If it is unclear what will run, the digest includes too much rather than too little. In an imported module, everything
except definitions is included (calls, conditions, registrations, unknown decorators), and so is all code that
definitions call during the import. A module is included completely if it is used as a value, lacks the requested name,
or is imported dynamically, such as a retriever's module. A class is always included completely. A string is treated as
a name if it equals a definition's name in the same module, a module's full name, or ``module:CONSTANT``.

Parsing the entire package takes a second, and on a cluster, every job starts Snakemake again. Results are therefore
cached, keyed by file content, next to Python's compiled modules.
"""

import ast
import contextlib
import functools
import json
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from ragrelay.base.annex import packages
from ragrelay.base.extensions import extending_packages, package_folder, source_file
from ragrelay.base.io.atomic_files import write_text
from ragrelay.base.io.hashing import file_hash, text_hash
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.base.public_names import EXTEND, public_names
from ragrelay.execution.jobs import message_texts

KEPT = Path(cache_from_source(__file__)).with_suffix(".json")
SCRIPTS = ROOT / "workflow" / "scripts"
PACKAGES = Path(__file__).parents[3]
PACKAGE = "ragrelay"
OURS = (PACKAGE, *extending_packages())
"""Top-level packages whose code is part of the digest."""
ANSWERING = (
    *(f"{PACKAGE}.generation.{name}" for name in (
        "endpoint", "endpoint_replies", "engine", "engine_pool", "engine_use", "engines", "fingerprint", "job",
        "job_logs", "likelihoods.asker", "likelihoods.endpoint_scoring", "likelihoods.job", "likelihoods.scoring",
        "likelihoods.store", "past_jobs", "status", "store")),
    *(f"{PACKAGE}.{name}" for name in (
        "base.display.progress", "base.io.atomic_files", "base.io.parquet_parts", "base.io.part_index", "base.models",
        "report.used", "scoring.store", "scoring.store_filling", "execution.jobs")),
)  # fmt: skip
"""Modules and packages that answer a job's requests and store the answers. They don't affect the requests."""
DESCRIBED = {"text": 0, "integer": 0, "number": 0, "boolean": 0, "Column": 1}
"""Functions in COLUMNS that declare a column, each mapped to the position of the description among its arguments."""
QUIET = {"abc", "contextlib", "dataclasses", "enum", "functools", "typing", "torch.inference_mode", "torch.no_grad"}
"""Decorators, given by name or by module, whose only effect is to change the definition."""

COLUMNS = f"{PACKAGE}.base.vocabulary.columns"
NAMED = re.compile(rf"({'|'.join(OURS)})(\.\w+)+(:[A-Z_]+)?")
"""Matches a string that names a module or a constant in a module, such as a result table's columns."""
LOADED, WHOLE = "", "*"
OUTSIDE = "OUTSIDE_JOBS"


class Node(NamedTuple):
    """A definition in a module. LOADED stands for all code that an import runs, and WHOLE for the entire module."""

    module: str
    name: str


class Element(NamedTuple):
    """The hash of a definition's code (or of the code that importing a module runs), and the ``names`` in this code.

    In the hashed code, each name from the package is replaced by an index into ``names``. Each entry lists all
    definitions that the name may refer to. Names in the same module begin with a dot. ``loads``: the imported modules.
    """

    hash: str
    names: list[list[str]]
    loads: list[str]


class Meaning(NamedTuple):
    """The definitions that a name may refer to (``values``), and the ``nodes`` that run when the name is used."""

    nodes: tuple[Node, ...]
    values: tuple[tuple[Node, str], ...]


class Module(NamedTuple):
    """A parsed module. ``parts``: elements by name, including LOADED. ``imported``: possible sources of imported names.

    ``bound``: names assigned outside definitions; these assignments are always hashed. ``classes``: the classes' names.
    ``listing``: whether classes register themselves (``__init_subclass__``, ``__subclasses__``, metaclasses).
    """

    parts: dict[str, Element]
    imported: dict[str, list[str]]
    bound: list[str]
    classes: list[str]
    listing: bool


@functools.cache
def code_digest(script: str, *modules: str, folder: Path = SCRIPTS, without: tuple[str, ...] = ()) -> str:
    """Return a 16-digit digest of ``script`` and all definitions in the package that the script uses, even indirectly.

    ``script``: a file name in ``folder``, or ``<annex>/<file name>`` for an annex's script. ``modules``: modules that
    the script imports dynamically, such as the module of a retriever's kind; ``module:name`` selects a single
    definition. ``without``: modules and packages to leave out, along with code that only they use. ``folder``: the
    folder with the scripts and, unless it is SCRIPTS, the package.
    """
    code, known = _code(folder), len(_read())
    contents = {code.content(node, without) for node in code.reached(script, modules, without) if code.has_code(node)}
    digest = text_hash("\n".join(sorted(contents)))[:16]
    if len(_read()) > known:
        _keep()
    return digest


def questions_digest(script: str, *modules: str, folder: Path = SCRIPTS) -> str:
    """Return a digest of the code in ``script`` that builds requests to an engine. For the arguments, see code_digest.

    Jobs that ask questions rerun if this code changes, but not if the code of engines and stores changes.
    """
    return code_digest(script, *modules, folder=folder, without=ANSWERING)


class Code:
    """The definitions in the package and in the scripts in ``folder``, each with the definitions that it uses."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.packages = folder, PACKAGES if folder == SCRIPTS else folder
        self.modules: dict[str, Module] = {}
        self.used: dict[Node, tuple[Node, ...]] = {}
        self.paths: dict[str, Path | None] = {}
        self.listed: dict[Path, frozenset[str]] = {}
        self.meant: dict[tuple[str, str], Meaning] = {}
        self.contents: dict[tuple[str, ...], dict[Node, str]] = {}

    def reached(self, script: str, modules: Iterable[str] = (), without: tuple[str, ...] = ()) -> set[Node]:
        """Return all definitions that ``script`` may use, including those in the dynamically imported ``modules``."""
        nodes = set[Node]()
        named = (module.partition(":") for module in modules)
        waiting = [
            Node(script, WHOLE),
            *(node for module, _, name in named for node in self._inside(module, [name] if name else []).nodes),
        ]
        while waiting:
            while waiting:
                node = waiting.pop()
                if node not in nodes and not _left_out(node, without):
                    nodes.add(node)
                    waiting += self._uses(node)
            loaded = [node.module for node in nodes if node.name == LOADED]
            if any(self._module(name).listing for name in loaded):
                every = {Node(name, class_name) for name in loaded for class_name in self._module(name).classes}
                waiting += every - nodes
        return nodes

    def has_code(self, node: Node) -> bool:
        """Return whether a node contains code, rather than only references to other nodes."""
        part = self._module(node.module).parts.get(node.name)
        return bool(part and part.hash)

    def content(self, node: Node, without: tuple[str, ...] = ()) -> str:
        """Return a hash of a node's code and of all code that it depends on. Module names don't affect the hash."""
        known = self.contents.setdefault(without, {})
        if node not in known:
            for circle in _circles(node, lambda each: self._values(each, without), known):
                own = {each: self._own_content(each, known, without) for each in circle}
                together = text_hash("\n".join(sorted(own.values()))) if len(circle) > 1 else ""
                known.update((each, text_hash(f"{own[each]} {together}")) for each in circle)
        return known[node]

    def _values(self, node: Node, without: tuple[str, ...]) -> list[Node]:
        """Return the nodes whose contents are part of this node's content."""
        meanings = (self._named(name, node.module) for names in self._names(node) for name in names)
        return [value for each in meanings for value, _ in each.values if not _left_out(value, without)]

    def _own_content(self, node: Node, known: dict[Node, str], without: tuple[str, ...]) -> str:
        """Return a node's content. Nodes in the same circle, which aren't ``known`` yet, only contribute their code."""

        def of(name: str) -> list[str]:
            found = []
            for value, rest in self._named(name, node.module).values:
                inner = "" if _left_out(value, without) else known.get(value) or self._code_hash(value)
                found.append(f"{inner or value.name}{rest}")
            return found

        parts = [sorted(text for name in names for text in of(name)) for names in self._names(node)]
        name = "" if node.name == WHOLE else node.name
        return text_hash(repr((name, self._code_hash(node), parts)))

    def _code_hash(self, node: Node) -> str:
        part = self._module(node.module).parts.get(node.name)
        return part.hash if part else ""

    def _names(self, node: Node) -> list[list[str]]:
        """Return the names that a node uses or, if it is an entire module, the names that it contains."""
        module = self._module(node.module)
        if node.name != WHOLE:
            return module.parts[node.name].names if node.name in module.parts else []
        return [
            *([f".{name}"] for name in sorted(module.parts) if name),
            *(module.imported[name] for name in sorted(module.imported)),
        ]

    def _uses(self, node: Node) -> tuple[Node, ...]:
        if node not in self.used:
            self.used[node] = tuple(dict.fromkeys(self._find_uses(node)))
        return self.used[node]

    def _find_uses(self, node: Node) -> Iterator[Node]:
        above = node.module.rpartition(".")[0]
        module = self._module(node.module)
        if node.name != LOADED:
            yield Node(node.module, LOADED)
        elif above and not node.module.endswith(".py"):
            yield Node(above, LOADED)
        if node.name == WHOLE:
            yield from (Node(node.module, name) for name in module.parts)
            for names in module.imported.values():
                for name in names:
                    yield from self._named(name).nodes
        elif node.name in module.parts:
            part = module.parts[node.name]
            yield from (Node(name, LOADED) for name in part.loads if self._path(name))
            for names in part.names:
                for name in names:
                    yield from self._named(name, node.module).nodes

    def _named(self, name: str, module: str = "") -> Meaning:
        """Resolve a dotted name of the package, or of ``module`` if it begins with a dot."""
        key = (module if name[0] == "." else "", name)
        if key not in self.meant:
            first, *rest = name.split(".")
            inside = first or module
            self.meant[key] = self._inside(inside, rest) if self._path(inside) else Meaning((), ())
        return self.meant[key]

    def _inside(self, module: str, steps: list[str], past: frozenset[Node] = frozenset()) -> Meaning:
        """Resolve ``steps`` in ``module``: a name, followed by its attributes as long as they are modules."""
        if not steps:
            return Meaning((Node(module, WHOLE),), ((Node(module, WHOLE), ""),))
        (name, *rest), here = steps, self._module(module)
        after, found = "".join(f".{step}" for step in rest), list[Meaning]()
        if name in here.parts:
            found.append(Meaning((Node(module, name),), ((Node(module, name), after),)))
        for target in here.imported.get(name, []) if Node(module, name) not in past else []:
            first, *more = target.split(".")
            if self._path(first):
                found.append(self._inside(first, [*more, *rest], past | {Node(module, name)}))
            else:
                found.append(Meaning((), ((Node("", target), after),)))
        if self._path(inner := f"{module}.{name}"):
            found.append(self._inside(inner, rest, past))
        if not found:
            node = Node(module, LOADED if name in here.bound else WHOLE)
            found.append(Meaning((node,), ((node, f".{name}{after}"),)))
        return Meaning(
            (Node(module, LOADED), *(node for each in found for node in each.nodes)),
            tuple(value for each in found for value in each.values),
        )

    def _module(self, name: str) -> Module:
        if name not in self.modules:
            path = self._path(name)
            self.modules[name] = _module(name, path) if path else Module({}, {}, [], [], False)
            if name == EXTEND and path:  # each name stands for one in another module
                names = {public: [f"{module}.{public}"] for public, module in public_names(path).items()}
                self.modules[name] = self.modules[name]._replace(parts={}, imported=names)
        return self.modules[name]

    def _path(self, name: str) -> Path | None:
        """Return the file of a module, or of the script."""
        if name not in self.paths:
            self.paths[name] = self._find_path(name)
        return self.paths[name]

    def _find_path(self, name: str) -> Path | None:
        if name.endswith(".py"):
            annex, _, script = name.partition("/")
            own = script and annex in packages() and self._annex_folder(packages()[annex]) / "scripts" / script
            return own if own and own.is_file() else self.folder / name
        above, _, last = name.rpartition(".")
        if not above and name in OURS and name != PACKAGE:
            return source_file(name)
        folder = self.packages if not above else (path := self._path(above)) and path.parent
        if not _ours(name) or not folder or (above and path and path.name != "__init__.py"):
            return None
        if folder not in self.listed:
            self.listed[folder] = frozenset(path.name for path in folder.iterdir())
        if f"{last}.py" in self.listed[folder]:
            return folder / f"{last}.py"
        return init if last in self.listed[folder] and (init := folder / last / "__init__.py").is_file() else None

    def _annex_folder(self, package: str) -> Path:
        return self.packages.joinpath(*package.split(".")) if package.startswith(PACKAGE) else package_folder(package)


_code = functools.cache(Code)


def _left_out(node: Node, without: tuple[str, ...]) -> bool:
    return any(node.module == name or node.module.startswith(f"{name}.") for name in without)


def _circles(root: Node, values: Callable[[Node], list[Node]], done: Container[Node]) -> Iterator[list[Node]]:
    """Yield the circles that ``root`` leads to and that aren't ``done``, each after the circles that it depends on.

    Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM J. Comput. 1 (1972), without recursion.
    """
    number, low, open_nodes = {root: 0}, {root: 0}, [root]
    is_open, path = {root}, [(root, iter(values(root)))]
    while path:
        node, following = path[-1]
        for value in following:
            if value in done:
                continue
            if value not in number:
                number[value] = low[value] = len(number)
                open_nodes.append(value)
                is_open.add(value)
                path.append((value, iter(values(value))))
                break
            if value in is_open:
                low[node] = min(low[node], number[value])
        else:
            path.pop()
            if path:
                low[path[-1][0]] = min(low[path[-1][0]], low[node])
            if low[node] == number[node]:
                circle = open_nodes[open_nodes.index(node) :]
                del open_nodes[-len(circle) :]
                is_open.difference_update(circle)
                yield circle


def _module(name: str, path: Path) -> Module:
    text, read = path.read_text(encoding="utf-8"), _read()
    if (content := f"{name} {text_hash(text)}") not in read:
        read[content] = _parsed(text, path, name)
    parts, *others = read[content]
    return Module({part: Element(*values) for part, values in parts.items()}, *others)


@functools.cache
def _maker() -> str:
    """Identify a parsed file's dependencies besides its text: these modules and Python's parser."""
    return f"{file_hash(__file__)} {file_hash(message_texts.__file__)} {sys.version} {OURS}"


@functools.cache
def _read() -> dict[str, list[Any]]:
    """Return the results of _parsed, by module name and SHA-256 of the text, beginning with those stored on disk."""
    try:
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = None  # none yet, or damaged: start over
    return kept["modules"] if isinstance(kept, dict) and kept.get("maker") == _maker() else {}


def _keep() -> None:
    """Write the parsed modules to disk for the next process."""
    if not sys.dont_write_bytecode:
        with contextlib.suppress(OSError):  # as with compiled modules, if writing fails, the next process parses again
            write_text(json.dumps({"maker": _maker(), "modules": _read()}), KEPT)


Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def _parsed(text: str, path: Path, name: str) -> list[object]:
    """Parse a module, and return a Module as plain values for JSON."""
    tree = ast.parse(text, filename=str(path))
    message_texts.remove_words(tree)
    _remove_keys_outside_jobs(tree)
    top = _Reading(name, path)  # collects all names that imports bind
    definitions: dict[str, list[ast.stmt]] = {}
    loose: list[ast.stmt] = []
    for statement in tree.body:
        for defined in (names := _defined(statement)):
            definitions.setdefault(defined, []).append(statement)
        if not names or (isinstance(statement, Definition) and not all(map(top.quiet, statement.decorator_list))):
            loose.append(statement)
            top.read(statement)
    inside = [node for each in loose if not isinstance(each, Definition) for node in ast.walk(each)]
    bound = {node.id for node in inside if isinstance(node, ast.Name)}
    bound |= {node.name for node in inside if isinstance(node, Definition)}
    texts = {
        target.id: each.value.value
        for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    known = _Known(dict(top.imported), {*definitions, *bound}, name == COLUMNS, texts)
    readings = {part: [known.reading(name, path, each) for each in each_of] for part, each_of in definitions.items()}
    when_imported = [
        reading
        for statement in {id(each): each for each_of in definitions.values() for each in each_of}.values()
        for part in _run_at_import(statement)
        if (reading := known.reading(name, path, part)).calls
    ]
    run = [each for each in loose if not isinstance(each, ast.Import | ast.ImportFrom)]
    loaded = [known.reading(name, path, each) for each in run if not _for_types(each) or each.orelse]
    used = {step for each_of in [*readings.values(), loaded] for each in each_of for step in each.firsts}
    used |= {word for node in ast.walk(tree) for word in _names_read(node)}
    parts = {part: known.part(each_of) for part, each_of in readings.items()}
    for_effect = [f"{alias}={targets}" for alias, targets in sorted(known.imported.items())
                  if alias not in used and not all(map(_ours, targets))]  # fmt: skip
    starred = [target for target in known.imported.get("*", []) if _ours(target)]
    whole, called = known.part(loaded, for_effect), known.part(when_imported)
    uses = [*whole[1], sorted({*starred, *(each for names in called[1] for each in names)})]
    parts[LOADED] = [whole[0], uses, sorted(filter(_ours, top.loads))]
    imported = {alias: targets for alias, targets in known.imported.items() if any(map(_ours, targets))}
    listing = any(word in text for word in ("init_subclass__", "__subclasses__", "__set_name__"))
    with_keywords = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.keywords]
    listing |= any(list(map(_chain, each.bases)) != [["TypedDict"]] for each in with_keywords)
    classes = [each.name for each in tree.body if isinstance(each, ast.ClassDef)]
    return [parts, imported, sorted(bound | {*known.imported} - {*imported}), classes, listing]


def _remove_keys_outside_jobs(tree: ast.Module) -> None:
    """Remove the class fields that no job reads, which are marked with OUTSIDE_JOBS (base/settings.py)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.body = [each for each in node.body if not isinstance(each, ast.AnnAssign) or not any(
                isinstance(part, ast.Name) and part.id == OUTSIDE for part in ast.walk(each.annotation))]  # fmt: skip


def _ours(name: str) -> bool:
    return name.partition(".")[0] in OURS


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines; empty if it may do anything else."""
    if isinstance(statement, Definition):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign) or type(statement).__name__ == "TypeAlias":
        target = statement.target if isinstance(statement, ast.AnnAssign) else statement.name  # type: ignore[attr-defined]
        return [target.id] if isinstance(target, ast.Name) else []
    if isinstance(statement, ast.Assign):
        targets = [
            node for each in statement.targets for node in (each.elts if isinstance(each, ast.Tuple) else [each])
        ]
        if all(isinstance(node, ast.Name) for node in targets):
            return [node.id for node in targets if isinstance(node, ast.Name)]
    return []


def _run_at_import(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a definition that run when its module is imported."""
    if isinstance(statement, Function):
        arguments = statement.args
        return [*statement.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)]
    if isinstance(statement, ast.ClassDef):
        own: list[ast.AST] = [each for each in statement.body if not isinstance(each, Definition)]
        inner = [part for each in statement.body if isinstance(each, Definition) for part in _run_at_import(each)]
        return [*statement.decorator_list, *own, *inner]
    return [statement]


class _Known(NamedTuple):
    """Facts about a module: the names it imports, its ``own``, whether it is COLUMNS, and its string constants."""

    imported: dict[str, list[str]]
    own: set[str]
    columns: bool
    texts: dict[str, str]

    def reading(self, name: str, path: Path, node: ast.AST) -> "_Reading":
        """Collect a syntax node's code and the names that the code uses."""
        reading = _Reading(name, path, self)
        reading.read(node)
        return reading

    def describes(self, name: str) -> bool:
        """Return whether calling ``name`` declares a column."""
        return name in DESCRIBED and (self.columns or f"{COLUMNS}.{name}" in self.imported.get(name, []))

    def part(self, readings: list["_Reading"], more: Iterable[str] = ()) -> list[Any]:
        """Combine ``readings`` into one Element."""
        names: dict[tuple[str, ...], int] = {}
        means: dict[str, set[str]] = {}
        code: list[str] = []
        for reading in readings:
            pieces = [piece if isinstance(piece, str) else self._in_code(piece, reading, names, means)
                      for piece in reading.pieces]  # fmt: skip
            pieces += [f"{text}={self._in_code((text,), reading, names, means)}" for text in sorted(reading.texts)]
            if pieces:
                code.append(" ".join(pieces))
        code += more
        loads = {load for reading in readings for load in reading.loads if _ours(load)}
        sources = sorted((alias, sorted(found)) for alias, found in means.items())
        return [text_hash(repr((code, sources)))[:16] if code else "", [list(each) for each in names], sorted(loads)]

    def _in_code(
        self, chain: tuple[str, ...], reading: "_Reading", names: dict[tuple[str, ...], int], means: dict[str, set[str]]
    ) -> str:
        """Return the hashed form of a dotted name; for a package name, this is its number in ``names``.

        ``means`` gets the sources of names from other packages.
        """
        targets = {*reading.imported.get(chain[0], []), *self.imported.get(chain[0], [])}
        ours = {".".join([target, *chain[1:]]) for target in targets if _ours(target)}
        if chain[0] in self.own:
            ours.add("." + ".".join(chain))
        text = f"@{names.setdefault(tuple(sorted(ours)), len(names))}" if ours else ".".join(chain)
        if others := {target for target in targets if not _ours(target)}:
            means.setdefault(text if ours else chain[0], set()).update(others)
        return text


class _Reading:
    """The content of a syntax tree: code without text for people, names, strings that may be names, and imports."""

    def __init__(self, module: str, path: Path, known: _Known | None = None) -> None:
        self.above = module if path.name == "__init__.py" else module.rpartition(".")[0]
        self.known = known or _Known({}, set(), False, {})
        self.pieces: list[str | tuple[str, ...]] = []
        self.chains: set[tuple[str, ...]] = set()
        self.texts: set[str] = set()
        self.imported: dict[str, list[str]] = {}
        self.loads: set[str] = set()
        self.calls = self.in_function = self.in_annotation = False

    @property
    def firsts(self) -> set[str]:
        return {chain[0] for chain in self.chains} | self.texts

    def quiet(self, decorator: ast.expr) -> bool:
        """Return whether a decorator only changes the definition, without any other effect."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        first, *rest = _chain(called) or [""]
        names = [".".join([target, *rest]) for target in self.imported.get(first, [])]
        return bool(names) and all(name in QUIET or name.partition(".")[0] in QUIET for name in names)

    def read(self, value: object) -> None:
        """Add the code in a syntax node, a list of nodes or a plain value."""
        if isinstance(value, list):
            self.pieces.append("[")
            for item in value:
                self.read(item)
            self.pieces.append("]")
        elif not isinstance(value, ast.AST):
            self.pieces.append(repr(value))
        elif not isinstance(value, ast.expr_context) and not _loose_text(value):
            self._read_node(value)

    def _read_node(self, node: ast.AST) -> None:
        chain = _chain(node)
        if chain:
            self._add_chain(*chain)
            return
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and NAMED.fullmatch(node.value):
                self._add_named(node.value)
                return
            self.pieces.append(f"={node.value!r}")
            if isinstance(node.value, str):
                words = re.findall(r"\w+", node.value) if self.in_annotation else [node.value]
                self.texts |= {word for word in words if word in self.known.own or word in self.known.imported}
            return
        if isinstance(node, ast.JoinedStr):
            parts = [part.value for part in node.values if isinstance(part, ast.Constant | ast.FormattedValue)]
            values = [self.known.texts.get(part.id) if isinstance(part, ast.Name) else part for part in parts]
            if NAMED.fullmatch(text := "".join(value for value in values if isinstance(value, str))):
                self._add_named(text)
                return
        skipped: tuple[str, ...] = ()
        if _for_types(node):
            skipped = ("body",)  # only read by type checkers
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if all(map(_ours, self._bind(node))):
                return  # what the names stand for counts where it is used
        elif isinstance(node, ast.Call):
            self.calls = True
            node = self._without_description(node)
        elif isinstance(node, Function):
            skipped = () if node.returns and _calls(node.returns) else ("returns",)
        elif isinstance(node, ast.arg) or (isinstance(node, ast.AnnAssign) and self.in_function):
            skipped = () if node.annotation and _calls(node.annotation) else ("annotation",)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            # Like docstrings, the descriptions of a kind's keys are documentation.
            node.value.keywords = [keyword for keyword in node.value.keywords if keyword.arg != "description"]
        outer, annotated = self.in_function, self.in_annotation
        self.in_function = not isinstance(node, ast.ClassDef) and (outer or isinstance(node, Function | ast.Lambda))
        self.pieces.append(type(node).__name__)
        for field in node._fields:
            # Python 3.12 added `type_params`. If a definition has none, its digest stays the same as in 3.11.
            if field not in skipped and (field != "type_params" or getattr(node, field, None)):
                self.in_annotation = annotated or field == "annotation"
                self.read(getattr(node, field, None))
        self.pieces.append(";")
        self.in_function, self.in_annotation = outer, annotated

    def _add_chain(self, *chain: str) -> None:
        self.pieces.append(chain)
        self.chains.add(chain)

    def _add_named(self, text: str) -> None:
        self.imported[text] = [text.replace(":", ".")]
        self._add_chain(text)

    def _bind(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Record the names that an import binds, and return their meanings."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                self.imported.setdefault(alias.asname or first, []).append(alias.name if alias.asname else first)
                self.loads.add(alias.name)
            return [alias.name for alias in node.names]
        above = self.above.split(".")[: len(self.above.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        self.loads.add(base)
        for alias in node.names:
            target = base if alias.name == "*" else f"{base}.{alias.name}"
            self.imported.setdefault(alias.asname or alias.name, []).append(target)
            self.loads.add(target)
        return [base]

    def _without_description(self, call: ast.Call) -> ast.Call:
        """Return the call without its description of a column or key."""
        steps = _chain(call.func) or ["", getattr(call.func, "attr", "")]
        arguments, left_out = call.args, ""
        if len(steps) == 1 and self.known.describes(steps[0]):
            at, left_out = DESCRIBED[steps[0]], "about"
            if not any(isinstance(each, ast.Starred) for each in arguments[: at + 1]):
                arguments = [*arguments[:at], *arguments[at + 1 :]]
        elif steps[-1] == "_replace":
            left_out = "about"
        elif steps == ["Field"]:
            left_out = "description"
        keywords = [keyword for keyword in call.keywords if not left_out or keyword.arg != left_out]
        return ast.Call(call.func, arguments, keywords)


def _chain(node: ast.AST) -> list[str]:
    """Return the steps in a dotted name; empty for anything else."""
    steps: list[str] = []
    while isinstance(node, ast.Attribute):
        steps.append(node.attr)
        node = node.value
    return [node.id, *reversed(steps)] if isinstance(node, ast.Name) else []


def _loose_text(node: ast.AST) -> bool:
    """Return whether a node is a docstring or a string below a field."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _for_types(node: ast.AST) -> TypeGuard[ast.If]:
    """Return whether a condition is only true for type checkers."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _names_read(node: ast.AST) -> list[str]:
    """Return the names that a node reads, including those in annotations that are strings."""
    if isinstance(node, ast.Name):
        return [node.id]
    return re.findall(r"\w+", node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _calls(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))
