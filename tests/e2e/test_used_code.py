"""What real jobs run is in the digest of their code: every function that one calls, and any edit of it.

Each job notes the functions that it calls: those of the small study, run again without its scores, and those that
make the study with every optional part of it.
"""

import ast
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ragrelay.execution.jobs.code_digest import LOADED, SCRIPTS, Code, Node, _code, _defined, _parsed, code_digest

from tests.support.sandbox import Sandbox
from tests.support.traced_jobs import Traced, noted_jobs

FEWEST = {"scripts": 20, "functions": 400}


@pytest.fixture(scope="module", params=[pytest.param("finished", marks=pytest.mark.full), "optional"])
def name(request: pytest.FixtureRequest) -> str:
    """The fixture of the study."""
    return str(request.param)


@pytest.fixture(scope="module")
def jobs(name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the jobs of the study with every optional part noted, or those of the small study, run again."""
    before: Sandbox = request.getfixturevalue(name)
    if name == "optional":
        return noted_jobs(before.folder)
    study = Traced.at(before.copied_to(tmp_path_factory.mktemp("used") / "study").folder)
    for store in (study.folder / "cache").iterdir():
        if store.name not in ("answers", "indexes"):
            shutil.rmtree(store)
    with study.noting():
        study.snakemake("report", "--forceall")
    return noted_jobs(study.folder)


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def places(file: str) -> dict[int, Node]:
    """The node of each line of a file of the package."""
    module, found = module_of(file), dict[int, Node]()
    for statement in ast.parse((SCRIPTS / file).read_text(encoding="utf-8")).body:
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])
        names = _defined(statement)
        found |= {
            line: Node(module, names[0] if names else LOADED) for line in range(first, (statement.end_lineno or 0) + 1)
        }
    return found


@pytest.fixture(scope="module")
def used(jobs: list[dict[str, Any]]) -> dict[tuple[str, tuple[str, ...]], set[Node]]:
    """What the jobs of each script with the same modules use."""
    lines: dict[str, dict[int, Node]] = {}
    found: dict[tuple[str, tuple[str, ...]], set[Node]] = {}
    for job in jobs:
        nodes = found.setdefault((job["script"], tuple(job["modules"])), set())
        for file, line in job["called"]:
            of_file = lines.setdefault(file, places(file))
            nodes.add(of_file.get(line, Node(module_of(file), LOADED)) if line else Node(module_of(file), LOADED))
    return found


def test_every_function_that_a_job_calls_is_in_its_digest(
    name: str, used: dict[tuple[str, tuple[str, ...]], set[Node]]
) -> None:
    code = Code(SCRIPTS)
    missing = {
        f"{script}: {node.module}:{node.name}"
        for (script, modules), nodes in used.items()
        for node in nodes - code.reached(script, modules)
    }
    assert missing == set()
    assert len({(script, *modules[:1]) for script, modules in used}) >= FEWEST["scripts"]
    assert len(set().union(*used.values())) >= FEWEST["functions"]


def sites(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes where the behaviour of a function can be edited: numbers, comparisons, returns, itself."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
        if number or isinstance(node, ast.Compare | ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.Return) and node.value
        ):  # fmt: skip
            yield node
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        waiting += [each for each in ast.iter_child_nodes(node) if each not in annotations]


def edit(node: Any) -> None:
    """Change what a node of ``sites`` does."""
    if isinstance(node, ast.Constant):
        node.value += 1  # type: ignore[operator]
    elif isinstance(node, ast.Compare):
        node.ops = [ast.NotEq() if isinstance(each, ast.Is) else ast.Is() for each in node.ops]
    elif isinstance(node, ast.Return):
        node.value = ast.Tuple([node.value or ast.Constant(None)], ast.Load())
    else:
        node.body.insert(1 if ast.get_docstring(node) else 0, ast.Raise())


def edited(file: str, line: int, chance: random.Random) -> tuple[Node, str] | None:
    """A file of the package after one random edit of the function at ``line``, and the node that it is in."""
    text = (SCRIPTS / file).read_text(encoding="utf-8")
    for statement in ast.parse(text).body:
        for one in ast.walk(statement):
            first = min([getattr(one, "lineno", 0), *(each.lineno for each in getattr(one, "decorator_list", []))])
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and first == line:
                edit(chance.choice(list(sites(one))))
                lines = text.splitlines()
                top = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])
                lines[top - 1 : statement.end_lineno] = [ast.unparse(statement)]
                return Node(module_of(file), (_defined(statement) or [LOADED])[0]), "\n".join(lines)
    return None  # a lambda, or the body of a module


def test_an_edit_of_a_function_that_a_job_calls_changes_its_digest(
    name: str, jobs: list[dict[str, Any]], tmp_path: Path
) -> None:
    """A random edit of any function changes the hash of its definition, and for a sample of them the digests."""
    of_place: dict[tuple[str, int], set[tuple[str, tuple[str, ...]]]] = {}
    for job in jobs:
        for file, line in job["called"]:
            of_place.setdefault((file, line), set()).add((job["script"], tuple(job["modules"])))
    chance, unedited, changes = random.Random(37), {}, {}
    for file, line in sorted(of_place):
        if found := edited(file, line, chance):
            (module, definition), text = found
            if module not in unedited:
                unedited[module] = _parsed((SCRIPTS / file).read_text(encoding="utf-8"), SCRIPTS / file, module)[0]
            assert _parsed(text, SCRIPTS / file, module)[0][definition][0] != unedited[module][definition][0], (
                file,
                line,
            )
            changes[file, line] = text
    assert len(changes) >= FEWEST["functions"]
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))

    def digests(file: str, line: int) -> dict[Any, str]:
        code_digest.cache_clear()
        _code.cache_clear()
        names = sorted(of_place[file, line])
        return {(s, modules): code_digest(s, *modules, folder=tmp_path / "scripts") for s, modules in names}

    for file, line in chance.sample(sorted(changes), 25):
        path, before = tmp_path / "scripts" / file, digests(file, line)
        text = path.read_text(encoding="utf-8")
        path.write_text(changes[file, line], encoding="utf-8")
        after = digests(file, line)
        path.write_text(text, encoding="utf-8")
        assert [one for one in before if before[one] == after[one]] == [], (file, line)
