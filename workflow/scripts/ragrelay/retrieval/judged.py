"""Define the base classes of retrievers that draw passages by their judgements."""

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.kinds import CheckedStudy
from ragrelay.retrieval.retriever import Retriever, RunTask
from ragrelay.retrieval.trec import RUN


class Judged(Retriever):
    """Passages of one seeded permutation of each side, relevant and non-relevant, per query."""

    needs_qrels: ClassVar[bool] = True

    seed: int = Field(0, ge=0, description="Seed of the permutations, in which the passages are taken.")

    @abstractmethod
    def drawn(self, labels: Mapping[str, int], qid: str) -> list[str]:
        """Return a query's passages, best rank first, from those with ``labels``; none if there are too few."""

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the drawn passages, all with text. A query with too few passages has no row.

        A permutation depends on (seed, qid). The score falls with the rank, so that contexts nest as k grows, and
        ``descending`` is the order in which passages were drawn.
        """
        texts, rows = task.collection.texts(task.qrels["docno"].unique().to_list()), []
        for (qid,), judged in task.qrels.sort("docno").group_by("qid", maintain_order=True):
            labels = {docno: label for docno, label in judged.select("docno", "label").iter_rows() if docno in texts}
            docnos = self.drawn(labels, str(qid))
            rows += [(qid, docno, float(len(docnos) - place)) for place, docno in enumerate(docnos)]
        return pl.DataFrame(rows, schema=RUN, orient="row")

    def permuted(self, labels: Mapping[str, int], lowest: int | None, highest: int | None, qid: str) -> list[str]:
        """Return the passages with labels from ``lowest`` to ``highest``, permuted."""
        docnos = [
            docno
            for docno, label in labels.items()
            if (lowest is None or label >= lowest) and (highest is None or label <= highest)
        ]
        random.Random(int(text_hash(f"{self.seed}\t{qid}")[:16], 16)).shuffle(docnos)
        return docnos

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Return the error with the bounds of labels."""
        bounds = ((key, getattr(self, key)) for key in ("min_label", "max_label"))
        labels = ", ".join(f"{key} {label}" for key, label in bounds if label is not None) or "any label"
        return InputError(f"{place} ({labels})", "no result for any query", "judgements within these bounds")


class TwoSided(Judged):
    """Relevant passages among non-relevant ones."""

    min_label: int = Field(description="Lowest label of a relevant passage.")
    max_label: int = Field(0, description="Highest label of a non-relevant passage.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that no label is on both sides."""
        if self.max_label >= self.min_label:
            raise InputError(place + "'", "max_label not below min_label", "max_label < min_label")

    def sides(self, labels: Mapping[str, int], qid: str) -> tuple[list[str], list[str]]:
        """Return a query's relevant and its other passages, each permuted."""
        return self.permuted(labels, self.min_label, None, qid), self.permuted(labels, None, self.max_label, qid)
