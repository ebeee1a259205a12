"""What ends Snakemake's start, seen from outside: one line of ours, and no secret in anything that is written."""

import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ragrelay.base.display.terminal import KEPT

from tests.support.forked_python import run_snakemake
from tests.support.mounts import mounted
from tests.support.sandbox import ROOT, Sandbox


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("start") / "study")


STARTS = ("Using workflow", "Config file", "Assuming unrestricted", "Building DAG")
SNAKEMAKES = ("Using workflow specific profile", "Config file config/config.yaml is extended")


def end(study: Sandbox, **environment: str) -> str:
    """All that a dry run says that fails, but for Snakemake's lines on what it reads."""
    arguments = ["--dry-run", "--cores", "1", "--configfile", "small.yaml"]
    done = run_snakemake(study.folder, arguments, {**study.environment(), **environment})
    assert done.returncode == 1
    return "\n".join(
        line for line in (done.stdout + done.stderr).splitlines() if line and not line.startswith(SNAKEMAKES)
    )


@pytest.mark.parametrize(
    ("added", "line", "told"),
    [
        ("note: café\n".encode("latin-1"), 1, "found byte 0xe9; expected UTF-8 text"),
        (b"analysis:\n\tresamples: 1\n", 2, "found invalid YAML (while scanning for the next token, found"),
        (b"---\nstudy: yours\n", 1, "found invalid YAML (expected a single document in the stream, but"),
    ],
)
def test_the_catalogues_file_is_checked_before_snakemake_reads_it(
    study: Sandbox, added: bytes, line: int, told: str
) -> None:
    path = study.folder / "config/config.yaml"
    before = path.read_bytes()
    path.write_bytes(before + added)
    try:
        said = end(study)
    finally:
        path.write_bytes(before)
    place = f"config/config.yaml, line {before.count(bytes([10])) + line}"
    assert said.startswith(f"ragrelay: error: {place}: {told}"), said
    assert "\n" not in said


def test_an_environment_below_a_folder_with_a_blank(study: Sandbox) -> None:
    start = "import sys; sys.executable = '/my env/bin/python'; from snakemake.cli import main; main(sys.argv[1:])"
    arguments = ["--dry-run", "--cores", "1", "--configfile", "small.yaml"]
    done = subprocess.run(
        [sys.executable, "-c", start, *arguments], cwd=study.folder, env=study.environment(), text=True,
        capture_output=True,
    )  # fmt: skip
    expected = "found a blank in /my env/bin/python; expected a folder whose path has none"
    assert done.returncode == 1 and f"the environment of snakemake: {expected}" in done.stdout + done.stderr


def test_another_kind_replaces_a_catalogues_entry(study: Sandbox) -> None:
    """Not merged with it: the entry needs no key of the catalogue's, and has none that its author did not write."""
    (study.folder / "mine.run").write_text("q1 Q0 d1 1 2.5 mine\n")
    (study.folder / "kinds.yaml").write_text("study: kinds\nretrievers: {e5: {kind: run, path: mine.run}}\n")
    command = ["--dry-run", "--cores", "1", "--configfile", "small.yaml", "kinds.yaml", "--config"]
    grid = "grid={retrievers: [bm25, e5, rel]}"
    done = run_snakemake(study.folder, [*command, grid], study.environment())
    assert done.returncode == 0, done.stdout + done.stderr
    done = run_snakemake(study.folder, [*command, grid, "retrievers={monot5: {kind: dense}}"], study.environment())
    assert done.returncode == 1 and "'retrievers.monot5': found no key 'model'" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "generator",
    [
        {"engine": "openai", "base_url": "https://me:hunter2-hunter2@host/v1"},
        {"engine": "openai", "base_url": "https://host/v1", "api_key_env": "hunter2hunter2hunter2"},
        {"model": "sk-hunter2hunter2hunter2"},
    ],
)
def test_a_secret_is_nowhere(study: Sandbox, generator: dict[str, str]) -> None:
    """Neither on the terminal nor in any file other than the user's own."""
    config = dict(study.config)
    study.config = {**config, "generators": {"demo-lm": {"model": "m", "prompt": "tian2025", **generator}}}
    study.write_config()
    study.config = config
    said = end(study)
    assert said.startswith("ragrelay: error: config key 'generators.demo-lm."), said
    assert "\n" not in said and "hunter2" not in said
    files = [path for path in study.folder.rglob("*") if path.is_file() and path.name != "small.yaml"]
    assert files
    assert not [path for path in files if b"hunter2" in path.read_bytes()]


