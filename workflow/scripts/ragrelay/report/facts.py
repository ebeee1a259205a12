"""Select the rows on which the sentences on a section's first screen are based.

So that all sentences agree, only this module selects the primary pair's row and direction, and relay's slopes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from ragrelay.analysis import relay
from ragrelay.analysis.correlation import DECIDES, is_constant
from ragrelay.analysis.lengths import MISSING
from ragrelay.analysis.multiplicity import distinct
from ragrelay.analysis.scale import LEAST, MOST
from ragrelay.analysis.systems import PRIMARY, REFERENCE
from ragrelay.analysis.verdicts import (
    BETTER,
    LITTLE_BETTER,
    LITTLE_WORSE,
    MUCH_BETTER,
    MUCH_WORSE,
    NOT_BETTER,
    NOT_WORSE,
    QUERIES_AT_LEAST,
    SAY_BETTER,
    SAY_WORSE,
    WORSE,
)
from ragrelay.base.vocabulary.names import UNSEEN, ZEROSHOT
from ragrelay.report.display.outputs import ResultTable
from ragrelay.report.display.sections import Section
from ragrelay.report.missing import ABSENT, with_absent
from ragrelay.report.outputs import RESULT_TABLES

TURNED = {MUCH_BETTER: MUCH_WORSE, BETTER: WORSE, LITTLE_BETTER: LITTLE_WORSE, NOT_WORSE: NOT_BETTER}
TURNED |= {turned: word for word, turned in TURNED.items()}
"""Maps a verdict on a pair of retrievers to the verdict on the same pair in the other direction."""


@dataclass(frozen=True)
class Fact(Mapping[str, Any]):
    """A row of a result table, whose values can be read as attributes or by key."""

    TABLE: ClassVar[str]
    """The table's name (in report.outputs.RESULT_TABLES)."""
    KEY: ClassVar[tuple[str, ...]]
    """The columns that identify the row; none for a table with one row, or for sums over all rows."""
    COMPUTED: ClassVar[tuple[str, ...]] = ()
    """Fields that aren't columns of the table."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Create a fact from a table's row. Columns missing from ``row`` become None."""
        return cls(**{each.name: row.get(each.name) for each in fields(cls)})

    def __getitem__(self, column: str) -> Any:
        return vars(self)[column]

    def __iter__(self) -> Iterator[str]:
        return iter(each.name for each in fields(self))

    def __len__(self) -> int:
        return len(fields(self))

    @property
    def as_in_table(self) -> "Fact":
        """The fact as it appears in the result table. If a difference's retrievers were swapped, the swap is undone."""
        return self

    def record(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return a JSON record with keys ``table``, ``file``, ``row`` (key columns) and ``values`` (other columns).

        Args:
            names: The section's dataset, generator and scorer, for the file's path.
        """
        return _record(RESULT_TABLES[self.TABLE], names, self.as_in_table, self.KEY)


@dataclass(frozen=True)
class TableRow:
    """A row of a table that has no subclass of Fact, such as an annex's table."""

    table: ResultTable
    names: Mapping[str, str]
    """The wildcards of the table's path."""
    row: Mapping[str, Any]
    key: tuple[str, ...]
    """The columns that identify the row, as in Fact."""

    def record(self, _names: Mapping[str, str]) -> dict[str, object]:
        """Return a JSON record with keys ``table``, ``file``, ``row`` (key columns) and ``values`` (other columns)."""
        return _record(self.table, self.names, self.row, self.key)


def _record(
    table: ResultTable, names: Mapping[str, str], row: Mapping[str, object], key: Sequence[str]
) -> dict[str, object]:
    values = {name: value for name, value in row.items() if name not in key}
    file = table.path.format(**names)
    return {"table": table.name, "file": file, "row": {name: row[name] for name in key}, "values": values}


@dataclass(frozen=True)
class Difference(Fact):
    """The mean difference in P between two retrievers' answers to the same queries."""

    TABLE = "systems"
    KEY = ("retriever", "against_retriever", "ordering", "k", "references")

    retriever: str
    against_retriever: str
    ordering: str
    k: int
    references: str
    role: str
    n: int
    n_unpaired: int
    margin: float | None
    mean_difference: float | None
    detectable_difference: float | None
    queries_for_margin: int | None
    level: float | None
    low: float | None
    high: float | None
    verdict: str
    reason: str | None
    length_ratio: float | None
    equal_length_difference: float | None
    equal_length_low: float | None
    equal_length_high: float | None
    stands: bool | None
    remark: str | None

    def turned(self) -> "Difference":
        """Return the same comparison with the two retrievers swapped."""
        low, high, mean = (None if end is None else -end for end in (self.high, self.low, self.mean_difference))
        return _Turned(**{
            **self, "retriever": self.against_retriever, "against_retriever": self.retriever, "mean_difference": mean,
            "low": low, "high": high, "verdict": TURNED.get(self.verdict, self.verdict),
        })  # fmt: skip

    @property
    def better(self) -> bool:
        """Whether ``retriever``'s answers are significantly better than ``against_retriever``'s."""
        return self.verdict in SAY_BETTER

    @property
    def worse(self) -> bool:
        """Whether ``retriever``'s answers are significantly worse than ``against_retriever``'s."""
        return self.verdict in SAY_WORSE


@dataclass(frozen=True)
class _Turned(Difference):
    """A difference in the direction opposite to the table's."""

    def turned(self) -> Difference:
        back = Difference.turned(self)
        return Difference(**back)

    @property
    def as_in_table(self) -> Difference:
        return self.turned()


@dataclass(frozen=True)
class Gain(Fact):
    """The mean of P − P₀ over a retriever's queries."""

    TABLE = "gain"
    KEY = ("retriever", "ordering", "k", "references")

    retriever: str
    ordering: str
    k: int
    references: str
    n: int
    mean_difference: float | None
    low: float | None
    high: float | None
    verdict: str
    reason: str | None
    stands: bool | None
    remark: str | None


@dataclass(frozen=True)
class Quality(Fact):
    """A retriever's mean P, and measures of the passages in the retriever's contexts."""

    TABLE = "utility"
    KEY = ("retriever", "ordering", "k", "references")
    COMPUTED = ("measured",)

    retriever: str
    ordering: str
    k: int
    references: str
    n: int
    mean_p: float | None
    share_best_in_context: float | None
    share_unjudged: float | None
    measured: float | None
    """The primary measure at k; its column has the measure's name."""


@dataclass(frozen=True)
class Correlation(Fact):
    """Spearman's ρ, over a retriever's queries, between a measure and utility."""

    TABLE = "correlation"
    KEY = ("retriever", "ordering", "k", "references", "measure", "subset", "coefficient")

    retriever: str
    ordering: str
    k: int
    references: str
    measure: str
    subset: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    p_permutation: float | None
    verdict: str | None
    reason: str | None
    remark: str | None


@dataclass(frozen=True)
class Slope(Fact):
    """Relay, estimated over pairs of rankings: the slope of the difference in P on the difference in the measure."""

    TABLE = "relay"
    KEY = ("retrievers", "ordering", "k", "references", "measure", "adjusted")

    retrievers: str
    ordering: str
    k: int
    references: str
    measure: str
    adjusted: bool
    n: int
    slope: float | None
    low: float | None
    high: float | None
    p_value: float | None
    verdict: str
    reason: str | None

    @property
    def per_tenth(self) -> tuple[float | None, float | None, float | None]:
        """The slope and the interval's ends, for an increase of 0.1 in the measure."""
        slope, low, high = (None if value is None else value / 10 for value in (self.slope, self.low, self.high))
        return slope, low, high

    @property
    def excludes_zero(self) -> bool:
        """Whether the slope has an interval that excludes zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True)
class LabelledSlope(Fact):
    """Relay's slope, recomputed with assumed labels for the unjudged passages."""

    TABLE = "holes"
    KEY = ("ordering", "k", "references", "measure", "adjusted", "labelling")

    ordering: str
    k: int
    references: str
    measure: str
    adjusted: bool
    labelling: str
    slope: float | None


@dataclass(frozen=True)
class QueryClusters(Fact):
    """The actual and the effective number of query clusters, and the largest cluster's share of the queries."""

    TABLE = "clusters"
    KEY = ()

    queries: int
    clusters: int
    share_largest: float
    n_eff: float


@dataclass(frozen=True)
class AnswerCounts(Fact):
    """The numbers of answers in the section, by how they ended. For k = 1, only one ordering is counted.

    ``n`` and ``missing`` include ``absent``, the number of answers missing from an imported file.
    """

    TABLE = "lengths"
    KEY = ()
    COMPUTED = ("absent", "missing")

    n: int
    stop: int | None
    length: int | None
    other: int | None
    blank: int | None
    absent: int
    missing: int


@dataclass(frozen=True)
class Mean:
    """Mean P at one k, with a 95% interval if possible."""

    k: int
    value: float
    low: float | None
    high: float | None
    n: int


def interval_of(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Compute Student's 95% interval for the mean, clipped to [0, 1] if all values are between 0 and 1.

    Both ends are None if there are fewer than 5 values or if all values are equal.
    """
    if len(values) < QUERIES_AT_LEAST or is_constant(values):
        return None, None
    half = float(special.stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
    least, most = (0.0, 1.0) if values.min() >= LEAST and values.max() <= MOST else (-np.inf, np.inf)
    return max(float(values.mean()) - half, least), min(float(values.mean()) + half, most)


def mean_of(k: int, values: pl.Series) -> Mean | None:
    """Compute the mean of the non-null ``values``, with an interval. Return None if all values are null."""
    known = values.drop_nulls().to_numpy()
    return Mean(k, float(known.mean()), *interval_of(known), len(known)) if len(known) else None


@dataclass(frozen=True, eq=False)
class Facts:
    """The rows and means for a section's first screen, from the primary comparison's cell unless stated otherwise."""

    section: Section

    @cached_property
    def where(self) -> dict[str, Any]:
        """The ordering, k and references used on the first screen."""
        return {name: self.section.lead[name] for name in ("ordering", "k", "references")}

    @cached_property
    def primary(self) -> Difference | None:
        """The primary pair's difference, or None if no query has scores for both retrievers."""
        rows = self.section["systems"].filter(role=PRIMARY)
        return None if rows.is_empty() else Difference.of(rows.row(0, named=True))

    @cached_property
    def pair_by_cell(self) -> dict[tuple[str, int, str], Difference]:
        """The primary pair's difference in every cell, with the two retrievers in the order of the page's first answer.

        Without zero-shot answers, the second retriever's P is always subtracted from the first retriever's.
        """
        pair = self.section.primary
        if pair is None:
            return {}
        rows = self.section["systems"].iter_rows(named=True)
        own = [Difference.of(row) for row in rows if {row["retriever"], row["against_retriever"]} == {*pair[:2]}]
        turned = [each if each.retriever == pair.retriever else each.turned() for each in own]
        cells = {(each.ordering, each.k, each.references): each for each in turned}
        lead = cells.get(tuple(self.where.values())) if self.section.baseline else None
        turn = lead is not None and (lead.worse or lead.verdict == NOT_BETTER)
        return {cell: each.turned() if turn else each for cell, each in cells.items()}

    @cached_property
    def pair_by_k(self) -> dict[int, Difference]:
        """The primary pair's difference for every k, with the retrievers in the order of the page's first answer."""
        ordering, _, references = self.where.values()
        return {cell[1]: row for cell, row in self.pair_by_cell.items() if cell == (ordering, cell[1], references)}

    @cached_property
    def other_pairs(self) -> list[Difference]:
        """Differences from the reference retriever, largest first, for all rankings outside the primary pair."""
        rankings = self.section.rankings
        rows = self.section["systems"].filter(
            pl.col("retriever").is_in(rankings), pl.col("against_retriever").is_in(rankings), role=REFERENCE,
            **self.where,
        )  # fmt: skip
        ordered = rows.sort("mean_difference", descending=True, nulls_last=True)
        return [Difference.of(row) for row in ordered.iter_rows(named=True)]

    @cached_property
    def against_reference(self) -> dict[str, Difference]:
        """The difference between each retriever and the primary pair's reference, keyed by retriever."""
        pair = self.section.primary
        rows = [Difference.of(row) for row in self.section["systems"].filter(**self.where).iter_rows(named=True)]
        both = [direction for each in rows for direction in (each, each.turned())]
        return {each.retriever: each for each in both if pair and each.against_retriever == pair.reference}

    @cached_property
    def quality(self) -> dict[str, Quality]:
        """Each retriever's mean P and measures, keyed by retriever."""
        measure = self.section.lead["measure"]
        rows = self.section["utility"].filter(**self.where).to_dicts()
        return {row["retriever"]: Quality.of({**row, "measured": row.get(measure)}) for row in rows}

    def both(self, pair: Difference, column: str) -> tuple[float, float] | None:
        """Return both retrievers' values of ``column`` (a field of Quality), or None if a value is missing."""
        sides = [self.quality.get(name) for name in (pair.retriever, pair.against_retriever)]
        one, other = (None if side is None else side[column] for side in sides)
        return None if one is None or other is None else (one, other)

    def paired(self, pair: Difference, column: str) -> tuple[float, float] | None:
        """Return both retrievers' values of ``column``, or None if the retrievers have P for different queries."""
        return None if pair.n_unpaired else self.both(pair, column)

    @cached_property
    def gains(self) -> dict[str, Gain]:
        """Each retriever's gain over zero-shot answers, keyed by retriever."""
        return {row["retriever"]: Gain.of(row) for row in self.section["gain"].filter(**self.where).to_dicts()}

    @cached_property
    def correlations(self) -> list[Correlation]:
        """Spearman's ρ for each retriever, including retrievers for which ρ is undefined."""
        rows = self.section["correlation"].filter(coefficient=DECIDES, subset="all", **self.section.lead)
        return [Correlation.of(row) for row in rows.iter_rows(named=True)]

    @cached_property
    def slopes(self) -> dict[str, Slope]:
        """Relay's slopes over all rankings: unadjusted (key ""), ``adjusted``, and on ``unseen`` references."""
        ordering, k, grade, measure = self.section.lead.values()
        rows = self.section["relay"].filter(retrievers=relay.ALL_RANKINGS, ordering=ordering, k=k, measure=measure)
        by_key = {(row["references"], row["adjusted"]): Slope.of(row) for row in rows.iter_rows(named=True)}
        keys = {"": (grade, False), "adjusted": (grade, True), "unseen": (grade + UNSEEN, False)}
        return {name: by_key[key] for name, key in keys.items() if key in by_key}

    @cached_property
    def relayed(self) -> str:
        """The conclusion on relay, such as `relay.IT_IS`."""
        ordering, k, grade, measure = self.section.lead.values()
        return relay.answer(self.section["relay"], ordering, k, grade, measure)

    @cached_property
    def deciding(self) -> list[Slope]:
        """The slopes on which the conclusion on relay is based: unadjusted, and adjusted for difficulty."""
        return [self.slopes[name] for name in ("", "adjusted") if name in self.slopes]

    @cached_property
    def too_few_at(self) -> dict[int, list[Slope]]:
        """Slopes with too few queries for a verdict, keyed by k, for all k except the k on the first screen."""
        rows = self.section["relay"].filter(
            retrievers=relay.ALL_RANKINGS, measure=self.section.lead["measure"], ordering=self.where["ordering"],
            references=self.where["references"],
        ).drop_nulls("k")  # fmt: skip
        few = [
            (k, part)
            for (k,), part in rows.group_by("k", maintain_order=True)
            if k != self.where["k"] and relay.answer_of(part) == relay.TOO_FEW
        ]
        return {int(str(k)): [Slope.of(row) for row in part.iter_rows(named=True)] for k, part in few}

    @cached_property
    def labelled(self) -> dict[str, LabelledSlope]:
        """The unadjusted slope under each assumption about the unjudged passages' labels, keyed by assumption."""
        rows = self.section["holes"].filter(k=self.where["k"], adjusted=False)
        return {row["labelling"]: LabelledSlope.of(row) for row in rows.iter_rows(named=True)}

    @cached_property
    def clusters(self) -> list[QueryClusters]:
        """The section's QueryClusters in a list, which is empty if queries are independent."""
        return [QueryClusters.of(row) for row in self.section["clusters"].iter_rows(named=True)]

    @cached_property
    def answers(self) -> AnswerCounts:
        """The numbers of answers, by how they ended."""
        lengths = with_absent(self.section["lengths"], self.section.unanswered)
        cells = distinct(lengths, ("retriever", "ordering"))
        sums = cells.select(pl.col("n", "stop", "length", "other", "blank", ABSENT).sum()).with_columns(MISSING)
        return AnswerCounts.of(sums.row(0, named=True))

    @cached_property
    def copied(self) -> list[Quality]:
        """The ranking (or rankings, if tied) whose contexts most often contain the answer's best-matching reference."""
        names = [name for name in self.section.rankings if name != ZEROSHOT]
        known = [each for name in names if (each := self.quality.get(name)) and each.share_best_in_context is not None]
        most = max((round(each.share_best_in_context or 0.0, 9) for each in known), default=0.0)
        return [each for each in known if round(each.share_best_in_context or 0.0, 9) == most]

    @cached_property
    def means(self) -> dict[str, list[Mean]]:
        """Mean P at every k, keyed by retriever."""
        here = self.section["per_query"].filter(ordering=self.where["ordering"], references=self.where["references"])
        cells = {key: part["p"] for key, part in here.partition_by("retriever", "k", as_dict=True).items()}
        ks = self.section.grid.k
        lines = {
            name: [mean for k in ks if (name, k) in cells and (mean := mean_of(k, cells[name, k]))]
            for name in self.section.grid.retrievers
        }
        return {name: line for name, line in lines.items() if line}

    @cached_property
    def zero_shot(self) -> Mean | None:
        """The mean P of all zero-shot answers."""
        here = self.section["per_query"].filter(references=self.where["references"]).unique("qid", maintain_order=True)
        return mean_of(0, here["p0"])


@lru_cache(maxsize=64)
def facts_of(section: Section) -> Facts:
    """Return the section's Facts, which are computed only once."""
    return Facts(section)
