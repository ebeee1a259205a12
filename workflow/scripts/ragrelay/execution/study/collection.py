"""Provide rules with a study's datasets: sources, files, clusters and grades."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.base.vocabulary.subtopic_measures import is_subtopic_measure
from ragrelay.collection.source import DATASET_KINDS, DatasetSource
from ragrelay.collection.subtopics.table import HOPS
from ragrelay.execution.study import files
from ragrelay.execution.study.wildcards import Wildcards

if TYPE_CHECKING:
    from ragrelay.execution.study.study import StudyOfRules

NOT_OF_JOBS = ("shards", "drop_identical_ids", "clusters", "subtopics")
"""A dataset's keys that only affect how its jobs and rankings are set up."""


class CollectionStage:
    """A study's datasets; Snakemake rules access them as `study.collection`."""

    def __init__(self, study: "StudyOfRules") -> None:
        self.study = study

    @functools.cache  # noqa: B019 - a process has a single study
    def source(self, dataset: str) -> DatasetSource:
        """Return a dataset's source."""
        return DATASET_KINDS.of(self.study.dataset(dataset))

    def module(self, dataset: str) -> str:
        """Return the name of the module that defines a dataset's source."""
        return DATASET_KINDS.module(self.study.dataset(dataset))

    def of_jobs(self, dataset: str) -> dict[str, object]:
        """Return a dataset's definition without references and without the keys that only affect jobs and rankings."""
        definition = {**self.study.dataset(dataset), "references": {}}
        return {key: value for key, value in definition.items() if key not in NOT_OF_JOBS}

    def files(self, dataset: str) -> list[str]:
        """Return the paths of a local dataset's files, or an empty list for a catalogued dataset."""
        return list(map(str, self.source(dataset).files(Path())))

    def passage_files(self, dataset: str) -> list[str]:
        """Return the files from which a local dataset's indexes are built."""
        return [path for path in self.files(dataset) if Path(path).stem.startswith("passages")]

    def cluster_files(self, dataset: str) -> list[str]:
        """Return a list with the user's file of query clusters, or an empty list if queries are independent."""
        path = self.source(dataset).clusters
        return [path] if path else []

    def clusters(self, dataset: str) -> list[StudyFile]:
        """Return a list with a dataset's table of query clusters, or an empty list if queries are independent."""
        return [files.clusters.at(dataset=dataset)] if self.cluster_files(dataset) else []

    @functools.cached_property
    def all_clusters(self) -> list[StudyFile]:
        """The cluster tables of all datasets that have clusters."""
        return [path for dataset in self.study.grid.datasets for path in self.clusters(dataset)]

    @functools.cached_property
    def judged_subtopics(self) -> list[str]:
        """The names of the datasets whose qrels contain subtopics."""
        return [name for name in self.study.grid.datasets if self.subtopics(name) is True]

    @functools.cached_property
    def subtopic_measures(self) -> list[str]:
        """The subtopic measures in the grid."""
        return [name for name in self.study.grid.measures if is_subtopic_measure(name)]

    @functools.cached_property
    def qrels_measures(self) -> list[str]:
        """The grid's measures that need only qrels, not subtopics."""
        return [name for name in self.study.grid.measures if name not in self.subtopic_measures]

    def subtopics(self, dataset: str) -> bool | str | None:
        """Return the value of a dataset's key `subtopics`, which is None or false if the dataset has no subtopics."""
        return self.source(dataset).subtopics

    def subtopic_files(self, dataset: str) -> list[str]:
        """Return the user's files that contain a dataset's subtopics."""
        subtopics = self.subtopics(dataset)
        if subtopics is True:
            return [path for path in self.files(dataset) if path not in self.passage_files(dataset)]
        return [] if subtopics == HOPS else [str(subtopics)]

    def measured_subtopics(self, dataset: str) -> list[StudyFile]:
        """Return a list with a dataset's subtopic table, or an empty list if the grid has no subtopic measures."""
        return [files.subtopics.at(dataset=dataset)] if self.subtopic_measures else []

    def subtopic_level(self, dataset: str) -> int:
        """Return the lowest subtopic label that counts as relevant (1 if subtopics come from a separate file)."""
        return self.lowest_grade(dataset) if self.subtopics(dataset) in (True, HOPS) else 1

    @functools.cached_property
    def all_subtopics(self) -> list[StudyFile]:
        """The subtopic tables of all datasets that have subtopics."""
        return [files.subtopics.at(dataset=name) for name in self.study.grid.datasets if self.subtopics(name)]

    def drop_identical_ids(self, dataset: str) -> bool | None:
        """Return whether rankings leave out passages with the same id as the query, or None if the key isn't set."""
        return self.source(dataset).drop_identical_ids

    def lowest_grade(self, dataset: str) -> int:
        """Return the lowest label that counts as relevant in a dataset."""
        return min(self.study.grades(dataset).values())

    def checked_files(self, wildcards: Wildcards, output: object) -> dict[str, object]:
        """Return a dataset's run files, measures, grades and answers, which a job checks before any engine starts.

        The job's outputs don't depend on these values. Snakemake doesn't rerun the job if the values change, because
        this function takes ``output``.
        """
        study, dataset = self.study, wildcards.dataset
        imported, passages = study.generation.imported, study.generation.given_passages
        return {
            "runs": study.retrieval.imported_runs(dataset),
            "measures": self.qrels_measures,
            "grades": study.grades(dataset),
            "answers": [{"generator": name, **file.given(dataset, study.grid)} for name, file in imported.items()],
            "passages": [passages(name, dataset) for name in study.generation.passage_answerers],
        }
