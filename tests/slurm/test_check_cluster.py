"""The target `check_cluster`, and what a dry run says of what SLURM is asked for. Nothing here submits a job."""

import itertools
from pathlib import Path

import pytest

from tests.support.cluster import Cluster
from tests.support.sandbox import Sandbox
from tests.support.slurm_study import SlurmStudy

MORE = "500000"  # MB; a node has 128,000


@pytest.fixture(scope="module")
def study(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> SlurmStudy:
    return SlurmStudy.of(Sandbox(tmp_path_factory.mktemp("checked") / "study"), cluster)


def table(output: str) -> list[str]:
    """The lines of the table, without its head."""
    rows = output.partition("\njobs  ")[2] or output.removeprefix("jobs  ")
    return list(itertools.takewhile(lambda line: line.split()[2:3] in (["cpu"], ["gpu"]), rows.splitlines()[1:]))


def test_each_class_has_its_answer_and_a_dry_run_the_same_table(study: SlurmStudy) -> None:
    answered = table(study.snakemake("check_cluster").stdout)
    asked, answers = zip(*(line.split("  to start at ") for line in answered), strict=True)
    assert all(f"in partition {line.split()[2]}" in answer for line, answer in zip(asked, answers, strict=True))
    dry = study.snakemake("--dry-run")
    assert [line.rstrip() for line in asked] == table(dry.stdout + dry.stderr)
    assert [line.split() for line in asked if line.startswith("generate_answers ")] == [
        ["generate_answers", "1", "gpu", study.cluster.account, "1", "2", "32000", "8:00"]
    ]
    assert study.jobs() == []


def test_classes_that_slurm_would_refuse_are_named_with_its_words(study: SlurmStudy) -> None:
    profile = study.folder / "profiles/slurm/config.yaml"
    kept = profile.read_text(encoding="utf-8")
    profile.write_text(kept.replace("attempt * 32000\n    # A certain GPU", f"{MORE}\n    # A certain GPU"))
    try:
        done = study.snakemake("check_cluster", check=False)
    finally:
        profile.write_text(kept, encoding="utf-8")
    refused = [line for line in table(done.stdout) if "to start at" not in line]
    assert [line.split()[0] for line in refused] == ["generate_answers"]
    assert all(MORE in line and "Requested node configuration is not available" in line for line in refused)
    assert done.returncode == 1 and "SLURM: found 1 of 11 job classes that it would reject" in done.stderr


def test_a_run_refuses_a_placeholder_before_it_submits(study: SlurmStudy) -> None:
    cluster = study.cluster
    cluster.run("scontrol", "create", "PartitionName=short", "Nodes=cpu1", "State=UP")
    cluster.run("scontrol", "delete", "PartitionName=cpu")
    try:
        done = study.snakemake(check=False)
    finally:
        cluster.run("scontrol", "create", "PartitionName=cpu", "Nodes=cpu1", "Default=YES", "MaxTime=1-0", "State=UP")
        cluster.run("scontrol", "delete", "PartitionName=short")
    expected = "profile key 'slurm_partition': found 'cpu', which is a placeholder in profiles/slurm; expected "
    assert done.returncode == 1 and f"{expected}gpu or short" in done.stderr
    assert study.jobs() == []


def test_without_slurm_the_target_runs_nothing(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    done = study.snakemake("check_cluster", check=False)
    assert "target check_cluster: found no jobs for SLURM" in done.stderr
    assert done.returncode == 1 and not study.results.exists()
