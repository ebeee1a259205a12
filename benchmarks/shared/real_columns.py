"""Columns of finished studies, from which simulations draw data sets whose truth is known."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from ragrelay.analysis.dependent import paired_columns
from ragrelay.base.vocabulary.names import UNSEEN
from scipy import stats

Array = np.ndarray
ORACLES = ("ideal", "rel", "rel1", "nrel")
"""Those of the catalogue: no retriever of which a finding is."""
Cells = dict[tuple[str, str, int], tuple[Array, Array]]
"""Utility and measure (n,) of every retriever, ordering and k, all of the same queries; NaN where one has none."""
# With a measure that varies within them: of fewer the same few would be drawn over and over.
QUERIES_AT_LEAST = 10


class Real:
    """Per cell P_k - P_0, and utility with nDCG; per k nDCG and P (queries, retrievers); per study all cells.

    Where a study has annotation sources, also per cell P or utility with the measures of two of them.
    """

    def __init__(self, studies: Sequence[Path]) -> None:
        self.gains: list[Array] = []
        self.pairs: list[tuple[Array, Array]] = []
        self.blocks: list[tuple[Array, Array]] = []
        self.leads: list[tuple[Array, Array, Array]] = []
        self.studies: list[Cells] = []
        for study in studies:
            files = [(path.stem, pl.read_parquet(path)) for path in sorted((study / "retrieval").glob("*.parquet"))]
            measured = pl.concat([table.with_columns(retriever=pl.lit(name)) for name, table in files])
            for path in sorted((study / "utility").rglob("*.parquet")):
                utility = pl.read_parquet(path).filter(ordering="descending")
                self._read(utility, measured.filter(measure="nDCG"))
                values = study / "annotations" / "labels" / path.parent.name / path.stem / "values.parquet"
                if values.is_file():
                    self._read_sources(utility, pl.read_parquet(values).drop_nulls("value"))

    def _read(self, utility: pl.DataFrame, measured: pl.DataFrame) -> None:
        utility = utility.sort("retriever", "qid").drop_nulls(["p", "p0", "utility"])
        joined = utility.join(measured, on=["retriever", "qid", "k"], maintain_order="left")
        for _, cell in joined.group_by("retriever", "k", "references", maintain_order=True):
            self.gains.append((cell["p"] - cell["p0"]).to_numpy())
            if cell["value"].n_unique() > 2:
                self.pairs.append((cell["utility"].to_numpy(), cell["value"].to_numpy()))
        for _, block in joined.group_by("k", "references", maintain_order=True):
            x, y = (
                block.pivot("retriever", index="qid", values=name).drop("qid").drop_nulls().to_numpy()
                for name in ("value", "p")
            )
            if len(x) == len(y) and (np.ptp(x, axis=1) > 0).sum() >= QUERIES_AT_LEAST:
                self.blocks.append((x, y))

        ranking = utility.filter(~pl.col("retriever").is_in(ORACLES), ~pl.col("references").str.ends_with(UNSEEN))
        for _, part in ranking.group_by("references", maintain_order=True):
            self.studies.append(paired_columns(part, measured))

    def _read_sources(self, utility: pl.DataFrame, values: pl.DataFrame) -> None:
        """Of every cell and measure, each two sources that have it of the same queries and don't agree everywhere."""
        cell = ["retriever", "k", "references"]
        ends = utility.drop_nulls(["p", "utility"]).select(*cell, "qid", "p", "utility")
        for _, given in values.group_by(*cell, "measure", maintain_order=True):
            wide = given.pivot("source", index=[*cell, "qid"], values="value").join(ends, on=[*cell, "qid"])
            wide = wide.drop_nulls().sort("qid")
            sources = [wide[name].to_numpy() for name in given["source"].unique(maintain_order=True)]
            pairs = [pair for pair in combinations(sources, 2) if all(len(set(one)) > 2 for one in pair)]
            self.leads += [
                (wide[end].to_numpy(), *pair)
                for pair in pairs
                for end in ("p", "utility")
                if (pair[0] != pair[1]).any()
            ]

    def gain(self, random: np.random.Generator, draws: int, n: int) -> Array:
        """Differences (n, draws) of mean 0: a cell's, less their mean."""
        return np.column_stack([random.choice(one - one.mean(), n) for one in self._chosen(random, self.gains, draws)])

    def swapped(self, random: np.random.Generator, draws: int, n: int) -> Array:
        """Differences (n, draws) of mean 0: a cell's, P_k and P_0 of each query swapped by chance."""
        signs = random.choice([-1.0, 1.0], (n, draws))
        return signs * np.column_stack([random.choice(one, n) for one in self._chosen(random, self.gains, draws)])

    def chosen(self, random: np.random.Generator, draws: int, n: int) -> Array:
        """Differences (n, draws) of mean 0: P of a context of the query chosen by chance, less the mean of all."""
        made = []
        for _, p in self._chosen(random, self.blocks, draws):
            at = random.integers(0, len(p), n)
            made.append(p[at, random.integers(0, p.shape[1], n)] - p[at].mean(axis=1))
        return np.column_stack(made)

    def permuted(self, random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array]:
        """Independent columns (draws, n): a cell's utility, and its nDCG of other queries."""
        return self._paired(random, draws, n, lambda x, y: (random.choice(x, n), random.choice(y, n)))

    def uncorrelated(self, random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array]:
        """Columns (draws, n) whose r is 0 and that may depend on each other: utility less its line on nDCG."""

        def one(x: Array, y: Array) -> tuple[Array, Array]:
            at = random.integers(0, len(x), n)
            return (x - np.polyval(np.polyfit(y, x, 1), y))[at], y[at]

        return self._paired(random, draws, n, one)

    def related(self, random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array, Array]:
        """Columns (draws, n): a cell's queries, with the cell's own r and rho, which are the truth here (draws,)."""
        made: list[tuple[Array, ...]] = []
        while len(made) < draws:
            x, y = self.pairs[random.integers(len(self.pairs))]
            at = random.integers(0, len(x), n)
            if np.ptp(x[at]) > 0 and np.ptp(y[at]) > 0:
                made.append((x[at], y[at], *(np.array(t(x, y).statistic) for t in (stats.pearsonr, stats.spearmanr))))
        x, y, r, rho = map(np.array, zip(*made, strict=True))
        return x, y, r, rho

    def within(self, random: np.random.Generator, draws: int, n: int) -> Iterator[tuple[Array, Array]]:
        """nDCG and P (n, retrievers) of whole queries, P permuted within each."""
        for x, y in self._chosen(random, self.blocks, draws):
            at = random.integers(0, len(x), n)
            yield x[at], random.permuted(y[at], axis=1)

    def related_within(self, random: np.random.Generator, draws: int, n: int) -> Iterator[tuple[Array, Array, float]]:
        """nDCG and P (n, retrievers) of whole queries, with the block's own r within them, which is the truth here."""
        for x, y in self._chosen(random, self.blocks, draws):
            at = random.integers(0, len(x), n)
            both = [column - column.mean(axis=1, keepdims=True) for column in (x, y)]
            yield x[at], y[at], float(np.corrcoef(both[0].ravel(), both[1].ravel())[0, 1])

    def permuted_studies(self, random: np.random.Generator, draws: int, n: int) -> Iterator[Cells]:
        """Studies of n queries without a correlation: the measures in all cells are those of another query."""
        for cells in self._chosen(random, self.studies, draws):
            at, other = random.integers(0, len(next(iter(cells.values()))[0]), (2, n))
            yield {cell: (u[at], y[other]) for cell, (u, y) in cells.items()}

    def exchanged_studies(self, random: np.random.Generator, draws: int, n: int) -> Iterator[Cells]:
        """Studies of n queries whose correlation is the same at every k: each query's k are exchanged by chance."""
        for cells in self._chosen(random, self.studies, draws):
            ks = sorted({k for *_, k in cells})
            at = random.integers(0, len(next(iter(cells.values()))[0]), n)
            places = random.permuted(np.tile(np.arange(len(ks)), (n, 1)), axis=1)
            made: Cells = {}
            for retriever, ordering in dict.fromkeys((retriever, ordering) for retriever, ordering, _ in cells):
                columns = np.array([cells[retriever, ordering, k] for k in ks])[:, :, at]
                for place, k in enumerate(ks):
                    u, y = columns[places[:, place], :, np.arange(n)].T
                    made[retriever, ordering, k] = u, y
            yield made

    def swapped_retrievers(self, random: np.random.Generator, draws: int, n: int) -> Array:
        """Differences (n, draws) of mean 0: P of two retrievers, swapped by chance for each query."""
        made = []
        for _, p in self._chosen(random, self.blocks, draws):
            first, second = random.choice(p.shape[1], 2, replace=False)
            made.append(random.choice([-1.0, 1.0], n) * random.choice(p[:, first] - p[:, second], n))
        return np.column_stack(made)

    def alone(self, random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array]:
        """P or utility (draws, n), and the measures of two sources of other queries: neither follows it."""
        rows = []
        for end, first, second in self._chosen(random, self.leads, draws):
            at = random.integers(0, len(end), n)
            rows.append((random.choice(end, n), first[at], second[at]))
        return tuple(map(np.array, zip(*rows, strict=True)))  # type: ignore[return-value]

    def alike(self, random: np.random.Generator, draws: int, n: int) -> tuple[Array, Array, Array]:
        """P or utility (draws, n), and the ranks that two sources give the same queries, swapped by chance."""
        rows = []
        for end, first, second in self._chosen(random, self.leads, draws):
            at, swapped = random.integers(0, len(end), n), random.random(n) < 0.5
            both = [stats.rankdata(one)[at] for one in (first, second)]
            rows.append((end[at], np.where(swapped, *both), np.where(swapped, *both[::-1])))
        return tuple(map(np.array, zip(*rows, strict=True)))  # type: ignore[return-value]

    def _paired(self, random: np.random.Generator, draws: int, n: int, one: Callable) -> tuple[Array, Array]:
        made: list[tuple[Array, Array]] = []
        while len(made) < draws:
            x, y = one(*self.pairs[random.integers(len(self.pairs))])
            made += [(x, y)] if np.ptp(x) > 0 and np.ptp(y) > 0 else []
        return np.array([x for x, _ in made]), np.array([y for _, y in made])

    @staticmethod
    def _chosen(random: np.random.Generator, columns: list, draws: int) -> Iterator:
        return (columns[place] for place in random.integers(len(columns), size=draws))
