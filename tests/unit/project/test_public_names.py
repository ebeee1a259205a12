"""The public names: the docs list the code's, and use no other."""

import re
import subprocess
import sys

import pytest
from ragrelay import extend
from ragrelay.base.annex import annexes
from ragrelay.base.public_names import defined_at, public_names

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
