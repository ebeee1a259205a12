"""The public names: the docs list the code's, and use no other."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from ragrelay import extend
from ragrelay.base.annex import annexes
from ragrelay.base.public_names import defined_at, public_names

from tests.support.imports import PACKAGE
from tests.support.sandbox import ROOT
from tools.public_names import PAGE, START, listed

LOOK = """
import sys
from ragrelay.extend import Retriever
heavy = {"torch", "vllm", "pandas", "pyterrier", "transformers", "snakemake"} & {*sys.modules}
print(*sorted(heavy), sum(name.startswith("ragrelay.annexes.") for name in sys.modules))
"""


def test_the_page_lists_every_name() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.partition(START)[2].partition("<!-- -->")[0].strip() == listed()
    assert "| . |" not in listed()


def test_every_name_is_there() -> None:
    assert len(public_names()) > 40
    for name, module in public_names().items():
        assert getattr(extend, name) is not None
        assert module.startswith("ragrelay.")
    assert dir(extend) == sorted(public_names())
    for annex in annexes():
        assert {*annex.extends.values()} <= {name for name in sys.modules if name.startswith(annex.package)}
    with pytest.raises(AttributeError):
        extend.Nothing  # noqa: B018


def test_a_name_loads_its_module_alone() -> None:
    """Questions and kinds import it when Snakemake starts."""
    done = subprocess.run([sys.executable, "-c", LOOK], text=True, capture_output=True, check=True)
    assert done.stdout.split()[:-1] == []


def test_a_moved_name_works_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extend.MOVED, "Ranker", "Retriever")
    with pytest.warns(DeprecationWarning, match=r"ragrelay.extend.Ranker is now Retriever"):
        assert extend.Ranker is extend.Retriever


def test_digests_follow_a_name_to_its_module() -> None:
    assert defined_at("ragrelay.extend:AboutAnswers") == "ragrelay.questions.bases:AboutAnswers"
    assert defined_at("ragrelay.base.errors:InputError") == "ragrelay.base.errors:InputError"


def test_the_docs_import_public_names_alone() -> None:
    """Examples on pages, and the package that shows extensions."""
    pages = [*ROOT.glob("docs/*.md"), ROOT / "README.md", *ROOT.glob("tests/support/a_lab/**/*.py")]
    imported = {
        (module, name.strip())
        for path in pages
        for module, names in re.findall(r"from (ragrelay[\w.]*) import ([\w, ]+)", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    doors = {"ragrelay.bertscore", "ragrelay.erag.library", "ragrelay.erag", "ragrelay.pyterrier"}
    assert {module for module, _ in imported} - doors <= {"ragrelay.extend"}
    assert {name for module, name in imported if module == "ragrelay.extend"} <= public_names().keys()


Documented = tuple[ast.FunctionDef, str]
"""A function, and the docstring that describes its parameters: for a constructor, its class's."""
ATTRIBUTES = {"property", "cached_property"}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(Path(str(find_spec(module).origin)).read_text(encoding="utf-8"))  # type: ignore[union-attr]


def documented(module: str, name: str) -> dict[str, Documented]:
    """Functions by name: the function ``name``, or the class's public methods, inherited ones too."""
    tree = tree_of(module)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return documented(str(node.module), name) if str(node.module).startswith("ragrelay.") else {}
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return {name: (node, docstring(node))}
        if isinstance(node, ast.ClassDef) and node.name == name:
            found = {key: one for base in node.bases if isinstance(base, ast.Name)
                     for key, one in documented(module, base.id).items()}  # fmt: skip
            for own in (each for each in node.body if isinstance(each, ast.FunctionDef)):
                if own.name in ("__init__", "__new__"):
                    found[own.name] = own, docstring(own) or docstring(node)
                elif not own.name.startswith("_") and (docstring(own) or own.name not in found):
                    found[own.name] = own, docstring(own)
            return found
    return {}


def docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    return ast.get_docstring(node) or ""


