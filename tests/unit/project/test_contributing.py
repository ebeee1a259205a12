"""What a contributor is given: the page's classes work as printed, and the public files name what exists."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.retriever import Retriever
from ragrelay.scoring.pair_scorer import PairScorer

from tests.support.sandbox import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def printed(name: str) -> Any:
    """The class that a block of the page defines."""
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if f"class {name}(" in block)
    found: dict[str, Any] = {"__name__": __name__}
    exec(compile(code, "CONTRIBUTING.md", "exec"), found)  # noqa: S102
    return found[name]


def test_the_retriever(write_dataset: Callable[..., Path]) -> None:
    """The printed class runs on a dataset as jobs read it."""
    kind = printed("Shortest")
    assert issubclass(kind, Retriever)
    collection = LocalCollection(write_dataset("mine", {"long": "a b c", "short": "a", "mid": "a b"}))
    task = SimpleNamespace(collection=collection, queries=pl.DataFrame({"qid": ["q1", "q2"]}))
    run = kind(depth=2).run(task)
    assert run.rows() == [(q, d, s) for q in ("q1", "q2") for d, s in (("short", -1.0), ("mid", -3.0))]


def test_the_scorer() -> None:
    kind = printed("SameStart")
    assert issubclass(kind, PairScorer)
    scorer = kind()
    assert scorer.decisive() == {"kind": "same_start"}
    assert [scorer.pair()(answer, "the heart") for answer in ("the lung", "a heart", "")] == [1.0, 0.0, 0.0]


@pytest.mark.process
def test_the_linters_pass_what_the_page_prints() -> None:
    """Blocks are checked as if they were files of the package."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) > 2
    for block in blocks:
        for command in (["check"], ["format", "--check"]):
            call = [
                Path(sys.executable).with_name("ruff"),
                *command,
                "--stdin-filename",
                "workflow/scripts/ragrelay/new.py",
            ]
            done = subprocess.run([*call, "-"], input=block, cwd=ROOT, text=True, capture_output=True)
            assert done.returncode == 0, done.stdout + done.stderr


def test_the_public_workflow_runs_targets_that_exist() -> None:
    text = (ROOT / ".github/workflows/ci.yaml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = {run.split()[1] for run in runs if run.startswith("make ")}
    assert targets == {"check", "docs", "gallery", "setup"}
    assert all(re.search(f"^{target}: ", MAKEFILE, re.MULTILINE) for target in targets)
    assert any(run.endswith(".ci/run") for run in runs) and (ROOT / ".ci/run").is_file()


def test_check_leaves_out_every_marker_but_what_is_needed() -> None:
    """The Makefile's list is that of pyproject.toml."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = {line.split(":")[0] for line in project["tool"]["pytest"]["ini_options"]["markers"]}
    (needs,) = re.findall(r"^NEEDS := (.*)$", MAKEFILE, re.MULTILINE)
    assert set(needs.split(" or ")) == markers - {"gate"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yaml")), ids=lambda path: path.stem)
def test_issues_ask_for_the_provenance(path: Path) -> None:
    fields = {field["id"]: field for field in yaml.safe_load(path.read_text(encoding="utf-8"))["body"]}
    assert "provenance.json" in fields["provenance"]["attributes"]["description"]


def test_hooks_are_linters_of_the_environment() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    tools = {hook["entry"].split()[0] for hook in repository["hooks"]}
    assert tools == {f".venv/bin/{name}" for name in ("ruff", "snakefmt", "mypy")}
