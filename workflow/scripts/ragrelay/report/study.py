"""What the report is made of: a study's sections (dataset x generator x scorer), its grid, and where it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis.context_use_split import SCHEMA as CONTEXT_USE
from ragrelay.analysis.cost import SCHEMA as COST
from ragrelay.analysis.lengths import SCHEMA as LENGTHS
from ragrelay.analysis.positions import SCHEMA as POSITIONS
from ragrelay.analysis.spread import SCHEMA as SPREAD
from ragrelay.analysis.utility import UNSEEN
from ragrelay.claims.study import ClaimsStudy
from ragrelay.vocabulary.orderings import fits, is_permutation

Schema = dict[str, type[pl.DataType]]
CELL: Schema = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "references": pl.String}
UTILITY: Schema = CELL | {
    "n": pl.Int64, "mean_p": pl.Float64, "mean_p0": pl.Float64, "mean_utility": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "median_utility": pl.Float64, "n_null": pl.Int64, "n_low_p0": pl.Int64,
    "share_best_in_context": pl.Float64,
}  # fmt: skip
CORRELATION: Schema = CELL | {
    "measure": pl.String, "subset": pl.String, "coefficient": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "n_null": pl.Int64, "p_value": pl.Float64, "reason": pl.String,
}  # fmt: skip
SIGNIFICANCE: Schema = {"mark": pl.String} | CELL | {
    "against_retriever": pl.String, "against_ordering": pl.String, "quantity": pl.String, "n": pl.Int64,
    "mean_difference": pl.Float64, "low": pl.Float64, "high": pl.Float64, "d_z": pl.Float64, "t": pl.Float64,
    "d_z_low": pl.Float64, "d_z_high": pl.Float64, "p_wilcoxon": pl.Float64, "p_permutation": pl.Float64,
    "p_value": pl.Float64, "p_holm": pl.Float64, "p_bh": pl.Float64, "family": pl.String, "family_size": pl.Int64,
    "significant": pl.Boolean, "reason": pl.String,
}  # fmt: skip
DIFFERENCES: Schema = {"comparison": pl.String} | CELL | {
    "against_retriever": pl.String, "against_ordering": pl.String, "against_k": pl.Int64, "measure": pl.String,
    "n": pl.Int64, "value": pl.Float64, "against_value": pl.Float64, "difference": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "p_value": pl.Float64, "p_holm": pl.Float64, "p_bh": pl.Float64, "reason": pl.String,
}  # fmt: skip
VARIANCE: Schema = CELL | {
    "n": pl.Int64, "n_seeds": pl.Float64, "variance_queries": pl.Float64, "variance_seeds": pl.Float64,
    "share_seeds": pl.Float64, "reliability": pl.Float64, "low": pl.Float64, "high": pl.Float64, "reason": pl.String,
}  # fmt: skip
PER_QUERY: Schema = CELL | {"qid": pl.String, "p": pl.Float64, "p0": pl.Float64, "utility": pl.Float64}
SECTION_FILES: dict[str, Schema] = {
    "utility": UTILITY, "correlation": CORRELATION, "significance": SIGNIFICANCE, "per_query": PER_QUERY,
    "differences": DIFFERENCES, "variance": VARIANCE, "positions": POSITIONS, "spread": SPREAD,
    "lengths": LENGTHS, "cost": COST,
}  # fmt: skip
"""The files of a section (CSV or Parquet), by the name of the Section's field that holds them, with their columns."""
OPTIONAL_FILES: dict[str, Schema] = {"context_use": CONTEXT_USE}
"""Those of a section that a study may have beside them."""
FIGURE_FILES = tuple(name for name in SECTION_FILES if name not in ("differences", "variance"))
"""Those that figures show."""
RETRIEVAL: Schema = {"qid": pl.String, "measure": pl.String, "k": pl.Int64, "value": pl.Float64}


