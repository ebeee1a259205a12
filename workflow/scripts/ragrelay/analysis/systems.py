"""Systems: differences of mean P between retrievers, paired by query; one pair is the study's primary one."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.equivalence import difference, known, testable, words_of
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.paired_tests import POWER, detectable_effect
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
    "length_ratio": real("of the primary pair: ratio of the geometric means of 1 + the answers' tokens"),
    "equal_length_difference": real("of the primary pair: mean difference of P at equal answer length", "the scorer's"),
    "equal_length_low": real("lower end of its 95% interval", "the scorer's"),
    "equal_length_high": real("upper end of its 95% interval", "the scorer's"),
    "equal_length_reason": text("why the primary pair has none; empty where it has one"),
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of systems.csv."""
SCHEMA = schema_of(TABLE)
NO_LENGTHS = "no lengths of the answers"
SAME_LENGTHS = "all answers of a query are as long"
EITHER_LONGER_AT_LEAST = 5
"""Queries in which an answer is at least as long as the other's, of either retriever: else equal length is guessed."""
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
ASSUMED_SD = 0.2
"""Standard deviation over queries of a difference of P, before there are answers: that of TREC DL's (.15 to .25)."""
CAUTION = 1.5


def systems(
    utility: pl.DataFrame,
    retrievers: Sequence[str],
    reference_retriever: str | None,
    primary: Primary | None,
    margin: float,
    lengths: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Compare the mean P of every pair of ``retrievers`` in each ordering, k and set of references (``TABLE``).

    ``utility``: utility.COLUMNS. Unseen references have no row, since each retriever has its own there. A pair is the
    later of ``retrievers`` less the earlier; the reference retriever, and the reference of the ``primary`` pair, are
    the other of their pairs. The intervals of a role's pairs in a cell together have 95% (Bonferroni;
    equivalence.words_of). Max-T over sign flips of whole queries would be narrower, and does not hold where differences
    are skewed and queries few (docs/statistics.md).

    ``lengths`` (retriever, qid, tokens: means over seeds, in the primary pair's cell) gives the primary pair a
    difference at equal length, which changes no word: see equal_length.
    """
    columns = ["place", "query", "p"]
    places = pl.DataFrame({"retriever": list(retrievers)}, schema={"retriever": pl.String}).with_row_index("place")
    queries = utility.select(pl.col("qid").unique().sort()).with_row_index("query")
    seen = utility.filter(~pl.col("references").str.ends_with(UNSEEN))
    laid = seen.join(places, on="retriever").join(queries, on="qid").sort(*CELL_OF_PAIRS, "place", "query")
    rows: list[dict[str, Any]] = []
    tokens = {} if lengths is None else _by_query(lengths, queries)
    for cell, numbers in by_cell(laid, CELL_OF_PAIRS, columns):
        place, query = numbers[:2].astype(np.intp)
        p = np.full((len(retrievers), len(queries)), np.nan)
        p[place, query] = numbers[2]
        named = dict(zip(CELL_OF_PAIRS, cell, strict=True))
        present = [retrievers[number] for number in np.unique(place)]
        rows += _rows(named, dict(zip(retrievers, p, strict=True)), present, reference_retriever, primary, margin,
                      tokens)  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(
    cell: Mapping[str, Any],
    p: Mapping[str, Array],
    present: Sequence[str],
    reference_retriever: str | None,
    primary: Primary | None,
    margin: float,
    tokens: Mapping[str, Array],
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
            if role == PRIMARY:
                row |= _equal_length(difference(p[one], p[other]), *(tokens.get(name) for name in (one, other)))
            said = {name: word.get(of_words) for name, of_words in WORDS.items()}
            yield {**cell, **row, **said, "reason": _reason(both) if said["p_value"] is None else None}


def _by_query(lengths: pl.DataFrame, queries: pl.DataFrame) -> dict[str, Array]:
    """Tokens (Q,) by retriever; NaN where there are none."""
    by_retriever = {}
    for (retriever,), own in lengths.group_by("retriever", maintain_order=True):
        column = queries.join(own, on="qid", how="left", maintain_order="left")["tokens"]
        by_retriever[str(retriever)] = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    return by_retriever


def _equal_length(differences: Array, tokens: Array | None, others: Array | None) -> dict[str, Any]:
    """Columns of TABLE: the mean of ``differences`` of P (Q,) where both answers are as long.

    It is the intercept of a least-squares regression of the differences on those of log(1 + tokens). The interval is
    that of mean_tests over its jackknife pseudo-values. None where fewer than EITHER_LONGER_AT_LEAST queries have an
    answer of the one, or of the other, that is at least as long.
    """
    if tokens is None or others is None:
        return {"equal_length_reason": NO_LENGTHS}
    longer = np.log1p(tokens) - np.log1p(others)
    both = np.isfinite(longer) & np.isfinite(differences)
    x, y = longer[both], differences[both]
    if not len(x):
        return {"equal_length_reason": NO_LENGTHS}
    row: dict[str, Any] = {"length_ratio": float(np.exp(x.mean()))}
    if min((x >= 0).sum(), (x <= 0).sum()) < EITHER_LONGER_AT_LEAST:
        few = f"fewer than {EITHER_LONGER_AT_LEAST} queries have an answer that is as long or longer with either"
        return row | {"equal_length_reason": few}
    design = np.column_stack([np.ones(len(x)), x])
    if is_constant(x):
        return row | {"equal_length_reason": SAME_LENGTHS}
    inverse = np.linalg.pinv(design)
    intercept, residuals = float((inverse @ y)[0]), y - design @ (inverse @ y)
    leverage = np.einsum("nd,dn->n", design, inverse)
    row["equal_length_difference"] = intercept
    pseudo = intercept + (len(x) - 1) * inverse[0] * residuals / (1.0 - leverage)
    if not testable(pseudo):
        return row | {"equal_length_reason": _reason(pseudo)}
    (low,), (high,) = Means.cautious(pseudo[:, None]).interval()
    return row | {"equal_length_low": float(low), "equal_length_high": float(high)}


def _reason(both: Array) -> str:
    return f"fewer than {QUERIES_AT_LEAST} queries" if len(both) < QUERIES_AT_LEAST else "all differences are equal"


def detectable_difference(n: int, sd: float) -> float:
    """The smallest difference that words (see verdicts) find in 80% of studies of ``n`` queries, at ``sd`` over them.

    That of a paired t-test at 5% (statsmodels) times 1 + CAUTION / n, since Hall's test with 1.75 times the skewness
    must agree: with normal differences this has a power of 77% to 80% from 12 queries on (docs/statistics.md).
    """
    return sd * detectable_effect(n) * (1.0 + CAUTION / n)


def queries_for_margin(margin: float, sd: float) -> int:
    """Queries with which an interval of 95% lies within ± ``margin`` in 80% of studies whose true difference is 0.

    By the normal approximation; ``sd`` is that of a query's difference.
    """
    reach = float(stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(1.0 - (1.0 - POWER) / 2))
    return max(QUERIES_AT_LEAST, math.ceil((reach * sd / margin) ** 2))
