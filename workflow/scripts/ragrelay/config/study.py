"""Validate a study: check that the grid and the catalogue entries are consistent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.base.annex import annexes
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.cache_mode import READ_ONLY
from ragrelay.base.kinds import CheckedStudy, Kinds
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.base.vocabulary.names import NO_ORDERING, WITHOUT_JUDGE, ZEROSHOT
from ragrelay.base.vocabulary.orderings import MOST_PERMUTED, PERMUTATIONS, fits, named_orderings
from ragrelay.base.vocabulary.primary import PrimaryFields
from ragrelay.collection.source import DATASET_KINDS, check_gold
from ragrelay.collection.subtopics.judgements import subtopic_field
from ragrelay.collection.subtopics.table import HOPS
from ragrelay.config.checks import check_budget_units, check_cache_folder, check_file_names, check_pathvars, expanded
from ragrelay.config.schema import Configuration, validated
from ragrelay.generation.generator import GENERATOR_KINDS, check_generator, check_scores, check_unthinking, is_asked
from ragrelay.prompting.templates import load_template
from ragrelay.questions.judging.checks import check_judges
from ragrelay.questions.user_questions import check_questions
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, needed
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.scorer import SCORER_KINDS

RESERVED = (ZEROSHOT, NO_ORDERING)
RESERVED_DATASETS = ("report", "indexes", "benchmarks", "fetched", "converted", "plan.csv", "plan.json", "pooled.csv",
                     *(name for annex in annexes() for name in annex.reserved))  # fmt: skip
"""Names that datasets may not have, because folders and files in the results use them."""
SECTIONS = ("datasets", "retrievers", "generators", "scorers", *(name for annex in annexes() for name in annex.chosen))
"""The catalogue sections from which the grid selects entries."""

COMPLETED: dict[str, Kinds[Any]] = {
    "retrievers": RETRIEVER_KINDS,
    "scorers": SCORER_KINDS,
    **{section: annex.kinds[section] for annex in annexes() for section in annex.chosen},
}
"""Kinds, by catalogue section, whose entries have defaults that the schema can't express."""
KINDS: dict[str, Kinds[Any]] = {
    "datasets": DATASET_KINDS, **COMPLETED,
    **{section: kinds for annex in annexes() for section, kinds in annex.kinds.items()},
}  # fmt: skip
"""Kinds, by catalogue section, for the sections in which the keys of an entry depend on its kind."""


