"""What all rules share: the study, and settings from the profile."""

import os
import time

from ragrelay.base.annex import annexes
from ragrelay.base.vocabulary.study_file import GPU_NAMES, count_file
from ragrelay.execution.jobs import snakemake_internals
from ragrelay.config.checks import check_temporary_folder
from ragrelay.config.config_files import check_overlays
from ragrelay.config.given_texts import with_types
from ragrelay.config.start import start, with_own_kinds
from ragrelay.generation.status import unused_addresses
from ragrelay.execution.jobs.scripts import collect_input_errors, on_terminal
from ragrelay.report.missing import last_remarks
from ragrelay.execution.study import files
from ragrelay.execution.study.asking import shown_tables, study_questions
from ragrelay.execution.study.plan import Plan
from ragrelay.execution.study.reported import LENGTHS, Reported
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import NAME, any_of, code_of, of_job

STARTED = time.time()
RULES = workflow.current_basedir
"""This folder. Paths joined to it are found from rules in any file."""

with on_terminal():
    snakemake_internals.check_snakemake()
snakemake_internals.look_at_jobs_when_needed()
snakemake_internals.collect_garbage_rarely()
snakemake_internals.escape_log_messages()
snakemake_internals.shorten_reasons()
snakemake_internals.import_this_package_in_jobs(workflow)
snakemake_internals.keep_locks_of_other_runs()

with on_terminal():
    if workflow.is_main_process:
        check_temporary_folder()
    # Check the files in --configfile, even in jobs on a node. Without overlays, the catalogue is the demo.
    given = workflow.config_settings.overwrite_config
    check_overlays(workflow.overwrite_configfiles, given, config.get("study"))
    study, fingerprints = start(
        with_types(with_own_kinds(config, given, CATALOGUE), workflow.config_settings.config),
        files=workflow.configfiles,
        prompts=["config/prompts", ROOT / "config" / "prompts"],
        of=StudyOfRules,
    )
    study.fingerprints, study.fill = fingerprints, workflow.pathvars.apply

snakemake_internals.plan_by_content(globals(), Path(study.cache_dir))

with on_terminal():
    questions = study_questions(study)
shown_questions, asked_tables = shown_tables(questions)
collection, downloads, retrieval = study.collection, study.downloads, study.retrieval
generation, scoring = study.generation, study.scoring
reported = Reported(study)
plan = Plan(study, questions)
snakemake_internals.check_submissions(workflow, plan.missing)


def last_lines():
    """Return a run's last lines: many missing answers, endpoints without answers, warnings on data, and its pages."""
    finished = snakemake_internals.finished_files(workflow)
    lengths = [path for path in map(workflow.pathvars.apply, study.grid_paths(LENGTHS)) if path in finished]
    counts = workflow.pathvars.apply(files.left_out_counts)
    unused = unused_addresses(Path(workflow.pathvars.apply("<logs>")), STARTED)
    remarks = last_remarks(lengths, Path(counts) if counts in finished else None, unused)
    return [*remarks, *(f"The page: {path}" for path in finished if path.endswith(".html"))]


snakemake_internals.end_with(last_lines)


def end_run():
    """Run the annexes' actions for the end of a run."""
    for annex in annexes():
        annex.run_ended(Path(workflow.pathvars.apply("<results>")))


def machine(name):
    """Return what the profile's `set-resources` sets for a class of rules."""
    return snakemake_internals.class_resources(workflow, name)


def cores(name, otherwise=1):
    """Return what the profile's `set-threads` sets for a class of rules, or else ``otherwise``."""
    return snakemake_internals.class_threads(workflow, name, otherwise)


def env(name):
    """Return the conda environment ``name``."""
    return RULES.join(f"../envs/{name}.yaml")


def following(paths_of):
    """Return an input function for files that a job waits for but whose changes don't trigger it."""
    return lambda wildcards: [ancient(path) for path in paths_of(wildcards)]


def with_work(resources):
    """Return ``resources`` for jobs that have work to do, and the profile's defaults for jobs without missing keys."""
    return snakemake_internals.with_work(workflow, resources)


def count_of(receipt, generator=lambda wildcards: wildcards.generator):
    """Return an input function for the missing-key count of the engine job that writes ``receipt``.

    It returns no file if there is no profile for engines, or if the job's ``generator`` doesn't need a GPU.
    """
    gpus = generation.gpus if machine("engine") else lambda name: 0
    return lambda wildcards: [snakemake_internals.count_file(count_file(receipt))] if gpus(generator(wildcards)) else []


def count_if_gpu(name, output):
    """Return the missing-key count of the job that writes ``output`` if the profile gives its class a GPU."""
    return [snakemake_internals.count_file(count_file(output))] if {*GPU_NAMES} & {*machine(name)} else []


ENGINE = with_work({**machine("engine"), "gpu": of_job(generation.gpus)})
