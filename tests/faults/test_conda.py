"""`--sdm conda` with the files in envs/, through a stand-in for conda (tests/support/conda_stand_in.py)."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.annex_cases import targets
from tests.support.conda_stand_in import create, install
from tests.support.sandbox import ROOT, Sandbox

pytestmark = pytest.mark.full

TARGETS = ("report", *targets("exported"))


def megabytes(*folders: Path) -> float:
    """What the files below ``folders`` take."""
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file()) / 1e6


def test_the_demo_runs_in_the_environments_of_the_files(tmp_path: Path) -> None:
    """Snakemake runs in the environment of envs/host.yaml, each job in its stage's: what a file lacks ends a job.

    Jobs of annexes find the package, too: Snakemake adds only the folder of their script.
    """
    create(ROOT / "envs/host.yaml", tmp_path / "host")
    study = Sandbox(tmp_path / "study")
    programs = f"{tmp_path / 'host/bin'}:{install(tmp_path / 'conda')}"
    environment = {**study.environment(), "PATH": f"{programs}:{os.environ['PATH']}"}
    command = [tmp_path / "host/bin/python", "-m", "snakemake", *TARGETS, "--cores", "2", "--sdm", "conda"]
    done = subprocess.run(command, cwd=study.folder, env=environment, text=True, capture_output=True)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-5000:]
    assert (study.folder / "results/demo/report/index.html").stat().st_size > 100_000
    (said,) = re.findall(r"snakemake --cores 2 .* (\d+) MB", (ROOT / "docs/install.md").read_text(encoding="utf-8"))
    assert int(said) - 5 < megabytes(study.folder / "results", study.folder / "cache") < int(said) + 5
    made = {
        path.with_suffix(""): (path.read_text(encoding="utf-8").splitlines() or [""])[0]
        for path in (study.folder / ".snakemake/conda").glob("*.yaml")
    }
    assert len(made) == 5 and output.count("Environment for ") == 5
    (analysis,) = (folder for folder, first in made.items() if first.startswith("# Prompts"))
    assert not list(analysis.glob("lib/python*/site-packages/torch"))
    (generation,) = (folder for folder, first in made.items() if first.startswith("# vLLM"))
    assert list(generation.glob("lib/python*/site-packages/vllm"))
