"""Define the base class for retrievers, and list the other retrievers on which a retriever depends."""

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
    """The data that a retriever needs to make a run."""

    queries: pl.DataFrame
    """Columns qid, query."""
    qrels: pl.DataFrame
    """Columns qid, docno, label, if the kind needs judgements."""
    collection: Collection
    index: Path | None = None
    """The index's folder, if the kind has an index."""
    runs: Sequence[pl.DataFrame] = ()
    """Ranked runs (qid, docno, rank, score), cut at the retriever's depth: its stages' or imported ones."""
    threads: int = 1
    """CPU threads."""
    answers: Sequence[tuple[Path, dict[str, Any]]] = ()
    """Answer files that it reads, each with the values in its name."""
    name: str = ""
    """The retriever's name."""
    brought: Sequence[BroughtPassage] = ()
    """Passages that the dataset's collection lacks; ``collection`` has their texts here."""

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
    """Base class for retrievers, which rank passages for each query. If a kind has a key ``depth``, it cuts the run."""

    needs_qrels: ClassVar[bool] = False
    """Whether the run depends on the judgements."""
    threads: ClassVar[int] = 1
    """CPU threads for the job that makes its run.

    On two cores, a job with two threads waits while engines start, and these then can't answer its prompts."""
    searches_every_query: ClassVar[bool] = True
    """Whether the kind searches for every query, so that a query without results counts as a failed search."""

    def run(self, task: RunTask) -> pl.DataFrame:
        """Rank passages for each query.

        Args:
            task: Queries, collection and other data.

        Returns:
            Columns qid, docno and score, in any order; higher scores rank first.
        """
        raise NotImplementedError

    def stages(self) -> list[tuple[str, str]]:
        """List the retrievers whose runs it uses.

        Returns:
            Pairs: the key that names the retriever, and its name; by default there are none.
        """
        return []

    def files(self, dataset: str) -> list[str]:
        """List the imported TREC run files.

        Args:
            dataset: The dataset's name.

        Returns:
            Their paths; by default there are none.
        """
        return []

    def brought(self, dataset: str) -> list[str]:
        """List your files with passages that the collection lacks but the run may have.

        Args:
            dataset: The dataset's name.

        Returns:
            Their paths; by default there are none.
        """
        return []

    def scored(self, ranks: pl.DataFrame, place: str, name: str) -> pl.DataFrame:
        """Set the scores that order an imported run.

        Args:
            ranks: The run file's rows; columns qid, docno, score, given (the file's ranks).
            place: The file, for messages.
            name: The retriever's name, for messages.

        Returns:
            The rows with the scores to rank by; by default unchanged.
        """
        return ranks

    def answers(self, dataset: str) -> list[tuple[Path, dict[str, Any]]]:
        """List the answer files that it reads.

        Args:
            dataset: The dataset's name.

        Returns:
            Each path with the values in its name; by default there are none.
        """
        return []

    def index_definition(self) -> dict[str, Any] | None:
        """List the keys that determine its index.

        Returns:
            Their values, with the engine's name under ``index``; None if it has no index.
        """
        return None

    @classmethod
    def index_identity(cls, definition: Mapping[str, object]) -> dict[str, object]:
        """Collect everything besides the corpus that determines the index's files.

        Args:
            definition: The index definition.

        Returns:
            Plain values, keyed by name; by default the definition itself.
        """
        return dict(definition)

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, object], path: Path, threads: int) -> None:
        """Build an index.

        Args:
            collection: The passages to index.
            definition: The index definition.
            path: The new folder for the index.
            threads: CPU threads.
        """
        raise NotImplementedError

    def processing(self) -> dict[str, object] | None:
        """Look up the processor that changes its stage's passages.

        Returns:
            The processor's definition; None if there is none.
        """
        return None

    def dose(self) -> tuple[int, str] | None:
        """Describe contexts that have a fixed number of relevant passages by design.

        Returns:
            That number, and what the other passages are; None if the number varies.
        """
        return None

    def uses_terrier(self) -> bool:
        """Check whether it runs on Terrier, whose jars PyTerrier downloads.

        Returns:
            True if it does; False by default.
        """
        return False

    def doubts(self, queries: pl.DataFrame) -> list[dict[str, object]]:
        """Count parts of the queries that it doesn't read, for the report.

        Args:
            queries: Columns qid, query.

        Returns:
            Mappings with ``what`` and ``count``; by default there are none.
        """
        return []

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Make the error for a run without results.

        Args:
            place: The kind, as the message's beginning.
            runs: The run files that it read.

        Returns:
            The error, for the caller to raise.
        """
        return InputError(place, "no result for any query", "qids of the dataset's queries")


class Bringing(Retriever):
    """A retriever whose run may have passages that the collection lacks."""

    passages: DatasetFile | None = Field(
        None,
        description="A file of passages that the collection lacks, used only in contexts: JSON lines of "
        '`{"doc_id": …, "text": …}`, plain or compressed. They are not indexed, and count as unjudged. '
        "`{dataset}` is replaced by the dataset's name.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every dataset in the grid has a file, if the key is set."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            for path in self.brought(dataset):
                if not (study.folder / path).is_file():
                    raise InputError(place + ".passages'", f"no file {study.folder / path}", "JSON lines of passages")

    def brought(self, dataset: str) -> list[str]:
        """Return the dataset's file, if the key is set."""
        return [] if self.passages is None else [file_of(self.passages, dataset)]


RETRIEVER_KINDS = Kinds(Retriever, "ragrelay.retrieval.retrievers")


def needed(names: Sequence[str], catalogue: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return ``names`` and the retrievers that they need, sorted. Raises InputError for unknown names and cycles."""
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
            raise InputError(place, f"a cycle {cycle}", "stages that do not refer back to each other")
        names |= _below(stage, catalogue, path)
    return names
