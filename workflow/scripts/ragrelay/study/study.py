"""The study as rules see it: cells, functions from wildcards to definitions, and the files of each.

Without Snakemake: rules pass these functions on, and Snakemake calls them with a job's wildcards.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.collection.source import DATASET_KINDS
from ragrelay.config.study import Study
from ragrelay.fetching.sources import sources, sources_of
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.jobs.code_digest import code_digest, questions_digest
from ragrelay.prompting.templates import load_template
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import SCORER_KINDS
from ragrelay.study import files
from ragrelay.study.files import StudyFile
from ragrelay.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.vocabulary.orderings import fits

NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
"""Wildcards without a list of values: a name of the catalogue."""

Wildcards = Any
Key = Mapping[str, Any]
OfJob = Callable[[Wildcards], Any]


def any_of(names: Iterable[str]) -> str:
    """A regular expression of ``names``; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def code_of(
    script: str, *modules: str | Callable[[Wildcards], str], digest: Callable[..., str] = code_digest
) -> Callable[[Wildcards], str]:
    """A params function that computes a script's code digest.

    Snakemake calls it per job, so a cluster node hashes one script, not all. ``modules`` are those that the script
    imports by a name that its code doesn't say, or functions from wildcards to such a module: of the kind that a job
    asks for, or of the figures and tables that it makes.
    """
    return lambda wildcards: digest(script, *(m(wildcards) if callable(m) else m for m in modules))


def questions_of(script: str, *modules: str | Callable[[Wildcards], str]) -> Callable[[Wildcards], str]:
    """The same of what a script asks an engine: neither engine nor store counts."""
    return code_of(script, *modules, digest=questions_digest)