def doors() -> Iterator[tuple[str, str]]:
    """Module and name for functions and classes behind ``ragrelay.bertscore`` and the annexes' doors."""
    for door in ("bertscore", *(door for annex in annexes() for door in annex.doors)):
        opened = [node for node in tree_of("ragrelay").body if isinstance(node, ast.FunctionDef) and node.name == door]
        if opened:
            yield "ragrelay", door
            texts = [node.value for node in ast.walk(opened[0]) if isinstance(node, ast.Constant)]
            modules = [text for text in texts if isinstance(text, str) and re.fullmatch(r"ragrelay\.[\w.]+", text)]
        else:
            modules = [f"ragrelay.{door}"]
            imports = [node for node in tree_of(modules[0]).body if isinstance(node, ast.ImportFrom)]
            offered = [(str(node.module), alias.name) for node in imports for alias in node.names]
            yield from (one for one in offered if one[0].startswith(f"ragrelay.{door}."))
            if not offered:
                modules += [f"ragrelay.{door}.{path.stem}" for path in (PACKAGE / door).glob("[!_]*.py")]
        for module in modules:
            defined = [node for node in tree_of(module).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
            yield from ((module, node.name) for node in defined if not node.name.startswith("_"))


def section(text: str, heading: str) -> list[str] | None:
    """The names that a docstring section describes; None without the section."""
    lines = inspect.cleandoc(text).splitlines()
    if f"{heading}:" not in lines:
        return None
    after = lines[lines.index(f"{heading}:") + 1 :]
    ends = after.index("") if "" in after else len(after)
    return [line.strip().partition(":")[0] for line in after[:ends] if re.match(r"    \S", line)]


def parameters(node: ast.FunctionDef) -> list[str]:
    given = node.args
    named = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    several = [f"*{given.vararg.arg}"] if given.vararg else []
    keys = [f"**{given.kwarg.arg}"] if given.kwarg else []
    return [name for name in (*named, *several, *keys) if name not in ("self", "cls")]


def missing(node: ast.FunctionDef, text: str) -> list[str]:
    """What a docstring lacks: a section, or parameters in it."""
    attribute = any(ast.unparse(each).rpartition(".")[2] in ATTRIBUTES for each in node.decorator_list)
    constructs = node.name in ("__init__", "__new__")
    returned = ast.unparse(node.returns) if node.returns and not attribute and not constructs else "None"
    raised = [each.exc for each in ast.walk(node) if isinstance(each, ast.Raise)]
    refuses = any(isinstance(each, ast.Call) and ast.unparse(each.func) == "InputError" for each in raised)
    names = parameters(node)
    return [
        *([f"Args: {names}"] if sorted(section(text, "Args") or []) != sorted(names) else []),
        *(["Returns:"] if returned != "None" and section(text, "Returns") is None else []),
        *(["Raises:"] if refuses and "InputError" not in (section(text, "Raises") or []) else []),
    ]


def test_docstrings_of_public_functions_have_their_sections() -> None:
    """``Args:`` names exactly the parameters, and ``Returns:`` and ``Raises:`` are there if they apply."""
    public = [*((module, name) for name, module in public_names().items()), *doors()]
    checked = {(module, name, key): one for module, name in public for key, one in documented(module, name).items()}
    assert len(checked) > 200
    assert {key: lacks for key, one in checked.items() if (lacks := missing(*one))} == {}


def test_missing_sections_are_found() -> None:
    code = 'def f(self, a, *b, **c) -> int:\n    """Do."""\n    raise InputError(a)\n'
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.FunctionDef)
    assert missing(node, "Do.") == ["Args: ['a', '*b', '**c']", "Returns:", "Raises:"]
    sections = ("Do.", "Args:\n    a: A.\n    *b: B.\n    **c: C\n        and D.", "Returns:\n    It.")
    full = "\n\n".join([*sections, "Raises:\n    InputError: No."])
    assert missing(node, full) == []
    assert missing(node, full.replace("a: A.", "d: D.")) == ["Args: ['a', '*b', '**c']"]
