"""The code digest: what is run decides it, what is only read by people does not."""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ragrelay.execution.jobs import code_digest as codedigest

from tests.support import rule_files
from tests.support.code_edits import reword_messages

FILES = {
    "script.py": '"""A script."""\nfrom ragrelay.direct import work\nfrom ragrelay.parts import tool\nwork(tool)\n',
    "ragrelay/__init__.py": "",
    "ragrelay/direct.py": "def work(x):\n    from ragrelay.indirect import depth\n    return depth + 1\n",
    "ragrelay/indirect.py": "import ragrelay.deepest as d\ndepth = d.value\n",
    "ragrelay/deepest.py": "value = 3\n",
    "ragrelay/parts/__init__.py": "unit = 1\n",
    "ragrelay/parts/tool.py": "grip = 2\n",
    "ragrelay/unrelated.py": "x = 1\n",
    "other.py": "from ragrelay.unrelated import x\n",
}


def start_anew() -> None:
    for function in (codedigest.code_digest, codedigest._code, codedigest._read):
        function.cache_clear()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of this test that trees are kept in."""
    monkeypatch.setattr(codedigest, "KEPT", tmp_path / "kept/trees.json")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # whatever the shell's PYTHONDONTWRITEBYTECODE says
    yield codedigest.KEPT
    start_anew()


@pytest.fixture
def digest(tmp_path: Path, kept: Path) -> Callable[..., str]:
    """A function that writes FILES with some of them changed and returns script.py's digest."""

    def of(changed: dict[str, str] | None = None, script: str = "script.py", modules: tuple[str, ...] = ()) -> str:
        for name, text in (FILES | (changed or {})).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        start_anew()
        return codedigest.code_digest(script, *modules, folder=tmp_path)

    return of


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("script.py", "# why\n" + FILES["script.py"].replace("A script", "Another text") + "\n# end\n"),
        ("script.py", FILES["script.py"].replace("work(tool)", "work(\n    tool,  # a tool\n)")),
        ("ragrelay/direct.py", FILES["ragrelay/direct.py"].replace("(x):\n", '(x):\n    """Work.\n\n    More."""\n')),
        ("ragrelay/direct.py", '"""Module."""\n' + FILES["ragrelay/direct.py"]),
        ("ragrelay/deepest.py", "\n\nvalue   =   3 # three\n"),
        ("ragrelay/deepest.py", 'value = 3\n"""What it is."""\n'),
        ("ragrelay/deepest.py", "value = 3\nother = 4\ndef another(): return other\n"),
        ("ragrelay/deepest.py", "value = 3\nclass Entry(TypedDict, total=False):\n    key: int\n"),
        ("ragrelay/direct.py", FILES["ragrelay/direct.py"].replace("(x)", "(x: int) -> 'int'")),
        ("ragrelay/indirect.py", FILES["ragrelay/indirect.py"] + "more = 1\n"),
        ("ragrelay/parts/__init__.py", "unit = 2\n"),
        ("ragrelay/unrelated.py", "x = 2\n"),
        ("other.py", "print()\n"),
    ],
)
def test_left_alone_by(digest: Callable[..., str], name: str, text: str) -> None:
    before = digest()
    assert digest({name: text}) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("script.py", FILES["script.py"].replace("work(tool)", "work(None)")),
        ("ragrelay/direct.py", FILES["ragrelay/direct.py"].replace("+ 1", "+ 2")),
        ("ragrelay/direct.py", "import functools\n@functools.cache\n" + FILES["ragrelay/direct.py"]),
        ("ragrelay/direct.py", FILES["ragrelay/direct.py"].replace("(x)", "(x=1)")),
        ("ragrelay/indirect.py", FILES["ragrelay/indirect.py"] + "print()\n"),
        ("ragrelay/indirect.py", FILES["ragrelay/indirect.py"] + "if depth:\n    depth = 1\n"),
        ("ragrelay/deepest.py", "value = 4\n"),
        ("ragrelay/deepest.py", "value = 3\nvalue = 4\n"),
        ("ragrelay/deepest.py", "value = 3\nvalue += 1\n"),
        ("ragrelay/deepest.py", "try:\n    import fast\n    value = 3\nexcept ImportError:\n    value = 3\n"),
        ("ragrelay/deepest.py", "value = 3\nclass Entry(Base, total=False):\n    key: int\n"),
        ("ragrelay/parts/tool.py", "grip = 3\n"),
        ("ragrelay/__init__.py", "import os\n"),
        ("ragrelay/parts/__init__.py", "unit = 1\ndel unit\n"),
    ],
)
def test_changed_by(digest: Callable[..., str], name: str, text: str) -> None:
    before = digest()
    assert digest({name: text}) != before
    assert digest() == before, "and back again with the old text"


