"""The command ``ragrelay``, and its check of a machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.execution import doctor
from ragrelay.execution.command import snakemake_arguments

SNAKEFILE = ["--snakefile", str(ROOT / "Snakefile")]


def test_the_demo_and_cores_by_default() -> None:
    demo = ["--configfile", str(ROOT / "config/demo_real.yaml")]
    assert snakemake_arguments(["demo", "-n"])[:2] == SNAKEFILE
    assert snakemake_arguments(["plan"]) == [*SNAKEFILE, "--cores", "all", "plan"]
    for given in (["--cores", "2"], ["-c2"], ["--cores=2"], ["--jobs", "4"], ["--profile", "lab"]):
        assert snakemake_arguments(given) == [*SNAKEFILE, *given]
    assert ROOT.samefile(Path.cwd()) or snakemake_arguments(["demo", "-c1"]) == [*SNAKEFILE, *demo, "-c1"]


def test_the_workflows_files_where_the_folder_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["-c1", "--profile", "profiles/slurm", "--configfile", "config/paper.yaml", "config/nothing.yaml"]
    profile, paper = str(ROOT / "profiles/slurm"), str(ROOT / "config/paper.yaml")
    assert snakemake_arguments(asked)[3:] == ["--profile", profile, "--configfile", paper, "config/nothing.yaml"]
    (tmp_path / "config").mkdir()
    (tmp_path / "config/paper.yaml").touch()
    assert snakemake_arguments(asked)[6] == "config/paper.yaml"


def test_without_arguments_it_says_how(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from ragrelay.execution.command import main; main()"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True)
    assert "ragrelay demo" in done.stdout and "ragrelay doctor" in done.stdout


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Subject → the rest of its line, with its mark."""
    parts = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    return {head.split()[-1]: f"{head.split()[0]}: {rest}" for head, _, rest in parts}


def test_a_machine_that_can_run_a_study(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor, "_said", lambda *command: {"ldconfig": "libnuma.so.1", "sinfo": "gpu\ncpu\n"}.get(command[0], "")
    )
    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/bin/{name}")
    assert doctor.examine() == 0
    found = lines(capsys)
    assert found["Snakemake"].startswith("ok: 9.") and found["SLURM"].startswith("ok: partitions gpu, cpu;")
    assert found["GPUs"] == "ok: none; the engine runs on the processor"


@pytest.mark.parametrize(
    ("name", "value", "subject", "line"),
    [
        ("_said", lambda *command: "", "SLURM", "problem: sbatch, but sinfo lists no partition"),
        ("_said", lambda *command: "", "libnuma", "problem: not found; vLLM's CPU build needs it"),
        ("PYTHONS", ((3, 14), (3, 15)), "Python", "problem: 3."),
        ("ROOM", 10**9, "here", "note: "),
        ("_version", lambda name: "9" * (name == "snakemake"), "engine", "note: no vLLM; "),
        ("_version", lambda name: "", "Snakemake", "problem: not installed; "),
    ],
)
def test_what_is_lacking(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: object,
    subject: str,
    line: str,
) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda program: f"/bin/{program}")
    monkeypatch.setattr(doctor, "_said", lambda *command: "libnuma.so.1")
    monkeypatch.setattr(doctor, name, value)
    assert doctor.examine() == int(line.startswith("problem"))
    assert lines(capsys)[subject].startswith(line)
