"""Define the base classes for annotation sources, which label passages by their relevance to a query."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from ragrelay.base.kinds import Kind, Kinds

if TYPE_CHECKING:
    import polars as pl

BY_ANSWERS, BY_JUDGE, BY_ZEROSHOT, BY_PAGES, BY_FILE = "answers", "judge", "zeroshot", "pages", "file"
BY_EFFECTS = "passage_effects"
"""Names of the jobs whose tables sources read: labels from answers to single passages, from a judge, from gold pages
and from a file, zero-shot scores, and the effects of removing passages."""
PEOPLE_KINDS = ("qrels", "file")
"""Kinds of annotation sources that may contain human labels."""


@dataclass(frozen=True)
class SourceData:
    """The data from which an annotation source computes labels."""

    passages: "pl.DataFrame"
    """The passages to label: one row per query and passage; columns qid, docno, text."""
    queries: Mapping[str, str]
    """Query texts, keyed by qid."""
    qrels: "pl.DataFrame"
    """Judgements: columns qid, docno, label."""
    gold: Mapping[str, Sequence[str]]
    """Gold answers, keyed by qid, if the source's kind needs them."""
    references: Sequence[str]
    """Names of the reference sets that P is computed with."""
    made: "pl.DataFrame | None" = None
    """The table computed by the source's job, if there is such a job."""
    scaled: "Callable[[str], pl.DataFrame] | None" = None
    """A function that takes another source's name and returns that source's labels, scaled to the range 0 to 1."""

    @property
    def table(self) -> "pl.DataFrame":
        """The table written by the source's job.

        Raises:
            ValueError: The source has no job.
        """
        if self.made is None:
            raise ValueError("a source without its table")
        return self.made

    def everywhere(self, labels: "pl.DataFrame") -> "pl.DataFrame":
        """Repeat labels for each reference set that P is computed with.

        Args:
            labels: The labels to repeat; columns qid, docno, label.

        Returns:
            The repeated labels; columns references, qid, docno, label.
        """
        import polars as pl

        sets = pl.DataFrame({"references": list(self.references)}, schema={"references": pl.String})
        return sets.join(labels.select("qid", "docno", "label"), how="cross", maintain_order="left_right")

    def own_sets(self) -> "pl.DataFrame":
        """Select the labels in ``table`` for the reference sets that P is computed with.

        Returns:
            The labels for P's sets; if there are none, the labels for the table's first set, repeated for each set.
        """
        import polars as pl

        own = self.table.filter(pl.col("references").is_in(list(self.references)))
        if own.height:
            return own
        sets = self.table["references"].unique(maintain_order=True).to_list()
        return self.everywhere(self.table.filter(pl.col("references").eq_missing(sets[0] if sets else None)))