USES: dict[str, tuple[dict[str, str], str, str]] = {
    "a function of a function": ({"deepest": "def f(): return g()\ndef g(): return 1\nvalue = f()\n"}, "1", "2"),
    "a module used as a value": (
        {"indirect": "import ragrelay.deepest as d\ndepth = vars(d)\n", "deepest": "value = 1\n"}, "1", "2"),
    "a name that is found nowhere": (
        {"deepest": "def __getattr__(name): return some()\ndef some(): return 1\n"}, "1", "2"),
    "everything of a module": (
        {"indirect": "from ragrelay.deepest import *\ndepth = value\n", "deepest": "value = 1\n"}, "1", "2"),
    "a name by way of a package": (
        {"indirect": "from ragrelay.parts import depth\n",
         "parts/__init__": "from ragrelay.deepest import n as depth\n", "deepest": "n = 1\n"}, "1", "2"),
    "the same names, exchanged": (
        {"indirect": "from ragrelay.deepest import one as a, two as b\ndepth = a - b\n",
         "deepest": "one = 1\ntwo = 2\n"}, "one as a, two as b", "one as b, two as a"),
    "a library's name, exchanged": ({"deepest": "from math import floor as f\nvalue = f(2)\n"}, "floor", "ceil"),
    "a library imported for what it does": ({"deepest": "import readline\nvalue = 3\n"}, "readline", "rlcompleter"),
    "a relative import": (
        {"indirect": "from .deepest import value as depth\n", "deepest": "value = 1\n"}, "1", "2"),
    "a method": ({"deepest": "class A:\n    def f(self): return 1\nvalue = A()\n"}, "return 1", "return 2"),
    "a base class": ({"deepest": "class A:\n    n = 1\nclass B(A): ...\nvalue = B()\n"}, "n = 1", "n = 2"),
    "a name in a text": ({"deepest": "def f(): return 1\nvalue = globals()['f']\n"}, "1", "2"),
    "a module in a text": (
        {"deepest": "value = 'ragrelay.another'\n", "another": "def f(): return 1\n"}, "1", "2"),
    "a constant of another module in a text of two": (
        {"deepest": "AT = 'ragrelay'\nvalue = f'{AT}.another:ROWS'\n", "another": "ROWS = 1\n"}, "1", "2"),
    "a constant of another module in a text": (
        {"deepest": "value = 'ragrelay.another:ROWS'\n", "another": "ROWS = 1\n"}, "1", "2"),
    "a type in a field's text": (
        {"deepest": "class A:\n    n = 1\nclass B:\n    a: 'list[A]'\nvalue = B\n"}, "n = 1", "n = 2"),
    "what is called when a module is imported": (
        {"deepest": "def f(): return 1\nunused = f()\nvalue = 3\n"}, "1", "2"),
    "the default of an argument": (
        {"deepest": "def f(): return 1\ndef g(x=f()): ...\nvalue = 3\n"}, "1", "2"),
    "a decorator of the package": (
        {"deepest": "def known(f): return f\n@known\ndef g(): return 1\nvalue = 3\n"}, "1", "2"),
    "a class that others find": (
        {"deepest": "class A:\n    pass\nclass B(A):\n    n = 1\ndef value(): return A.__subclasses__()\n"}, "n = 1",
        "n = 2"),
    "a class that makes itself known": (
        {"deepest": "class A:\n    def __init_subclass__(cls): ...\nclass B(A):\n    n = 1\nvalue = A\n"}, "n = 1",
        "n = 2"),
    "a key of None and all of a mapping": ({"deepest": "value = {None: {}}\n"}, "None: ", "**"),
    "an import in one function of two": (
        {"deepest": "from ragrelay.unrelated import x\ndef value():\n    def a():\n"
         "        from ragrelay.parts.tool import grip as x\n        return x\n    return a() + x\n",
         "unrelated": "x = 1\n"}, "x = 1", "x = 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", USES)
def test_what_is_used_by_whatever_name_counts(digest: Callable[..., str], case: str) -> None:
    files, old, new = USES[case]
    files = {f"ragrelay/{name}.py": text for name, text in files.items()}
    (name, text), *more = [(name, text) for name, text in reversed(files.items()) if old in text]
    assert not more
    before = digest(files)
    assert digest(files | {name: text.replace(old, new)}) != before
    assert digest(files | {name: f"# A comment.\n{text}"}) == before


MOVES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a module is renamed": (
        {"indirect": "import ragrelay.deepest as d\ndepth = d.f(1)\n", "deepest": "def f(x): return x\n"},
        {"indirect": "import ragrelay.lowest as d\ndepth = d.f(1)\n", "lowest": "def f(x): return x\n"}),
    "a definition moves to the one that uses it": (
        {"indirect": "from ragrelay.deepest import f\ndepth = f(1)\n", "deepest": "def f(x): return x\n"},
        {"indirect": "def f(x): return x\ndepth = f(1)\n", "deepest": ""}),
    "a module is split": (
        {"deepest": "A = 1\ndef f(): return A\ndef g(): return f()\nvalue = g()\n"},
        {"deepest": "from ragrelay.lower import g\nvalue = g()\n", "lower": "from ragrelay.lowest import f\n"
         "def g(): return f()\n", "lowest": "A = 1\ndef f(): return A\n"}),
    "a name comes by way of a package": (
        {"indirect": "from ragrelay.deepest import value as depth\n"},
        {"indirect": "from ragrelay.parts import value as depth\n",
         "parts/__init__": "from ragrelay.deepest import value\n"}),
    "a function imports its module": (
        {"deepest": "def f(): return x\nfrom ragrelay.unrelated import x\nvalue = f\n"},
        {"deepest": "def f():\n    from ragrelay.parts.lowest import x\n    return x\nvalue = f\n",
         "parts/lowest": "x = 1\n"}),
    "a constant that a text names": (
        {"deepest": "value = 'ragrelay.another:ROWS'\n", "another": "ROWS = 1\n"},
        {"deepest": "value = 'ragrelay.parts.lowest:ROWS'\n", "parts/lowest": "ROWS = 1\n"}),
    "half of a circle": (
        {"deepest": "def f(): return g\ndef g(): return f\nvalue = f\n"},
        {"deepest": "def f():\n    from ragrelay.lowest import g\n    return g\nvalue = f\n",
         "lowest": "from ragrelay.deepest import f\ndef g(): return f\n"}),
    "a type that an annotation names": (
        {"deepest": "from pathlib import Path\ndef f(x: Path): return 1\nvalue = f\n"},
        {"deepest": "from ragrelay.lowest import f\nvalue = f\n",
         "lowest": "from pathlib import Path\ndef f(x: Path): return 1\n"}),
}  # fmt: skip


