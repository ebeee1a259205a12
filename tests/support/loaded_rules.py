"""The rules of the workflow as Snakemake has loaded them."""

import functools
import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.support.sandbox import ROOT, Sandbox

NOTE_CLASSES = """
import sys
sys.path.insert(0, f"{workflow.current_basedir}/workflow/scripts")
from ragrelay.execution.jobs import snakemake_internals
snakemake_internals.class_resources = lambda _, name: {"class_of_rule": name, "gpu": 1}
snakemake_internals.with_work = lambda _, resources: dict(resources)
"""
WRITE_RULES = """
import inspect, json, re
from snakemake.sourcecache import infer_source_file


def described(rule):
    code = dict(rule.params.items()).get("code")
    asked = code and inspect.getclosurevars(code).nonlocals.get("script")
    kind = rule.resources.get("class_of_rule")
    file = Path(rule.snakefile)
    annex = f"{file.parent.name}/" if file.name == "rules.smk" else ""
    script = rule.script and infer_source_file(rule.script, rule.basedir).get_path_or_uri(secret_free=True)
    script = script and re.sub(r".*/workflow/scripts/(ragrelay/annexes/(\\w+)/scripts/)?", r"\\2/", script).lstrip("/")
    env = rule.conda_env and Path(infer_source_file(rule.conda_env).get_filename()).stem
    told = [rule.docstring or "", kind and kind.value, env, asked, "missing" in rule.input.keys()]
    told.append(not rule.script or (rule.name in workflow._localrules and not rule.output))
    return [rule.name, annex + file.name, script, *told]


Path("rules.json").write_text(json.dumps([described(each) for each in workflow.rules]))
"""


class Rule(NamedTuple):
    """A rule: name, file, script, words for `--list`, class in the profiles, environment, script of its code digest.

    ``counted``: whether its missing work is counted before it, where its class has a GPU. ``target``: whether it
    has no script, or runs one here without outputs.
    """

    name: str
    file: str
    script: str | None
    says: str
    kind: str | None
    env: str | None
    code: str | None
    counted: bool
    target: bool


@functools.cache
def loaded_rules() -> dict[str, Rule]:
    """Rules by name. Starts Snakemake."""
    with tempfile.TemporaryDirectory() as folder:
        study = Sandbox(Path(folder) / "study", queries=1)
        own = study.folder / "own.smk"
        own.write_text(NOTE_CLASSES + (ROOT / "Snakefile").read_text(encoding="utf-8") + WRITE_RULES, encoding="utf-8")
        study.snakemake("--list-rules", "--snakefile", own.name)
        return {row[0]: Rule(*row) for row in json.loads((study.folder / "rules.json").read_text(encoding="utf-8"))}
