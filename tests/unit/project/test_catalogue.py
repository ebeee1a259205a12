"""What the Snakemake workflow catalogue checks before it lists a workflow, and under "standardized usage".

By its own scripts (snakemake/snakemake-workflow-catalog, scripts/generate-catalog.py), as of 2025. It also runs
`snakemake --lint` in the root, as tests/dag/test_dag.py does.
"""

import subprocess
import sys
from pathlib import Path

import yaml

from tests.support.sandbox import ROOT


def test_its_readme_is_found() -> None:
    """The search for repositories is one for these two words."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in text and "workflow" in text


def test_its_snakefile_is_where_it_is_looked_for() -> None:
    """If there is a folder ``workflow``, nothing else is looked at; a folder of rules must have .smk files."""
    assert (ROOT / "workflow/Snakefile").is_file()
    rules = ROOT / "workflow/rules"
    assert not rules.exists() or list(rules.glob("*.smk"))
    assert list((ROOT / "rules").glob("*.smk"))


def test_it_is_formatted() -> None:
    tool = Path(sys.executable).parent / "snakefmt"
    done = subprocess.run([tool, "--check", "-v", "workflow/Snakefile"], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_usage_is_standardized() -> None:
    settings = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))
    assert (ROOT / "config/README.md").read_text(encoding="utf-8").strip()
    usage = settings["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    deployment = usage["software-stack-deployment"]
    assert all(isinstance(value, bool) for value in deployment.values()) and any(deployment.values())
    assert usage["report"] is True
