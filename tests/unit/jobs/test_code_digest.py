"""The code digest: what is run decides it, what is only read by people does not."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ragrelay.jobs import code_digest as codedigest

FILES = {
    "script.py": '"""A script."""\nfrom ragrelay.direct import work\nfrom ragrelay.parts import tool\nwork(tool)\n',
    "ragrelay/__init__.py": "",
    "ragrelay/direct.py": "def work(x):\n    from ragrelay.indirect import depth\n    return depth + 1\n",
    "ragrelay/indirect.py": "import ragrelay.deepest as d\ndepth = d.value\n",
    "ragrelay/deepest.py": "value = 3\n",
    "ragrelay/parts/__init__.py": "unit = 1\n",
    "ragrelay/parts/tool.py": "grip = 2\n",
    "ragrelay/unrelated.py": "x = 1\n",
    "other.py": "import ragrelay.unrelated\n",
}


def start_anew() -> None:
    for function in (codedigest.code_digest, codedigest._tree, codedigest._files, codedigest._trees):
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
        ("ragrelay/indirect.py", FILES["ragrelay/indirect.py"] + "more = 1\n"),
        ("ragrelay/deepest.py", "value = 4\n"),
        ("ragrelay/parts/__init__.py", "unit = 2\n"),
        ("ragrelay/parts/tool.py", "grip = 3\n"),
        ("ragrelay/__init__.py", "import os\n"),
        ("ragrelay/deepest.py", 'value = 3\n"""Not a docstring, but text all the same."""\n'),
    ],
)
def test_changed_by(digest: Callable[..., str], name: str, text: str) -> None:
    before = digest()
    assert digest({name: text}) != before
    assert digest() == before, "and back again with the old text"


def test_a_module_named_by_the_job(digest: Callable[..., str]) -> None:
    """As a kind is: it and what it imports are part of the digest, and other modules beside it are not."""
    alone, named = digest(), digest(modules=("ragrelay.unrelated",))
    assert alone != named
    assert digest({"ragrelay/unrelated.py": "x = 2\n"}, modules=("ragrelay.unrelated",)) != named
    assert digest({"ragrelay/another.py": "x = 2\n"}, modules=("ragrelay.unrelated",)) == named


def test_a_keys_description_is_told_to_people(digest: Callable[..., str]) -> None:
    keys = "class A:\n    k: int = Field(1, ge=0, description='A {}.')\n"
    before = digest({"ragrelay/deepest.py": keys.format("number")})
    assert digest({"ragrelay/deepest.py": keys.format("count")}) == before
    assert digest({"ragrelay/deepest.py": keys.format("number").replace("ge=0", "ge=1")}) != before


def test_imports_for_types_alone_are_not_followed(digest: Callable[..., str]) -> None:
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ragrelay.unrelated import x\nvalue = 3\n"
    before = digest({"ragrelay/deepest.py": typed})
    assert digest({"ragrelay/deepest.py": typed, "ragrelay/unrelated.py": "x = 2\n"}) == before
    run = typed.replace("if TYPE_CHECKING:\n    ", "")
    before = digest({"ragrelay/deepest.py": run})
    assert digest({"ragrelay/deepest.py": run, "ragrelay/unrelated.py": "x = 2\n"}) != before


def test_each_script_has_its_own(digest: Callable[..., str]) -> None:
    assert digest() != digest(script="other.py")
    assert digest({"ragrelay/unrelated.py": "x = 2\n"}, script="other.py") != digest(script="other.py")


def test_a_function_of_a_module_is_followed_to_the_module(digest: Callable[..., str]) -> None:
    """``from ragrelay.direct import work`` imports no module ``work``, but module ``direct``."""
    reached = {"script.py": "from ragrelay.direct import work\n"}
    assert digest(reached) != digest(reached | {"ragrelay/direct.py": "def work(x):\n    return 0\n"})


def test_does_not_depend_on_the_folder(digest: Callable[..., str], tmp_path: Path) -> None:
    here = digest()
    elsewhere = tmp_path.with_name(tmp_path.name + "-elsewhere")
    tmp_path.rename(elsewhere)
    assert codedigest.code_digest("script.py", folder=elsewhere) == here


def test_the_real_scripts() -> None:
    """Generation's receipt must not follow the analysis, and the analysis must follow its own modules."""
    scripts = codedigest.SCRIPTS
    files = codedigest._reached([scripts / "build_run.py"], scripts)
    reached = {path.relative_to(scripts).as_posix() for path in files}
    assert {"build_run.py", "ragrelay/__init__.py", "ragrelay/retrieval/trec.py", "ragrelay/io/hashing.py"} <= reached
    assert not any("analysis" in name or "report" in name or "scoring" in name for name in reached)
    assert not any("retrievers/" in name for name in reached), "a kind is named by its job"


def test_reached_are_the_modules_that_python_loads() -> None:
    """Walked imports against those of a real interpreter: none of the package's modules it loads may be missing."""
    scripts = codedigest.SCRIPTS
    code = (
        f"import sys; sys.path.insert(0, {str(scripts)!r})\n"
        "import ragrelay.retrieval.build, ragrelay.collection, ragrelay.jobs.scripts, ragrelay.retrieval.indexes\n"
        "from ragrelay.retrieval.retriever import RETRIEVER_KINDS; RETRIEVER_KINDS['bm25']\n"
        "print(*[m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'ragrelay'], sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {Path(line) for line in done.stdout.split()}
    assert len(loaded) > 8
    kind = codedigest._files("ragrelay.retrieval.retrievers.bm25", scripts)
    assert loaded <= codedigest._reached([scripts / "build_run.py", *kind], scripts)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were parsed, in order."""
    files: list[str] = []
    parse = codedigest._parsed
    monkeypatch.setattr(codedigest, "_parsed", lambda text, path: files.append(path.name) or parse(text, path))
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


@pytest.mark.parametrize("found", ["", "[1]", "{}", '{"maker": "another parser", "trees": {"a": ["b"]}}'])
def test_other_things_in_the_place_of_kept_trees(
    digest: Callable[..., str], parsed: list[str], kept: Path, found: str
) -> None:
    first = digest()
    kept.write_text(found)
    parsed.clear()
    assert digest() == first
    assert "deepest.py" in parsed
    assert found not in kept.read_text() or not found


def test_trees_that_can_not_be_kept(digest: Callable[..., str], kept: Path) -> None:
    kept.parent.write_text("a file in the folder's place")
    assert digest() == digest()
    assert kept.parent.is_file()