@dataclass(frozen=True)
class Grid:
    """The grid's names in the order of the config; ``k`` rises."""

    retrievers: tuple[str, ...]
    orderings: tuple[str, ...]
    k: tuple[int, ...]
    seeds: tuple[int, ...]
    measures: tuple[str, ...]

    @classmethod
    def of(cls, grid: Mapping[str, Any]) -> "Grid":
        """From the ``grid`` of a config."""
        return cls(
            tuple(grid["retrievers"]),
            tuple(grid["orderings"]),
            tuple(sorted(grid["k"])),
            tuple(grid["seeds"]),
            tuple(grid["measures"]),
        )

    @property
    def drawn(self) -> tuple[str, ...]:
        """The orderings that figures show: a permutation has one k, and there are too many, unless nothing else is."""
        return tuple(name for name in self.orderings if not is_permutation(name)) or self.orderings

    @property
    def contexts(self) -> list[tuple[str, int]]:
        """The grid's (ordering, k), a permutation with its own k alone."""
        return [(ordering, k) for ordering in self.orderings for k in self.k if fits(ordering, k)]

    @property
    def measure(self) -> str:
        """The first measure, which the scatter plot and the summary speak of."""
        return self.measures[0]


@dataclass(frozen=True)
class Section:
    """One dataset x generator x scorer.

    ``grades`` names the reference sets, in order, without their ``-unseen`` companions; ``relative`` says whether
    utility is (P - P0) / P0 or P - P0. Frames have the columns above; ``retrieval`` has ``retriever`` beside them.
    """

    dataset: str
    generator: str
    scorer: str
    relative: bool
    grades: tuple[str, ...]
    grid: Grid
    utility: pl.DataFrame
    correlation: pl.DataFrame
    significance: pl.DataFrame
    per_query: pl.DataFrame
    positions: pl.DataFrame
    spread: pl.DataFrame
    lengths: pl.DataFrame
    cost: pl.DataFrame
    retrieval: pl.DataFrame
    differences: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=DIFFERENCES))
    variance: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=VARIANCE))
    context_use: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CONTEXT_USE))

    @property
    def unseen(self) -> tuple[str, ...]:
        """The names of the unseen reference sets, in the order of the grades; gold answers have none."""
        found = set(self.utility["references"])
        return tuple(grade + UNSEEN for grade in self.grades if grade + UNSEEN in found)

    @property
    def title(self) -> str:
        return f"{self.dataset} · {self.generator} · {self.scorer}"

    def ordered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """``frame`` with its cells in the order of the grid: retriever, ordering, k, references (grades, unseen)."""
        grid, references = self.grid, list(self.grades + self.unseen)
        keys = [
            pl.col(column).replace_strict(names, list(range(len(names))), default=len(names), return_dtype=pl.Int64)
            for column, names in (
                ("retriever", ["zeroshot", *grid.retrievers]),
                ("ordering", ["none", *grid.orderings]),
                ("references", references),
            )
        ]
        return frame.sort([keys[0], keys[1], pl.col("k"), keys[2]], maintain_order=True)


@dataclass(frozen=True)
class Annotations:
    """One scorer's annotation sources.

    ``table``: columns gather.TABLE; ``cost``: dataset, generator, then the columns of erag.cost.SCHEMA.
    """

    scorer: str
    table: pl.DataFrame
    cost: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def sources(self) -> list[str]:
        return self.table["source"].unique(maintain_order=True).to_list()

    @property
    def first(self) -> dict[str, Any]:
        """What is shown first: the largest k, the first reference set, P, Kendall's tau."""
        k, references = self.table["k"].max(), self.table["references"][0]
        return {"k": k, "references": references, "quantity": "p", "coefficient": "kendall"}


@dataclass(frozen=True)
class Study:
    """All that the page shows.

    ``reference_retriever``: whom † compares with; None where the grid lacks it. ``explorer``: folders of the query
    explorer's data, parallel to the sections, or none. ``annotations``: one per scorer, or none. ``claims_study``: None
    where the configuration has no ``acu``.
    """

    name: str
    grid: Grid
    reference_retriever: str | None
    sections: tuple[Section, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[Mapping[str, Any]] = ()
    explorer: Sequence[Path] = ()
    annotations: Sequence[Annotations] = ()
    claims_study: ClaimsStudy | None = None
