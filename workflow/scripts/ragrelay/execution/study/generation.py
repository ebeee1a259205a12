"""Provide rules with a study's generators, templates, shards, prompts and answers."""

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study import files
from ragrelay.execution.study.wildcards import Key, OfJob, of_job
from ragrelay.generation.engines.file import File
from ragrelay.generation.generator import GENERATOR_KINDS, Generator, GeneratorKind
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.generation.thought_marks import reading_marks
from ragrelay.prompting.templates import load_template

if TYPE_CHECKING:
    from ragrelay.execution.study.study import StudyOfRules

NOT_OF_JOBS = ("tokens_per_second", "notice")
"""A generator's keys that only the plan or the page uses."""


class GenerationStage:
    """A study's generators, prompts and answers; Snakemake rules access them as `study.generation`.

    Rules use of_job to wrap methods whose arguments are wildcard names. Other methods return functions of wildcards.
    """

    def __init__(self, study: "StudyOfRules") -> None:
        self.study = study

    @functools.cache  # noqa: B019 - a process has a single study
    def kind(self, generator: str) -> GeneratorKind:
        """Return a generator as an instance of its kind, which is either an engine or imported answers."""
        return GENERATOR_KINDS.of(self.study.generator(generator))

    def engine(self, generator: str) -> Generator:
        """Return a generator's engine, or raise TypeError if the generator's answers are imported."""
        kind = self.kind(generator)
        if not isinstance(kind, Generator):
            raise TypeError(f"{generator} has no engine")
        return kind

    def of_jobs(self, generator: str) -> dict[str, object]:
        """Return a generator's definition without the keys that only the plan or the page uses."""
        definition = self.study.downloads.with_conversion(generator)
        return {key: value for key, value in definition.items() if key not in NOT_OF_JOBS}

    def fingerprint(self, generator: str) -> str:
        """Return the fingerprint of a generator in the grid."""
        return self.study.fingerprints[generator]

    def likelihoods(self, generator: str) -> str:
        """Return the fingerprint that names a generator's likelihood store."""
        return likelihood_fingerprint(self.study.generator(generator), cache_dir=self.study.cache_dir)

    def thinking(self, generator: str) -> Sequence[str] | None:
        """Return the marks around a generator's thoughts, to pass to AnswerStore.answers."""
        return reading_marks(self.study.generator(generator))

    def threads(self, generator: str) -> int:
        """Return the number of CPU threads for a generator's engine."""
        return self.engine(generator).threads

    def devices(self, generator: str) -> int:
        """Return the number of GPUs across which a generator's engine splits the model."""
        devices: int = self.study.generator(generator).get("tensor_parallel_size", 1)
        return devices

    def gpus(self, generator: str) -> int:
        """Return the number of GPUs for a job that runs a generator's engine, or 0 if the model runs on a server."""
        return self.kind(generator).gpus()

    @functools.cached_property
    def imported(self) -> dict[str, File]:
        """The grid's generators whose answers are read from files."""
        kinds = {name: self.kind(name) for name in self.study.grid.generators}
        return {name: kind for name, kind in kinds.items() if isinstance(kind, File)}

    @functools.cached_property
    def passage_answerers(self) -> list[str]:
        """The imported generators whose answers from single passages are read from files."""
        return [name for name, file in self.imported.items() if file.single_passages is not None]

    def answer_files(self, generator: str, dataset: str) -> list[str]:
        """Return the paths of a generator's imported answers to a dataset's queries."""
        return [str(path) for path, _ in self.imported[generator].files(dataset)]

    def given_passages(self, generator: str, dataset: str) -> dict[str, object]:
        """Return the seeds and the files with answers from single passages, each with the values in the file's name."""
        return {"files": self.imported[generator].passage_files(dataset), "seeds": self.study.grid.seeds}

    def shards(self, dataset: str, generator: str = "") -> range:
        """Return the shard numbers for a generator's answers or, without ``generator``, for a dataset's other jobs."""
        of_dataset = self.study.collection.source(dataset).shards
        return range(self.planned_shards.get(dataset, {}).get(generator, of_dataset))

    def number_of_shards(self, dataset: str, generator: str) -> int:
        """Return the number of shards for generating and scoring a generator's answers."""
        return len(self.shards(dataset, generator))

    @functools.cached_property
    def planned_shards(self) -> dict[str, dict[str, int]]:
        """The numbers of shards that the plan chose, by dataset and generator; empty if the key `shards` isn't set."""
        if self.study.settings.shards is None:
            return {}
        from ragrelay.execution.plan.budget import shards_of_plan  # few studies need it

        with on_terminal():
            return shards_of_plan(Path(self.study.fill(files.plan_receipt)))

    def receipts(self, pattern: StudyFile) -> OfJob:
        """Return an input function that lists the receipts of all shards."""
        return of_job(
            lambda dataset, generator: pattern.each({"shard": shard} for shard in self.shards(dataset, generator))
        )

    def template_of(self, generator: str) -> str:
        """Return the name of a generator's template, or a name to use in paths if the answers are imported."""
        imported = generator in self.imported
        return files.ANSWERED_WITH.format(generator=generator) if imported else self.engine(generator).prompt

    @functools.cache  # noqa: B019 - a process has a single study
    def whole_template(self, name: str) -> dict[str, object]:
        """Return a template's parts. Jobs rerun if a part changes, but not if only comments in the file change."""
        return vars(load_template(self.study.template_path(name)))

    def template_parts(self, template: str) -> dict[str, Any]:
        """Return a template's parts, except those that only judge checks use."""
        return {part: text for part, text in self.whole_template(template).items() if part != "swapped"}

    def prompts(self, pattern: StudyFile, cells: Iterable[Key]) -> OfJob:
        """Return an input function that lists the prompt files of ``cells``."""
        return lambda wildcards: pattern.at(template=self.template_of(wildcards.generator)).each(cells)

    def prompts_with_context(self, cells: Iterable[Key]) -> OfJob:
        """Return an input function for the prompts of ``cells``, none of which may be zero-shot."""
        return self._made_by("build_prompts", self.prompts(files.prompts, cells))

    @functools.cached_property
    def all_prompts(self) -> list[StudyFile]:
        """The prompts of all cells, by generator."""
        cells = [*files.prompts.each(self.study.contexts), files.zeroshot_prompts]
        templates = [self.template_of(name) for name in self.study.asked]
        return [path for name in templates for cell in cells for path in self.study.grid_paths(cell, template=[name])]

    def answers_with_context(self, cells: Iterable[Key]) -> OfJob:
        """Return an input function for the answers in ``cells``, none of which may be zero-shot."""
        paths = files.answers.each(cells)
        return self._made_by("view_answers", lambda wildcards: paths)

    @functools.cached_property
    def answers_of_retriever(self) -> list[StudyFile]:
        """The answers in a retriever's cells, followed by the zero-shot answers."""
        return files.answers.each(self.study.cells) + files.zeroshot_answers.each(self.study.zeroshot_cells)

    @functools.cached_property
    def makers(self) -> dict[OfJob, str]:
        """A mapping from input functions to the rules that create their files, so Snakemake needn't try all rules."""
        return {}

    def _made_by(self, rule: str, function: OfJob) -> OfJob:
        """Return ``function`` after recording that ``rule`` creates all its files, unless answers are imported."""
        if not self.imported:
            self.makers[function] = rule
        return function

    def passages(self, generator: str) -> StudyFile:
        """Return the path pattern for files that contain the passages in a generator's prompts."""
        return files.imported_passages.at(generator=generator) if generator in self.imported else files.contexts
