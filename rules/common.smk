"""What the rules share: the validated study, and functions from wildcards to definitions and cells."""

import functools
import itertools
import os
import re
import time

from ragrelay.claims.prompts import load_claim_template
from ragrelay.claims.source import CLAIM_FORMATS, CLAIM_KINDS
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.jobs import snakemake_internals
from ragrelay.jobs.code_digest import code_digest, questions_digest
from ragrelay.config.checks import check_temporary_folder
from ragrelay.config.config_files import check_overlays
from ragrelay.config.start import start
from ragrelay.errors import InputError, one_of
from ragrelay.generation.generator import GENERATOR_KINDS, may_miss_answers
from ragrelay.generation.thought_marks import thought_marks
from ragrelay.jobs.scripts import errors_told, on_terminal
from ragrelay.judging.templates import load_judge_template
from ragrelay.likelihoods.continuations import raw
from ragrelay.likelihoods.store import likelihood_fingerprint
from ragrelay.vocabulary.orderings import fits
from ragrelay.prompting.templates import load_template
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.reproduction.checks import common_rows
from ragrelay.retrieval.run_checks import check_joined_runs
from ragrelay.retrieval.run_metadata import describe_run
from ragrelay.scoring.scorer import SCORER_KINDS
from ragrelay.fetching.sources import sources, sources_of
from ragrelay.study import files

NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"

STARTED = time.time()

snakemake_internals.collect_garbage_rarely()
snakemake_internals.escape_what_is_logged()
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
    STUDY, FINGERPRINTS = start(
        config,
        files=workflow.configfiles,
        prompts=["config/prompts", ROOT / "config" / "prompts"],
    )

snakemake_internals.plan_by_content(globals(), Path(STUDY.cache_dir))

SOURCES = sources(STUDY)

EACH_RETRIEVER = [{"retriever": name} for name in STUDY.grid["retrievers"]]
RETRIEVERS_AND_ZEROSHOT = [{"retriever": "zeroshot"}, *EACH_RETRIEVER]
# The cells of one retriever, k growing within an ordering: what fills the patterns of their files.
CONTEXTS = [
    {"ordering": ordering, "k": k}
    for ordering in STUDY.grid["orderings"]
    for k in sorted(STUDY.grid["k"])
    if fits(ordering, k)
]
CELLS = [
    {**context, "seed": seed} for context in CONTEXTS for seed in STUDY.grid["seeds"]
]
ZEROSHOT_CELLS = [
    {"ordering": "none", "k": 0, "seed": seed} for seed in STUDY.grid["seeds"]
]


# The grid's generators that jobs ask for answers, and those whose answers are brought along.
MADE = STUDY.asked_generators()
BROUGHT = [name for name in STUDY.grid["generators"] if name not in MADE]


def judges_of(scorer):
    return SCORER_KINDS.of(STUDY.scorer(scorer)).judges()


# The grid's scorers whose scores are a judge's, and the others.
JUDGED_BY = {s: judges[0] for s in STUDY.grid["scorers"] if (judges := judges_of(s))}
# Of these, whose judge is checked for bias.
CHECKED_JUDGES = [s for s in JUDGED_BY if STUDY.scorer(s)["bias_checks"]]
MEASURED_BY = [s for s in STUDY.grid["scorers"] if s not in JUDGED_BY]


def any_of(names):
    """A regular expression of ``names``; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def code_of(script, *modules, digest=code_digest):
    """The digest of a script's code, reckoned only for jobs that there are: on a node, one script of many.

    ``modules`` are those that the script imports by a name that its code doesn't say, or functions from wildcards to
    such a module: of the kind that a job asks for, or of the figures and tables that it makes.
    """
    return lambda wildcards: digest(
        script, *(m(wildcards) if callable(m) else m for m in modules)
    )


def questions_of(script, *modules):
    """The same of what a script asks an engine: neither engine nor store counts."""
    return code_of(script, *modules, digest=questions_digest)


def dataset_files(dataset):
    """The files of a local dataset; none of a catalogued one."""
    return list(map(str, DATASET_KINDS.of(STUDY.dataset(dataset)).files(Path())))


def dataset_module(wildcards):
    return DATASET_KINDS.module(STUDY.dataset(wildcards.dataset))


def passage_files(dataset):
    """Those of dataset_files that an index is built of."""
    return [
        path
        for path in dataset_files(dataset)
        if Path(path).stem.startswith("passages")
    ]


def run_files(dataset):
    """The run files that the grid's retrievers bring along for a dataset."""
    definitions = map(STUDY.retriever, STUDY.needed_retrievers())
    return [p for d in definitions for p in RETRIEVER_KINDS.of(d).files(dataset)]


def fetched(section, entry):
    """Receipts of what an entry of the catalogue takes from elsewhere."""
    names = sources_of(section, STUDY.config[section][entry])
    return files.fetched.each([{"fetched": name} for name in names])


def dataset_named(name):
    """A dataset's definition without what only its references and the number of generation jobs depend on."""
    definition = {**STUDY.dataset(name), "references": {}}
    return {key: value for key, value in definition.items() if key != "shards"}


def dataset_of(wildcards):
    return dataset_named(wildcards.dataset)


def machine(name):
    """A class's `set-resources` in the profile."""
    return snakemake_internals.class_resources(workflow, name)


def cores(name, otherwise):
    """A class's `set-threads` in the profile, or ``otherwise``."""
    return snakemake_internals.class_threads(workflow, name, otherwise)


def fingerprint_of(wildcards):
    return FINGERPRINTS[wildcards.generator]


def threads_of(wildcards):
    return STUDY.generator(wildcards.generator)["threads"]


def devices_of(wildcards):
    """GPUs that one engine takes."""
    return STUDY.generator(wildcards.generator).get("tensor_parallel_size", 1)


def grades_of(wildcards):
    """The sets of references that a scorer compares answers with, by lowest label."""
    return STUDY.reference_sets(wildcards.dataset, wildcards.scorer)


def template_of(generator):
    """The template of a generator's prompts; for answers that are brought along, what is in the place of it."""
    if generator in BROUGHT:
        return files.ANSWERED_WITH.format(generator=generator)
    return STUDY.generator(generator)["prompt"]


@functools.cache
def whole_template(name):
    """The template's parts, so that a comment in its file reruns nothing."""
    return vars(load_template(STUDY.template_path(name)))


def template_parts(name):
    """The same without what only the checks of a judge ask."""
    whole = whole_template(name)
    return {part: text for part, text in whole.items() if part != "swapped"}


def shards(dataset):
    return range(STUDY.dataset(dataset)["shards"])


def grid_paths(pattern, **more):
    """``pattern`` filled from the grid's names, or from those that ``more`` gives of a wildcard."""
    names = {
        "dataset": "datasets",
        "retriever": "retrievers",
        "generator": "generators",
        "scorer": "scorers",
    }
    values = {name: STUDY.grid[section] for name, section in names.items()} | more
    used = [name for name in values if f"{{{name}}}" in pattern]
    keys = itertools.product(*(values[name] for name in used))
    return pattern.each([dict(zip(used, key)) for key in keys])
