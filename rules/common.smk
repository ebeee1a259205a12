"""What the rules share: the study, and what they take from the profile."""

import functools
import os
import time

from ragrelay.claims.source import CLAIM_FORMATS, CLAIM_KINDS
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.jobs import snakemake_internals
from ragrelay.config.checks import check_temporary_folder
from ragrelay.config.config_files import check_overlays
from ragrelay.config.start import start
from ragrelay.errors import InputError, one_of
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.jobs.scripts import errors_told, on_terminal
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.reproduction.checks import common_rows
from ragrelay.retrieval.run_checks import check_joined_runs
from ragrelay.retrieval.run_metadata import describe_run
from ragrelay.study import files
from ragrelay.study.study import NAME, StudyOfRules, any_of, code_of

STARTED = time.time()

snakemake_internals.collect_garbage_rarely()
snakemake_internals.escape_what_is_logged()
snakemake_internals.name_pages(workflow)
snakemake_internals.check_submissions(workflow)
snakemake_internals.import_this_package_in_jobs()

with on_terminal():
    if workflow.is_main_process:
        check_temporary_folder()
    # Files of --configfile, on a node too; the catalogue alone is the demo.
    check_overlays(
        workflow.overwrite_configfiles,
        workflow.config_settings.overwrite_config,
        config.get("study"),
    )
    study, fingerprints = start(
        config,
        files=workflow.configfiles,
        prompts=["config/prompts", ROOT / "config" / "prompts"],
        of=StudyOfRules,
    )
    study.fingerprints = fingerprints

snakemake_internals.plan_by_content(globals(), Path(study.cache_dir))


def machine(name):
    """A class's `set-resources` in the profile."""
    return snakemake_internals.class_resources(workflow, name)


def cores(name, otherwise):
    """A class's `set-threads` in the profile, or ``otherwise``."""
    return snakemake_internals.class_threads(workflow, name, otherwise)