@pytest.mark.parametrize("case", MOVES)
def test_a_pure_move_changes_nothing(digest: Callable[..., str], case: str) -> None:
    before, after = ({f"ragrelay/{name}.py": text for name, text in files.items()} for files in MOVES[case])
    assert digest(before) == digest(after)


@pytest.mark.parametrize("inner", ["one", "two"])
def test_a_call_of_another_function_of_the_same_name_is_seen(digest: Callable[..., str], inner: str) -> None:
    """It is seen even where both functions are used anyway, and differ only in what they call."""
    files = {
        "ragrelay/a.py": "from ragrelay.c import one\ndef rows(): return one()\n",
        "ragrelay/b.py": f"from ragrelay.c import {inner} as one\ndef rows(): return one()\n",
        "ragrelay/c.py": "def one(): return 1\ndef two(): return 2\n",
        "ragrelay/deepest.py": "import ragrelay.a, ragrelay.b\nvalue = ragrelay.a.rows(), ragrelay.b.rows()\n",
    }
    calls = "from ragrelay.a import rows\nfrom ragrelay.deepest import value\ndepth = rows(), value\n"
    before = digest(files | {"ragrelay/indirect.py": calls})
    after = digest(files | {"ragrelay/indirect.py": calls.replace("ragrelay.a", "ragrelay.b")})
    assert (before == after) == (inner == "one")


