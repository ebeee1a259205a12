"""Write docs/reference/rules.md: the demo's rule graph, and every rule with the files that it reads and writes.

python tools/rule_list.py
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/rules.md"
LIST = """
include: "{snakefile}"


import json
from pathlib import Path


def path_of(source):
    return source.get_path_or_uri(secret_free=True) if hasattr(source, "get_path_or_uri") else str(source)


def listed(files):
    names = {{place: name for name, (place, end) in files._get_names() for place in range(place, end or place + 1)}}
    texts = [str(file) if isinstance(file, str) and str(file)[:6] not in ("<bound", "<funct") else "" for file in files]
    return [[names.get(place, ""), text] for place, text in enumerate(texts)]


found = [
    {{
        "name": each.name, "about": each.docstring or "", "file": path_of(each.snakefile),
        "input": listed(each.input), "output": listed(each.output),
    }}
    for each in workflow.rules
]
Path("{out}").write_text(json.dumps(found), encoding="utf-8")
"""
HEAD = """# Rules

This page lists every rule with the files that it reads and writes. Paths are relative to `results/<study>/`. A name in
italics stands for files that differ between jobs, such as the dataset's files. For the stages, see
[Architecture](../architecture.md). `make docs` writes this page.

The demo's rules and their order:

```mermaid
{graph}
```
"""


NAMES = {
    "demo-lm": "generator", "demo": "dataset", "minilm": "scorer", "tian2025": "template",
    **dict.fromkeys(("bm25", "dense", "rel", "nrel"), "retriever"),
    **dict.fromkeys(("descending", "ascending"), "ordering"),
}  # fmt: skip
"""The demo's names, and the wildcards that they fill."""
GRID = re.compile(rf"(?<![\w-])(?:{'|'.join(NAMES)})(?![\w-])")


def loaded() -> list[dict[str, Any]]:
    """Return the rules, as Snakemake has them with the demo's configuration."""
    with tempfile.TemporaryDirectory() as folder:
        out, snakefile = Path(folder) / "rules.json", Path(folder) / "list.smk"
        snakefile.write_text(LIST.format(snakefile=ROOT / "Snakefile", out=out), encoding="utf-8")
        _snakemake("--dry-run", "--quiet", "all", "--snakefile", str(snakefile))
        found: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
        return found


def _snakemake(*arguments: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        sys.exit((done.stdout + done.stderr)[-2000:])
    return done.stdout


def graph() -> str:
    """Return the demo's rule graph in Mermaid's words: an edge per line, in the alphabet's order."""
    drawn = _snakemake("--forceall", "--rulegraph", "mermaid-js")
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]", drawn, re.MULTILINE))
    edges = {(names[one], names[other]) for one, other in re.findall(r"(id\d+) --> (id\d+)", drawn)}
    return "\n".join(["flowchart TB", *(f"  {one} --> {other}" for one, other in sorted(edges))])


def paths(files: list[list[str]]) -> str:
    """Write files as patterns: without the study's folder and constraints, cells of one pattern once."""
    said = []
    for name, path in files:
        path = re.sub(r"^(results|logs)/demo/", "", re.sub(r"\{(\w+),[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", r"{\1}", path))
        path = GRID.sub(lambda match: f"{{{NAMES[match[0]]}}}", path)
        path = re.sub(r"\b(k|seed)\d+\b", r"\1{\1}", path)
        said.append(f"`{path}`" if path else f"*{name or 'chosen per job'}*")
    return "<br>".join(dict.fromkeys(filter(None, said)))


def title(file: str) -> str:
    """Name the file of a rule: an annex's, or one of rules/."""
    annex = re.search(r"/annexes/(\w+)/rules\.smk$", file)
    return f"Annex {annex[1]}" if annex else Path(file).stem.capitalize() if "/rules/" in file else "Targets"


def page(rules: list[dict[str, Any]], drawn: str) -> str:
    """Return the page of ``rules``, a table per file."""
    by_file: dict[str, list[str]] = {}
    for rule in rules:
        about = " ".join(rule["about"].split("\n\n")[0].split())
        cells = (f"`{rule['name']}`", about, paths(rule["input"]), paths(rule["output"]))
        by_file.setdefault(title(rule["file"]), []).append("| " + " | ".join(cells) + " |")
    head = "| Rule | What it does | Reads | Writes |\n|---|---|---|---|"
    tables = [f"## {name}\n\n{head}\n" + "\n".join(rows) + "\n" for name, rows in by_file.items()]
    return "\n".join([HEAD.format(graph=drawn), *tables])


if __name__ == "__main__":
    PAGE.write_text(page(loaded(), graph()), encoding="utf-8")
