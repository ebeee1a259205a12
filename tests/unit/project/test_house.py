"""The plan of the package: who may import whom."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.sandbox import ROOT

PACKAGE = ROOT / "workflow" / "scripts" / "ragrelay"
# Each may import those before it. The ground floor is the first line.
ORDER = (
    "errors", "readability", "settings", "io", "vocabulary", "grid", "own_code", "kinds", "own_functions",
    "answer_formats", "models",
    "display", "collection", "jobs", "prompting", "retrieval", "generation", "exchange", "likelihoods", "nuggets",
    "scoring", "judging", "fetching", "analysis", "context_use", "context_perplexity", "annotations", "claims",
    "asking", "planning", "erag",
    "bertscore", "prediction", "reproduction", "compare", "explorer", "report", "config", "study", "results",
    "pyterrier",
)  # fmt: skip


def is_typing(node: ast.AST) -> bool:
    """Whether a statement is for types alone, and never runs."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(package, package that it imports, file) of every import under ``folder``, at the top or in a function."""
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        types = {id(one) for node in ast.walk(tree) if is_typing(node) for one in ast.walk(node)}
        for node in ast.walk(tree):
            names: list[str] = []
            if id(node) in types:
                continue
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE.name:
                names = [f"{PACKAGE.name}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for name in names:
                if name.startswith(f"{PACKAGE.name}."):
                    yield relative.parts[0].removesuffix(".py"), name.split(".")[1], str(relative)


def test_every_package_has_its_place() -> None:
    left_out = ("__init__.py", "__pycache__", "py.typed")
    found = {path.stem for path in PACKAGE.iterdir() if path.name not in left_out}
    assert found == set(ORDER)


def test_imports_go_down() -> None:
    """So that there is no cycle of packages: what is below knows nothing of what is above it."""
    place = {name: number for number, name in enumerate(ORDER)}
    seen = list(imports(PACKAGE))
    assert len(seen) > 300
    assert [climb for climb in seen if place[climb[1]] > place[climb[0]]] == []


def defined(sort: type[ast.ClassDef] | type[ast.Assign]) -> dict[str, list[str]]:
    """Files by the class, or the constant, that they define at the top."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, sort)]
        targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
        names = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
        for name in [*names, *(target.id for target in targets if isinstance(target, ast.Name))]:
            found.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    return found


def test_one_word_is_one_class() -> None:
    """Apart from kinds, which are named as their modules, and from what is declared here and shown there."""
    classes = defined(ast.ClassDef)
    twice = {name for name, files in classes.items() if len([f for f in files if f.count("/") == 1]) > 1}
    assert twice == {"Column", "Table"}
    once = ("Study", "Section", "Grid", "KeyedFiles")
    assert [classes[name] for name in once] == [
        ["config/study.py"], ["report/display/sections.py"], ["report/display/sections.py"], ["base/io/keyed_files.py"],
    ]  # fmt: skip


def test_words_of_the_vocabulary_are_defined_there_alone() -> None:
    constants = defined(ast.Assign)
    words = {name: files for name, files in constants.items() if any(f.startswith("vocabulary/") for f in files)}
    assert {"UNSEEN", "ZEROSHOT", "NO_ORDERING", "CELL"} <= set(words)
    own = {"COLUMNS", "LABEL", "PERMUTATIONS", "RANDOM"}  # each module's own: its table's columns, a pattern, a number
    assert {name: files for name, files in words.items() if len(files) > 1 and name not in own} == {}
    assert constants["Cell"] == ["scoring/answer_cells.py"]


def test_one_module_writes_to_the_terminal() -> None:
    """`base/display/terminal.py`, which escapes what a terminal would obey: say() for output, tell() for errors."""
    writes = re.compile(r"(?<![\w.])print\(|\bstd(out|err)\.write")
    scripts = [*(ROOT / "workflow").rglob("*.py"), *(ROOT / "rules").glob("*.smk"), ROOT / "Snakefile"]
    found = {str(path.relative_to(ROOT)) for path in scripts if writes.search(path.read_text(encoding="utf-8"))}
    assert found == {"workflow/scripts/ragrelay/base/display/terminal.py"}