RAISED = "def value(a, b, place):\n    {}\n    raise InputError(place, found, expected)\n"
WORDS = {
    "an error": ("def value(a):\n    raise InputError('in', f'{a} of', 'a number')\n", "in", "within"),
    "an error that is returned": ("def value(a):\n    return errors.InputError(a, 'no', a)\n", "no", "none"),
    "an error of the configuration": ("def value(a):\n    raise RefusedError(repr(a), 'old')\n", "old", "new"),
    "a function that words an error": ("def value(a):\n    raise unloadable(f'old {a}', a, expected='x')\n", "old", ""),
    "errors in a user's code": ("def value(a):\n    with user_errors(a, a, 'old', 'x'):\n        a()\n", "old", "new"),
    "a piece of an f-string": ("def value(a):\n    say(f'{a} old {a:.2f}')\n", "old", "new"),
    "the end of an f-string": ("def value(a):\n    tell(f'{a}old')\n", "old", ""),
    "a choice": ("def value(a):\n    say('old' if a else 'x')\n", "old", "new"),
    "a choice in an f-string": ("def value(a):\n    say(f'{\"old\" if a else a}')\n", "old", "new"),
    "a sum": ("def value(a):\n    tell(a + ', old ' + a)\n", "old", "new"),
    "what joins": ("def value(a):\n    say(' old '.join(a))\n", "old", "new"),
    "what is joined": ("def value(a):\n    say(', '.join(f'{b} old' for b in a))\n", "old", "new"),
    "a text to fill in": ("def value(a):\n    say('{} old'.format(a))\n", "old", "new"),
    "a part of a text": ("def value(a):\n    say(f'old {a}'[:80])\n", "old", "new"),
    "several lines": ("def value(a):\n    say(*a, *['old', a])\n", "old", "new"),
    "a line of progress": ("def value(a):\n    a.lines.say(lambda: f'old {a}')\n", "old", "new"),
    "a line of a log": ("def value(a):\n    log.warning('%s: old', a)\n", "old", "new"),
    "a line of the root's log": ("def value(a):\n    logging.exception('old')\n", "old", "new"),
    "a variable": (RAISED.format("found, expected = f'{a} old', b"), "old", "new"),
    "a variable by cases": (RAISED.format("found = expected = a\n    if b:\n        expected = 'old'"), "old", "new"),
    "a variable that grows": (RAISED.format("found = expected = a\n    expected += ', old'"), "old", "new"),
    "a variable of another": (RAISED.format("expected = 'old'; found = f'{a} {expected}'"), "old", "new"),
    "the name of a definition": ("def old(): return 1\ndef value(a):\n    say('old')\n", "say('old", "say('new"),
    "the name of a module": ("def value(a):\n    say('ragrelay.unrelated')\n", "unrelated", "parts"),
}  # fmt: skip
VALUES = {
    "a value in an f-string": ("def value(a, b):\n    say(f'of {a}')\n", "{a}", "{b}"),
    "the format of a value": ("def value(a):\n    say(f'of {a:.2f}')\n", ".2f", ".3f"),
    "a key of a value": ("def value(a):\n    say(f'of {a[\"old\"]}')\n", "old", "new"),
    "what a value is compared with": ("def value(a):\n    say('x' if a == 'old' else 'y')\n", "old", "new"),
    "what a function gets": ("def value(a):\n    say(*a('old'))\n", "old", "new"),
    "the place of an error": ("def value(a, b):\n    raise InputError(a, 'x', 'y')\n", "(a, 'x", "(b, 'x"),
    "another kind of error": ("def value(a):\n    raise InputError(a, 'x', 'y')\n", "Input", "Request"),
    "the text of another error": ("def value(a):\n    raise UndefinedError('old')\n", "old", "new"),
    "a text that is no message": ("def value(a):\n    return a.write('old')\n", "old", "new"),
    "a variable that more reads": (RAISED.format("found = expected = 'old'; a(found)"), "old", "new"),
    "a variable that is returned": ("def value(a):\n    b = 'old'\n    say(b)\n    return b\n", "old", "new"),
    "a variable of the module": ("b = 'old'\ndef value(a):\n    global b\n    b = 'x'\n    say(b)\n", "'x'", "'y'"),
    "a constant": ("B = 'old'\ndef value(a):\n    say(B)\n", "old", "new"),
}  # fmt: skip


