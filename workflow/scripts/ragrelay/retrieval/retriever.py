"""Define the base class of retrievers, and list the other retrievers on which a retriever depends."""

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
    """The data for a run: ``queries`` (qid, query), ``qrels`` if the kind needs them, the collection.

    ``index``: folder of the index, if the kind has one. ``runs``: ranked runs (qid, docno, rank, score), cut at the
    retriever's depth: those of its stages, or imported ones. ``answers``: files of answers that it reads, each with the
    values in its name. ``name``: the retriever's name. ``brought``: passages that the collection lacked, whose texts
    it has here.
    """

    queries: pl.DataFrame
    qrels: pl.DataFrame
    collection: Collection
    index: Path | None = None
    runs: Sequence[pl.DataFrame] = ()
    threads: int = 1
    answers: Sequence[tuple[Path, dict[str, Any]]] = ()
    name: str = ""
    brought: Sequence[BroughtPassage] = ()

    @property
    def index_folder(self) -> Path:
        """The index. Raises ValueError for a kind without one."""
        if self.index is None:
            raise ValueError("a retriever without its index")
        return self.index


class Retriever(Kind):
    """Anything that yields a run. A key ``depth`` cuts the run."""

    needs_qrels: ClassVar[bool] = False
    threads: ClassVar[int] = 1
    """CPU threads of the job that makes its run. On two cores, a job with two threads waits while engines start, and
    these then cannot answer its prompts."""
    searches_every_query: ClassVar[bool] = True
    """Whether the kind searches for every query, so that a query without results counts as one for which it failed."""

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return qid, docno, score, in any order."""
        raise NotImplementedError

    def stages(self) -> list[tuple[str, str]]:
        """Return the retrievers whose runs it uses, as (key that names it, name)."""
        return []

    def files(self, dataset: str) -> list[str]:
        """Return paths of the imported TREC runs for ``dataset``."""
        return []

    def brought(self, dataset: str) -> list[str]:
        """Return the user's files of passages that the collection of ``dataset`` lacks and its run may have."""
        return []

    def scored(self, ranks: pl.DataFrame, place: str, name: str) -> pl.DataFrame:
        """Return the rows of a run file (qid, docno, score, given: its ranks) with the scores that order them.

        ``place``: the file, and ``name``: the retriever's name, for messages.
        """
        return ranks

    def answers(self, dataset: str) -> list[tuple[Path, dict[str, Any]]]:
        """Return the files of answers to ``dataset`` that it reads, each with the values in its name."""
        return []

    def index_definition(self) -> dict[str, Any] | None:
        """Return the keys that determine its index; ``index`` names the engine. None if it has no index."""
        return None

    @classmethod
    def index_identity(cls, definition: Mapping[str, Any]) -> dict[str, Any]:
        """Return everything besides the corpus that determines the files of an index of ``definition``."""
        return dict(definition)

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
        """Build the index ``definition`` of ``collection`` in the new folder ``path``."""
        raise NotImplementedError

    def processing(self) -> dict[str, Any] | None:
        """Return the definition of the processor that changes the texts of its stage's passages; None without one."""
        return None

    def dose(self) -> tuple[int, str] | None:
        """Return how many relevant passages its contexts have by design, and what the others are; None if it varies."""
        return None

    def uses_terrier(self) -> bool:
        """Return whether it runs on Terrier, whose jars PyTerrier fetches."""
        return False

    def doubts(self, queries: pl.DataFrame) -> list[dict[str, Any]]:
        """Return counts (what, count) of what it does not read of ``queries`` (qid, query), for the report."""
        return []

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Return the error for a run without results. ``place`` names the kind; ``runs`` are the files that it read."""
        return InputError(place, "no result for any query", "qids of the dataset's queries")


class Bringing(Retriever):
    """A retriever whose run may have passages that the collection lacks."""

    passages: DatasetFile | None = Field(
        None,
        description="A file of passages that the collection lacks, for contexts alone: JSON lines of "
        '`{"doc_id": …, "text": …}`, plain or compressed. They are not indexed, and count as unjudged. `{dataset}` '
        "is replaced by the dataset's name.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every dataset of the grid has a file, if there is the key."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            for path in self.brought(dataset):
                if not (study.folder / path).is_file():
                    raise InputError(place + ".passages'", f"no file {study.folder / path}", "JSON lines of passages")

    def brought(self, dataset: str) -> list[str]:
        """Return the dataset's file, if there is the key."""
        return [] if self.passages is None else [file_of(self.passages, dataset)]


RETRIEVER_KINDS = Kinds(Retriever, "ragrelay.retrieval.retrievers")


def needed(names: Sequence[str], catalogue: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return ``names`` and the retrievers that they need, sorted. Raises InputError for unknown names and cycles."""
    all_names: set[str] = set()
    for name in names:
        all_names |= _below(name, catalogue, [])
    return sorted(all_names)


def _below(name: str, catalogue: Mapping[str, Mapping[str, Any]], path: list[str]) -> set[str]:
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
