"""Systems: differences of mean P between retrievers, paired by query; one pair is the study's primary one."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.equivalence import difference, known, testable, words_of
from ragrelay.analysis.sizes import detectable_difference, queries_for_margin
from ragrelay.analysis.verdicts import OF_DIFFERENCE, QUERIES_AT_LEAST
from ragrelay.vocabulary.columns import CELL_COLUMNS, REASON, STUDY_PART, real, schema_of, text, whole
from ragrelay.vocabulary.names import UNSEEN
from ragrelay.vocabulary.primary import Primary

PRIMARY, REFERENCE, EXPLORATORY = "primary", "reference", "exploratory"
TABLE = {
    **CELL_COLUMNS,
    "against_retriever": text("the other retriever of the pair"),
    "role": text("`primary`: the study's primary pair, tested alone; `reference`: every other retriever against the "
                 "reference retriever; `exploratory`: every other pair"),
    "n": whole("queries with a P of both", "queries"),
    "n_unpaired": whole("queries with a P of one alone", "queries"),
    "margin": real("`equivalence_margin` of the configuration", "the scorer's"),
    "mean_difference": real("mean over queries of the retriever's P less the other's", "the scorer's"),
    "sd_difference": real("standard deviation over queries of the differences", "the scorer's"),
    "detectable_difference": real("smallest difference found in 80% of studies of this size", "the scorer's"),
    "queries_for_margin": whole("queries with which equivalence at the margin is found in 80% of studies", "queries"),
    "level": real("level of the interval: those of a role's pairs in a cell together have 95% (Bonferroni)"),
    "low": real("lower end of the interval", "the scorer's"),
    "high": real("upper end of the interval", "the scorer's"),
    "p_value": real("two-sided p-value of a mean difference of 0, uncorrected"),
    "p_bonferroni": real("the same times the number of the role's pairs in the cell, at most 1"),
    "family_size": whole("pairs of the row's role in the cell that have a test", "pairs"),
    "verdict": text(f"read off the interval: {', '.join(f'`{word}`' for word in OF_DIFFERENCE)}"),
    "reason": REASON,
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE}
"""Those of systems.csv."""
SCHEMA = schema_of(TABLE)
CELL_OF_PAIRS = ["ordering", "k", "references"]
WORDS = {
    "level": "verdict_level",
    "low": "verdict_low",
    "high": "verdict_high",
    "p_value": "p_difference",
    "p_bonferroni": "p_difference_bonferroni",
    "verdict": "verdict",
}
"""Columns by what words_of calls them."""


def systems(
    utility: pl.DataFrame,
    retrievers: Sequence[str],
    reference_retriever: str | None,
    primary: Primary | None,
    margin: float,
) -> pl.DataFrame:
    """Compare the mean P of every pair of ``retrievers`` in each ordering, k and set of references (``TABLE``).

    ``utility``: retriever, ordering, k, references, qid, p. Unseen references have no row, since each retriever has its
    own there. A pair is the later of ``retrievers`` less the earlier; the reference retriever, and the reference of the
    ``primary`` pair, are the other of their pairs. The intervals of a role's pairs in a cell together have 95%
    (Bonferroni; equivalence.words_of). Max-T over sign flips of whole queries would be narrower, and does not hold
    where differences are skewed and queries few (docs/statistics.md).
    """
    columns = ["place", "query", "p"]
    places = pl.DataFrame({"retriever": list(retrievers)}, schema={"retriever": pl.String}).with_row_index("place")
    queries = utility.select(pl.col("qid").unique().sort()).with_row_index("query")
    seen = utility.filter(~pl.col("references").str.ends_with(UNSEEN))
    laid = seen.join(places, on="retriever").join(queries, on="qid").sort(*CELL_OF_PAIRS, "place", "query")
    rows: list[dict[str, Any]] = []
    for cell, numbers in by_cell(laid, CELL_OF_PAIRS, columns):
        place, query = numbers[:2].astype(np.intp)
        p = np.full((len(retrievers), len(queries)), np.nan)
        p[place, query] = numbers[2]
        named = dict(zip(CELL_OF_PAIRS, cell, strict=True))
        present = [retrievers[one] for one in np.unique(place)]
        rows += _rows(named, dict(zip(retrievers, p, strict=True)), present, reference_retriever, primary, margin)
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(
    cell: Mapping[str, Any],
    p: Mapping[str, Array],
    present: Sequence[str],
    reference_retriever: str | None,
    primary: Primary | None,
    margin: float,
) -> Iterator[dict[str, Any]]:
    by_role: dict[str, list[tuple[str, str]]] = {PRIMARY: [], REFERENCE: [], EXPLORATORY: []}
    for earlier, later in itertools.combinations(present, 2):
        role, pair = EXPLORATORY, (later, earlier)
        if reference_retriever in pair:
            role, pair = REFERENCE, (later, earlier) if reference_retriever == earlier else (earlier, later)
        if primary is not None and primary.is_of({**cell, "retriever": later}, earlier):
            role, pair = PRIMARY, (primary.retriever, primary.reference)
        by_role[role].append(pair)
    for role, pairs in by_role.items():
        columns = [known(difference(p[one], p[other])) for one, other in pairs]
        words = words_of(columns, margin)
        size = sum("p_difference" in word for word in words)
        for (one, other), both, word in zip(pairs, columns, words, strict=True):
            either = np.isfinite(p[one]) | np.isfinite(p[other])
            row = {"retriever": one, "against_retriever": other, "role": role, "n": len(both)}
            row |= {"n_unpaired": int(either.sum()) - len(both), "margin": margin, "family_size": size}
            if len(both):
                row["mean_difference"] = float(both.mean())
            if testable(both):
                sd = float(both.std(ddof=1))
                row |= {"sd_difference": sd, "detectable_difference": detectable_difference(len(both), sd)}
                row["queries_for_margin"] = queries_for_margin(margin, sd)
            said = {name: word.get(of_words) for name, of_words in WORDS.items()}
            yield {**cell, **row, **said, "reason": _reason(both) if said["p_value"] is None else None}


def _reason(both: Array) -> str:
    return f"fewer than {QUERIES_AT_LEAST} queries" if len(both) < QUERIES_AT_LEAST else "all differences are equal"
