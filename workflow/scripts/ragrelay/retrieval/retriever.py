"""Base class of retrievers, and the other retrievers that one is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError, one_of
from ragrelay.kinds import Kind, Kinds


@dataclass(frozen=True)
class RunTask:
    """The data for a run: ``queries`` (qid, query), ``qrels`` if the kind needs them, the collection.

    ``index``: folder of the index, where the kind has one. ``runs``: ranked runs (qid, docno, rank, score), cut at the
    retriever's depth: those of its stages, or else imported ones. ``answers``: files of answers that it reads,
    each with what its name says of them; ``name``: the retriever's.
    """

    queries: pl.DataFrame
    qrels: pl.DataFrame
    collection: Collection
    index: Path | None = None
    runs: Sequence[pl.DataFrame] = ()
    threads: int = 1
    answers: Sequence[tuple[Path, dict[str, Any]]] = ()
    name: str = ""

    @property
    def index_folder(self) -> Path:
        """The index of a kind that has one."""
        if self.index is None:
            raise ValueError("a retriever without its index")
        return self.index


class Retriever(Kind):
    """Anything that yields a run. Where there is a key ``depth``, the run is cut there."""

    needs_qrels: ClassVar[bool] = False
    threads: ClassVar[int] = 1
    """CPU threads of the job that makes its run."""
    whole: ClassVar[bool] = True
    """Whether a query without results was searched and nothing was found."""

    def run(self, task: RunTask) -> pl.DataFrame:
        """Columns qid, docno, score, in any order."""
        raise NotImplementedError

    def stages(self) -> list[tuple[str, str]]:
        """Return the retrievers whose runs it is made of, as (key that names it, name)."""
        return []

    def files(self, dataset: str) -> list[str]:
        """Return paths of the imported TREC runs for ``dataset``."""
        return []

    def answers(self, dataset: str) -> list[tuple[Path, dict[str, Any]]]:
        """Return files of answers to ``dataset`` that it reads, each with the keys in its name."""
        return []

    def index_definition(self) -> dict[str, Any] | None:
        """Return the keys that determine its index; ``index`` names the engine. None if it has no index."""
        return None

    @classmethod
    def index_identity(cls, definition: Mapping[str, Any]) -> dict[str, Any]:
        """Everything besides the corpus that determines the files of an index of ``definition``."""
        return dict(definition)

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
        """Index ``collection`` as the index ``definition`` says, in the new folder ``path``."""
        raise NotImplementedError

    def uses_terrier(self) -> bool:
        """Return whether it runs on Terrier, whose jars PyTerrier fetches."""
        return False

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Return the error where no query has a result; ``place`` names the kind, ``runs`` are the files it had."""
        return InputError(place, "no result for any query", "qids of the dataset's queries")


RETRIEVER_KINDS = Kinds(Retriever, "ragrelay.retrieval.retrievers")


def needed(names: Sequence[str], catalogue: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """``names`` and all that they are made of, sorted. Raises InputError for an unknown or circular one."""
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