class AnnotationSource(Kind):
    """Base class for annotation sources, which label how relevant a passage is to a query."""

    needs_gold: ClassVar[bool] = False
    """Whether the source needs gold answers."""
    needs_single_answers: ClassVar[bool] = False
    """Whether the source needs answers generated from each passage alone."""
    single: ClassVar[bool] = True
    """Whether the source may be part of a combination."""
    graded: ClassVar[bool] = False
    """Whether the source's labels are grades, which may be above 1."""
    judge: ClassVar[bool] = False
    """Whether the source's labels replace a person's judgement of relevance."""
    constant: ClassVar[bool] = False
    """Whether all of a query's passages have the same label, so that nDCG is undefined."""
    signed: ClassVar[bool] = False
    """Whether labels may be negative; nDCG counts negative labels as 0."""
    relevant_from: ClassVar[float] = 0.5
    """The lowest label that counts as relevant, for labels that aren't integers."""

    def parts(self, name: str) -> list[str]:
        """List the sources whose labels this source uses.

        Args:
            name: This source's name in the configuration.

        Returns:
            The sources' names: only ``name``, unless this source is a combination.
        """
        return [name]

    def judges(self, generators: Sequence[str]) -> list[str]:
        """List the generators that this source asks about passages.

        Args:
            generators: The study's generators.

        Returns:
            The generators' names; by default, an empty list.
        """
        return []

    def file(self, dataset: str) -> str | None:
        """Return the path of the user's file that this source's job reads.

        Args:
            dataset: The dataset's name.

        Returns:
            The path, or None if the source reads no file (the default).
        """
        return None

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]] | None:
        """Return the job whose table contains this source's labels.

        Args:
            name: The source's name.
            scorer: The scorer's name.
            generator: The generator's name.

        Returns:
            The job's name and the wildcards that the source sets, or None if the source has no job.
        """
        return None

    def whole(self, catalogue: Mapping[str, Mapping[str, object]]) -> bool:
        """Return whether the labels are integers, for which all measures are defined.

        Args:
            catalogue: The definitions of all sources, keyed by name.

        Returns:
            True if the labels are integers. Other labels must be at most 1.
        """
        return True

    def counted_from(self, lowest_grade: int) -> float:
        """Return the lowest label that binary measures count as relevant.

        Args:
            lowest_grade: The dataset's lowest reference grade.

        Returns:
            ``lowest_grade`` if the source is graded; otherwise 1.
        """
        return float(lowest_grade) if self.graded else 1.0

    def highest(self, data: SourceData) -> float:
        """Return the divisor that scales the source's labels to the range 0 to 1 in combinations.

        Args:
            data: The data from which the source computes labels.

        Returns:
            The divisor; 1 by default.
        """
        return 1.0

    def labels(self, data: SourceData) -> "pl.DataFrame":
        """Label the passages.

        Args:
            data: Passages, queries, judgements and the job's table.

        Returns:
            The labels (columns references, qid, docno, label) of all queries that the source can label.
        """
        raise NotImplementedError

    def read(self, path: str | Path) -> "pl.DataFrame":
        """Read the table written by the source's job.

        Args:
            path: The file.

        Returns:
            The table.
        """
        import polars as pl

        return pl.read_parquet(path)

    def measured_below(self, data: SourceData) -> int | None:
        """Return the lowest cutoff at which measures computed from the source's labels have no value.

        Args:
            data: The data from which the source computes labels.

        Returns:
            The cutoff k, or None if measures have values at all cutoffs.
        """
        return None

    def known_pairs(self, qrels: "pl.DataFrame", made: str | Path | None) -> "pl.DataFrame | None":
        """Return the query-passage pairs that have a real label, not a substitute for a missing label.

        Args:
            qrels: The dataset's judgements; columns qid, docno, label.
            made: The file written by the source's job, or None if the source has no job.

        Returns:
            The pairs with real labels (columns qid, docno), or None if all labels are real.
        """
        return None

    def gains(self, data: SourceData) -> "pl.DataFrame | None":
        """Compute the gains that nDCG uses instead of labels.

        Args:
            data: The data from which the source computes labels.

        Returns:
            The gains (columns qid, docno, gain), or None if nDCG uses the labels themselves.
        """
        return None


class Graded(AnnotationSource):
    """Base class for sources whose labels are integer grades, starting at 0."""

    graded = True

    relevant: int | None = Field(
        None,
        ge=1,
        description="Lowest label that counts as relevant in measures other than nDCG; by default, the dataset's "
        "lowest reference grade.",
    )

    def counted_from(self, lowest_grade: int) -> float:
        """Return ``relevant`` if the configuration sets it, otherwise ``lowest_grade``."""
        return float(self.relevant or lowest_grade)


class ContinuousSource(AnnotationSource):
    """Base class for sources whose labels are numbers from 0 to 1."""

    threshold: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Labels of at least this value become 1 and all others 0, so that every measure can be computed. "
        "By default, labels are unchanged.",
    )

    def whole(self, catalogue: Mapping[str, Mapping[str, object]]) -> bool:
        """Return whether a threshold turns the labels into integers (0 or 1)."""
        return self.threshold is not None


ANNOTATION_KINDS = Kinds(AnnotationSource, "ragrelay.annexes.labels.sources")


def label_cutoffs(ks: list[int], depth: int) -> list[int]:
    """Return the cutoffs in ``ks`` from 2 to ``depth``; k = 1 is left out, because an eRAG label then equals P."""
    return [k for k in sorted(ks) if 2 <= k <= depth]


def parts(catalogue: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return ``names`` with each combination replaced by the sources that it combines, without duplicates."""
    parts_by_source = [ANNOTATION_KINDS.of(catalogue[name]).parts(name) for name in names]
    return list(dict.fromkeys(part for of_source in parts_by_source for part in of_source))
