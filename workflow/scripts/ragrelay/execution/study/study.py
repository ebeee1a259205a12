"""Give rules what they need of a study: its cells, and functions from a job's wildcards to definitions and files.

Nothing here imports Snakemake: rules pass these functions to it, and it calls them with a job's wildcards.
"""

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ragrelay.base.models.gguf_conversion import KEY, conversion
from ragrelay.base.models.locations import local_path
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.base.vocabulary.orderings import fits
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.config.study import Study
from ragrelay.execution.fetching.downloads import downloads_of, required_downloads
from ragrelay.execution.jobs.code_digest import code_digest
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study import files
from ragrelay.generation.generator import GENERATOR_KINDS, may_miss_answers
from ragrelay.generation.likelihoods.continuations import without_chat
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.generation.thought_marks import reading_marks
from ragrelay.prompting.templates import load_template
from ragrelay.questions.judging.templates import load_judge_template
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import SCORER_KINDS

NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
"""Pattern of wildcards without a list of values: any name of the catalogue."""

Wildcards = Any
Key = Mapping[str, Any]
OfJob = Callable[[Wildcards], Any]


def any_of(names: Iterable[str]) -> str:
    """Return a regular expression that matches any of ``names``, and nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def of_job(function: Callable[..., Any]) -> OfJob:
    """Return ``function`` for a rule: each of its arguments is the job's wildcard of that name."""
    names = tuple(inspect.signature(function).parameters)
    return lambda wildcards: function(*(getattr(wildcards, name) for name in names))


def code_of(script: str, *modules: str | Callable[[Wildcards], str]) -> Callable[[Wildcards], str]:
    """Return a params function that computes a script's code digest.

    Snakemake calls it per job, so a cluster node hashes one script, not all. ``modules`` are those that the script
    imports by a name which is not in its code, such as the kind of a job's retriever, or the figures that it draws.
    They can be functions from wildcards to a module.
    """
    return lambda wildcards: code_digest(script, *(m(wildcards) if callable(m) else m for m in modules))


