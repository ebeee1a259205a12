"""Base classes for annotation sources, which label how relevant a passage is to a query."""

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
"""Jobs whose tables sources read: labels from answers to single passages, from a judge, from gold pages and from a
file, zero-shot scores, and the effects of removing passages."""
PEOPLE_KINDS = ("qrels", "file")
"""Kinds of sources that may have human labels."""


@dataclass(frozen=True)
class SourceData:
    """The data from which a source makes its labels."""

    passages: "pl.DataFrame"
    """The passages to label: one row per query and passage; columns qid, docno, text."""
    queries: Mapping[str, str]
    """Query texts, keyed by qid."""
    qrels: "pl.DataFrame"
    """Judgements: columns qid, docno, label."""
    gold: Mapping[str, Sequence[str]]
    """Gold answers, keyed by qid, if the kind needs them."""
    references: Sequence[str]
    """Names of the reference sets that P uses."""
    made: "pl.DataFrame | None" = None
    """The table from the source's job, if it has a job."""
    scaled: "Callable[[str], pl.DataFrame] | None" = None
    """Takes another source's name and returns its labels, scaled to the range 0 to 1."""

    @property
    def table(self) -> "pl.DataFrame":
        """The table from the source's job.

        Raises:
            ValueError: The source has no job.
        """
        if self.made is None:
            raise ValueError("a source without its table")
        return self.made

    def everywhere(self, labels: "pl.DataFrame") -> "pl.DataFrame":
        """Repeat labels for each of P's reference sets.

        Args:
            labels: Columns qid, docno, label.

        Returns:
            Columns references, qid, docno, label.
        """
        import polars as pl

        sets = pl.DataFrame({"references": list(self.references)}, schema={"references": pl.String})
        return sets.join(labels.select("qid", "docno", "label"), how="cross", maintain_order="left_right")

    def own_sets(self) -> "pl.DataFrame":
        """Select the labels in ``table`` for P's reference sets.

        Returns:
            The rows for these sets; if there are none, the rows of the table's first set, repeated for each set.
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
    """Whether it needs gold answers."""
    needs_single_answers: ClassVar[bool] = False
    """Whether the generator must answer from each passage alone."""
    single: ClassVar[bool] = True
    """Whether combinations may contain it."""
    graded: ClassVar[bool] = False
    """Whether its labels are grades, which may be above 1."""
    judge: ClassVar[bool] = False
    """Whether its labels stand in for a person's judgement of relevance."""
    constant: ClassVar[bool] = False
    """Whether all of a query's passages have the same label, so that nDCG is undefined."""
    signed: ClassVar[bool] = False
    """Whether its labels may be below 0, which nDCG counts as 0."""
    relevant_from: ClassVar[float] = 0.5
    """The lowest label that means relevant, for labels that aren't integers."""

    def parts(self, name: str) -> list[str]:
        """List the sources whose labels it uses.

        Args:
            name: Its name in the configuration.

        Returns:
            The sources' names; only its own name unless it is a combination.
        """
        return [name]

    def judges(self, generators: Sequence[str]) -> list[str]:
        """List the generators that it asks about passages.

        Args:
            generators: The study's generators.

        Returns:
            Their names; by default there are none.
        """
        return []

    def file(self, dataset: str) -> str | None:
        """Look up the user's file that its job reads.

        Args:
            dataset: The dataset's name.

        Returns:
            The path, or None if there is no file (the default).
        """
        return None

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]] | None:
        """Look up the job whose table contains its labels.

        Args:
            name: The source's name.
            scorer: The scorer's name.
            generator: The generator's name.

        Returns:
            The job, and the wildcards that the source sets; None if it has no job.
        """
        return None

    def whole(self, catalogue: Mapping[str, Mapping[str, object]]) -> bool:
        """Check whether its labels are integers, for which all measures are defined. Other labels are at most 1.

        Args:
            catalogue: The definitions of all sources, keyed by name.

        Returns:
            True if they are integers.
        """
        return True

    def counted_from(self, lowest_grade: int) -> float:
        """Choose the lowest label that binary measures count as relevant.

        Args:
            lowest_grade: The dataset's lowest reference grade.

        Returns:
            That grade if the source is graded; otherwise 1.
        """
        return float(lowest_grade) if self.graded else 1.0

    def highest(self, data: SourceData) -> float:
        """Choose the divisor that scales its labels to between 0 and 1 in combinations.

        Args:
            data: The data from which it makes labels.

        Returns:
            The divisor; 1 by default.
        """
        return 1.0

    def labels(self, data: SourceData) -> "pl.DataFrame":
        """Label the passages.

        Args:
            data: Passages, queries, judgements and the job's table.

        Returns:
            Columns references, qid, docno, label; no rows for queries that it can't label.
        """
        raise NotImplementedError

    def read(self, path: str | Path) -> "pl.DataFrame":
        """Read its job's table.

        Args:
            path: The file.

        Returns:
            The table.
        """
        import polars as pl

        return pl.read_parquet(path)

    def measured_below(self, data: SourceData) -> int | None:
        """Look up the cutoff from which on measures have no value with its labels.

        Args:
            data: The data from which it makes labels.

        Returns:
            The cutoff k, or None if measures have values at all cutoffs.
        """
        return None

    def known_pairs(self, qrels: "pl.DataFrame", made: str | Path | None) -> "pl.DataFrame | None":
        """Separate real labels from those that stand for missing labels.

        Args:
            qrels: The dataset's judgements; columns qid, docno, label.
            made: The file with its job's table, if it has one.

        Returns:
            The pairs with real labels, in columns qid and docno, or None if all labels are real.
        """
        return None

    def gains(self, data: SourceData) -> "pl.DataFrame | None":
        """Compute the gains that nDCG uses instead of labels.

        Args:
            data: The data from which it makes labels.

        Returns:
            Columns qid, docno, gain, or None if nDCG uses the labels themselves.
        """
        return None


class Graded(AnnotationSource):
    """Sources whose labels are grades: integers from 0."""

    graded = True

    relevant: int | None = Field(
        None,
        ge=1,
        description="Lowest grade that counts as relevant in measures other than nDCG; by default, the dataset's "
        "lowest reference grade.",
    )

    def counted_from(self, lowest_grade: int) -> float:
        """Return the source's threshold, or else the dataset's."""
        return float(self.relevant or lowest_grade)


class ContinuousSource(AnnotationSource):
    """Sources whose labels are numbers from 0 to 1."""

    threshold: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Labels of at least this value become 1 and all others 0, so that every measure can be computed. "
        "By default, labels are unchanged.",
    )

    def whole(self, catalogue: Mapping[str, Mapping[str, object]]) -> bool:
        """Return whether labels are integers, which requires a threshold."""
        return self.threshold is not None


ANNOTATION_KINDS = Kinds(AnnotationSource, "ragrelay.annexes.labels.sources")


def label_cutoffs(ks: list[int], depth: int) -> list[int]:
    """Return the cutoffs for aggregating labels: all except k = 1, where an eRAG label equals P, its target."""
    return [k for k in sorted(ks) if 2 <= k <= depth]


def parts(catalogue: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Replace each combination in ``names`` with its parts, without repetitions."""
    parts_by_source = [ANNOTATION_KINDS.of(catalogue[name]).parts(name) for name in names]
    return list(dict.fromkeys(part for of_source in parts_by_source for part in of_source))
