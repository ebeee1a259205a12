"""Models are copied to a node's own storage once, whole, and for nobody else."""

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ragrelay.base.models.staging import VARIABLE, staged_model
from ragrelay.generation.engine import engine_arguments


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Make a model as in a hub's cache, where a file is a link."""
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "blob").write_bytes(b"weights" * 1000)
    (folder / "model.safetensors").symlink_to(tmp_path / "blob")
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "node"
    folder.mkdir()
    monkeypatch.setenv("NODES_OWN", str(folder))
    monkeypatch.setenv(VARIABLE, "$NODES_OWN")
    return folder


def copies(node: Path) -> list[Path]:
    return [path for path in node.glob("ragrelay-models-*/[!.]*") if path.is_dir()]


def test_the_engine_reads_a_copy_that_is_made_once(model: Path, node: Path, generator: dict[str, object]) -> None:
    read = engine_arguments({**generator, "model": str(model)}, 512, on_cpu=True)["model"]
    assert [Path(str(read))] == copies(node)
    weights = Path(str(read)) / "model.safetensors"
    assert not weights.is_symlink() and weights.read_bytes() == (model / "model.safetensors").read_bytes()
    made = weights.stat().st_ino
    assert staged_model(str(model), None) == read and weights.stat().st_ino == made
    (model / "config.json").write_text('{"other": 1}')
    assert staged_model(str(model), None) != read and len(copies(node)) == 2


def test_two_jobs_at_once_make_one_copy(model: Path, node: Path) -> None:
    script = (
        "import logging; logging.basicConfig(level='INFO'); from ragrelay.base.models.staging import staged_model\n"
        f"print(staged_model({str(model)!r}, None))"
    )
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    jobs = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, text=True, stdout=-1, stderr=-1)
        for _ in range(3)
    ]
    told = [job.communicate() for job in jobs]
    assert {Path(out.strip()) for out, _ in told} == set(copies(node)) and len(copies(node)) == 1
    assert sum("copied to" in log for _, log in told) == 1


def test_a_copy_that_was_cut_off_is_no_copy(model: Path, node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(source: Path, target: Path) -> None:
        target.mkdir()
        (target / "config.json").write_text("{}")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "copytree", cut)
        staged_model(str(model), None)
    assert not copies(node)
    assert (Path(staged_model(str(model), None)) / "model.safetensors").exists()


def test_without_room_or_variable_the_model_is_read_where_it_is(
    model: Path, node: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usage = shutil.disk_usage(node)
    with caplog.at_level(logging.WARNING), monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10))
        assert staged_model(str(model), None) == str(model)
        assert "0 MiB free" in caplog.text and not copies(node)
        patched.delenv("NODES_OWN")
        assert staged_model(str(model), None) == str(model)
        assert "$NODES_OWN isn't set here" in caplog.text
    monkeypatch.delenv(VARIABLE)
    assert staged_model(str(model), None) == str(model) and not copies(node)


def test_no_folder_that_others_may_write_to(model: Path, node: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = node / f"ragrelay-models-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert staged_model(str(model), None) == str(model)
    assert "others may write to it" in caplog.text and not copies(node)
