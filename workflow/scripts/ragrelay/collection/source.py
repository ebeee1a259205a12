"""Define the base class for dataset sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Kind, Kinds
from ragrelay.base.settings import OUTSIDE_JOBS, File, Matching, RefusedError
from ragrelay.collection.base import Collection

GRADE = Matching("[a-z][a-z0-9_]{0,31}", "a name of small letters, digits and _, at most 32, that starts with a letter")
References = Annotated[
    dict[Annotated[str, GRADE], Annotated[int, Field(ge=1)]], Field(json_schema_extra={"minProperties": 1})
]


class DatasetSource(Kind):
    """Base class for dataset sources, which provide queries, passages, judgements and reference grades."""

    references: References = Field(
        description="Reference grades, as a mapping from a name to a label: passages judged at this label or higher "
        "are references."
    )
    drop_identical_ids: bool | None = Field(
        None,
        description="Whether to remove a passage from a query's rankings if it has the same id as the query, like "
        "BEIR's `ignore_identical_ids`. Use `true` for datasets whose queries are also passages (ArguAna, Quora). If "
        "you don't set this key, such passages stay, and the page and the terminal warn about them.",
    )
    shards: int = Field(
        1,
        ge=1,
        le=1000,
        description="Number of jobs among which the dataset's queries are divided. Each job starts its own engine. If "
        "a model scores the answers, scoring is divided among the same number of jobs.",
    )

    clusters: File | None = Field(
        None,
        description="File with lines `qid<TAB>cluster`, for queries that aren't independent, such as turns of a "
        "conversation, questions about one paragraph or variants of one query. Tests and intervals then use clusters "
        "as the unit ([methods.md](../docs/methods.md#clusters-of-queries)).",
    )

    subtopics: Annotated[bool | File | None, OUTSIDE_JOBS] = Field(
        None,
        description="Where to find judgements of subtopics (nuggets, aspects, hops), which `StRecall` and `alpha_nDCG` "
        "need ([datasets.md](../docs/datasets.md#subtopics)). With `true`, the second column of the qrels (in "
        "ir_datasets `subtopic_id`) names the subtopic; if a passage is judged on several subtopics, the highest label "
        "is used. With `hops`, each judged passage is a subtopic. Any other value is the path of a file with lines "
        "`qid subtopic docno label`, or with nuggets that nuggetizer assigned to passages (`.jsonl`).",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the file with query clusters exists, if the dataset has one.

        Args:
            place: The beginning of error messages, which names the dataset's entry.
            study: The study that uses the dataset.

        Raises:
            InputError: The key ``clusters`` names a file that doesn't exist.
        """
        if self.clusters is not None and not (study.folder / self.clusters).is_file():
            found = f"no file {study.folder / self.clusters}"
            raise InputError(f"{place}.clusters'", found, "a file with lines of the form qid<TAB>cluster")

    @classmethod
    def check_written(cls, given: Mapping[str, object]) -> None:
        """Require at least one reference grade in the configuration (but not in a job's parameters).

        Args:
            given: The dataset's entry in the configuration, without defaults.

        Raises:
            RefusedError: ``references`` is empty.
        """
        if given["references"] == {}:
            raise RefusedError("{}", "at least 1 entry", "references")

    def open(self, folder: Path) -> Collection:
        """Open the collection.

        Args:
            folder: The base folder for relative paths.

        Returns:
            The collection.
        """
        raise NotImplementedError

    def corpus(self, name: str) -> str:
        """Return a name for the corpus, for use in file names. All datasets with the same corpus return the same name.

        Args:
            name: The dataset's name, which is returned by default.

        Returns:
            A file name.
        """
        return name

    def files(self, folder: Path) -> list[Path]:
        """List the user's files for the dataset, omitting any that don't exist.

        Args:
            folder: The base folder for relative paths.

        Returns:
            The files' paths; an empty list by default.
        """
        return []

    def catalogued(self) -> str | None:
        """Return the dataset's id in the ir_datasets catalogue.

        Returns:
            The id, or None for a dataset from another source.
        """
        return None

    def check_gold(self, place: str, study: CheckedStudy, expected: str) -> None:
        """Check that the dataset has gold answers.

        Args:
            place: The beginning of error messages, which names the dataset's entry.
            study: The study that uses the dataset.
            expected: The end of the error message, which names the feature that needs gold answers.

        Raises:
            InputError: The dataset has no gold answers.
        """
        raise NotImplementedError


DATASET_KINDS = Kinds(DatasetSource, "ragrelay.collection.sources", "source")


def check_gold(study: CheckedStudy, expected: str) -> None:
    """Raise InputError if a dataset in the grid has no gold answers, which the feature ``expected`` requires."""
    for name in study.grid.datasets:
        DATASET_KINDS.of(study.config["datasets"][name]).check_gold(f"config key 'datasets.{name}", study, expected)