@pytest.mark.parametrize("case", WORDS)
def test_the_words_of_a_message_count_for_nothing(digest: Callable[..., str], case: str) -> None:
    text, old, new = WORDS[case]
    assert text.count(old) == 1
    assert digest({"ragrelay/deepest.py": text}) == digest({"ragrelay/deepest.py": text.replace(old, new)})


@pytest.mark.parametrize("case", VALUES)
def test_the_values_in_a_message_count(digest: Callable[..., str], case: str) -> None:
    text, old, new = VALUES[case]
    assert text.count(old) == 1
    assert digest({"ragrelay/deepest.py": text}) != digest({"ragrelay/deepest.py": text.replace(old, new)})


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A copy of the scripts and the package."""
    folder = tmp_path / "scripts"
    shutil.copytree(codedigest.SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def digests(scripts: Path) -> dict[str, str]:
    """The digest of every script in a folder, and one of the package, with the modules of kinds."""
    start_anew()
    in_package = scripts.glob("ragrelay/**/*.py")
    files = sorted(path.relative_to(scripts).with_suffix("") for path in in_package if path.parent.name != "scripts")
    modules = [path.as_posix().replace("/", ".").removesuffix(".__init__") for path in files]
    found = {name: codedigest.code_digest(name, folder=scripts) for name in rule_files.SCRIPTS}
    return {**found, "all": codedigest.code_digest("execution/fetch_input.py", *modules, folder=scripts)}


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    """The digests of the package as it is."""
    return digests(codedigest.SCRIPTS)


def test_no_digest_follows_messages_or_the_version(scripts: Path, before: dict[str, str]) -> None:
    """Each string in each message of the package has another word, and the version is another."""
    assert sum(map(reword_messages, scripts.rglob("*.py"))) > 1000
    init = scripts / "ragrelay/__init__.py"
    init.write_text(re.sub("__version__ = .*", "__version__ = '99.9'", init.read_text(encoding="utf-8")))
    assert digests(scripts) == before


def test_a_function_that_words_an_error_returns_one() -> None:
    """Where the result of a function is raised, strings in its arguments count for nothing."""
    found = {}
    for path in codedigest.SCRIPTS.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        raised = {ast.unparse(node.exc.func).rpartition(".")[2] for node in nodes
                  if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)}  # fmt: skip
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in raised]
        found |= {node.name: node.returns and ast.unparse(node.returns) for node in functions}
    assert "unloadable" in found and set(found.values()) == {"InputError"}


def test_a_real_module_is_renamed(scripts: Path, before: dict[str, str]) -> None:
    """All others import this module, and no script has another digest."""
    (scripts / "ragrelay/base/errors.py").rename(scripts / "ragrelay/mistakes.py")
    for path in scripts.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("ragrelay.base.errors", "ragrelay.mistakes"), encoding="utf-8")
    assert digests(scripts) == before


def test_what_a_column_says_counts_for_nothing(digest: Callable[..., str]) -> None:
    columns = (
        "class Column: ...\ndef text(about): return Column(1, about)\nA = {{'a': text('{}'), 'b': Column({}, 'b')}}\n"
    )
    files = {
        "ragrelay/base/__init__.py": "",
        "ragrelay/base/vocabulary/__init__.py": "",
        "ragrelay/indirect.py": "from ragrelay.base.vocabulary.columns import A, text\n"
        "depth = {'c': text('a name'), **A}\n",
    }
    declared = "ragrelay/base/vocabulary/columns.py"
    before = digest(files | {declared: columns.format("a name", 2)})
    assert digest(files | {declared: columns.format("another name", 2)}) == before
    assert digest(files | {declared: columns.format("a name", 3)}) != before
    files["ragrelay/indirect.py"] = files["ragrelay/indirect.py"].replace("a name", "a title")
    assert digest(files | {declared: columns.format("a name", 2)}) == before
    files["ragrelay/indirect.py"] = files["ragrelay/indirect.py"].replace("'c'", "'d'")
    assert digest(files | {declared: columns.format("a name", 2)}) != before


def test_a_module_named_by_the_job(digest: Callable[..., str]) -> None:
    """A kind is named so: it and what it imports are part of the digest, and modules beside it are not."""
    alone, named = digest(), digest(modules=("ragrelay.unrelated",))
    assert alone != named
    assert digest({"ragrelay/unrelated.py": "x = 2\n"}, modules=("ragrelay.unrelated",)) != named
    assert digest({"ragrelay/another.py": "x = 2\n"}, modules=("ragrelay.unrelated",)) == named


def test_a_keys_description_is_told_to_people(digest: Callable[..., str]) -> None:
    keys = "class A:\n    k: int = Field(1, ge=0, description='A {}.')\n"
    before = digest({"ragrelay/deepest.py": keys.format("number")})
    assert digest({"ragrelay/deepest.py": keys.format("count")}) == before
    assert digest({"ragrelay/deepest.py": keys.format("number").replace("ge=0", "ge=1")}) != before


def test_a_key_that_no_job_reads_counts_for_nothing(digest: Callable[..., str]) -> None:
    keys = "class A:\n    k: int = 1\n"
    before = digest({"ragrelay/deepest.py": keys})
    marked = keys + "    more: {} = Field({}, description='{}')\n"
    told = digest({"ragrelay/deepest.py": marked.format("Annotated[bool | None, OUTSIDE_JOBS]", None, "A key.")})
    assert told == before
    assert digest({"ragrelay/deepest.py": marked.format("bool | None", None, "A key.")}) != before


def test_imports_for_types_alone_are_not_followed(digest: Callable[..., str]) -> None:
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ragrelay.unrelated import x\nvalue = 3\n"
    before = digest({"ragrelay/deepest.py": typed})
    assert digest({"ragrelay/deepest.py": typed, "ragrelay/unrelated.py": "x = 2\n"}) == before
    run = typed.replace("if TYPE_CHECKING:\n    ", "").replace("3", "x")
    before = digest({"ragrelay/deepest.py": run})
    assert digest({"ragrelay/deepest.py": run, "ragrelay/unrelated.py": "x = 2\n"}) != before


def test_each_script_has_its_own(digest: Callable[..., str]) -> None:
    assert digest() != digest(script="other.py")
    assert digest({"ragrelay/unrelated.py": "x = 2\n"}, script="other.py") != digest(script="other.py")


def test_a_function_of_a_module_is_followed_to_the_module(digest: Callable[..., str]) -> None:
    """``from ragrelay.direct import work`` imports no module ``work``, but module ``direct``."""
    reached = {"script.py": "from ragrelay.direct import work\n"}
    assert digest(reached) != digest(reached | {"ragrelay/direct.py": "def work(x):\n    return 0\n"})


def test_a_later_python_has_the_same(digest: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function and class has type parameters from Python 3.12 on, mostly none."""
    before = digest()
    for kind in (ast.FunctionDef, ast.ClassDef):
        fields = kind._fields if "type_params" in kind._fields else (*kind._fields, "type_params")
        monkeypatch.setattr(kind, "_fields", fields)
        monkeypatch.setattr(kind, "type_params", [], raising=False)
    start_anew()
    codedigest.KEPT.unlink(missing_ok=True)
    assert digest() == before


