"""Give rules what they need of the annotation sources, which label passages: inputs and params of their jobs."""

import functools
from typing import Any

from ragrelay.annexes.labels.source import (
    ANNOTATION_KINDS,
    BY_ANSWERS,
    BY_FILE,
    BY_JUDGE,
    BY_PAGES,
    BY_ZEROSHOT,
    label_cutoffs,
)
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.workflow.jobs.scripts import on_terminal
from ragrelay.workflow.study import files
from ragrelay.workflow.study.study import Key, OfJob, StudyOfRules, Wildcards

TABLES = {
    BY_ANSWERS: files.labels_by_answers,
    BY_JUDGE: files.labels_by_judge,
    BY_ZEROSHOT: files.scores,
    BY_PAGES: files.labels_by_pages,
    BY_FILE: files.labels_by_file,
}
"""The table with a source's labels, by the kind of job that makes them."""


class Labels:
    """What the rules of annotation sources need of a study.

    Functions whose only argument is ``wildcards`` are for a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.names: list[str] = study.grid.annotations
        self.need_single_answers = any(source.needs_single_answers for source in study.source_parts.values())
        """Whether a source needs answers to single passages."""
        self.cutoffs = label_cutoffs(study.grid.k, study.settings.annotation_depth)

    @functools.cached_property
    def cells_end_to_end(self) -> list[Key]:
        """The cells whose answers' cost is compared with that of the labels."""
        return [cell for cell in self.study.all_cells if cell["ordering"] == "descending" and cell["k"] in self.cutoffs]

    @functools.cached_property
    def constant(self) -> list[str]:
        """The sources that give every passage of a query the same label."""
        return [name for name, source in self.study.source_parts.items() if source.constant]

    @functools.cached_property
    def agreement(self) -> dict[str, Any]:
        """Params of the comparison with people's labels, without the least kappa, which only the page needs."""
        settings = self.study.config["agreement"]
        return {
            "patterns": TABLES,
            "annotations": self.study.source_definitions,
            "names": self.names,
            "agreement": {key: value for key, value in settings.items() if key != "least_kappa"},
            "draws": self.study.draws,
        }

    @functools.cached_property
    def trust_in_judges(self) -> dict[str, Any]:
        """Params of the page's part on judges: the key's threshold and statement, and the judges of own answers."""
        agreement, generators = self.study.config["agreement"], self.study.grid.generators
        judges = {name: source.judges(generators) for name, source in self.study.source_parts.items()}
        own = {name: [judge for judge in asked if judge in generators] for name, asked in judges.items()}
        return {
            "least_kappa": agreement["least_kappa"],
            "random_sample": agreement["random_sample"],
            "own": {name: own_judges for name, own_judges in own.items() if own_judges},
        }

    def made(self, wildcards: Wildcards) -> dict[str, list[StudyFile]]:
        """Return the tables with the sources' labels, by the kind of job that makes them."""
        tables: dict[str, list[StudyFile]] = {job: [] for job in TABLES}
        for name, source in self.study.source_parts.items():
            if asked := source.job(name, wildcards.scorer, wildcards.generator):
                tables[asked[0]].append(TABLES[asked[0]].at(**asked[1]))
        return tables

    def file_of(self, wildcards: Wildcards) -> Any:
        """Return the file of a job's source for its dataset."""
        return self.study.source_parts[wildcards.source].file(wildcards.dataset)

    def check_template_of(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the template of the prompts to the judge of a job's source."""
        return self.study.whole_template(self.study.source(wildcards.source)["prompt"])

    def checked_of(self, wildcards: Wildcards) -> dict[str, int]:
        """Return the number of passages on which a judge is checked, and their largest depth in rankings."""
        return {
            "depth": self.study.settings.annotation_depth,
            "size": self.study.source(wildcards.source)["bias_checks"],
        }

    def limits_of(self, wildcards: Wildcards) -> dict[str, int]:
        """Return the depth to which rankings are labelled, and the lowest grade that counts as relevant."""
        depth: int = self.study.settings.annotation_depth
        return {"depth": depth, "lowest_grade": self.study.lowest_grade_of(wildcards)}

    def reference_sets_of(self, wildcards: Wildcards) -> list[str]:
        """Return the names of the reference sets of P, including the unseen ones."""
        names = list(self.study.reference_sets(wildcards.dataset, wildcards.scorer))
        judged = self.study.scorer(wildcards.scorer)["references"] == "judged"
        return [*names, *(name + UNSEEN for name in names if judged)]

    @functools.cached_property
    def modules(self) -> list[str]:
        """The modules of the kinds of the sources, including combinations."""
        definitions = self.study.selected()["annotations"].values()
        return sorted({ANNOTATION_KINDS.module(definition) for definition in definitions})

    def asked_for(self, pattern: StudyFile) -> OfJob:
        """Return a function that fills ``pattern`` from the grid; without sources, it ends with a line to the user."""

        def paths(wildcards: Wildcards) -> list[StudyFile]:
            with on_terminal():
                if not self.names:
                    expected = one_of(self.study.config["annotations"])
                    raise InputError("config key 'grid.annotations'", "none", expected)
            return self.study.grid_paths(pattern)

        return paths