class StudyOfRules(Study):
    """A validated study with what rules ask of it.

    Functions whose only argument is ``wildcards`` are for a rule's input, params, threads or resources.
    """

    fingerprints: dict[str, str]
    """Of the grid's generators."""

    @functools.cached_property
    def each_retriever(self) -> list[Key]:
        """A key per retriever of the grid, to fill in paths."""
        return [{"retriever": name} for name in self.grid["retrievers"]]

    @functools.cached_property
    def retrievers_and_zeroshot(self) -> list[Key]:
        """The same after the zero-shot answers' key."""
        return [{"retriever": ZEROSHOT}, *self.each_retriever]

    @functools.cached_property
    def contexts(self) -> list[Key]:
        """Orderings and cutoffs of one retriever's contexts, k growing within an ordering."""
        orderings, ks = self.grid["orderings"], sorted(self.grid["k"])
        return [{"ordering": ordering, "k": k} for ordering in orderings for k in ks if fits(ordering, k)]

    @functools.cached_property
    def cells(self) -> list[Key]:
        """The cells of one retriever: its contexts, each with every seed."""
        return [{**context, "seed": seed} for context in self.contexts for seed in self.grid["seeds"]]

    @functools.cached_property
    def zeroshot_cells(self) -> list[Key]:
        """The cells without context."""
        return [{"ordering": NO_ORDERING, "k": 0, "seed": seed} for seed in self.grid["seeds"]]

    @functools.cached_property
    def imported_generators(self) -> list[str]:
        """The grid's generators whose answers are read from files."""
        asked = self.asked_generators()
        return [name for name in self.grid["generators"] if name not in asked]

    @functools.cached_property
    def judged_by(self) -> dict[str, str]:
        """The grid's scorers whose scores are a judge's, with the judge."""
        judges = {name: SCORER_KINDS.of(self.scorer(name)).judges() for name in self.grid["scorers"]}
        return {name: found[0] for name, found in judges.items() if found}

    @functools.cached_property
    def checked_scorers(self) -> list[str]:
        """Of these, whose judge is checked for bias."""
        return [name for name in self.judged_by if self.scorer(name)["bias_checks"]]

    @functools.cached_property
    def computed_scorers(self) -> list[str]:
        """The grid's scorers that ask no judge."""
        return [name for name in self.grid["scorers"] if name not in self.judged_by]

    @functools.cached_property
    def sources(self) -> dict[str, Any]:
        """What the grid takes from elsewhere, by name."""
        return sources(self)

    def fetched(self, section: str, entry: str) -> list[StudyFile]:
        """Receipts of what an entry of the catalogue takes from elsewhere."""
        return files.fetched.each({"fetched": name} for name in sources_of(section, self.config[section][entry]))

    def dataset_files(self, dataset: str) -> list[str]:
        """The files of a local dataset; none of a catalogued one."""
        return list(map(str, DATASET_KINDS.of(self.dataset(dataset)).files(Path())))

    def passage_files(self, dataset: str) -> list[str]:
        """Those of dataset_files that an index is built of."""
        return [path for path in self.dataset_files(dataset) if Path(path).stem.startswith("passages")]

    def run_files(self, dataset: str) -> list[str]:
        """The run files of the grid's retrievers for a dataset."""
        kinds = [RETRIEVER_KINDS.of(self.retriever(name)) for name in self.needed_retrievers()]
        return [path for kind in kinds for path in kind.files(dataset)]

    def dataset_named(self, name: str) -> dict[str, Any]:
        """A dataset's definition without what only its references and the number of generation jobs depend on."""
        definition = {**self.dataset(name), "references": {}}
        return {key: value for key, value in definition.items() if key != "shards"}

    def dataset_of(self, wildcards: Wildcards) -> dict[str, Any]:
        """The same of a job's dataset."""
        return self.dataset_named(wildcards.dataset)

    def dataset_module(self, wildcards: Wildcards) -> str:
        """The module of its kind."""
        return DATASET_KINDS.module(self.dataset(wildcards.dataset))

    def fingerprint_of(self, wildcards: Wildcards) -> str:
        """The fingerprint of a job's generator."""
        return self.fingerprints[wildcards.generator]

    def threads_of(self, wildcards: Wildcards) -> int:
        """CPU threads that its engine takes."""
        threads: int = self.generator(wildcards.generator)["threads"]
        return threads

    def devices_of(self, wildcards: Wildcards) -> int:
        """GPUs that its engine takes."""
        devices: int = self.generator(wildcards.generator).get("tensor_parallel_size", 1)
        return devices

    def gpus(self, wildcards: Wildcards) -> int:
        """GPUs of one engine; none where the model is served elsewhere."""
        return GENERATOR_KINDS.of(self.generator(wildcards.generator)).gpus()

    def grades_of(self, wildcards: Wildcards) -> dict[str, int]:
        """The sets of references that a job's scorer compares answers with, by lowest label."""
        return self.reference_sets(wildcards.dataset, wildcards.scorer)

    def shards(self, dataset: str) -> range:
        """Numbers of the parts in which answers to a dataset are generated."""
        return range(self.dataset(dataset)["shards"])

    def template_of(self, generator: str) -> str:
        """The template of a generator's prompts; for imported answers, what is in the place of it in paths."""
        if generator in self.imported_generators:
            return files.ANSWERED_WITH.format(generator=generator)
        name: str = self.generator(generator)["prompt"]
        return name

    @functools.cache  # noqa: B019 - one study per process
    def whole_template(self, name: str) -> dict[str, Any]:
        """The template's parts, so that a comment in its file reruns nothing."""
        return vars(load_template(self.template_path(name)))

    def template_parts(self, name: str) -> dict[str, Any]:
        """The same without what only the checks of a judge ask."""
        return {part: text for part, text in self.whole_template(name).items() if part != "swapped"}

    def grid_paths(self, pattern: StudyFile, **more: Iterable[str]) -> list[StudyFile]:
        """``pattern`` filled in from the grid's names, or from those that ``more`` gives of a wildcard."""
        of_grid = {name: self.grid[f"{name}s"] for name in ("dataset", "retriever", "generator", "scorer")}
        values = {name: names for name, names in (of_grid | more).items() if f"{{{name}}}" in pattern}
        return pattern.each(dict(zip(values, key, strict=True)) for key in itertools.product(*values.values()))

    def prompts_of(self, pattern: StudyFile, cells: Iterable[Key]) -> OfJob:
        """A function from wildcards to the prompts of ``cells``."""
        return lambda wildcards: pattern.at(template=self.template_of(wildcards.generator)).each(cells)

    @functools.cached_property
    def makers(self) -> dict[OfJob, str]:
        """Input function → the rule that makes its files. For others, Snakemake tries the patterns of all rules."""
        return {}

    def _made_by(self, rule: str, function: OfJob) -> OfJob:
        """``function``, all of whose files the ``rule`` makes unless answers are imported."""
        if not self.imported_generators:
            self.makers[function] = rule
        return function

    def prompts_with_context(self, cells: Iterable[Key]) -> OfJob:
        """A function from wildcards to the prompts of ``cells``, which all have contexts."""
        return self._made_by("build_prompts", self.prompts_of(files.prompts, cells))

    def answers_with_context(self, cells: Iterable[Key]) -> OfJob:
        """A function from wildcards to the answers of ``cells``, which all have contexts."""
        paths = files.answers.each(cells)
        return self._made_by("view_answers", lambda wildcards: paths)