class Study(CheckedStudy):
    """A study's resolved configuration, with all keys and defaults in ``config``.

    In ``grid``, the ordering ``permutations`` is replaced with one ordering for each permutation.

    Args:
        config: The configuration as the user wrote it.
        folder: The base folder for relative paths.
        prompts: Folders to search for prompt templates, in this order.

    Raises:
        InputError: A key or catalogue entry is invalid. The message describes the first error.
    """

    def __init__(
        self, config: Mapping[str, Any], folder: str | Path = ".", prompts: Sequence[str | Path] = ("config/prompts",)
    ) -> None:
        super().__init__(config, folder, prompts)
        self.settings: Configuration = validated(config)
        self.config = self.settings.mapping()
        self.name = self.settings.study
        self.cache_dir = expanded("cache_dir", self.settings.cache_dir)
        self.grid = self.settings.grid
        self._check_names()
        self._check_numbers()
        self.grid = self.grid.model_copy(update={"orderings": named_orderings(self.grid.orderings, self.grid.k)})
        for section, kinds in COMPLETED.items():
            entries = self.config[section]
            self.config[section] = {name: kinds.completed(entries[name], self.folder) for name in entries}
        # Keys for other engines would otherwise be shown as if they had an effect.
        generators = self.config["generators"]
        completed: Mapping[str, Any] = {
            name: GENERATOR_KINDS.completed(d, self.folder) for name, d in generators.items()
        }
        self.config["generators"] = {n: d if is_asked(d) else GENERATOR_KINDS.own(d) for n, d in completed.items()}
        self.asked = [name for name in self.grid.generators if is_asked(self.generator(name))]
        self._check_reference_retriever(config)
        self._check_primary()
        self._check_margins()
        for name in self.needed_retrievers():
            RETRIEVER_KINDS.of(self.retriever(name)).check(f"config key 'retrievers.{name}", self)
        for name in self.grid.datasets:
            DATASET_KINDS.of(self.dataset(name)).check(f"config key 'datasets.{name}", self)
        self._check_subtopics()
        for name in self.used_generators():
            definition, given = self.generator(name), config["generators"][name]
            path = self.template_path(definition.get("prompt", ""))
            template = load_template(path, self.folder) if is_asked(definition) else None
            check_generator(f"config key 'generators.{name}", definition, given, template, self)
            if name in self.grid.generators:
                GENERATOR_KINDS.of(definition).check_thinking(f"config key 'generators.{name}", self.folder)
            for key, is_on in self.scored_texts().items():
                if is_on and name in self.grid.generators:
                    check_scores(f"config key {key!r} ({name})", self.generator(name))
            if self.settings.context_use and name in self.grid.generators:
                check_unthinking(f"config key 'context_use' ({name})", definition, "generator")
        for name in self.used_scorers():
            scorer, place = SCORER_KINDS.of(self.scorer(name)), f"config key 'scorers.{name}"
            if scorer.references == "gold":
                check_gold(self, f"gold answers, which scorer {name} needs")
            scorer.check(place, self)
            if isinstance(scorer, JudgeScorer):
                check_judges(place, scorer, self)
        for annex in annexes():
            annex.check(self)
        check_questions(self.user_questions(), self.folder)
        check_budget_units(self.config.get("budget", {}), [self.generator(name) for name in self.used_generators()])
        check_file_names(self.grid)
        check_pathvars(self.config.get("pathvars", {}), self.name, self.folder)
        check_cache_folder(self.folder / self.cache_dir, self.settings.cache_mode == READ_ONLY)

    def dataset(self, name: str) -> dict[str, Any]:
        """Look up a dataset in the catalogue.

        Args:
            name: The dataset's name.

        Returns:
            The catalogue entry, with defaults.
        """
        return self._definition("datasets", name)

    def retriever(self, name: str) -> dict[str, Any]:
        """Look up a retriever in the catalogue.

        Args:
            name: The retriever's name.

        Returns:
            The catalogue entry, with defaults.
        """
        return self._definition("retrievers", name)

    def generator(self, name: str) -> GeneratorEntry:
        """Look up a generator in the catalogue.

        Args:
            name: The generator's name.

        Returns:
            The catalogue entry, with defaults.
        """
        definition: GeneratorEntry = self.config["generators"][name]
        return definition

    def scorer(self, name: str) -> dict[str, object]:
        """Look up a scorer in the catalogue.

        Args:
            name: The name of a scorer, or of a panel without one of its judges.

        Returns:
            The catalogue entry, with defaults.
        """
        return self._definition("scorers", name.partition(WITHOUT_JUDGE)[0])

    def _definition(self, section: str, name: str) -> dict[str, object]:
        definition: dict[str, Any] = self.config[section][name]
        return definition

    def scored_texts(self) -> dict[str, bool]:
        """List the features for which the grid's generators must compute likelihoods.

        Returns:
            A mapping from each feature's configuration key to whether the feature is on.
        """
        of_annexes = {key: is_on for annex in annexes() for key, is_on in annex.scored_texts(self).items()}
        return {"context_use": self.settings.context_use, **of_annexes}

    def used_generators(self) -> list[str]:
        """List all generators that the study uses.

        Returns:
            The grid's generators, followed by generators that only an annex uses.
        """
        of_annexes = [name for annex in annexes() for name in annex.generators(self.config)]
        return list(dict.fromkeys([*self.grid.generators, *of_annexes]))

    def used_scorers(self) -> list[str]:
        """List all scorers that the study uses.

        Returns:
            The grid's scorers, followed by the judges that only a panel uses.
        """
        members = [one for name in self.grid.scorers for one in SCORER_KINDS.of(self.scorer(name)).members()]
        known = [one for one in members if one in self.config["scorers"]]
        return list(dict.fromkeys([*self.grid.scorers, *known]))

    def grades(self, dataset: str) -> dict[str, int]:
        """List a dataset's reference grades, most lenient first.

        Args:
            dataset: The dataset's name.

        Returns:
            A mapping from each grade to the lowest label that counts as a reference.
        """
        references = self.dataset(dataset)["references"]
        return dict(sorted(references.items(), key=lambda item: (item[1], item[0])))

    def counted_at_zero(self) -> list[str]:
        """List the retrievers whose queries without results stay in the analysis, with utility and measures set to 0.

        Returns:
            The grid's ranking retrievers if `empty_rankings` is `zero`, otherwise none.
        """
        return [name for name in self.grid.retrievers if self.empty_rankings(name) == "zero"]

    def empty_rankings(self, retriever: str) -> str | None:
        """Look up how to treat queries for which a retriever finds nothing.

        Args:
            retriever: The retriever's name.

        Returns:
            The value of `empty_rankings`, or None if the retriever uses judgements or doesn't search for every query.
        """
        kind = RETRIEVER_KINDS.of(self.retriever(retriever))
        ranks = kind.searches_every_query and not kind.needs_qrels
        return self.settings.analysis.empty_rankings if ranks else None

    def reference_sets(self, dataset: str, scorer: str) -> dict[str, int]:
        """List a scorer's reference sets on a dataset.

        Args:
            dataset: The dataset's name.
            scorer: The scorer's name.

        Returns:
            Each set's lowest label, keyed by name. There is only one set if references aren't judged passages.
        """
        return SCORER_KINDS.of(self.scorer(scorer)).sets(self.grades(dataset))

    def selected(self) -> dict[str, Any]:
        """Reduce the configuration to the keys that affect results and to the catalogue entries that the study uses.

        Returns:
            The reduced configuration.
        """
        judges = [judge for name in self.used_scorers() for judge in SCORER_KINDS.of(self.scorer(name)).judges()]
        used: dict[str, list[str]] = {
            **{section: list(getattr(self.grid, section)) for section in SECTIONS},
            "retrievers": self.needed_retrievers(),
            "generators": [*self.used_generators(), *judges],
            "scorers": self.used_scorers(),
        }
        for annex in annexes():
            for section, names in annex.selected(self).items():
                used.setdefault(section, []).extend(names)
        left_out = {"cache_mode", "prune", "shards", "stage_models"}
        left_out |= {key for annex in annexes() for key in annex.without_effect}
        return {
            key: {name: value[name] for name in value if name in used[key]} if key in used else value
            for key, value in self.config.items()
            if key not in left_out
        }

    def primary(self, dataset: str, scorer: str | None = None) -> PrimaryFields | None:
        """Choose the primary comparison for a section of the page.

        Args:
            dataset: The section's dataset.
            scorer: The section's scorer; defaults to the scorer of the primary comparison.

        Returns:
            The comparison (base.vocabulary.primary.Primary), or None if there are fewer than two retrievers. If the
            section lacks the chosen reference set, the section's first set is used.
        """
        given, grid = self.config["analysis"]["primary"], self.grid
        ranking = [name for name in grid.retrievers if not RETRIEVER_KINDS.of(self.retriever(name)).needs_qrels]
        known = [*ranking, *(name for name in grid.retrievers if name not in ranking)]
        retriever, reference = given.get("retriever"), given.get("reference")
        if reference is None:
            declared = self.settings.analysis.reference_retriever
            likely = [declared] if declared in ranking or declared in known[1:2] else []
            reference = next((name for name in [*likely, *known] if name != retriever), None)
        if retriever is None:
            retriever = next((name for name in known if name != reference), None)
        if retriever is None or reference is None:
            return None
        ordering, own = given.get("ordering", grid.orderings[0]), given.get("scorer", grid.scorers[0])
        sets = list(self.reference_sets(dataset, scorer or own))
        return {
            "retriever": retriever,
            "reference": reference,
            "ordering": ordering,
            "k": given.get("k", max((k for k in grid.k if fits(ordering, k)), default=max(grid.k))),
            "references": given["references"] if given.get("references") in sets else sets[0],
            "measure": given.get("measure", grid.measures[0]),
            "scorer": own,
        }

    def margin(self, scorer: str) -> float | None:
        """Look up a scorer's equivalence margin.

        Args:
            scorer: The scorer's name.

        Returns:
            The margin, in units of the score, or None if there is no margin (the default for judges).
        """
        own: Mapping[str, float | None] = self.config["analysis"].get("margins", {})
        kind = SCORER_KINDS.of(self.scorer(scorer))
        judged = bool(kind.judges() or kind.members())
        margin: float | None = None if judged else self.settings.analysis.equivalence_margin
        return own.get(scorer.partition(WITHOUT_JUDGE)[0], margin)

    def needed_retrievers(self) -> list[str]:
        """List the grid's retrievers and all other retrievers whose runs the grid's retrievers use.

        Returns:
            The sorted retriever names.
        """
        return needed(self.grid.retrievers, self.config["retrievers"])

    def user_questions(self) -> list[str]:
        """List the user's own questions.

        Returns:
            The questions' classes, each as ``module:Class``.
        """
        names: list[str] = self.config.get("questions", [])
        return names

    def asked_generators(self) -> list[str]:
        """List the grid's generators that have an engine, as opposed to imported answers.

        Returns:
            Generator names.
        """
        return self.asked

    def _check_names(self) -> None:
        for section in SECTIONS:
            catalogue = self.config[section]
            for name in getattr(self.grid, section):
                if name not in catalogue:
                    raise InputError(f"config key 'grid.{section}'", repr(name), one_of(catalogue, name))
            reserved = RESERVED + RESERVED_DATASETS if section == "datasets" else RESERVED
            for name in catalogue:
                if name in reserved:
                    expected = f"any name except {', '.join(reserved[:-1])} and {reserved[-1]}"
                    raise InputError(f"config key '{section}.{name}'", "a reserved name", expected)

    def _check_reference_retriever(self, given: Mapping[str, Any]) -> None:
        """Raise InputError if the user named an unknown retriever. If only the default is unknown, none is marked."""
        name = given.get("analysis", {}).get("reference_retriever")
        if name is not None and name not in self.config["retrievers"]:
            known = one_of(["null", *self.config["retrievers"]], name)
            raise InputError("config key 'analysis.reference_retriever'", repr(name), known)

    def _check_primary(self) -> None:
        """Raise InputError unless the names are in the grid, the retrievers differ, and the ordering applies to k."""
        place, given = "config key 'analysis.primary.{}'", self.config["analysis"]["primary"]
        known: dict[str, list[Any]] = {
            "retriever": self.grid.retrievers,
            "reference": self.grid.retrievers,
            "ordering": self.grid.orderings,
            "k": self.grid.k,
            "measure": self.grid.measures,
            "scorer": self.grid.scorers,
        }
        for key, names in known.items():
            if key in given and given[key] not in names:
                raise InputError(place.format(key), repr(given[key]), one_of(names, given[key]))
        scorer, wanted = given.get("scorer", self.grid.scorers[0]), given.get("references")
        for dataset in self.grid.datasets:
            sets = self.reference_sets(dataset, scorer)
            if wanted is not None and wanted not in sets:
                raise InputError(place.format("references"), f"{wanted!r}, which {scorer} doesn't have on {dataset}",
                                 one_of(sets, wanted))  # fmt: skip
        if given.get("retriever") is not None and given["retriever"] == given.get("reference"):
            raise InputError(
                place.format("reference"), repr(given["reference"]), "a retriever other than analysis.primary.retriever"
            )
        ordering = given.get("ordering", self.grid.orderings[0])
        if "k" in given and not fits(ordering, given["k"]):
            raise InputError(place.format("k"), str(given["k"]), f"a k that is possible with the ordering {ordering}")

    def _check_margins(self) -> None:
        for name in self.config["analysis"].get("margins", {}):
            if name not in self.config["scorers"]:
                place = f"config key 'analysis.margins.{name}'"
                raise InputError(place, "the name of an unknown scorer", one_of(self.config["scorers"], name))

    def _check_numbers(self) -> None:
        deepest = max(self.grid.k)
        if deepest > (limit := self.settings.context_depth):
            raise InputError("config key 'grid.k'", str(deepest), f"at most {limit} (context_depth)")
        if PERMUTATIONS in self.grid.orderings and deepest > MOST_PERMUTED:
            expected = f"no k above {MOST_PERMUTED}, because each of the k! orders is a separate cell"
            raise InputError("config key 'grid.orderings'", f"{PERMUTATIONS} with k = {deepest}", expected)
        from ragrelay.base.vocabulary.measures import check_measure  # only needed here

        for measure in self.grid.measures:
            check_measure("config key 'grid.measures'", measure)

    def _check_subtopics(self) -> None:
        """Raise InputError if a measure needs subtopics that a dataset lacks or whose file is missing."""
        from ragrelay.base.vocabulary.subtopic_measures import is_subtopic_measure

        measures = [name for name in self.grid.measures if is_subtopic_measure(name)]
        for name in self.grid.datasets:
            subtopics, place = self.dataset(name).get("subtopics"), f"datasets.{name}.subtopics"
            if measures and not subtopics:
                found = f"{measures[0]!r}, a subtopic measure, although dataset {name} has no subtopics"
                raise InputError("config key 'grid.measures'", found, f"key '{place}' or other measures")
            catalogued = DATASET_KINDS.of(self.dataset(name)).catalogued()
            if subtopics is True and catalogued:
                subtopic_field(catalogued)
            if isinstance(subtopics, str) and subtopics != HOPS and not (self.folder / subtopics).is_file():
                found = f"no file {self.folder / subtopics}"
                raise InputError(f"config key '{place}'", found, f"true, {HOPS}, or a file of judged subtopics")