@pytest.mark.parametrize("variable", ["TMPDIR", "TMP"])
def test_no_folder_of_temporary_files(study: Sandbox, tmp_path: Path, variable: str) -> None:
    """Full, not there, and no folder: Snakemake's scheduler would end in a traceback at a full one."""
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    with mounted(tmp_path / "full", "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        (tmp_path / "full/filling").write_bytes(bytes(40_000))
        for name, reason in (
            ("full", "No space left on device"), ("none", "No such file or directory"), ("file", "Not a directory"),
        ):  # fmt: skip
            said = end(study, **{variable: str(tmp_path / name)})
            expected = f"{tmp_path / name} ({reason}); expected a writable folder with free space"
            assert said == f"ragrelay: error: environment variable {variable}: found {expected}"


AGAIN = "run the same command again"
AT_EVENT = """
import os, signal, site, sys
site.addsitedir({folder!r})

def interrupt(event, arguments, kind={kind!r}, end={end!r}):
    if event == kind and str(arguments[0]).endswith(end) and not hits:
        hits.append(event)
        os.kill(os.getpid(), signal.SIGINT)

hits = []
sys.addaudithook(interrupt)
"""


@pytest.mark.parametrize(
    ("kind", "end", "said"),
    [
        ("import", "snakemake.cli", AGAIN),
        ("import", "sqlalchemy", AGAIN),
        ("import", "pandas", AGAIN),
        ("open", "small.yaml", AGAIN),
        ("import", "ragrelay.config.start", KEPT),
        ("import", "ragrelay.scoring.scorer", KEPT),
        ("import", "graphlib", KEPT),  # of the graph of jobs
    ],
)
def test_an_interrupt_before_any_job(study: Sandbox, tmp_path: Path, kind: str, end: str, said: str) -> None:
    """While Snakemake imports, reads the workflow, and looks for what is to be done, each in a process of its own."""
    study.write_config()
    hook = runpy.run_path(str(ROOT / "requirements/make_environment.py"))["INTERRUPTS"]
    (tmp_path / "ragrelay.pth").write_text(f"{hook}\n", encoding="utf-8")
    code = AT_EVENT.format(folder=str(tmp_path), kind=kind, end=end)
    (tmp_path / "sitecustomize.py").write_text(code, encoding="utf-8")
    command = [Path(sys.executable).with_name("snakemake"), "--dry-run", "--cores", "1", "--configfile", "small.yaml"]
    environment = {**study.environment(), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=study.folder, env=environment, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith(STARTS)]
    assert lines == [f"ragrelay: error: stopped by an interrupt: {said}"], done.stdout + done.stderr
    assert done.returncode == -signal.SIGINT and not (study.folder / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--configfile", "small.yaml", "plan"], True),
        (["--configfile", "small.yaml", "plan", "--cores", "1"], True),
        (["--configfile", "small.yaml", "--cores", "1", "--version"], False),
        (["plan", "--configfile", "small.yaml", "small.yaml", "--version"], False),
    ],
)
def test_a_target_after_the_configuration(study: Sandbox, tmp_path: Path, arguments: list[str], refused: bool) -> None:
    """Snakemake itself ends with a traceback, before it reads the workflow."""
    study.write_config()
    line = runpy.run_path(str(ROOT / "requirements/make_environment.py"))["TARGETS_FIRST"]
    (tmp_path / "own.pth").write_text(f"{line}\n", encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(tmp_path)!r})\n", encoding="utf-8")
    command = [Path(sys.executable).with_name("snakemake"), *arguments]
    environment = {**study.environment(), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=study.folder, env=environment, capture_output=True, text=True)
    said = (
        "ragrelay: error: --configfile: found plan, which is no file; expected targets first: "
        "snakemake plan --configfile small.yaml\n"
    )
    assert (done.returncode, done.stderr if refused else "") == ((1, said) if refused else (0, "")), done.stderr


def test_an_overlay_without_a_study_does_not_write_into_the_demos_results(tmp_path: Path) -> None:
    """One line with what to add; the demo itself, a study of the command line, and a later file's are as they were."""
    study = Sandbox(tmp_path / "study")
    overlays = {"more.yaml": "analysis: {resamples: 600}\n", "named.yaml": "study: named\n"}
    for name, content in overlays.items():
        (study.folder / name).write_text(content, encoding="utf-8")

    def said(*arguments: str) -> tuple[int, str]:
        done = run_snakemake(study.folder, ["--dry-run", "--cores", "1", *arguments], study.environment())
        return done.returncode, done.stdout + done.stderr

    code, output = said("--configfile", "more.yaml")
    expected = (
        "ragrelay: error: more.yaml: found no key 'study'; expected a line 'study: <name>', so that results go to "
        "results/<name>/ and don't mix with those of demo"
    )
    assert code == 1 and expected in output.splitlines()
    assert not (study.folder / "results").exists()
    for arguments, name in (
        ([], "demo"),
        (["--config", "context_depth=20"], "demo"),
        (["--configfile", "more.yaml", "named.yaml"], "named"),
        (["--configfile", "more.yaml", "--config", "study=given"], "given"),
    ):
        code, output = said(f"results/{name}/report/index.html", *arguments)
        assert code == 0, output[-2000:]
