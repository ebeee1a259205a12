"""The profiles by the names that are typed, in what a user has of the project: a clone, or an unpacked archive."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.annex_cases import of_annexes, targets, with_annexes
from tests.support.forked_python import run_snakemake
from tests.support.sandbox import ROOT

GENERATION = {"generate_answers"}
JUDGED_STUDY: dict[str, Any] = {
    "study": "judged",
    "scorers": {
        "nuggets": {"kind": "nuggets", "generator": "demo-lm", "written_by": "demo-lm", "list_tokens": 100, "depth": 2},
        "support": {"kind": "support", "generator": "demo-lm"},
        "faithfulness": {"kind": "faithfulness", "generator": "demo-lm"},
        "llm_judge": {"kind": "llm_judge", "generator": "demo-lm", "bias_checks": 5},
    },
    "grid": {
        "retrievers": ["bm25"], "orderings": ["descending"], "k": [1, 2], "seeds": [1],
        "scorers": ["nuggets", "support", "faithfulness", "llm_judge"],
    },
}  # fmt: skip


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


def planned_jobs(folder: Path, *arguments: str, **environment: str) -> list[tuple[str, str]]:
    """Rule and what a dry run in ``folder`` says of each job, shown as Snakemake itself does, with its resources."""
    snakefile = folder / "own_heads.smk"
    shutil.copy(folder / "Snakefile", snakefile)
    with snakefile.open("a", encoding="utf-8") as file:
        file.write("\nfor each in workflow.rules:\n    each.message = None\n")
    asked = ["--dry-run", "--snakefile", str(snakefile), *arguments, "--quiet", "host"]
    done = run_snakemake(folder, asked, {**os.environ, **environment})
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return re.findall(r"^rule (\w+):\n((?:    .*\n)+)", done.stdout + done.stderr, re.MULTILINE)


def planned(folder: Path, *arguments: str, **environment: str) -> dict[str, str]:
    """Rule → what a dry run in ``folder`` says of its last job."""
    return dict(planned_jobs(folder, *arguments, **environment))


def with_gpu(jobs: dict[str, str]) -> set[str]:
    return {rule for rule, job in jobs.items() if "gpu=1" in job}


@pytest.mark.parametrize(
    ("made", "profile"), [("clone", "profiles/slurm"), ("archive", "profiles/slurm"), ("clone", "slurm")]
)
def test_the_slurm_profile(made: str, profile: str, request: pytest.FixtureRequest) -> None:
    """Also where there is no SLURM. Generation alone asks for a GPU."""
    jobs = planned(request.getfixturevalue(made), "--profile", profile)
    assert with_gpu(jobs) == GENERATION
    assert "slurm_partition=gpu" in jobs["generate_answers"]
    assert "slurm_partition=cpu" in jobs["index_corpus"]


def test_every_job_of_a_judge_gets_a_gpu(clone: Path, tmp_path: Path) -> None:
    """By the class of rules with an engine; whatever only reads what a judge said gets none."""
    path = tmp_path / "judged.yaml"
    path.write_text(json.dumps(with_annexes(JUDGED_STUDY, "judged")), encoding="utf-8")
    judged = (*targets("judged"), "report", "--configfile", str(path))
    jobs = planned_jobs(clone, *judged, "--profile", "profiles/slurm")
    asked = Counter(rule for rule, job in jobs if "gpu=1" in job and rule not in GENERATION)
    questions = {"judge_answers", "check_judge", "write_nuggets"}.union(*of_annexes("JUDGING"))
    assert asked == dict.fromkeys(questions, 1), "one start for all scorers, and for all sources of labels"
    assert all(("gpu=1" in job) == ("slurm_partition=gpu" in job) for _, job in jobs)


def test_the_local_profile(clone: Path) -> None:
    assert with_gpu(planned(clone, "--profile", "profiles/local")) > GENERATION


def test_updates_come_in_beside_a_labs_own_profile(clone: Path, tmp_path: Path) -> None:
    """The steps of docs/cluster.md: a lab's values in a file outside the checkout, which no pull touches."""
    mine = tmp_path / "mine"
    subprocess.run(["git", "clone", "--quiet", clone, mine], check=True)
    (written,) = re.findall(
        r"^```yaml\n# mylab/config.yaml\n(.*?)^```$",
        (ROOT / "docs/cluster.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL,
    )  # fmt: skip
    own = tmp_path / "snakemake/mylab/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(written, encoding="utf-8")
    both = ("--profile", "profiles/slurm", "--profile", "mylab")
    before = planned(mine, *both, XDG_CONFIG_HOME=str(tmp_path))
    assert "slurm_partition=short" in before["index_corpus"] and "slurm_account=ir-lab" in before["generate_answers"]
    assert "slurm_partition=gpu" in before["generate_answers"] and with_gpu(before) == GENERATION
    # The project's profile changes, at the place from which the lab pulls.
    updated = clone / "profiles/slurm/config.yaml"
    content = updated.read_text(encoding="utf-8")
    updated.write_text(content.replace("mem_mb: attempt * 32000\n    # A certain GPU", "mem_mb: 64000\n    # A GPU"))
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, "commit", "--quiet", "--all", "-m", "update"], cwd=clone, check=True)
    try:
        subprocess.run(["git", "pull", "--quiet"], cwd=mine, check=True)
        after = planned(mine, *both, XDG_CONFIG_HOME=str(tmp_path))
    finally:
        subprocess.run(["git", "reset", "--quiet", "--hard", "HEAD~1"], cwd=clone, check=True)
    assert "mem_mb=64000" in after["generate_answers"] and "mem_mb=64000" not in before["generate_answers"]
    assert "slurm_partition=short" in after["index_corpus"]
    assert own.read_text(encoding="utf-8") == written
