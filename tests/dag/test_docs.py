"""The how-tos as a new user reads them: every configuration in them is tried, and every command is one that exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.sandbox import ROOT, Sandbox

DOCS = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(?:yaml|python)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OVERLAYS = [
    (path.stem, place, content)
    for path in DOCS
    for place, (name, content) in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")))
    if name == "my-study.yaml"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workflow with the demo, the how-tos' other files, and a run of the user's."""
    folder = Sandbox(tmp_path_factory.mktemp("docs") / "study").folder
    for path in DOCS:
        for name, content in BLOCK.findall(path.read_text(encoding="utf-8")):
            if name != "my-study.yaml":
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")
    (folder / "runs").mkdir()
    (folder / "runs/demo.run.gz").write_bytes(b"")
    return folder


@pytest.mark.parametrize(("page", "place", "content"), OVERLAYS, ids=[f"{page}-{n}" for page, n, _ in OVERLAYS])
def test_every_configuration_of_the_how_tos_plans(folder: Path, page: str, place: int, content: str) -> None:
    assert yaml.safe_load(content)["study"]
    (folder / "my-study.yaml").write_text(content, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "--configfile", "my-study.yaml"]
    environment = {**os.environ, "OPENAI_BASE_URL": "http://localhost:8000/v1"}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


def test_there_is_a_configuration_in_every_how_to() -> None:
    pages = {path.stem for path in DOCS if path.stem.startswith(("add-", "bring-"))}
    assert pages <= {page for page, *_ in OVERLAYS}
    assert len(pages) == 6


@pytest.mark.parametrize("path", [*DOCS, ROOT / "README.md", ROOT / "config/README.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize(
    "overlays",
    [["dev_small"], ["paper", "dev_small"], ["lost_in_the_middle"], ["nq"]],
    ids=lambda names: "+".join(names),
)
def test_studies_plan(folder: Path, overlays: list[str]) -> None:
    files = [f"config/{name}.yaml" for name in overlays]
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "--configfile", *files]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
