"""`make setup` from nothing, with a lock of one small package and a torch of one line; folders are the indexes."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.sandbox import ROOT

pytestmark = pytest.mark.process

TORCH = "2.13.0+cpu"


def add_wheel(index: Path, name: str, version: str, code: str) -> str:
    """Put a wheel of one module into an index; returns its SHA-256."""
    wheel = index / name / f"{name}-{version}-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr(f"{name}.py", code)
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    (wheel.parent / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>', encoding="utf-8")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


class Checkout(NamedTuple):
    """A checkout in ``folder``; pip is configured with the index ``places``, and ``torch_index`` is PyTorch's."""

    folder: Path
    places: Path
    torch_index: Path

    def make(self, *arguments: str, python: str = sys._base_executable) -> subprocess.CompletedProcess[str]:  # type: ignore[attr-defined]
        """Make a target with pip's own settings left out, and those of a make around the tests."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "MFLAGS"))}
        for name in ("VENV", "ACCELERATOR", "PYTHON", "TORCH_INDEX"):
            kept.pop(name, None)
        environment = {**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": self.places.as_uri()}
        command = ["make", *arguments, f"TORCH_INDEX={self.torch_index.as_uri()}", f"PYTHON={python}"]
        return subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True)

    def in_environment(self, code: str) -> str:
        command = [self.folder / ".venv/bin/python", "-c", code]
        return subprocess.run(command, cwd="/", env={}, text=True, capture_output=True, check=True).stdout.strip()


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What was said of a failure, without make's own line about it."""
    assert done.returncode, done.stdout
    return [line for line in done.stderr.splitlines() if not line.startswith("make")]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Make a checkout with the project's Makefile and torch lock, and with ``tiny`` as the lock's other package."""
    folder, places, torch_index = tmp_path / "checkout", tmp_path / "places", tmp_path / "torch-index"
    for index in (places, torch_index):
        index.mkdir()
    for file in ("Makefile", "requirements/make_environment.py", "requirements/cpu-torch.txt"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    package = folder / "workflow/scripts/ragrelay"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "workflow/scripts/ragrelay/__init__.py", package)
    digest = add_wheel(places, "tiny", "1.0", "")
    (folder / "requirements/cpu.txt").write_text(f"tiny==1.0 --hash=sha256:{digest}\n", encoding="utf-8")
    return Checkout(folder, places, torch_index)


def test_torch_comes_from_where_pip_is_configured_to_look(checkout: Checkout) -> None:
    add_wheel(checkout.places, "torch", TORCH, f"__version__ = {TORCH!r}; place = 'configured'")
    add_wheel(checkout.torch_index, "torch", TORCH, f"__version__ = {TORCH!r}; place = 'its own index'")
    done = checkout.make("setup")
    assert done.returncode == 0, done.stderr
    assert "about 3 minutes and 5 GB of disk" in done.stdout.splitlines()[0]
    assert checkout.in_environment("import tiny, torch; print(torch.place)") == "configured"
    package = checkout.folder / "workflow/scripts/ragrelay"
    assert checkout.in_environment("import ragrelay; print(*ragrelay.__path__)") == str(package)
    interrupted = "import sys; sys.argv[0] = '/bin/snakemake'; sys.stderr = sys.stdout; raise KeyboardInterrupt"
    done = subprocess.run(
        [checkout.folder / ".venv/bin/python", "-c", interrupted], env={}, text=True, capture_output=True
    )
    assert (
        done.stdout == "\nragrelay: error: stopped by an interrupt: run the same command again\n" and done.stderr == ""
    )
    assert checkout.make("--question", "setup").returncode == 0
    moved = checkout._replace(folder=checkout.folder.rename(checkout.folder.with_name("moved")))
    assert moved.make("--question", "setup").returncode == 1


@pytest.mark.full
def test_torch_alone_comes_from_its_own_index(checkout: Checkout) -> None:
    add_wheel(checkout.torch_index, "torch", TORCH, f"__version__ = {TORCH!r}")
    add_wheel(checkout.torch_index, "tiny", "1.0", "place = 'torch index'")
    done = checkout.make("setup")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert f"taking it from {checkout.torch_index.as_uri()}" in done.stdout
    assert checkout.in_environment("import tiny, torch; print(hasattr(tiny, 'place'))") == "False"
    shutil.rmtree(checkout.places / "tiny")
    shutil.rmtree(checkout.folder / ".venv")
    assert "requirements/cpu.txt" in told(checkout.make("setup"))[-1]


@pytest.mark.full
def test_torch_that_is_nowhere_is_one_line(checkout: Checkout) -> None:
    add_wheel(checkout.places, "torch", "2.13.0", "__version__ = '2.13.0+cu130'")
    [line] = told(checkout.make("setup"))
    assert f"torch==={TORCH} is neither where pip is configured to look nor in {checkout.torch_index.as_uri()}" in line


@pytest.mark.full
def test_torch_of_another_build_than_its_name_says_is_refused(checkout: Checkout) -> None:
    add_wheel(checkout.places, "torch", TORCH, "__version__ = '2.13.0+cu130'")
    [line] = told(checkout.make("setup"))
    assert line == f"torch in .venv: found 2.13.0+cu130; expected {TORCH}, as requirements/cpu-torch.txt has it."


def test_a_linked_environment_is_refused_and_kept(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    (checkout.folder / ".venv").symlink_to(tmp_path)
    assert told(checkout.make("setup"))[-1].startswith(".venv: found a symbolic link;") and (tmp_path / "kept").exists()


def test_a_file_that_the_lock_does_not_know_is_refused(checkout: Checkout) -> None:
    add_wheel(checkout.places, "torch", TORCH, f"__version__ = {TORCH!r}")
    shutil.rmtree(checkout.places / "tiny")
    add_wheel(checkout.places, "tiny", "1.0", "altered = True")
    lines = told(checkout.make("setup"))
    assert any("DO NOT MATCH THE HASHES" in line for line in lines)
    assert lines[-1].startswith("The environment could not be made from requirements/cpu.txt")


@pytest.mark.full
def test_a_cpu_build_does_not_stand_in_for_the_cuda_build(checkout: Checkout) -> None:
    """Pip knows both, and by `==` takes ``2.13.0+cpu`` as the newer ``2.13.0``."""
    [pin] = re.findall(r"^torch=\S+", (ROOT / "requirements/cuda.txt").read_text(encoding="utf-8"), re.MULTILINE)
    wheels = checkout.folder.parent / "wheels"
    digests = [
        add_wheel(checkout.places, "torch", "2.13.0", "place = 'package index'"),
        add_wheel(wheels, "torch", TORCH, "place = 'folder of CPU wheels'"),
    ]
    hashes = [f"--hash=sha256:{digest}" for digest in digests]  # of both, so that the pin alone decides
    (checkout.folder / "requirements/cuda.txt").write_text(
        f"--find-links {wheels / 'torch'}\n{pin} {' '.join(hashes)}\n", encoding="utf-8"
    )
    done = checkout.make("setup", "ACCELERATOR=cuda")
    assert done.returncode == 0, done.stderr
    assert "9.4 GB of disk" in done.stdout.splitlines()[0]
    assert checkout.in_environment("import torch; print(torch.place)") == "package index"
    assert (checkout.folder / ".venv/.accelerator").read_text() == "cuda\n"


def test_address_of_torchs_index_is_one_line_of_its_file() -> None:
    lines = (ROOT / "requirements/torch-index.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["https://download.pytorch.org/whl/cpu"]


@pytest.mark.parametrize("minor", [10, 11, 12, 13, 14])
def test_pythons_that_are_accepted(checkout: Checkout, tmp_path: Path, minor: int) -> None:
    """The interpreter claims each version; no environment is made, as the base that it names does not exist."""
    python = tmp_path / "python"
    says = f"import sys; sys.version_info = (3, {minor}, 0); sys._base_executable = '/no/such/python3.{minor}'"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{says}\n$2"\n', encoding="utf-8")
    python.chmod(0o755)
    [line] = told(checkout.make("setup", python=str(python)))
    assert (f"/no/such/python3.{minor}" in line) is (11 <= minor <= 13)
    assert line.startswith("No Python 3.11 to 3.13") is not (11 <= minor <= 13)


@pytest.mark.parametrize("target", ["demo", "test", "check", "faults"])
def test_each_command_makes_the_environment_where_it_is_missing(checkout: Checkout, target: str) -> None:
    """README's two commands are whole on a fresh machine; with the environment there, they do not make it again."""
    fresh = checkout.make("--dry-run", target)
    assert fresh.returncode == 0, fresh.stderr
    before, made, after = fresh.stdout.partition("make_environment.py .venv cpu")
    assert made and "pytest" not in before and ("snakemake --cores" in after or "pytest" in after)
    (stamp,) = re.findall(r"touch (\.venv/\.lock-\S+)", fresh.stdout)
    (checkout.folder / stamp).parent.mkdir()
    (checkout.folder / stamp).touch()
    assert "make_environment" not in checkout.make("--dry-run", target).stdout


def test_readme_begins_with_the_two_commands() -> None:
    quick = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Quick start")[2]
    block = quick.split("```")[1]
    assert [line.partition("#")[0].strip() for line in block.strip().splitlines()] == ["make demo", "make test"]