def test_does_not_depend_on_the_folder(digest: Callable[..., str], tmp_path: Path) -> None:
    here = digest()
    elsewhere = tmp_path.with_name(tmp_path.name + "-elsewhere")
    tmp_path.rename(elsewhere)
    assert codedigest.code_digest("script.py", folder=elsewhere) == here


def test_the_real_scripts() -> None:
    """Generation's receipt must not follow the analysis, and the analysis must follow its own modules."""
    names = {
        f"{module}:{name}" for module, name in codedigest.Code(codedigest.SCRIPTS).reached("retrieval/build_run.py")
    }
    assert {"ragrelay.retrieval.trec:write_run", "ragrelay.base.io.hashing:text_hash"} <= names
    assert not any("analysis" in name or "report" in name or "scoring" in name for name in names)
    assert not any("retrievers." in name for name in names), "a kind is named by its job"
    of_kind = codedigest.Code(codedigest.SCRIPTS).reached(
        "retrieval/build_run.py", ["ragrelay.collection.sources.ir_datasets"]
    )
    assert not any("analysis" in module or "report" in module for module, _ in of_kind)


def test_no_real_script_follows_the_words_of_a_column(scripts: Path, before: dict[str, str]) -> None:
    """Each description in the module of columns is another, and no script's digest is."""
    path = scripts / "ragrelay/base/vocabulary/columns.py"
    text = path.read_text(encoding="utf-8")
    reworded, count = re.subn(r'((?:text|integer|number|boolean)\(f?")', r"\1Now ", text)
    assert count > 15
    path.write_text(reworded, encoding="utf-8")
    assert digests(scripts) == before
    path.write_text(text.replace("return Column(pl.Int64", "return Column(pl.Int32"), encoding="utf-8")
    assert len([name for name, found in digests(scripts).items() if found != before[name]]) > 20


