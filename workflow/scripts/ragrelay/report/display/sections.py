"""A section's grid and result tables, from which the report is created."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.vocabulary.names import NO_ORDERING, NOT_RELAYED, SET_BY_DESIGN, UNSEEN, ZEROSHOT
from ragrelay.base.vocabulary.orderings import fits, is_permutation
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.palette import Look, looks


class Dose(NamedTuple):
    """The number of relevant passages that a retriever puts in every context, and the kind of the other passages."""

    relevant: int
    others: str


@dataclass(frozen=True)
class Grid:
    """A study's retrievers, orderings, k, seeds and measures; names are in the configuration's order."""

    retrievers: tuple[str, ...]
    orderings: tuple[str, ...]
    k: tuple[int, ...]
    """The numbers of passages, in ascending order."""
    seeds: tuple[int, ...]
    measures: tuple[str, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Kinds of retrievers, if known."""
    doses: Mapping[str, Dose] = field(default_factory=dict)
    """The dose of each retriever whose contexts have a fixed number of relevant passages."""

    @classmethod
    def of(cls, grid: Mapping[str, Any]) -> "Grid":
        """Create a Grid from the value of the configuration's key ``grid``."""
        return cls(
            tuple(grid["retrievers"]),
            tuple(grid["orderings"]),
            tuple(sorted(grid["k"])),
            tuple(grid["seeds"]),
            tuple(grid["measures"]),
            dict(grid.get("kinds", {})),
            {name: Dose(*dose) for name, dose in grid.get("doses", {}).items()},
        )

    @property
    def drawn(self) -> tuple[str, ...]:
        """Return the orderings for figures. Permutations are left out unless all orderings are permutations."""
        return tuple(name for name in self.orderings if not is_permutation(name)) or self.orderings

    @property
    def contexts(self) -> list[tuple[str, int]]:
        """Return every combination of ordering and k in the grid. A permutation only applies to one k."""
        return [(ordering, k) for ordering in self.orderings for k in self.k if fits(ordering, k)]

    @property
    def measure(self) -> str:
        """Return the first measure, which is used in the scatter plot and in the summary."""
        return self.measures[0]


@dataclass(frozen=True, eq=False)
class Section:
    """A study's results for one dataset, generator and scorer. Sections are compared by identity."""

    dataset: str
    generator: str
    scorer: str
    relative: bool
    """Whether utility is (P - P0) / P0; otherwise it is P - P0."""
    grades: tuple[str, ...]
    """The reference sets in order, without their ``-unseen`` companions."""
    grid: Grid
    reference_retriever: str | None
    """The retriever that † compares with; None if it is not in the grid."""
    tables: Mapping[str, pl.DataFrame]
    """The tables, keyed by name (report.outputs.RESULT_TABLES)."""
    primary: Primary | None = None
    """The primary comparison; None with fewer than two retrievers."""
    named_pair: bool = False
    """Whether the configuration names the primary pair."""
    scored: Mapping[str, int] | None = None
    """How the answers scored by a file ended (n, length, blank); None if the scorer scores all answers."""
    unanswered: Sequence[Mapping[str, object]] = ()
    """Records from left_out.json, including those about queries without an answer in an imported file."""

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def keys(self) -> dict[str, str]:
        return {"dataset": self.dataset, "generator": self.generator, "scorer": self.scorer}

    @property
    def lead(self) -> dict[str, Any]:
        """Return the primary comparison's ordering, k, references and measure, or defaults if there is none."""
        if self.primary is None:
            where = (self.grid.orderings[0], max(self.grid.k), self.grades[0], self.grid.measure)
        else:
            where = (self.primary.ordering, self.primary.k, self.primary.references, self.primary.measure)
        return dict(zip(("ordering", "k", "references", "measure"), where, strict=True))

    @property
    def unseen(self) -> tuple[str, ...]:
        """Return the names of the unseen reference sets, in the order of the grades, or () for gold answers."""
        names = set(self["utility"]["references"])
        return tuple(grade + UNSEEN for grade in self.grades if grade + UNSEEN in names)

    @property
    def rankings(self) -> tuple[str, ...]:
        """Return the retrievers that don't use the judgements: all except oracles and doses."""
        kinds = self.grid.kinds
        return tuple(name for name in self.grid.retrievers if kinds.get(name) not in SET_BY_DESIGN)

    @property
    def processed(self) -> tuple[str, ...]:
        """Return the retrievers whose passages come from another retriever and were changed by a processor."""
        return tuple(name for name in self.rankings if self.grid.kinds.get(name) in NOT_RELAYED)

    @property
    def baseline(self) -> bool:
        """Return whether the section has zero-shot answers, which are needed for P₀, gain and utility."""
        return bool(self["per_query"]["p0"].count())

    @property
    def quantity(self) -> str:
        """Return the quantity on the figures' y axes: utility, or P if there are no zero-shot answers."""
        return "utility" if self.baseline else "P"

    @property
    def title(self) -> str:
        return f"{self.dataset} · {self.generator} · {self.scorer}"

    @property
    def looks(self) -> dict[str, Look]:
        """Return each retriever's look. The two retrievers of the primary comparison never share a colour."""
        pair = (self.primary.reference, self.primary.retriever) if self.primary else ()
        by_name = looks(list(dict.fromkeys([*pair, *self.grid.retrievers])))
        return {name: by_name[name] for name in self.grid.retrievers}

    def drawn(self, name: str) -> pl.DataFrame:
        """Return the rows of the table ``name`` for the retrievers, orderings and references shown in figures."""
        frame = self[name]
        shown = {"retriever": self.grid.retrievers, "ordering": self.grid.drawn, "references": self.grades}
        return frame.filter(pl.col(column).is_in(kept) for column, kept in shown.items() if column in frame.columns)

    def rows(self, name: str) -> pl.DataFrame:
        """Return the table ``name``. If the table has a row per cell, rows are sorted in the grid's order."""
        frame = self[name]
        return self.ordered(frame) if {"retriever", "ordering", "references"} <= set(frame.columns) else frame

    def ordered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort the rows of ``frame`` by retriever, ordering, k and references, in the grid's order."""
        grid, references = self.grid, list(self.grades + self.unseen)
        keys = [
            pl.col(column).replace_strict(names, list(range(len(names))), default=len(names), return_dtype=pl.Int64)
            for column, names in (
                ("retriever", [ZEROSHOT, *grid.retrievers]),
                ("ordering", [NO_ORDERING, *grid.orderings]),
                ("references", references),
            )
        ]
        return frame.sort([keys[0], keys[1], pl.col("k"), keys[2]], maintain_order=True)
