"""Provide rules with the grid's cells and with one object per stage, which holds definitions, paths and params.

In this package, only `asking`, `plan` and `reported` import Snakemake. Rules pass functions to Snakemake, which calls
them with a job's wildcards.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import NotRequired, TypedDict

from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.base.vocabulary.orderings import fits
from ragrelay.base.vocabulary.primary import PrimaryFields
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.config.study import Study
from ragrelay.execution.study import files
from ragrelay.execution.study.collection import CollectionStage
from ragrelay.execution.study.downloads import Downloads
from ragrelay.execution.study.generation import GenerationStage
from ragrelay.execution.study.retrieval import RetrievalStage
from ragrelay.execution.study.scoring import ScoringStage
from ragrelay.execution.study.wildcards import Key


class SectionKey(TypedDict):
    """A section's dataset, generator and scorer, with the section's utility mode, references and primary comparison."""

    dataset: str
    generator: str
    scorer: str
    utility: str
    references: list[str]
    primary: PrimaryFields | None
    named_pair: NotRequired[bool]


class StudyOfRules(Study):
    """A validated study for use in rules: the grid's cells, which all stages share, and one object per stage."""

    fingerprints: dict[str, str]
    """The fingerprints of the grid's generators, by name."""
    files: ModuleType = files
    """The registry of result files. Question classes use this attribute instead of importing the registry, because jobs
    import the classes too."""
    fill: Callable[[str], str]
    """Turns a path in the results into the path on disk."""

    collection = functools.cached_property(CollectionStage)
    downloads = functools.cached_property(Downloads)
    retrieval = functools.cached_property(RetrievalStage)
    generation = functools.cached_property(GenerationStage)
    scoring = functools.cached_property(ScoringStage)

    @functools.cached_property
    def each_retriever(self) -> list[Mapping[str, str]]:
        """The wildcard values for each retriever in the grid, for filling in paths."""
        return [{"retriever": name} for name in self.grid.retrievers]

    @functools.cached_property
    def retrievers_and_zeroshot(self) -> list[Key]:
        """The wildcard values for zero-shot answers, followed by the wildcard values for each retriever."""
        return [{"retriever": ZEROSHOT}, *self.each_retriever]

    @functools.cached_property
    def contexts(self) -> list[Key]:
        """One retriever's contexts: all pairs of ordering and k, with increasing k within each ordering."""
        orderings, ks = self.grid.orderings, sorted(self.grid.k)
        return [{"ordering": ordering, "k": k} for ordering in orderings for k in ks if fits(ordering, k)]

    @functools.cached_property
    def cells(self) -> list[Key]:
        """One retriever's cells: all its contexts, each with every seed."""
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
        """The cells of all retrievers, followed by the zero-shot cells."""
        return [*self.retriever_cells, *({"retriever": ZEROSHOT, **cell} for cell in self.zeroshot_cells)]

    @functools.cached_property
    def primary_cells(self) -> list[Key]:
        """The cells in the primary comparison, which are the same for all datasets and scorers."""
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
        """The order of retrievers and orderings in tables, as a param because Snakemake ignores the order of inputs."""
        return {"retrievers": self.grid.retrievers, "orderings": self.grid.orderings}

    @functools.cached_property
    def sections(self) -> list[SectionKey]:
        """All combinations of dataset, generator and scorer, with utility mode, references and primary comparison."""
        grid = self.grid
        return [self._section(*names) for names in itertools.product(grid.datasets, grid.generators, grid.scorers)]

    @functools.cached_property
    def sections_with_parts(self) -> list[SectionKey]:
        """The sections, followed by the sections for panels' parts, which aren't shown on the page."""
        grid, parts = self.grid, itertools.chain.from_iterable(self.scoring.parts.values())
        names = itertools.product(grid.datasets, grid.generators, parts)
        return [*self.sections, *(self._section(*of_part) for of_part in names)]

    def _section(self, dataset: str, generator: str, scorer: str) -> SectionKey:
        section: SectionKey = {
            "dataset": dataset,
            "generator": generator,
            "scorer": scorer,
            "utility": self.scoring.scorer(scorer).utility,
            "references": list(self.reference_sets(dataset, scorer)),
            "primary": self.primary(dataset, scorer),
        }
        named = self.settings.analysis.primary
        return section if named.retriever is named.reference is None else {**section, "named_pair": True}

    @functools.cached_property
    def retriever_kinds(self) -> dict[str, str]:
        """The kind of each retriever in the grid."""
        return {name: self.retriever(name)["kind"] for name in self.grid.retrievers}

    @functools.cached_property
    def draws(self) -> dict[str, int]:
        """The number of bootstrap resamples, and their seed.

        One mapping contains both, because Snakemake compares params without names and wouldn't notice a swap.
        """
        analysis = self.settings.analysis
        return {"resamples": analysis.resamples, "seed": analysis.seed}

    @functools.cached_property
    def margins(self) -> dict[str, float | None]:
        """The equivalence margin of each scorer, including panels' parts, by scorer name."""
        return {scorer: self.margin(scorer) for scorer in (*self.grid.scorers, *self.scoring.averaged)}

    def grid_paths(self, pattern: StudyFile, **more: Iterable[str]) -> list[StudyFile]:
        """Fill in a path pattern with all combinations of the grid's names.

        Args:
            pattern: A path pattern with wildcards dataset, retriever, generator, scorer or keys of ``more``.
            **more: Values for other wildcards, or values to use instead of the grid's names.

        Returns:
            One file per combination.
        """
        of_grid = {name: getattr(self.grid, f"{name}s") for name in ("dataset", "retriever", "generator", "scorer")}
        values = {name: names for name, names in (of_grid | more).items() if f"{{{name}}}" in pattern}
        return pattern.each(dict(zip(values, key, strict=True)) for key in itertools.product(*values.values()))

    def retriever_jobs(self, generators: Iterable[str]) -> list[Mapping[str, str]]:
        """List one job for each combination of dataset, generator and retriever.

        Args:
            generators: Generator names.

        Returns:
            The jobs' wildcard values, sorted by dataset, generator and retriever.
        """
        return [
            {"dataset": dataset, "generator": generator, **retriever}
            for dataset in self.grid.datasets
            for generator in generators
            for retriever in self.each_retriever
        ]
