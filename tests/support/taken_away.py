"""A copy of the repository without some annexes, as one has it who takes them away."""

import ast
import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ragrelay.base.annex import Annex, annexes

from tests.support.imports import imported, importers, is_in
from tests.support.sandbox import ROOT

PACKAGE = Path("workflow/scripts/ragrelay")
COMMITTER = ["-c", "user.name=a", "-c", "user.email=a@b"]


def with_dependents(names: Iterable[str]) -> list[str]:
    """Annexes that go when those of ``names`` go: these, and those that build on any of them."""
    gone = set(names)
    while added := {annex.name for annex in annexes() if gone & set(annex.builds_on)} - gone:
        gone |= added
    return [annex.name for annex in annexes() if annex.name in gone]


def copy_of_repository(folder: Path) -> Path:
    """Copy what git knows of, or would add, into a repository of its own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, text=True, capture_output=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, listed):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    for command in (["init", "--quiet"], ["add", "."], [*COMMITTER, "commit", "--quiet", "-m", "all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def take_away(root: Path, names: Iterable[str]) -> set[str]:
    """Take annexes out of the copy at ``root``, and write its generated files anew. Return the modules that are gone.

    Of each go the folder, the tests, the doors, its keys in config/, and the published tables that its targets make; of
    tools and benchmarks those that import any of this.
    """
    gone = [annex for annex in annexes() if annex.name in set(names)]
    modules = {f"ragrelay.annexes.{annex.name}" for annex in gone}
    folders = [root / PACKAGE / "annexes" / annex.name for annex in gone]
    targets = {rule for folder in folders for path in folder.glob("rules.smk") for rule in rules_of(path)}
    _leave_out_rows(root / "resources/published/rows.csv", targets)
    for annex in gone:
        shutil.rmtree(root / PACKAGE / "annexes" / annex.name)
        shutil.rmtree(root / "tests/annexes" / annex.name, ignore_errors=True)
        modules |= {_without_door(root / PACKAGE, door) for door in annex.doors}
    for path in (root / "config").glob("*.yaml"):
        path.write_text(_without_keys(path.read_text(encoding="utf-8"), gone), encoding="utf-8")
    while found := {f"{part}.{name[:-3]}".replace("/", ".") for part in ("tools", "benchmarks")
                    for name in importers(root / part, modules)}:  # fmt: skip
        for name in found:
            (root / f"{name.replace('.', '/')}.py").unlink()
            for record in (root / "benchmarks/results").glob(f"{name.split('.')[-1]}*.json"):
                record.unlink()
            for page in (root / "docs").glob("*.md"):
                block = rf"<!-- [^<>]*, by {name.replace('.', '/')}\.py -->\n.*?\n<!-- -->\n"
                text = re.sub(block, "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
                link = rf"\[([^\[\]]*)\]\([^()]*benchmarks/results/{name.split('.')[-1]}\w*\.json\)"
                page.write_text(re.sub(link, r"\1", text), encoding="utf-8")
        modules |= found
    return modules


def left_over(names: Iterable[str]) -> list[str]:
    """Files that would stay without these annexes, and import what would be gone: an annex, a door or a tool."""
    gone = [annex for annex in annexes() if annex.name in set(names)]
    modules = {f"{part}.annexes.{annex.name}" for part in ("ragrelay", "tests") for annex in gone}
    modules |= {f"ragrelay.{door}" for annex in gone for door in annex.doors}
    while True:
        staying = {file: of for file, of in _imports().items() if not is_in(file, modules)}
        files = {file for file, of in staying.items() if any(is_in(one, modules) for one in of)}
        if not (tools := {file for file in files if file.startswith(("tools.", "benchmarks."))}):
            return sorted(files)
        modules |= tools


@cache
def _imports() -> dict[str, list[str]]:
    """What each Python file of the repository imports, by its name as a module."""
    tops = {"workflow/scripts": ROOT / "workflow/scripts", "tests": ROOT, "tools": ROOT, "benchmarks": ROOT}
    files = [(top, path) for part, top in tops.items() for path in (ROOT / part).rglob("*.py")]
    return {".".join(path.relative_to(top).with_suffix("").parts): list(imported(path)) for top, path in files}


def write_again(root: Path) -> None:
    """Write what `make docs` writes from code."""
    for tool in (
        "config_reference",
        "bad_input",
        "result_files",
        "rule_list",
        "public_names",
        "papers",
        "error_rates",
        "performance",
    ):
        done = subprocess.run([sys.executable, f"tools/{tool}.py"], cwd=root, text=True, capture_output=True)
        assert done.returncode == 0, f"{tool}: {done.stderr[-3000:]}"


def rules_of(path: Path) -> list[str]:
    """Names of the rules in a file of rules, those of its loops aside."""
    return re.findall(r"^(?:rule|use rule \w+ as|checkpoint) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def _leave_out_rows(path: Path, targets: set[str]) -> None:
    """Remove the rows of published tables whose command names one of ``targets``."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    command = head.index("command")
    with path.open("w", encoding="utf-8", newline="") as file:
        kept = [row for row in rows if not targets & set(row[command].split())]
        csv.writer(file, lineterminator="\n").writerows([head, *kept])


def _without_door(package: Path, door: str) -> str:
    """Remove a module of the package's top, or a function of its ``__init__``, with the comment above it."""
    if (package / door).is_dir():
        shutil.rmtree(package / door)
    elif (package / f"{door}.py").is_file():
        (package / f"{door}.py").unlink()
    else:
        path = package / "__init__.py"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        [node] = [one for one in ast.parse("".join(lines)).body if getattr(one, "name", None) == door]
        start = node.lineno - 1
        while lines[start - 1].startswith("#"):
            start -= 1
        path.write_text("".join([*lines[:start], *lines[node.end_lineno :]]).rstrip() + "\n", encoding="utf-8")
    return f"ragrelay.{door}"


def _without_keys(text: str, gone: list[Annex]) -> str:
    """A configuration without the keys of these annexes, at the top and in the grid, and without comments on them."""
    top = {key for annex in gone if annex.keys for key in annex.keys.model_fields}
    grid = {key for annex in gone if annex.grid_keys for key in annex.grid_keys.model_fields}
    kept: list[str] = []
    section, leaving, level = "", False, 0
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip(" "))
        if leaving and (not line.strip() or indent > level):
            continue
        leaving = False
        if found := re.match(r" *(\w+):", line):
            section = found[1] if indent == 0 else section
            leaving = found[1] in top if indent == 0 else indent == 2 and section == "grid" and found[1] in grid
        if leaving:
            level = indent
            while kept and kept[-1].lstrip().startswith("#") and len(kept[-1]) - len(kept[-1].lstrip(" ")) == indent:
                kept.pop()
            continue
        kept.append(line)
    return re.sub(r"^grid:\n(?!  )", "", "".join(kept), flags=re.MULTILINE)
