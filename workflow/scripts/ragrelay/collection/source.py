"""Base class for dataset sources."""

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
    """Base class for dataset sources: queries, passages and judgements, with the grades that define references."""

    references: References = Field(description="Reference grades, from name to lowest label.")
    drop_identical_ids: bool | None = Field(
        None,
        description="Remove a passage from a query's rankings if both have the same id, as BEIR's "
        "`ignore_identical_ids` does for datasets whose queries are also passages (ArguAna, Quora). With `false`, "
        "the passage stays. Without this key it stays, too, and the page and the terminal warn about it.",
    )
    shards: int = Field(
        1,
        ge=1,
        le=1000,
        description="Number of jobs that share the dataset's queries; each job starts a separate engine. If a model "
        "scores the answers, the same number of jobs share the scoring.",
    )

    clusters: File | None = Field(
        None,
        description="File with lines `qid<TAB>cluster`, for queries that are not independent: turns of a "
        "conversation, questions on one paragraph, variants of one query. Tests and intervals then treat "
        "clusters as the unit ([methods.md](../docs/methods.md#clusters-of-queries)).",
    )

    subtopics: Annotated[bool | File | None, OUTSIDE_JOBS] = Field(
        None,
        description="Judgements of subtopics (nuggets, aspects, hops), which `StRecall` and `alpha_nDCG` need. `true`: "
        "the qrels' second column (in ir_datasets `subtopic_id`) names the subtopic; a passage may be judged once per "
        "subtopic, and its highest label is its relevance. `hops`: each judged passage is a subtopic. Otherwise a "
        "file: lines `qid subtopic docno label`, or nuggetizer's assignments to retrieved passages (`.jsonl`) "
        "([datasets.md](../docs/datasets.md#subtopics)).",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the file with clusters exists.

        Args:
            place: How messages begin, as in ``Kind.check``.
            study: The study that uses the dataset.

        Raises:
            InputError: ``clusters`` names no file.
        """
        if self.clusters is not None and not (study.folder / self.clusters).is_file():
            found = f"no file {study.folder / self.clusters}"
            raise InputError(f"{place}.clusters'", found, "a file of lines qid<TAB>cluster")

    @classmethod
    def check_written(cls, given: Mapping[str, object]) -> None:
        """Require at least one reference grade in the configuration. Only a job's parameters may have none.

        Args:
            given: The entry as written in the configuration.

        Raises:
            RefusedError: ``references`` is empty.
        """
        if given["references"] == {}:
            raise RefusedError("{}", "at least 1 entry", "references")

    def open(self, folder: Path) -> Collection:
        """Open the collection.

        Args:
            folder: Where relative paths are looked up.

        Returns:
            The collection.
        """
        raise NotImplementedError

    def corpus(self, name: str) -> str:
        """Name the corpus's files. Datasets that share a corpus return the same name.

        Args:
            name: The dataset's name, which is the default.

        Returns:
            A file name.
        """
        return name

    def files(self, folder: Path) -> list[Path]:
        """List your files for the dataset that exist.

        Args:
            folder: Where relative paths are looked up.

        Returns:
            The paths; by default there are none.
        """
        return []

    def catalogued(self) -> str | None:
        """Identify a dataset that ir_datasets downloads.

        Returns:
            Its id in ir_datasets; None if the dataset comes from elsewhere.
        """
        return None

    def check_gold(self, place: str, study: CheckedStudy, expected: str) -> None:
        """Check that the dataset has gold answers.

        Args:
            place: How messages begin, as in ``check``.
            study: The study that uses the dataset.
            expected: The end of the message: what needs gold answers.

        Raises:
            InputError: The dataset has no gold answers.
        """
        raise NotImplementedError


DATASET_KINDS = Kinds(DatasetSource, "ragrelay.collection.sources", "source")


def check_gold(study: CheckedStudy, expected: str) -> None:
    """Raise InputError if a dataset in the grid has no gold answers; ``expected`` names the feature that needs them."""
    for name in study.grid.datasets:
        DATASET_KINDS.of(study.config["datasets"][name]).check_gold(f"config key 'datasets.{name}", study, expected)