class StudyOfRules(Study):
    """A validated study with the definitions, paths and cells that rules need.

    Methods whose arguments are names of wildcards go into rules by of_job; others return a function of wildcards.
    """

    fingerprints: dict[str, str]
    """Fingerprints of the grid's generators, by name."""
    files: ModuleType = files
    """The registry of its files. The classes of questions take it from here, since jobs import them too."""
    fill: Callable[[str], str]
    """Turns a path in the results into the path on disk."""

    @functools.cached_property
    def each_retriever(self) -> list[Key]:
        """A key per retriever of the grid, to fill in paths."""
        return [{"retriever": name} for name in self.grid.retrievers]

    @functools.cached_property
    def retrievers_and_zeroshot(self) -> list[Key]:
        """The key of the zero-shot answers, then those of the grid's retrievers."""
        return [{"retriever": ZEROSHOT}, *self.each_retriever]

    @functools.cached_property
    def contexts(self) -> list[Key]:
        """Orderings and cutoffs of one retriever's contexts, with increasing k within an ordering."""
        orderings, ks = self.grid.orderings, sorted(self.grid.k)
        return [{"ordering": ordering, "k": k} for ordering in orderings for k in ks if fits(ordering, k)]

    @functools.cached_property
    def cells(self) -> list[Key]:
        """The cells of one retriever: its contexts, each with every seed."""
        return [{**context, "seed": seed} for context in self.contexts for seed in self.grid.seeds]

    @functools.cached_property
    def zeroshot_cells(self) -> list[Key]:
        """The cells of the zero-shot answers."""
        return [{"ordering": NO_ORDERING, "k": 0, "seed": seed} for seed in self.grid.seeds]

    @functools.cached_property
    def retriever_contexts(self) -> list[Key]:
        """The contexts of all retrievers."""
        return [{**retriever, **context} for retriever in self.each_retriever for context in self.contexts]

    @functools.cached_property
    def retriever_cells(self) -> list[Key]:
        """The cells of all retrievers."""
        return [{**retriever, **cell} for retriever in self.each_retriever for cell in self.cells]

    @functools.cached_property
    def all_cells(self) -> list[Key]:
        """The cells of all retrievers, then the cells without context."""
        return [*self.retriever_cells, *({"retriever": ZEROSHOT, **cell} for cell in self.zeroshot_cells)]

    @functools.cached_property
    def primary_cells(self) -> list[Key]:
        """The cells of the primary comparison, the same for all datasets and scorers: only its references differ."""
        primary = self.primary(self.grid.datasets[0])
        if not primary:
            return []
        compared = (primary["retriever"], primary["reference"])
        context = (primary["ordering"], primary["k"])
        return [
            cell
            for cell in self.retriever_cells
            if cell["retriever"] in compared and (cell["ordering"], cell["k"]) == context
        ]

    @functools.cached_property
    def order(self) -> dict[str, list[str]]:
        """The order of a table's rows. As params it counts; in inputs it does not, since Snakemake compares sets."""
        return {"retrievers": self.grid.retrievers, "orderings": self.grid.orderings}

    @functools.cached_property
    def sections(self) -> list[Key]:
        """Every dataset, generator and scorer, with what reports need of each."""
        named = {"retriever", "reference"} & self.config["analysis"]["primary"].keys()
        return [
            {
                "dataset": dataset,
                "generator": generator,
                "scorer": scorer,
                "utility": self.scorer(scorer)["utility"],
                "references": list(self.reference_sets(dataset, scorer)),
                "primary": self.primary(dataset, scorer),
                **({"named_pair": True} if named else {}),
            }
            for dataset in self.grid.datasets
            for generator in self.grid.generators
            for scorer in self.grid.scorers
        ]

    @functools.cached_property
    def retriever_kinds(self) -> dict[str, str]:
        """The kind of each of the grid's retrievers."""
        return {name: self.retriever(name)["kind"] for name in self.grid.retrievers}

    @functools.cached_property
    def draws(self) -> dict[str, int]:
        """The number of bootstrap resamples and their seed.

        In one mapping, because Snakemake compares params without their names and would miss a swap of two numbers.
        """
        return self.analysis("resamples", "seed")

    def analysis(self, *keys: str) -> dict[str, Any]:
        """Return the named keys of the configuration's section `analysis`."""
        return {key: self.config["analysis"][key] for key in keys}

    @functools.cached_property
    def margins(self) -> dict[str, float | None]:
        """The margin of equivalence of each scorer."""
        return {scorer: self.margin(scorer) for scorer in self.grid.scorers}

    @functools.cached_property
    def imported_generators(self) -> list[str]:
        """The grid's generators whose answers are read from files."""
        asked = self.asked_generators()
        return [name for name in self.grid.generators if name not in asked]

    @functools.cached_property
    def passage_answerers(self) -> list[str]:
        """The imported generators whose answers to single passages are read from files."""
        return [name for name in self.imported_generators if "single_passages" in self.generator(name)]

    def passage_answers(self, generator: str, dataset: str) -> dict[str, Any]:
        """Return imported answers to single passages: files, each with the values in its name, and the seeds."""
        kind = GENERATOR_KINDS.of(self.generator(generator))
        return {"files": kind.passage_files(dataset), "seeds": self.grid.seeds}

    def all_passage_answers(self, dataset: str) -> list[dict[str, Any]]:
        """Return the files of imported answers to single passages of every generator that has them."""
        return [self.passage_answers(name, dataset) for name in self.passage_answerers]

    def imported_answers(self, generator: str, dataset: str) -> dict[str, Any]:
        """Return the files of imported answers, each with the values in its name, and the grid's cells."""
        kind: Any = GENERATOR_KINDS.of(self.generator(generator))
        answers: dict[str, Any] = kind.given(dataset, self.grid)
        return answers

    def answer_files(self, generator: str, dataset: str) -> list[str]:
        """Return the paths of imported answers."""
        return [path for path, _ in self.imported_answers(generator, dataset)["files"]]

    def checked_files_of(self, wildcards: Wildcards, output: Any) -> dict[str, Any]:
        """Return the files and grades of a job's dataset, which are checked before any engine starts.

        The job's outputs don't depend on them. Hence ``output``: params derived from it never make a job run again.
        """
        dataset = wildcards.dataset
        imported = self.imported_generators
        return {
            "runs": self.imported_runs(dataset),
            "measures": self.grid.measures,
            "grades": self.grades(dataset),
            "answers": [{"generator": name, **self.imported_answers(name, dataset)} for name in imported],
            "passages": self.all_passage_answers(dataset),
        }

    @functools.cached_property
    def judged_by(self) -> dict[str, str]:
        """The grid's scorers whose scores a judge gives, each with its judge."""
        judges = {name: SCORER_KINDS.of(self.scorer(name)).judges() for name in self.grid.scorers}
        return {name: names[0] for name, names in judges.items() if names}

    @functools.cached_property
    def checked_scorers(self) -> list[str]:
        """The grid's scorers whose judge is checked for bias."""
        return [name for name in self.judged_by if self.scorer(name)["bias_checks"]]

    @functools.cached_property
    def filed_scorers(self) -> list[str]:
        """The grid's scorers whose scores are read from a file."""
        return [name for name in self.grid.scorers if self.scorer_kind(name).from_file]

    @functools.cached_property
    def computed_scorers(self) -> list[str]:
        """The grid's scorers that compute their scores."""
        return [name for name in self.grid.scorers if name not in self.judged_by and name not in self.filed_scorers]

    def score_cells(self, scorer: str) -> dict[str, Any]:
        """Return the names and numbers of the grid, to place the scores in a file."""
        cells: dict[str, Any] = self.scorer_kind(scorer).cells(self.grid)
        return cells

    def score_file(self, scorer: str, dataset: str) -> str:
        """Return the file of the scores of one of ``filed_scorers``."""
        path: str = self.scorer_kind(scorer).file(dataset)
        return path

    @functools.cached_property
    def downloads(self) -> dict[str, Any]:
        """The downloads that the grid needs, by name."""
        return required_downloads(self)

    def fetched_for(self, wildcard: str) -> OfJob:
        """Return a function from wildcards to receipts of the downloads of a job's dataset, generator or scorer."""
        return lambda wildcards: self.fetched(f"{wildcard}s", getattr(wildcards, wildcard))

    def fetched(self, section: str, entry: str) -> list[StudyFile]:
        """Return receipts of the downloads of an entry of the catalogue, or of the conversion of its GGUF file."""
        if section == "generators" and self.conversion_of(entry) is not None:
            return [files.converted.at(generator=entry)]
        return self._downloaded(section, entry)

    def _downloaded(self, section: str, entry: str) -> list[StudyFile]:
        return files.fetched.each({"fetched": name} for name in downloads_of(section, self.config[section][entry]))

    @functools.cache  # noqa: B019 - one study per process
    def conversion_of(self, generator: str) -> dict[str, Any] | None:
        """Return how a generator's GGUF file is converted; None if its model is no such file."""
        definition = self.generator(generator)
        return conversion(definition, self.cache_dir) if GENERATOR_KINDS[definition["engine"]].in_job else None

    def converted_from(self, generator: str) -> list[Any]:
        """Return the files from which a generator's GGUF file is converted: itself, or the receipts of downloads."""
        path = local_path(self.generator(generator)["model"])
        return [*([str(path)] if path else []), *self._downloaded("generators", generator)]

    @functools.cached_property
    def conversions(self) -> list[StudyFile]:
        """The receipts of all conversions that the study needs."""
        names = [name for name in self.selected()["generators"] if self.conversion_of(name) is not None]
        return files.converted.each({"generator": name} for name in names)

    def with_conversion(self, generator: str) -> dict[str, Any]:
        """Return a generator's definition, with the conversion of its GGUF file if its model is one."""
        converted = self.conversion_of(generator)
        return {**self.generator(generator), **({KEY: converted} if converted else {})}

    def dataset_files(self, dataset: str) -> list[str]:
        """Return the files of a local dataset; none for a catalogued one."""
        return list(map(str, DATASET_KINDS.of(self.dataset(dataset)).files(Path())))

    def passage_files(self, dataset: str) -> list[str]:
        """Return the files of a local dataset from which an index is built."""
        return [path for path in self.dataset_files(dataset) if Path(path).stem.startswith("passages")]

    def imported_runs(self, dataset: str) -> list[dict[str, Any]]:
        """Return the run files of the grid's retrievers for a dataset: path, name and definition of the retriever."""
        definitions = {name: self.retriever(name) for name in self.needed_retrievers()}
        return [
            {
                "path": path,
                "name": name,
                "definition": definition,
                "passages": RETRIEVER_KINDS.of(definition).brought(dataset),
            }
            for name, definition in definitions.items()
            for path in RETRIEVER_KINDS.of(definition).files(dataset)
        ]

    def dataset_of_jobs(self, dataset: str) -> dict[str, Any]:
        """Return a dataset's definition without the keys for its references, its jobs and its rankings."""
        definition = {**self.dataset(dataset), "references": {}}
        return {
            key: value for key, value in definition.items() if key not in ("shards", "drop_identical_ids", "clusters")
        }

    def cluster_files(self, dataset: str) -> list[str]:
        """Return the user's file of the clusters of a dataset's queries; none where these are independent."""
        path = self.dataset(dataset).get("clusters")
        return [path] if path else []

    def clusters_of(self, dataset: str) -> list[StudyFile]:
        """Return the table of the clusters of a dataset's queries; none where these are independent."""
        return [files.clusters.at(dataset=dataset)] if self.cluster_files(dataset) else []

    def drop_identical_ids(self, dataset: str) -> bool | None:
        """Return whether rankings leave out a passage with the id of its query; None if the study does not say."""
        said: bool | None = self.dataset(dataset).get("drop_identical_ids")
        return said

    def dataset_module(self, dataset: str) -> str:
        """Return the module of a dataset's kind."""
        return DATASET_KINDS.module(self.dataset(dataset))

    def lowest_grade(self, dataset: str) -> int:
        """Return the lowest grade that counts as relevant in a dataset."""
        return min(self.grades(dataset).values())

    def number_of_shards(self, dataset: str, generator: str) -> int:
        """Return the number of jobs that share the answers of a generator, and their scores."""
        return len(self.shards(dataset, generator))

    def fingerprint_of(self, generator: str) -> str:
        """Return the fingerprint of a generator of the grid."""
        return self.fingerprints[generator]

    def threads_of(self, generator: str) -> int:
        """Return the number of CPU threads of the engine of ``generator``."""
        threads: int = self.generator(generator)["threads"]
        return threads

    def devices_of(self, generator: str) -> int:
        """Return the number of GPUs over which the engine of ``generator`` splits the model."""
        devices: int = self.generator(generator).get("tensor_parallel_size", 1)
        return devices

    def gpus_of(self, generator: str) -> int:
        """Return the number of GPUs of a job with the engine of ``generator``; 0 if the model is served elsewhere."""
        return GENERATOR_KINDS.of(self.generator(generator)).gpus()

    def shards(self, dataset: str, generator: str = "") -> range:
        """Return the numbers of the shards of a dataset's answers; without ``generator``, of other jobs."""
        return range(self.planned_shards.get(dataset, {}).get(generator, self.dataset(dataset)["shards"]))

    @functools.cached_property
    def planned_shards(self) -> dict[str, dict[str, int]]:
        """The numbers of shards that the plan chose, by dataset and generator; none without the key `shards`."""
        if "shards" not in self.config:
            return {}
        from ragrelay.execution.plan.budget import shards_of_plan  # here, as few studies need it

        with on_terminal():
            return shards_of_plan(Path(self.fill(files.plan_receipt)))

    def template_of(self, generator: str) -> str:
        """Return the template of a generator's prompts; for imported answers, the name that replaces it in paths."""
        if generator in self.imported_generators:
            return files.ANSWERED_WITH.format(generator=generator)
        name: str = self.generator(generator)["prompt"]
        return name

    @functools.cache  # noqa: B019 - one study per process
    def whole_template(self, name: str) -> dict[str, Any]:
        """Return a template's parts. As params they make jobs rerun, while a comment in the file does not."""
        return vars(load_template(self.template_path(name)))

    def template_parts(self, template: str) -> dict[str, Any]:
        """Return the parts of a template without those that only the checks of a judge use."""
        return {part: text for part, text in self.whole_template(template).items() if part != "swapped"}

    def grid_paths(self, pattern: StudyFile, **more: Iterable[str]) -> list[StudyFile]:
        """Fill ``pattern`` with all of the grid's names, or with those that ``more`` has for a wildcard."""
        of_grid = {name: getattr(self.grid, f"{name}s") for name in ("dataset", "retriever", "generator", "scorer")}
        values = {name: names for name, names in (of_grid | more).items() if f"{{{name}}}" in pattern}
        return pattern.each(dict(zip(values, key, strict=True)) for key in itertools.product(*values.values()))

    def prompts_of(self, pattern: StudyFile, cells: Iterable[Key]) -> OfJob:
        """Return a function from wildcards to the prompts of ``cells``."""
        return lambda wildcards: pattern.at(template=self.template_of(wildcards.generator)).each(cells)

    @functools.cached_property
    def makers(self) -> dict[OfJob, str]:
        """Input function → the rule that makes its files. For others, Snakemake tries the patterns of all rules."""
        return {}

    def _made_by(self, rule: str, function: OfJob) -> OfJob:
        """Return ``function``, after noting that ``rule`` makes all its files unless answers are imported."""
        if not self.imported_generators:
            self.makers[function] = rule
        return function

    def prompts_with_context(self, cells: Iterable[Key]) -> OfJob:
        """Return a function from wildcards to the prompts of ``cells``, which all have contexts."""
        return self._made_by("build_prompts", self.prompts_of(files.prompts, cells))

    @functools.cached_property
    def made_cells(self) -> list[StudyFile]:
        """The cells of a retriever that jobs generate; none if all answers are imported."""
        return files.answers.each(self.cells if self.asked_generators() else [])

    @functools.cached_property
    def made_zeroshot_cells(self) -> list[StudyFile]:
        """The zero-shot cells that jobs generate; none if all answers are imported."""
        return files.zeroshot_answers.each(self.zeroshot_cells if self.asked_generators() else [])

    @functools.cached_property
    def imported_cells(self) -> list[StudyFile]:
        """The cells of a retriever whose answers are imported; none if all are generated."""
        return files.answers.each(self.cells if self.imported_generators else [])

    @functools.cached_property
    def imported_zeroshot_cells(self) -> list[StudyFile]:
        """The zero-shot cells whose answers are imported; none if all are generated."""
        return files.zeroshot_answers.each(self.zeroshot_cells if self.imported_generators else [])

    @functools.cached_property
    def imported_cell_contexts(self) -> list[StudyFile]:
        """The contexts of imported answers."""
        return files.imported_contexts.each(self.contexts if self.imported_generators else [])

    @functools.cached_property
    def answers_of_retriever(self) -> list[StudyFile]:
        """The cells of a retriever, then those without context."""
        return files.answers.each(self.cells) + files.zeroshot_answers.each(self.zeroshot_cells)

    @functools.cached_property
    def all_answers(self) -> list[StudyFile]:
        """The answers of the whole grid."""
        return [path for pattern in self.answers_of_retriever for path in self.grid_paths(pattern)]

    @functools.cached_property
    def all_prompts(self) -> list[StudyFile]:
        """The prompts of all cells, by generator."""
        cells = [*files.prompts.each(self.contexts), files.zeroshot_prompts]
        templates = [self.template_of(name) for name in self.asked_generators()]
        return [path for name in templates for cell in cells for path in self.grid_paths(cell, template=[name])]

    def answers_with_context(self, cells: Iterable[Key]) -> OfJob:
        """Return a function from wildcards to the answers of ``cells``, which all have contexts."""
        paths = files.answers.each(cells)
        return self._made_by("view_answers", lambda wildcards: paths)

    def passages_of(self, generator: str) -> StudyFile:
        """Pattern of the passages that a generator's answers were made with, by retriever."""
        if generator in self.imported_generators:
            return files.imported_passages.at(generator=generator)
        return files.contexts

    def passages_of_retrievers(self, generator: str) -> list[StudyFile]:
        """Return the passages behind the answers of a generator, of every retriever."""
        return self.passages_of(generator).each(self.each_retriever)

    @functools.cached_property
    def context_uses(self) -> list[StudyFile]:
        """The tables of context use of every retriever; none if the configuration doesn't ask for them."""
        return files.context_use.each(self.each_retriever if self.settings.context_use else [])

    def rankings_of(self, generator: str, scorer: str) -> list[StudyFile]:
        """Return every retriever's contexts if scores may be missing for a reason other than an empty ranking."""
        missing = may_miss_answers(self.generator(generator)) or scorer in self.filed_scorers
        return files.contexts.each(self.each_retriever if missing else [])

    def retriever_jobs(self, generators: Iterable[str]) -> list[Key]:
        """Return a job per dataset, one of ``generators``, and retriever."""
        return [
            {"dataset": dataset, "generator": generator, **retriever}
            for dataset in self.grid.datasets
            for generator in generators
            for retriever in self.each_retriever
        ]

    def receipts_of(self, pattern: StudyFile) -> OfJob:
        """Return a function from wildcards to the receipts of all shards."""
        return of_job(
            lambda dataset, generator: pattern.each({"shard": shard} for shard in self.shards(dataset, generator))
        )

    def generator_of_jobs(self, generator: str) -> dict[str, Any]:
        """Return a generator's definition without the keys that only the plan or the page uses."""
        left_out = ("tokens_per_second", "notice")
        return {key: value for key, value in self.with_conversion(generator).items() if key not in left_out}

    def thinking_of(self, generator: str) -> Any:
        """Return the marks around a generator's thoughts, for AnswerStore.answers."""
        return reading_marks(self.generator(generator))

    def text_likelihoods_of(self, generator: str) -> str:
        """Return the fingerprint of a generator's likelihoods of texts without a chat template."""
        return likelihood_fingerprint(without_chat(self.generator(generator)), cache_dir=self.cache_dir)

    def likelihoods_of(self, generator: str) -> str:
        """Return the fingerprint of a generator's likelihoods."""
        return likelihood_fingerprint(self.generator(generator), cache_dir=self.cache_dir)

    def scorer_kind(self, name: str) -> Any:
        """Return the kind of a scorer, with its keys."""
        return SCORER_KINDS.of(self.scorer(name))

    def scorer_of_jobs(self, scorer: str) -> dict[str, Any]:
        """Return a scorer's definition without the keys that only the analysis or the checks of a judge use."""
        return {key: value for key, value in self.scorer(scorer).items() if key not in ("utility", "bias_checks")}

    def scorer_module(self, scorer: str) -> str:
        """Return the module of a scorer's kind."""
        return SCORER_KINDS.module(self.scorer(scorer))

    def references_of(self, scorer: str) -> StudyFile:
        """Return the file of a scorer's references: judged passages, or the queries' gold answers."""
        gold = self.scorer(scorer)["references"] == "gold"
        return files.queries if gold else files.references

    @functools.cached_property
    def reference_files(self) -> dict[str, Any]:
        """The inputs of a job's scorer besides answers."""
        return {"references": of_job(self.references_of), "encoded": files.encoded_references}

    @functools.cached_property
    def scorers_with_model(self) -> list[str]:
        """The grid's computed scorers whose scores one job per shard makes, since loading their model takes long."""
        return [name for name in self.computed_scorers if self.scorer_kind(name).loads_model]

    def score_receipts(self, dataset: str, generator: str, scorer: str) -> list[StudyFile]:
        """Return the receipts of the scores of a scorer with a model; others score in the jobs that write tables."""
        shards = self.shards(dataset, generator) if scorer in self.scorers_with_model else ()
        return files.score_receipt.each({"shard": shard} for shard in shards)

    @functools.cached_property
    def scoring(self) -> dict[str, Any]:
        """Params of all jobs that score answers."""
        return {
            "scorer": of_job(self.scorer_of_jobs),
            "grades": of_job(self.reference_sets),
            "near_copy": self.settings.near_copy,
            "cache_dir": self.cache_dir,
        }

    def utility_mode(self, scorer: str) -> str:
        """Return whether the utility of a scorer is relative or absolute."""
        mode: str = self.scorer(scorer)["utility"]
        return mode

    def near_copy_of(self, scorer: str) -> float | None:
        """Return the threshold of near copies, for scorers that leave them out of unseen references."""
        return self.settings.near_copy if self.scorer(scorer)["references"] == "judged" else None

    @functools.cache  # noqa: B019 - one study per process
    def whole_judge_template(self, scorer: str) -> dict[str, Any]:
        """Return the parts of the template of a scorer's prompts to its judge."""
        path = self.template_path(self.scorer(scorer)["prompt"], "judge_prompts")
        return vars(load_judge_template(path, self.scorer_kind(scorer).placeholders()))

    def judge_template_parts(self, scorer: str) -> dict[str, Any]:
        """Return the parts of a judge's template, without those that only its checks use."""
        return {name: part for name, part in self.whole_judge_template(scorer).items() if name != "swapped"}

    @functools.cache  # noqa: B019 - one study per process
    def nugget_template(self, name: str) -> dict[str, Any]:
        """Return the parts of a template that asks for lists of nuggets."""
        return vars(load_nugget_template(self.template_path(name, "nugget_prompts")))

    @functools.cached_property
    def nuggets_of(self) -> dict[str, Any]:
        """The grid's scorers that have lists of nuggets."""
        return {name: self.scorer_kind(name) for name in self.grid.scorers if self.scorer(name)["kind"] == "nuggets"}

    def nuggets_by_file(self, scorer: str) -> bool:
        """Return whether a scorer works without lists of nuggets that a generator writes."""
        return scorer not in self.nuggets_of or not self.nuggets_of[scorer].written_by

    def nugget_file(self, scorer: str, dataset: str) -> Any:
        """Return the file with lists of nuggets of a scorer for a dataset."""
        return self.nuggets_of[scorer].file(dataset)
