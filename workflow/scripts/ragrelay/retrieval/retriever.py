"""Define the base class of retrievers, and find all retrievers that a retriever depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy, Kind, Kinds
from ragrelay.base.settings import DatasetFile, file_of
from ragrelay.collection.base import Collection
from ragrelay.collection.brought_passages import BroughtPassage


@dataclass(frozen=True)
class RunTask:
    """The data that a retriever needs to produce a run."""

    queries: pl.DataFrame
    """Columns qid and query."""
    qrels: pl.DataFrame
    """The judgements, with columns qid, docno and label; only filled if the kind needs judgements."""
    collection: Collection
    index: Path | None = None
    """The folder with the index, if retrievers of this kind have one."""
    runs: Sequence[pl.DataFrame] = ()
    """Ranked runs (qid, docno, rank, score) of the retrievers that this one builds on, or imported runs, cut at its
    depth."""
    threads: int = 1
    """Number of CPU threads."""
    answers: Sequence[tuple[Path, dict[str, Any]]] = ()
    """The answer files that the retriever reads, each with the values in the file's name."""
    name: str = ""
    """The retriever's name."""
    brought: Sequence[BroughtPassage] = ()
    """Passages from users' files that the dataset's collection lacks. Their texts have been added to ``collection``."""

    @property
    def index_folder(self) -> Path:
        """The index's folder.

        Raises:
            ValueError: The kind has no index.
        """
        if self.index is None:
            raise ValueError("a retriever without its index")
        return self.index


class Retriever(Kind):
    """Base class for retrievers, which rank passages for each query. The key ``depth`` limits a run's length."""

    needs_qrels: ClassVar[bool] = False
    """Whether the run depends on judgements."""
    threads: ClassVar[int] = 1
    """Number of CPU threads for the job that produces the retriever's run.

    With more, a job on two cores would have to wait for engines, and engines couldn't start on its prompts early."""
    searches_every_query: ClassVar[bool] = True
    """Whether the kind searches for every query, so that a query without results is a failed search."""

    def run(self, task: RunTask) -> pl.DataFrame:
        """Rank passages for each query.

        Args:
            task: The queries, collection and other data.

        Returns:
            Columns qid, docno and score, with rows in no particular order. Passages are ranked by decreasing score.
        """
        raise NotImplementedError

    def stages(self) -> list[tuple[str, str]]:
        """List the retrievers whose runs this retriever uses.

        Returns:
            Pairs of a configuration key, such as `first_stage`, and the name of a retriever; none by default.
        """
        return []

    def files(self, dataset: str) -> list[str]:
        """List the imported TREC run files.

        Args:
            dataset: The dataset's name.

        Returns:
            The files' paths; none by default.
        """
        return []

    def brought(self, dataset: str) -> list[str]:
        """List the user's files with passages that aren't in the collection but may be in the run.

        Args:
            dataset: The dataset's name.

        Returns:
            The files' paths; none by default.
        """
        return []

    def scored(self, ranks: pl.DataFrame, place: str, name: str) -> pl.DataFrame:
        """Set the scores by which an imported run is ranked.

        Args:
            ranks: The run file's rows, with columns qid, docno, score and given (the ranks in the file).
            place: The file's name in messages.
            name: The retriever's name in messages.

        Returns:
            The rows with the scores to rank by; by default, scores are unchanged.
        """
        return ranks

    def answers(self, dataset: str) -> list[tuple[Path, dict[str, Any]]]:
        """List the answer files that the retriever reads.

        Args:
            dataset: The dataset's name.

        Returns:
            Each file's path, with the values parsed from the file's name; an empty list by default.
        """
        return []

    def index_definition(self) -> dict[str, Any] | None:
        """Return the keys that determine the retriever's index.

        Returns:
            The keys and their values, plus the search engine's name under ``index``; None if the retriever has no
            index.
        """
        return None

    @classmethod
    def index_identity(cls, definition: Mapping[str, object]) -> dict[str, object]:
        """Collect everything besides the corpus that determines the index's files.

        Args:
            definition: The index definition.

        Returns:
            JSON-compatible values by name; by default, the definition.
        """
        return dict(definition)

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, object], path: Path, threads: int) -> None:
        """Build an index.

        Args:
            collection: The passages to index.
            definition: The index definition.
            path: A new folder for the index.
            threads: Number of CPU threads.
        """
        raise NotImplementedError

    def processing(self) -> dict[str, object] | None:
        """Return the processor that this retriever applies to another retriever's passages.

        Returns:
            The processor's definition; None if the retriever has no processor.
        """
        return None

    def dose(self) -> tuple[int, str] | None:
        """Return the number of relevant passages in each context, if this number is fixed by design.

        Returns:
            The number of relevant passages and a name for the other passages; None if the number varies.
        """
        return None

    def uses_terrier(self) -> bool:
        """Return whether the retriever runs on Terrier, whose jars PyTerrier downloads.

        Returns:
            Whether the retriever uses Terrier; False by default.
        """
        return False

    def doubts(self, queries: pl.DataFrame) -> list[dict[str, object]]:
        """Count the queries that the retriever can't read completely, for the report.

        Args:
            queries: Columns qid and query.

        Returns:
            Mappings with ``what`` (a description) and ``count``; none by default.
        """
        return []

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Create the error for a run without results.

        Args:
            place: The beginning of the message, which names the retriever's kind.
            runs: The run files that the retriever read.

        Returns:
            The error, for the caller to raise.
        """
        return InputError(place, "no results for any query", "qids of the dataset's queries")


class Bringing(Retriever):
    """Base class for retrievers whose runs may contain passages that are in a user's file but not in the collection."""

    passages: DatasetFile | None = Field(
        None,
        description='File with passages that are missing from the collection: JSON Lines of `{"doc_id": …, "text": '
        "…}`, plain or compressed. These passages are used only in contexts: they aren't indexed and count as "
        "unjudged. `{dataset}` in the path is replaced with the dataset's name.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """If the key `passages` is set, check that every dataset in the grid has a file."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            for path in self.brought(dataset):
                if not (study.folder / path).is_file():
                    raise InputError(place + ".passages'", f"no file {study.folder / path}", "a JSON Lines file")

    def brought(self, dataset: str) -> list[str]:
        """If the key `passages` is set, return the dataset's file."""
        return [] if self.passages is None else [file_of(self.passages, dataset)]


RETRIEVER_KINDS = Kinds(Retriever, "ragrelay.retrieval.retrievers")


def needed(names: Sequence[str], catalogue: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return ``names`` and all retrievers they depend on, sorted. Raises InputError for unknown names and cycles."""
    all_names: set[str] = set()
    for name in names:
        all_names |= _below(name, catalogue, [])
    return sorted(all_names)


def _below(name: str, catalogue: Mapping[str, Mapping[str, object]], path: list[str]) -> set[str]:
    path = [*path, name]
    names = {name}
    for key, stage in RETRIEVER_KINDS.of(catalogue[name]).stages():
        place = f"config key 'retrievers.{name}.{key}'"
        if stage not in catalogue:
            raise InputError(place, repr(stage), one_of(catalogue, stage))
        if stage in path:
            cycle = " → ".join([*path[path.index(stage) :], stage])
            raise InputError(place, f"a cycle: {cycle}", "first stages without a cycle")
        names |= _below(stage, catalogue, path)
    return names
