"""The plan of the package: who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.sandbox import ROOT

PACKAGE = ROOT / "workflow" / "scripts" / "ragrelay"
# Each may import those before it. The ground floor is the first line.
ORDER = (
    "errors", "io", "own_code", "kinds", "vocabulary", "models", "display",
    "collection", "jobs", "prompting", "retrieval", "generation", "likelihoods", "scoring", "fetching", "analysis",
    "context_use", "annotations", "claims", "erag", "explorer", "report", "compare", "config",
)  # fmt: skip


def imports(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(package, package that it imports, file) of every import under ``folder``, at the top or in a function."""
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
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
    found = {path.stem for path in PACKAGE.iterdir() if path.stem != "__init__" and path.name != "__pycache__"}
    assert found == set(ORDER)


def test_imports_go_down() -> None:
    """So that there is no cycle of packages: what is below knows nothing of what is above it."""
    place = {name: number for number, name in enumerate(ORDER)}
    seen = list(imports(PACKAGE))
    assert len(seen) > 300
    assert [climb for climb in seen if place[climb[1]] > place[climb[0]]] == []
