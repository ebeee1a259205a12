"""ragrelay: is relevance relayed from the retriever to the answer?

Targets: docs/commands.md, or `snakemake --list`.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")


# Of the workflow, wherever it is read from.
PACKAGE = Path(workflow.source_path("workflow/scripts/ragrelay/__init__.py"))
VERSION = re.search('__version__ = "(.+)"', PACKAGE.read_text(encoding="utf-8"))[1]
# A module that is fetched from a hosting service has no folder: it takes the package that is installed.
sys.path.insert(0, f"{workflow.current_basedir}/workflow/scripts")
try:
    from ragrelay import __version__ as installed
except ModuleNotFoundError:
    installed = "none"
if installed != VERSION:
    sys.exit(
        f"ragrelay: error: Python package ragrelay: found {installed}; expected version {VERSION}, as the workflow"
    )

# A plain Snakemake, as `--sdm conda` allows for jobs.
NEEDED = ("ir_datasets", "ir_measures", "numpy", "polars", "pyarrow")
if lacking := [name for name in NEEDED if find_spec(name) is None]:
    sys.exit(
        f"ragrelay: error: the environment of snakemake: found no {', '.join(lacking)}; expected one that "
        "`make setup` or envs/host.yaml made"
    )

from ragrelay.config.config_files import check_file
from ragrelay.display.page_list import list_pages
from ragrelay.display.terminal import tell, tell_uncaught
from ragrelay.io.workflow_files import ROOT
from ragrelay.jobs.scripts import on_terminal

# Snakemake catches Ctrl-C only while jobs run.
sys.excepthook = tell_uncaught

CATALOGUE = "config/config.yaml"
with on_terminal():
    # Snakemake's own messages about it name no line. Where it is nowhere, Snakemake says so.
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
    claims=NAME,
    reranker=NAME,
    scorer=any_of(study.grid.scorers),
    template=NAME,
    source=NAME,
    judge=NAME,
    fetched=NAME,
    shard=r"\d+",


include: "rules/retrieval.smk"
include: "rules/generation.smk"
include: "rules/scoring.smk"
include: "rules/asking.smk"
include: "rules/analysis.smk"
include: "rules/annotation.smk"
include: "rules/claims.smk"
include: "rules/prediction.smk"
include: "rules/report.smk"
include: "rules/exchange.smk"
include: "rules/targets.smk"


# Before any job; in a job of a cluster, Snakemake would come here again.
onstart:
    if workflow.is_main_process:
        plan.check_run(workflow.dag.needrun_jobs())
        plan.note_run(workflow.dag)


onsuccess:
    if changed := snakemake_internals.changed_sources():
        later = "changed during this run; the same command makes again what was made of"
        for path in changed:
            tell(f"ragrelay: {path}: {later} it.")
    if workflow.is_main_process:
        list_pages(Path(workflow.pathvars.apply("<results>")))
        for path in snakemake_internals.finished_pages(workflow):
            tell(f"The page: {path}")


# What failed jobs said is in their own logs, on a cluster in these alone: repeated at the end.
onerror:
    logs = config.get("pathvars", {}).get("logs", LOGS)
    snakemake_internals.tell_the_end(errors_told(logs, STARTED))


# Here and not among the other targets, because Snakemake takes the default target from this file alone.
rule report:
    """The report of the study: its page, tables and figures. The default."""
    input:
        REPORTED_FILES,


# The rules that are known to make an input (StudyOfRules.makers).
snakemake_internals.name_makers(
    workflow.rules,
    {item: getattr(rules, name).rule.name for item, name in study.makers.items()},
)


# What a terminal shows of a job: its rule, and what it is for.
for each in workflow.rules:
    names = sorted(each.wildcard_names)
    values = ", ".join(f"{name} {{wildcards.{name}}}" for name in names)
    each.message = each.message or ": ".join(filter(None, [each.name, values]))
