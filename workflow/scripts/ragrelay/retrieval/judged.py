"""Define the base classes of retrievers that choose passages by their relevance judgements."""

import heapq
import random
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name
from ragrelay.retrieval.retriever import Bringing, RunTask
from ragrelay.retrieval.trec import RUN

FILLERS = 100
"""Maximum number of fillers, which are passages added after the chosen ones, per query."""
OTHERS = {
    None: "judged non-relevant", "unjudged": "unjudged", "random": "random", "file": "of a file", "nothing": "none"
}  # fmt: skip
"""What pages call the passages added after the chosen ones, for each value of the key `filler`."""
OF_CORPUS = 1000
"""Number of passages sampled from the corpus, from which random fillers are drawn for all queries."""


class Judged(Bringing):
    """Base class for retrievers that choose judged passages in a seeded random order."""

    needs_qrels: ClassVar[bool] = True

    seed: int = Field(0, ge=0, description="Seed for the random permutations that order the passages.")

    filler: Literal["unjudged", "random", "file", "nothing"] | None = Field(
        None,
        description="Which passages follow the drawn passages or, in `graded` and `position`, replace the judged "
        "non-relevant passages. `unjudged`: unjudged passages from the retriever in `ranking`, starting with the "
        "lowest-ranked; `random`: unjudged passages from the corpus; `file`: passages from the file in `passages`, "
        "where a line with a `qid` applies only to that query; `nothing`: no passages.",
    )
    ranking: Name | None = Field(
        None, description="Name of the retriever whose passages are used with `filler: unjudged`."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the keys `ranking` and `passages` are set exactly when the key `filler` requires them."""
        for key, filler, needed in (("ranking", "unjudged", "a retriever"), ("passages", "file", "a file")):
            value = getattr(self, key)
            if (value is not None) != (self.filler == filler):
                found, expected = ("no value", needed) if value is None else (repr(value), "no value")
                set_to = repr(self.filler) if self.filler else "not set"
                raise InputError(f"{place}.{key}'", f"{found}, although filler is {set_to}", expected)
        super().check(place, study)

    def stages(self) -> list[tuple[str, str]]:
        """Return the retriever whose passages are used as fillers."""
        return [("ranking", self.ranking)] if self.ranking else []

    @abstractmethod
    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Choose a query's passages from ``labels``, in rank order; return an empty list if there are too few passages.

        ``fillers``: the passages to add after the chosen ones; None if the key `filler` isn't set.
        """

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the chosen passages, all of which have a text. Queries with too few passages are left out.

        Permutations depend only on seed and qid. Scores decrease in the order in which the passages were chosen. A
        larger k therefore extends the context, and the ordering ``descending`` shows the passages in this order.
        """
        texts, rows = task.collection.texts(task.qrels["docno"].unique().to_list()), []
        fillers = self._fillers(task)
        for (qid,), judged in task.qrels.sort("docno").group_by("qid", maintain_order=True):
            labels = {docno: label for docno, label in judged.select("docno", "label").iter_rows() if docno in texts}
            docnos = self.drawn(labels, str(qid), fillers(str(qid), set(judged["docno"])) if fillers else None)
            rows += [(qid, docno, float(len(docnos) - place)) for place, docno in enumerate(docnos)]
        return pl.DataFrame(rows, schema=RUN, orient="row")

    def _fillers(self, task: RunTask) -> Callable[[str, set[str]], list[str]] | None:
        """Return a function that takes a query and its judged passages and returns its fillers; None if not needed.

        Corpus passages come from the OF_CORPUS passages with the lowest hashes, so that the corpus is only read once.
        """
        if self.filler == "random":
            hashed = ((text_hash(f"{self.seed}\t{one['docno']}"), one["docno"]) for one in task.collection.passages())
            sample = [docno for _, docno in heapq.nsmallest(OF_CORPUS, hashed)]
            return lambda qid, judged: [one for one in self._shuffled(sample, qid) if one not in judged][:FILLERS]
        if self.filler == "file":
            own = [passage for passage in task.brought if passage.qid is not None]
            if len(own) == len(task.brought) and not {one.qid for one in own} & set(task.queries["qid"]):
                found = f"none of the dataset's qids (first qid: {own[0].qid!r})"
                raise InputError(own[0].path, found, "qids of the dataset's queries, or passages without a qid")
            return lambda qid, judged: self._shuffled(
                [passage.docno for passage in task.brought if passage.qid in (None, qid)], qid
            )[:FILLERS]
        if self.filler == "unjudged":
            upwards = task.runs[0].sort("qid", "rank", descending=[False, True])
            ranked = {
                str(qid): rows["docno"].to_list() for (qid,), rows in upwards.group_by("qid", maintain_order=True)
            }

            def unjudged(qid: str, judged: set[str]) -> list[str]:
                docnos = [docno for docno in ranked.get(qid, ()) if docno not in judged][:FILLERS]
                texts = task.collection.texts(docnos)
                return [docno for docno in docnos if docno in texts]

            return unjudged
        return (lambda qid, judged: []) if self.filler else None

    def _shuffled(self, docnos: Sequence[str], qid: str) -> list[str]:
        shuffled = list(docnos)
        random.Random(int(text_hash(f"{self.seed}\t{qid}")[:16], 16)).shuffle(shuffled)
        return shuffled

    def permuted(self, labels: Mapping[str, int], lowest: int | None, highest: int | None, qid: str) -> list[str]:
        """Return the passages with labels from ``lowest`` to ``highest`` in seeded random order."""
        docnos = [
            docno
            for docno, label in labels.items()
            if (lowest is None or label >= lowest) and (highest is None or label <= highest)
        ]
        return self._shuffled(docnos, qid)

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """For a run without results, return an error that names the label bounds."""
        bounds = ((key, getattr(self, key)) for key in ("min_label", "max_label"))
        labels = ", ".join(f"{key} {label}" for key, label in bounds if label is not None) or "any label"
        return InputError(f"{place} ({labels})", "no results for any query", "judgements within these bounds")


class TwoSided(Judged):
    """Base class for retrievers that mix relevant and non-relevant passages."""

    min_label: int = Field(description="Lowest label that counts as relevant.")
    max_label: int = Field(0, description="Highest label that counts as non-relevant.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that no label counts as both relevant and non-relevant."""
        super().check(place, study)
        if self.max_label >= self.min_label:
            raise InputError(place + "'", "max_label not below min_label", "max_label < min_label")

    def sides(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None) -> tuple[list[str], list[str]]:
        """Return a query's relevant passages and its other passages: ``fillers`` or, if None, the non-relevant ones."""
        others = self.permuted(labels, None, self.max_label, qid) if fillers is None else list(fillers)
        return self.permuted(labels, self.min_label, None, qid), others
