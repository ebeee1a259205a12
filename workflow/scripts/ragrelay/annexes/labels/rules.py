"""Provide study data for the rules on annotation sources: the inputs and params of labelling jobs."""

import functools
from collections.abc import Sequence
from typing import Any

from ragrelay.annexes.labels import files
from ragrelay.annexes.labels.questions.judge_passages import passage_jobs
from ragrelay.annexes.labels.source import (
    ANNOTATION_KINDS,
    BY_ANSWERS,
    BY_EFFECTS,
    BY_FILE,
    BY_JUDGE,
    BY_PAGES,
    BY_ZEROSHOT,
    label_cutoffs,
    parts,
)
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study import files as study_files
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key, OfJob, Wildcards

TABLES = {
    BY_ANSWERS: files.labels_by_answers,
    BY_JUDGE: files.labels_by_judge,
    BY_ZEROSHOT: study_files.scores,
    BY_PAGES: files.labels_by_pages,
    BY_FILE: files.labels_by_file,
    **{name: study_files.tables[name] for name in (BY_EFFECTS,) if name in study_files.tables},  # from another annex
}
"""Tables with a source's labels, keyed by the type of job that writes the table."""


class Labels:
    """Study data for the rules on annotation sources.

    Methods that take only ``wildcards`` can be used as a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.names: list[str] = study.config["grid"]["annotations"]
        self.parts = parts(study.config["annotations"], self.names)
        """Names of the grid's sources; combinations are replaced by the sources that they combine."""
        self.need_single_answers = any(source.needs_single_answers for source in self.source_parts.values())
        """Whether a source needs answers to single passages."""
        self.cutoffs = label_cutoffs(study.grid.k, study.settings.annotation_depth)

    @functools.cached_property
    def constant(self) -> list[str]:
        """Names of the sources that give all passages of a query the same label."""
        return [name for name, source in self.source_parts.items() if source.constant]

    @functools.cached_property
    def agreement(self) -> dict[str, object]:
        """Params for comparing labels with human labels, except the minimum kappa, which only the page uses."""
        settings = self.study.config["agreement"]
        return {
            "patterns": TABLES,
            "annotations": self.source_definitions,
            "names": self.names,
            "agreement": {key: value for key, value in settings.items() if key != "least_kappa"},
        }

    @functools.cached_property
    def trust_in_judges(self) -> dict[str, object]:
        """Params for the page's notes on trust: minimum kappa, random sampling, and generators that are also judges."""
        agreement, generators = self.study.settings.agreement, self.study.grid.generators
        judges = {name: source.judges(generators) for name, source in self.source_parts.items()}
        own = {name: [judge for judge in asked if judge in generators] for name, asked in judges.items()}
        return {
            "least_kappa": agreement.least_kappa,
            "random_sample": agreement.random_sample,
            "own": {name: own_judges for name, own_judges in own.items() if own_judges},
        }

    def made(self, wildcards: Wildcards) -> dict[str, list[StudyFile]]:
        """Return the tables with the sources' labels, keyed by the type of job that writes the table."""
        tables: dict[str, list[StudyFile]] = {job: [] for job in TABLES}
        for name, source in self.source_parts.items():
            if asked := source.job(name, wildcards.scorer, wildcards.generator):
                tables[asked[0]].append(TABLES[asked[0]].at(**asked[1]))
        return tables

    def file_of(self, wildcards: Wildcards) -> str | None:
        """Return the path of the user's label file for a job's source and dataset, or None if there is none."""
        return self.source_parts[wildcards.source].file(wildcards.dataset)

    def checked_of(self, wildcards: Wildcards) -> dict[str, int]:
        """Return how many passages to sample for a judge's bias checks (size), and down to which rank (depth)."""
        return {
            "depth": self.study.settings.annotation_depth,
            "size": self.source(wildcards.source)["bias_checks"],
        }

    def reference_sets_of(self, wildcards: Wildcards) -> list[str]:
        """Return the names of the reference sets with which a job's P is computed, including unseen sets."""
        names = list(self.study.reference_sets(wildcards.dataset, wildcards.scorer))
        judged = self.study.scorer(wildcards.scorer)["references"] == "judged"
        return [*names, *(name + UNSEEN for name in names if judged)]

    @functools.cached_property
    def modules(self) -> list[str]:
        """The modules that define the study's kinds of annotation sources."""
        definitions = self.study.selected()["annotations"].values()
        return sorted({ANNOTATION_KINDS.module(definition) for definition in definitions})

    @functools.cached_property
    def source_parts(self) -> dict[str, Any]:
        """The grid's annotation sources, keyed by name; combinations are replaced by the sources that they combine."""
        return {name: ANNOTATION_KINDS.of(self.source(name)) for name in self.parts}

    @functools.cached_property
    def checked_sources(self) -> dict[str, list[str]]:
        """The judges of each annotation source with bias checks, keyed by source."""
        return {
            name: source.judges(self.study.grid.generators)
            for name, source in self.source_parts.items()
            if self.source(name).get("bias_checks")
        }

    def source(self, name: str) -> dict[str, Any]:
        """Return an annotation source's definition from the catalogue."""
        definition: dict[str, Any] = self.study.config["annotations"][name]
        return definition

    def source_named(self, name: str) -> dict[str, Any]:
        """Return an annotation source's definition without the key ``bias_checks``, which doesn't affect labels."""
        return {key: value for key, value in self.source(name).items() if key != "bias_checks"}

    @functools.cached_property
    def source_definitions(self) -> dict[str, dict[str, object]]:
        """Definitions of the grid's sources and of the sources that they combine, keyed by name."""
        return {name: self.source_named(name) for name in self.study.selected()["annotations"]}

    def single_prompts(self, template: str) -> list[StudyFile]:
        """Return the files of all retrievers' single-passage prompts built with a template."""
        return files.single_prompts.at(template=template).each(self.study.each_retriever)

    def single_prompts_of(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the files of all retrievers' single-passage prompts for a job's generator."""
        return self.single_prompts(self.study.generation.template_of(wildcards.generator))

    @functools.cached_property
    def labelled(self) -> list[Key]:
        """Wildcards (dataset, generator) for the tables on annotation sources."""
        grid = self.study.grid
        return [{"dataset": d, "generator": g} for d in grid.datasets for g in grid.generators]

    @functools.cached_property
    def annotated(self) -> list[Key]:
        """Wildcards for each scorer, or an empty list if the study has no annotation sources."""
        return [{"scorer": name} for name in self.study.grid.scorers if self.names]

    @functools.cached_property
    def label_tables(self) -> dict[str, list[StudyFile]]:
        """Result tables for a scorer's report on labels, for all datasets and generators, keyed by name."""
        names = ("correlation", "leads", "within", "choices", "agreement", "confusion", "powered")
        return {name: study_files.tables[f"label_{name}"].each(self.labelled) for name in names}

    @functools.cached_property
    def costed(self) -> list[Key]:
        """Wildcards (dataset, generator) for the tables on the cost of labels; imported generators are left out."""
        asked = self.study.asked_generators()
        return [key for key in self.labelled if self.need_single_answers and key["generator"] in asked]

    @functools.cached_property
    def page_files(self) -> dict[str, list[StudyFile]]:
        """Tables on labels that don't depend on the scorer: costs and judges' bias checks."""
        return {
            "label_cost": study_files.tables["label_cost"].each(self.costed),
            "label_checks": [
                path
                for name, judges in self.checked_sources.items()
                for table in study_files.made_by("analyse_passage_checks").values()
                for path in self.study.grid_paths(table, source=[name], judge=judges)
            ],
        }

    @functools.cached_property
    def left_out_files(self) -> list[StudyFile]:
        """Files that count queries and passages without a label."""
        study = self.study
        datasets = study.grid.datasets
        by_job = [
            {"dataset": dataset, "by": job[0], "source": name}
            for dataset in datasets
            for name, source in self.source_parts.items()
            if (job := source.job(name, "", "")) and job[0] in (BY_FILE, BY_PAGES)
        ]
        by_answers = [
            {"dataset": dataset, "by": BY_ANSWERS, "source": name}
            for dataset in datasets
            for name in study.generation.passage_answerers
            if self.need_single_answers
        ]
        return files.left_out_of_labels.each(by_job + by_answers)

    @property
    def judged(self) -> Sequence[Key]:
        """Wildcards for judges' labels: every combination of dataset, source and judge."""
        return passage_jobs(self.study, self.source_parts)

    def asked_for(self, pattern: StudyFile) -> OfJob:
        """Return an input function that fills ``pattern`` from the grid, or ends the run if the grid has no sources."""

        def paths(wildcards: Wildcards) -> list[StudyFile]:
            with on_terminal():
                if not self.names:
                    expected = one_of(self.study.config["annotations"])
                    raise InputError("config key 'grid.annotations'", "no value", expected)
            return self.study.grid_paths(pattern)

        return paths


@functools.cache
def of_study(study: StudyOfRules) -> Labels:
    """Return ``study``'s data for the rules on annotation sources."""
    return Labels(study)
