"""Snakemake's own environment where jobs have theirs by conda: with envs/host.yaml alone, and with Snakemake alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.conda_stand_in import link
from tests.support.sandbox import ROOT, Sandbox
from tests.unit.project.test_locks import HOST, env_pins


def started(study: Sandbox, folder: Path, names: set[str]) -> subprocess.CompletedProcess[str]:
    """A dry run with ``names`` and what they depend on alone: a folder of links stands in for the environment."""
    link(names, folder)
    assert not (folder / "vllm").exists()
    command = [sys.executable, "-S", "-m", "snakemake", "--cores", "1", "--dry-run", "--configfile", "small.yaml"]
    environment = {**study.environment(), "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=study.folder, env=environment, text=True, capture_output=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("host") / "study")


def test_the_hosts_environment_is_enough(study: Sandbox, tmp_path: Path) -> None:
    done = started(study, tmp_path, set(env_pins(HOST)))
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_a_plain_snakemake_is_one_line(study: Sandbox, tmp_path: Path) -> None:
    done = started(study, tmp_path, {"snakemake"})
    said = done.stdout + done.stderr
    lines = [line for line in said.splitlines() if line.startswith("ragrelay: error")]
    assert done.returncode == 1 and "Traceback" not in said, said[-3000:]
    assert lines == [
        "ragrelay: error: the environment of snakemake: found no ir_datasets, ir_measures, numpy, polars, pyarrow; "
        "expected an environment made by `make setup` or from envs/host.yaml"
    ]
    assert (ROOT / "envs/host.yaml").is_file()
