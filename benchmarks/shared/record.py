"""What every benchmark writes: its figures with their goals, the machine, the versions and the command, as JSON."""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ragrelay.base.io.atomic_files import write_text

from benchmarks.shared.workflow import ROOT

Figure = dict[str, Any]
Figures = dict[str, Figure]
INSTRUCTIONS = {"amx_tile": "AMX", "avx512f": "AVX-512", "avx2": "AVX2"}
"""By flag of the processor, the widest first."""


def figure(value: float, unit: str = "", goal: str = "", spread: Sequence[float] = ()) -> Figure:
    """A number to four digits; ``goal`` such as ``>= 0.95``; of ``spread``, the rounds, least and most are kept."""
    made: Figure = {"value": _rounded(value)}
    if unit:
        made["unit"] = unit
    if goal:
        made["goal"] = goal
    if spread:
        made["from"], made["to"] = _rounded(min(spread)), _rounded(max(spread))
    return made


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with ``--out``; a benchmark adds its sizes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.set_defaults(started=time.monotonic())
    return parser


def figures_of(
    given: argparse.Namespace, parts: Mapping[str, Callable[[int], Iterable[tuple[str, Figure]]]]
) -> Figures:
    """Draw the figures of ``given.parts`` with ``given.draws``; the record's figures of other parts stay."""
    chosen = given.parts or list(parts)
    known = set(chosen) < set(parts) and given.out.is_file()
    figures: Figures = json.loads(given.out.read_text(encoding="utf-8"))["figures"] if known else {}
    for part in chosen:
        figures |= dict(parts[part](given.draws))
    return figures


def write_record(
    given: argparse.Namespace, setting: str, figures: Mapping[str, Figure], packages: Sequence[str], page: str = ""
) -> None:
    """Write the benchmark's JSON to ``given.out``: ``setting`` says in a few words what was run on what.

    ``page`` is where its figures are explained, if that is not docs/reference/performance.md. The record that the file
    had before joins its history, which `make bench-compare` reads.
    """
    name, script = given.out.stem, Path(sys.argv[0]).stem
    options = [word for word in sys.argv[1:] if word not in ("--out", str(given.out)) and not word.startswith("--out=")]
    before = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    result = {
        "name": name,
        **({"page": page} if page else {}),
        "setting": setting,
        "figures": dict(figures),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in packages}},
        "command": shlex.join(["python", f"benchmarks/{script}.py", *options]),
        "seconds": round(time.monotonic() - given.started),
        "date": f"{datetime.now(tz=UTC):%Y-%m-%d}",
        "commit": _commit(),
        "history": [*before.get("history", []), *([_kept(before)] if "figures" in before else [])],
    }
    # Not sorted: figures are in the order of importance.
    write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", given.out)
    for label, values in figures.items():
        print(f"{name}: {label}: {values['value']} {values.get('unit', '')} {values.get('goal', '')}".rstrip())


def machine() -> dict[str, Any]:
    """The processor's name, instruction set and count, and the memory in GiB; nothing that names a host."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    widest = next((name for flag, name in INSTRUCTIONS.items() if flag in flags), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": model, "instructions": widest, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory)}


def _commit() -> str:
    """The checkout's commit, with `-dirty` where files differ from it."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True, capture_output=True)
    return done.stdout.strip()


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the history keeps of a record: the values of its figures, and where, when and how it was made."""
    values = {label: each["value"] for label, each in record["figures"].items()}
    about = {key: record[key] for key in ("date", "commit", "setting", "machine", "command") if key in record}
    return {**about, "values": values}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}") if isinstance(value, float) else value