def test_reached_are_the_modules_that_python_loads() -> None:
    """Following names reaches every module of the package that a real interpreter loads."""
    scripts = codedigest.SCRIPTS
    code = (
        f"import sys; sys.path.insert(0, {str(scripts)!r})\n"
        "import ragrelay.retrieval.build, ragrelay.collection, ragrelay.retrieval.indexes\n"
        "import ragrelay.execution.jobs.scripts\n"
        "from ragrelay.retrieval.retriever import RETRIEVER_KINDS; RETRIEVER_KINDS['bm25']\n"
        "print(*[n for n in sys.modules if n.split('.')[0] == 'ragrelay'], sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert len(loaded) > 8
    reached = codedigest.Code(scripts).reached("retrieval/build_run.py", ["ragrelay.retrieval.retrievers.bm25"])
    assert loaded <= {node.module for node in reached}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were parsed, in order."""
    files: list[str] = []
    parse = codedigest._parsed

    def noted(text: str, path: Path, name: str) -> list[Any]:
        files.append(path.name)
        return parse(text, path, name)

    monkeypatch.setattr(codedigest, "_parsed", noted)
    return files


def test_a_file_is_parsed_once_for_all_processes(digest: Callable[..., str], parsed: list[str]) -> None:
    first = digest()
    assert sorted(parsed) == [
        "__init__.py",
        "__init__.py",
        "deepest.py",
        "direct.py",
        "indirect.py",
        "script.py",
        "tool.py",
    ]
    parsed.clear()
    assert digest() == first
    assert not parsed
    digest({"ragrelay/deepest.py": "value = 4\n"})
    assert parsed == ["deepest.py"]


def test_nothing_is_kept_where_python_may_not_write(
    digest: Callable[..., str], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    digest()
    assert not kept.exists()


@pytest.mark.parametrize("found", ["", "[1]", "{}", '{"maker": "another parser", "modules": {"a": ["b"]}}'])
def test_other_things_in_the_place_of_kept_trees(
    digest: Callable[..., str], parsed: list[str], kept: Path, found: str
) -> None:
    first = digest()
    kept.write_text(found)
    parsed.clear()
    assert digest() == first
    assert "deepest.py" in parsed
    assert json.loads(kept.read_text())["maker"] == codedigest._maker()


def test_trees_that_can_not_be_kept(digest: Callable[..., str], kept: Path) -> None:
    kept.parent.write_text("a file in the folder's place")
    assert digest() == digest()
    assert kept.parent.is_file()
