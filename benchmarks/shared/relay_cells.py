"""Cells of relay whose truth is known: real ones with the answers of other queries, and simulated ones."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from ragrelay.analysis.relay import Cell, cells_of
from ragrelay.base.vocabulary.names import UNSEEN

Array = np.ndarray
Draw = Callable[[np.random.Generator, int], Cell]
"""A cell of n queries."""
SPREAD = (0.2, 1.0, 3.0)
MEASURE, P_NOISE, P_QUERIES = 0.16, 0.14, 0.11
"""Standard deviations of the measure and of P among contexts of one query, and of P among queries: about those of a
TREC DL 2019 pool with ten runs at k = 5, where differences of two runs have .226 and .199."""
PLANTED = 0.3


def real_cells(studies: Sequence[Path]) -> dict[str, list[Cell]]:
    """By dataset and k: cells of nDCG in every ordering, on all references of each grade; ``studies`` as columns_of."""
    found: dict[str, list[Cell]] = {}
    for study in studies:
        config = json.loads((study.parent / "report/provenance.json").read_text(encoding="utf-8"))["config"]
        kinds = {name: config["retrievers"][name]["kind"] for name in config["grid"]["retrievers"]}
        named = {name: pl.lit(name).alias("retriever") for name in kinds}
        retrieval = pl.concat(
            pl.read_parquet(study / f"retrieval/{name}.parquet").filter(measure="nDCG").select(named[name], "*")
            for name in kinds
        )
        prompts = [path for path in study.glob("prompts/*/*/*/k*.parquet") if path.parts[-3] in kinds]
        contexts = pl.concat(
            pl.read_parquet(path, columns=["qid", "docnos"]).select(
                pl.lit(path.parts[-3]).alias("retriever"),
                pl.lit(path.parts[-2]).alias("ordering"),
                pl.lit(int(path.stem[1:]), pl.Int64).alias("k"),
                "*",
            )
            for path in prompts
        )
        for path in sorted((study / "utility").rglob("*.parquet")):
            utility = pl.read_parquet(path).filter(pl.col("k") > 0, ~pl.col("references").str.ends_with(UNSEEN))
            for _, cells in cells_of(utility, retrieval, contexts, kinds):
                for k, cell in cells.items():
                    found.setdefault(f"{study.name}, k = {k}", []).append(cell)
    return found


def of_other_queries(cells: Sequence[Cell], random: np.random.Generator, n: int) -> Cell:
    """One of ``cells`` in which every query has the P, of all retrievers, and the P₀ of another one."""
    cell = cells[random.integers(len(cells))]
    other = random.permutation(n)
    return cell._replace(p=cell.p[:, other], p0=cell.p0[other])


def simulated(
    random: np.random.Generator,
    n: int,
    retrievers: int = 2,
    slope: float = 0.0,
    shared: float = 0.0,
    spread: Sequence[float] = (1.0,),
    lead: float = 0.0,
    slopes: float = 0.0,
    measure: float = MEASURE,
) -> Cell:
    """A cell whose P follows the measure by ``slope``, and not at all by default.

    P and the measure differ by query, by retriever, and in a context by noise, whose spread of both is multiplied by
    one of ``spread`` for each query. For a share ``shared`` of the queries of each retriever, its context is one that
    all those have. Where it is not, the measure and P of the retriever at place i are larger by ``lead`` i / 2 of
    their noise: it leads by a constant. The slope differs between queries by a standard deviation of ``slopes``, and
    the noise of the measure has that of ``measure``.
    """
    common = random.random((retrievers, n)) < shared
    scale = random.choice(np.array(spread), n)
    own = lead / 2 * np.arange(retrievers)[:, None]

    def contexts(sd: float) -> Array:
        noise = sd * scale * random.standard_normal((retrievers + 1, n))
        return np.where(common, noise[-1], noise[:-1] + sd * own)

    x = 0.5 + 0.15 * random.standard_normal(n) + contexts(measure)
    p = P_QUERIES * random.standard_normal(n) + contexts(P_NOISE) + slope * x
    p0 = P_QUERIES * random.standard_normal(n)
    if slopes:
        p += slopes * random.standard_normal(n) * (x - x.mean(axis=0))
    context = np.where(common, -1.0, np.arange(retrievers)[:, None] * np.ones(n))
    return Cell(context, x, p, x.mean(axis=0), p0)


def permuted(real: Mapping[str, Sequence[Cell]]) -> dict[str, tuple[Draw, int]]:
    """Real cells with the answers of other queries, and how many queries each has."""
    return {
        f"P of another query: {name}": (partial(of_other_queries, cells), len(cells[0].p0))
        for name, cells in real.items()
    }


def nulls() -> dict[str, Draw]:
    """Draws without relay."""
    found: dict[str, Draw] = {}
    for retrievers in (2, 5):
        name = f"spread that differs by query, {retrievers} retrievers"
        found[name] = partial(simulated, retrievers=retrievers, spread=SPREAD)
    for retrievers in (2, 5, 10):
        found[f"one spread, {retrievers} retrievers"] = partial(simulated, retrievers=retrievers)
    for retrievers in (5, 10):
        found[f"{retrievers} retrievers that share most contexts"] = partial(
            simulated, retrievers=retrievers, shared=0.8
        )
    # A context is the common one for the square root of a half of each retriever's queries: for half of the pair's.
    return found | {"two retrievers that share half of their contexts": partial(simulated, shared=0.5**0.5)}


def planted() -> dict[str, Draw]:
    """Draws whose slope is PLANTED, by the number of retrievers."""
    return {
        f"slope of {PLANTED}, {count} retrievers": partial(simulated, retrievers=count, slope=PLANTED)
        for count in (2, 5)
    }


def limits() -> dict[str, Draw]:
    """Draws without relay for which *it is* is said too often."""
    name = "five retrievers that share contexts and lead by a constant elsewhere"
    spread = {f"slopes that differ by query (sd {sd}), measure's sd {measure}": (sd, measure)
              for sd, measure in ((0.29, MEASURE), (0.43, 0.35))}  # fmt: skip
    return {name: partial(simulated, retrievers=5, shared=0.5, lead=0.5)} | {
        kind: partial(simulated, retrievers=10, slopes=sd, measure=measure) for kind, (sd, measure) in spread.items()
    }
