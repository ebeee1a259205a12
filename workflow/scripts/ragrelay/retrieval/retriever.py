"""Define the base class for retrievers, and find the other retrievers that a retriever depends on."""

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
    """Columns qid, docno and label, if the kind needs judgements."""
    collection: Collection
    index: Path | None = None
    """The index's folder, if the kind has an index."""
    runs: Sequence[pl.DataFrame] = ()
    """Ranked runs (qid, docno, rank, score) of its stages, or imported runs, cut at the retriever's depth."""
    threads: int = 1
    """Number of CPU threads."""
    answers: Sequence[tuple[Path, dict[str, Any]]] = ()
    """The answer files that it reads, each with the values in its name."""
    name: str = ""
    """The retriever's name."""
    brought: Sequence[BroughtPassage] = ()
    """Passages that the dataset's collection lacks. Here, ``collection`` includes their texts."""

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
    """Whether the run depends on judgements."""
    threads: ClassVar[int] = 1
    """Number of CPU threads for the job that produces its run.

    On two cores, a job with two threads has to wait while engines start, and they then can't answer its prompts."""
    searches_every_query: ClassVar[bool] = True
    """Whether the kind searches for every query, so that a query without results is a failed search."""

    def run(self, task: RunTask) -> pl.DataFrame:
        """Rank passages for each query.

        Args:
            task: The queries, collection and other data.

        Returns:
            Columns qid, docno and score, with rows in any order. Higher scores rank first.
        """
        raise NotImplementedError

    def stages(self) -> list[tuple[str, str]]:
        """List the retrievers whose runs this one uses.

        Returns:
            Pairs of the key that names a retriever and that retriever's name; none by default.
        """
        return []

    def files(self, dataset: str) -> list[str]:
        """List the imported TREC run files.

        Args:
            dataset: The dataset's name.

        Returns:
            Their paths; none by default.
        """
        return []

    def brought(self, dataset: str) -> list[str]:
        """List the user's files with passages that may be in the run although the collection lacks them.

        Args:
            dataset: The dataset's name.

        Returns:
            Their paths; none by default.
        """
        return []

    def scored(self, ranks: pl.DataFrame, place: str, name: str) -> pl.DataFrame:
        """Set the scores by which an imported run is ranked.

        Args:
            ranks: The run file's rows, with columns qid, docno, score and given (the ranks in the file).
            place: The file's name in messages.
            name: The retriever's name in messages.

        Returns:
            The rows with the scores to rank by; unchanged by default.
        """
        return ranks

    def answers(self, dataset: str) -> list[tuple[Path, dict[str, Any]]]:
        """List the answer files that the retriever reads.

        Args:
            dataset: The dataset's name.

        Returns:
            Each path with the values in its name; none by default.
        """
        return []

    def index_definition(self) -> dict[str, Any] | None:
        """Return the keys that determine the retriever's index.

        Returns:
            The keys' values, plus the engine's name under ``index``; None if the retriever has no index.
        """
        return None

    @classmethod
    def index_identity(cls, definition: Mapping[str, object]) -> dict[str, object]:
        """Collect everything besides the corpus that determines the index's files.

        Args:
            definition: The index definition.

        Returns:
            Plain values by name; by default the definition itself.
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
        """Return the processor that changes the passages of the retriever's stage.

        Returns:
            The processor's definition; None if there is none.
        """
        return None

    def dose(self) -> tuple[int, str] | None:
        """Describe contexts if they have a fixed number of relevant passages by design.

        Returns:
            The number of relevant passages and a name for the others; None if the number varies.
        """
        return None

    def uses_terrier(self) -> bool:
        """Check whether the retriever runs on Terrier, whose jars PyTerrier downloads.

        Returns:
            Whether it does; False by default.
        """
        return False

    def doubts(self, queries: pl.DataFrame) -> list[dict[str, object]]:
        """Count queries that the retriever can't fully read, for the report.

        Args:
            queries: Columns qid and query.

        Returns:
            Mappings with ``what`` and ``count``; none by default.
        """
        return []

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Create the error for a run without results.

        Args:
            place: The kind, which the message begins with.
            runs: The run files that the retriever read.

        Returns:
            The error, for the caller to raise.
        """
        return InputError(place, "no result for any query", "qids of the dataset's queries")


class Bringing(Retriever):
    """A retriever whose run may contain passages that the collection lacks."""

    passages: DatasetFile | None = Field(
        None,
        description='File with passages that are missing from the collection: JSON Lines of `{"doc_id": …, "text": '
        "…}`, plain or compressed. These passages are used only in contexts: they aren't indexed and count as "
        "unjudged. `{dataset}` in the path is replaced with the dataset's name.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """If the key is set, check that every dataset in the grid has a file."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            for path in self.brought(dataset):
                if not (study.folder / path).is_file():
                    raise InputError(place + ".passages'", f"no file {study.folder / path}", "a JSON Lines file")

    def brought(self, dataset: str) -> list[str]:
        """If the key is set, return the dataset's file."""
        return [] if self.passages is None else [file_of(self.passages, dataset)]


RETRIEVER_KINDS = Kinds(Retriever, "ragrelay.retrieval.retrievers")


def needed(names: Sequence[str], catalogue: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return the sorted ``names`` and the retrievers they depend on. Raises InputError for unknown names and cycles."""
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
            raise InputError(place, f"a cycle {cycle}", "first stages that don't form a cycle")
        names |= _below(stage, catalogue, path)
    return names
