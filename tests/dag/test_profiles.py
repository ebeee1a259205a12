"""The profiles by the names that are typed, in what a user has of the project: a clone, or an unpacked archive."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.support.sandbox import ROOT

GENERATION = {"generate_answers", "generate_zeroshot_answers"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profiles") / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive, unpacked by a tool that knows no links: each becomes a file that holds its target's name."""
    packed = tmp_path_factory.mktemp("profiles") / "archive.zip"
    subprocess.run(["git", "archive", "--format=zip", f"--output={packed}", "HEAD"], cwd=ROOT, check=True)
    with zipfile.ZipFile(packed) as content:
        content.extractall(packed.parent / "archive")
    folder = packed.parent / "archive"
    assert not [path for path in folder.rglob("*") if path.is_symlink()]
    return folder


def planned(folder: Path, *arguments: str, **environment: str) -> dict[str, str]:
    """Rule → what a dry run in ``folder`` says of its last job, shown as Snakemake itself does, with its resources."""
    snakefile = folder / "own_heads.smk"
    shutil.copy(folder / "Snakefile", snakefile)
    with snakefile.open("a", encoding="utf-8") as file:
        file.write("\nfor each in workflow.rules:\n    each.message = None\n")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--snakefile", str(snakefile)]
    command += [*arguments, "--quiet", "host"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return dict(re.findall(r"^rule (\w+):\n((?:    .*\n)+)", done.stdout + done.stderr, re.MULTILINE))


def with_gpu(jobs: dict[str, str]) -> set[str]:
    return {rule for rule, job in jobs.items() if "gpu=1" in job}


@pytest.mark.parametrize("made", ["clone", "archive"])
def test_slurm_is_a_profile_by_its_name(made: str, request: pytest.FixtureRequest) -> None:
    """Also where there is no SLURM. Generation alone asks for a GPU."""
    jobs = planned(request.getfixturevalue(made), "--profile", "slurm")
    assert with_gpu(jobs) == GENERATION
    assert "slurm_partition=gpu" in jobs["generate_answers"]
    assert "slurm_partition=cpu" in jobs["index_corpus"]


@pytest.mark.parametrize(("profile", "rules"), [("profiles/slurm", GENERATION), ("profiles/local", None)])
def test_profiles_by_path(clone: Path, profile: str, rules: set[str] | None) -> None:
    found = with_gpu(planned(clone, "--profile", profile))
    assert found == rules if rules else found > GENERATION


def test_a_user_profile_of_another_name_keeps_a_labs_values(clone: Path, tmp_path: Path) -> None:
    """The steps of profiles/README.md: a copy of the profile among the user's own, edited there."""
    values = yaml.safe_load((clone / "slurm/config.yaml").read_text(encoding="utf-8"))
    values["default-resources"] |= {"slurm_partition": "short", "slurm_account": "ir-lab"}
    own = tmp_path / "snakemake/mylab/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(yaml.safe_dump(values), encoding="utf-8")
    jobs = planned(clone, "--profile", "mylab", XDG_CONFIG_HOME=str(tmp_path))
    assert "slurm_partition=short" in jobs["index_corpus"]
    assert "slurm_account=ir-lab" in jobs["generate_answers"]
    assert with_gpu(jobs) == GENERATION


def test_the_folder_wins_over_a_user_profile_of_its_name(clone: Path, tmp_path: Path) -> None:
    """Why profiles/README.md asks for another name."""
    own = tmp_path / "snakemake/slurm/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("default-resources: {slurm_partition: short}\n", encoding="utf-8")
    jobs = planned(clone, "--profile", "slurm", XDG_CONFIG_HOME=str(tmp_path))
    assert "slurm_partition=cpu" in jobs["index_corpus"]
