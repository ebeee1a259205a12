"""ragrelay: is relevance relayed from the retriever to the answer?

Targets: docs/commands.md, or `snakemake --list`.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

from packaging.version import Version
from snakemake import __version__ as snakemake_version

# The workflow uses parts that are not documented (ragrelay/execution/jobs/snakemake_internals.py).
if not Version("9.22.0") <= Version(snakemake_version) < Version("9.28"):
    sys.exit(f"ragrelay: error: Snakemake: found {snakemake_version}; expected 9.22.0 to 9.27")


# A wheel has the workflow inside its package. A checkout, or a hosting service, has the package inside the workflow.
IN_WHEEL = Path(str(workflow.current_basedir)).parts[-2:] == ("ragrelay", "workflow_files")
PACKAGES = str(Path(f"{workflow.current_basedir}").parents[1]) if IN_WHEEL else "workflow/scripts"
INIT = Path(workflow.source_path(f"{PACKAGES}/ragrelay/__init__.py"))
VERSION = re.search('__version__ = "(.+)"', INIT.read_text(encoding="utf-8"))[1]
# A module that is fetched from a hosting service has no folder: it uses the installed package.
sys.path.insert(0, PACKAGES if IN_WHEEL else f"{workflow.current_basedir}/{PACKAGES}")
try:
    from ragrelay import __version__ as installed
except ModuleNotFoundError:
    installed = "none"
if installed != VERSION:
    sys.exit(f"ragrelay: error: Python package ragrelay: found {installed}; expected {VERSION}, the workflow's version")

# Snakemake writes the path of Python into a shell's command as it is.
if re.search(r"\s", sys.executable):
    sys.exit(
        f"ragrelay: error: the environment of snakemake: found a blank in {sys.executable}; expected a folder whose path "
        "has none"
    )

# With `--sdm conda`, the environment of Snakemake itself may lack these.
NEEDED = ("ir_datasets", "ir_measures", "numpy", "polars", "pyarrow")
if lacking := [name for name in NEEDED if find_spec(name) is None]:
    sys.exit(
        f"ragrelay: error: the environment of snakemake: found no {', '.join(lacking)}; expected an environment made "
        "by `make setup` or from envs/host.yaml"
    )

from ragrelay.base.display.terminal import tell, tell_uncaught

# Snakemake catches Ctrl-C only while jobs run. What is imported below takes a second.
sys.excepthook = tell_uncaught

from ragrelay.config.config_files import check_file
from ragrelay.report.display.page_list import list_pages
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.execution.jobs.scripts import on_terminal

CATALOGUE = "config/config.yaml"
# The wheel's own, in a folder that has none.
if IN_WHEEL and not Path(CATALOGUE).exists():
    CATALOGUE = str(ROOT / CATALOGUE)
with on_terminal():
    # Snakemake's own messages about the file name no line. If the file is missing, Snakemake says so.
    for path in filter(Path.exists, (Path(CATALOGUE), ROOT / CATALOGUE)):
        check_file(path)
        break


configfile: CATALOGUE


include: "rules/common.smk"


LOGS = f"logs/{study.name}"


pathvars:
    results=f"results/{study.name}",
    logs=LOGS,
    benchmarks=f"results/{study.name}/benchmarks",


wildcard_constraints:
    corpus=NAME,
    index=NAME,
    dataset=any_of(study.grid.datasets),
    retriever=any_of(study.needed_retrievers()),
    generator=any_of(study.used_generators()),
    scorer=any_of([*scoring.scorers, *scoring.averaged]),
    template=NAME,
    judge=NAME,
    fetched=NAME,
    shard=r"\d+",


include: "rules/retrieval.smk"
include: "rules/generation.smk"
include: "rules/scoring.smk"
include: "rules/asking.smk"
include: "rules/analysis.smk"
include: "rules/report.smk"
include: "rules/targets.smk"
include: "rules/annexes.smk"


# Before any job. The condition is false in a cluster's job, where Snakemake runs this again.
onstart:
    if workflow.is_main_process:
        plan.check_run(workflow.dag.needrun_jobs())


onsuccess:
    if changed := snakemake_internals.changed_source_files():
        for path in changed:
            tell(
                f"ragrelay: {path}: changed during this run; run the same command again to redo what depends on it."
            )
    if workflow.is_main_process:
        list_pages(Path(workflow.pathvars.apply("<results>")))
        end_run()
        if lines := last_lines():
            tell(*lines)


# Repeat the errors of failed jobs: on a cluster they are only in the jobs' logs.
onerror:
    if workflow.is_main_process:
        end_run()
    logs = config.get("pathvars", {}).get("logs", LOGS)
    snakemake_internals.print_failure(collect_input_errors(logs, STARTED))


# Not in rules/targets.smk, because Snakemake takes the default target from this file only.
rule report:
    """Write the study's report: the page, tables and figures. This is the default target."""
    input:
        REPORTED_FILES,


# The rules that are known to make an input (GenerationStage.makers).
snakemake_internals.declare_makers(
    workflow.rules,
    {item: getattr(rules, name).rule.name for item, name in generation.makers.items()},
)


# The message that a terminal shows for a job: its rule and its wildcards.
for each in workflow.rules:
    names = sorted(each.wildcard_names)
    values = ", ".join(f"{name} {{wildcards.{name}}}" for name in names)
    each.message = each.message or ": ".join(filter(None, [each.name, values]))
