"""A study with another lab's retriever, scorer and annex, by a dry run; tests/e2e/test_extensions.py runs it."""

import shutil
import tomllib
from pathlib import Path

import pytest

from tests.support.sandbox import ROOT, Sandbox

SOURCE = ROOT / "tests/support/a_lab"
PAGE = ROOT / "docs/extensions.md"
pytestmark = pytest.mark.gate


def test_its_rules_fit_the_workflows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package is on the path, with the entry points that pip would write from its pyproject.toml."""
    study, packages = Sandbox(tmp_path / "study"), tmp_path / "packages"
    shutil.copytree(SOURCE / "a_lab", packages / "a_lab")
    (packages / "a_lab-1.0.dist-info").mkdir()
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = [f"{name} = {module}" for name, module in project["entry-points"]["ragrelay"].items()]
    (packages / "a_lab-1.0.dist-info/entry_points.txt").write_text("\n".join(["[ragrelay]", *entries]))
    (packages / "a_lab-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: a-lab\nVersion: 1.0\n")
    environment = study.environment() | {"PYTHONPATH": str(packages)}
    monkeypatch.setattr(Sandbox, "environment", lambda self: environment)
    study.config["grid"] = {**study.config["grid"], "retrievers": ["bm25", "again", "rel"], "scorers": ["brief"]}
    study.config["retrievers"] = {"again": {"kind": "again", "of": "bm25"}}
    study.config["scorers"] = {"brief": {"kind": "brevity", "most": 3}}
    study.write_config()
    planned = study.planned()
    assert planned["count_openings"] == 1 and planned["build_run"] == planned["score_answers"] == 3
    assert study.planned("results/small/small/openings/demo-lm.csv")["count_openings"] == 1


@pytest.mark.parametrize("file", ["pyproject.toml", "a_lab/brevity.py", "a_lab/openings/rules.smk"])
def test_the_page_shows_the_package(file: str) -> None:
    shown = [
        block.partition("\n")[2].partition("```")[0] for block in PAGE.read_text(encoding="utf-8").split("\n```")[1::2]
    ]
    text = (SOURCE / file).read_text(encoding="utf-8")
    assert any(block.removeprefix(f"# {file}\n").strip() in text for block in shown if len(block) > 150)
