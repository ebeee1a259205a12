"""Compute subtopic measures at every k.

StRecall: Zhai et al., SIGIR 2003. alpha_nDCG: Clarke et al., SIGIR 2008. Names and parameters are the same as in
ir_measures. We don't use ir_measures' provider, pyndeval: its values may exceed 1, and a call accepts only cutoffs up
to 20 and one alpha or relevance level.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import ir_measures
import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.measures import COLUMNS, SUBTOPIC_MEASURES, measure_ranking

MOST_EXACT = 12
"""Maximum number of relevant passages for which a query's ideal ranking is computed exactly. This takes about 2 ms per
query; each additional passage would double the time."""
SAME_DECIMALS = 12
"""Gains that are equal when rounded to this many decimals count as ties."""
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class _Pool(NamedTuple):
    """A query's R relevant passages in docno order, and which of the S subtopics each one covers (R, S).

    Subtopics without a relevant passage are left out.
    """

    places: dict[str, int]
    covers: Floats


def is_subtopic_measure(name: str) -> bool:
    """Return whether the measure ``name`` needs subtopic judgements."""
    return ir_measures.parse_measure(name).NAME in SUBTOPIC_MEASURES


def measure_all(
    ranking: pl.DataFrame,
    qrels: pl.DataFrame,
    subtopics: pl.DataFrame | None,
    measures: Sequence[str],
    ks: Sequence[int],
    levels: tuple[int, int],
    qids: Sequence[str] = (),
) -> pl.DataFrame:
    """Compute ``measures``: subtopic measures from ``subtopics``, and all others from ``qrels``.

    ``levels``: the lowest labels that count as relevant in ``qrels`` and in ``subtopics``. Rows are in the order of
    ``measures``.
    """
    if subtopics is None:
        return measure_ranking(ranking, qrels, measures, ks, levels[0], qids)
    parts = [
        measure_subtopics(ranking, subtopics, [name], ks, levels[1], qids) if is_subtopic_measure(name)
        else measure_ranking(ranking, qrels, [name], ks, levels[0], qids)
        for name in measures
    ]  # fmt: skip
    return pl.concat(parts)


def measure_subtopics(
    ranking: pl.DataFrame,
    subtopics: pl.DataFrame,
    measures: Sequence[str],
    ks: Sequence[int],
    relevant: int = 1,
    qids: Sequence[str] = (),
) -> pl.DataFrame:
    """Compute subtopic ``measures`` at the cutoffs ``ks`` for each query in ``ranking`` (qid, docno, rank).

    A passage is relevant to a subtopic if its label is at least ``relevant``, unless the measure specifies another
    level (``rel=2``). StRecall is the share of subtopics that have a relevant passage in the top k. alpha_nDCG is the
    ranking's DCG divided by the ideal ranking's DCG. A passage's gain is the sum of (1 - alpha) ** n over the subtopics
    that it covers, where n is the number of higher-ranked passages that cover the same subtopic. With up to MOST_EXACT
    relevant passages, the ideal ranking is exact; otherwise it is greedy: each rank gets the passage with the highest
    gain, with ties broken by docno. No value exceeds 1.

    Args:
        ranking: Columns qid, docno, rank.
        subtopics: Judgements, with columns qid, docno, subtopic, label.
        measures: Names of measures without a cutoff, such as ``alpha_nDCG(alpha=0.7)``.
        ks: The cutoffs.
        relevant: The lowest label that counts as relevant if a measure doesn't specify one.
        qids: Ids of queries that get 0 if they are missing from the ranking.

    Returns:
        A table (qid, measure, k, value) in the order of ``measures``, ``ks`` and the ranking's queries. Queries without
        a relevant passage get 0; queries that aren't in ``subtopics`` get no row.
    """
    judged = set(subtopics["qid"])
    lists = ranking.sort("rank", maintain_order=True).group_by("qid").agg(pl.col("docno").head(max(ks)))
    docnos = dict(lists.iter_rows())
    ranked = ranking["qid"].unique(maintain_order=True).to_list()
    wanted = [qid for qid in ranked if qid in judged] + sorted(judged & set(qids) - set(ranked))
    rows: list[tuple[str, str, int, float]] = []
    pools: dict[int, dict[str, _Pool]] = {}
    for name in measures:
        measure = ir_measures.parse_measure(name)
        level = measure.params.get("rel", relevant)
        known = pools[level] if level in pools else pools.setdefault(level, _pools(subtopics, level))
        alpha = measure["alpha"] if measure.NAME == "alpha_nDCG" else None
        found = {qid: _values(docnos.get(qid, []), known.get(qid), alpha, ks) for qid in wanted}
        rows += [(qid, name, k, found[qid][place]) for place, k in enumerate(ks) for qid in wanted]
    return pl.DataFrame(rows, schema=schema_of(COLUMNS), orient="row")


def count_unmeasured(queries: pl.DataFrame, subtopics: pl.DataFrame | None) -> list[dict[str, object]]:
    """Count the ``queries`` that aren't in ``subtopics``. Returns one row (what, count), or no row for a count of 0."""
    count = 0 if subtopics is None else queries.join(subtopics, on="qid", how="anti").height
    return [{"what": "queries without judged subtopics, left out of their measures", "count": count}] if count else []


def _pools(subtopics: pl.DataFrame, level: int) -> dict[str, _Pool]:
    relevant = subtopics.filter(pl.col("label") >= level).sort("qid", "docno", "subtopic")
    pools = {}
    for (qid,), rows in relevant.partition_by("qid", as_dict=True, maintain_order=True).items():
        docnos = rows["docno"].unique(maintain_order=True)
        covers = np.zeros((len(docnos), rows["subtopic"].n_unique()))
        covers[rows["docno"].rank("dense").to_numpy() - 1, rows["subtopic"].rank("dense").to_numpy() - 1] = 1.0
        pools[str(qid)] = _Pool({docno: place for place, docno in enumerate(docnos)}, covers)
    return pools


def _values(docnos: Sequence[str], pool: _Pool | None, alpha: float | None, ks: Sequence[int]) -> list[float]:
    """Return a ranked list's alpha_nDCG at each cutoff, or its StRecall if ``alpha`` is None."""
    if pool is None or not docnos:
        return [0.0] * len(ks)
    covers = np.zeros((len(docnos), pool.covers.shape[1]))
    for rank, docno in enumerate(docnos):
        if docno in pool.places:
            covers[rank] = pool.covers[pool.places[docno]]
    if alpha is None:
        found = np.maximum.accumulate(covers, axis=0).mean(axis=1)
        return [_at(found, k) for k in ks]
    above = np.cumsum(covers, axis=0) - covers
    dcg = _dcg((covers * (1 - alpha) ** above).sum(axis=1))
    ideal = ideal_dcg(pool.covers, alpha, max(ks))
    return [min(1.0, _at(dcg, k) / _at(ideal, k)) for k in ks]


def ideal_dcg(covers: Floats, alpha: float, depth: int) -> Floats:
    """Return the ideal ranking's DCG at 1, 2, …, ``depth`` passages. For ``covers`` and ``alpha``, see greedy_ideal."""
    return exact_ideal(covers, alpha) if len(covers) <= MOST_EXACT else greedy_ideal(covers, alpha, depth)


def greedy_ideal(covers: Floats, alpha: float, depth: int) -> Floats:
    """Return the DCG of the ranking that puts the passage with the highest gain at each rank (the first if tied).

    Args:
        covers: A matrix with 1 where the passage (row) is relevant to the subtopic (column), and 0 elsewhere.
        alpha: The share by which a subtopic's gain falls with each higher-ranked passage that covers the subtopic.
        depth: The maximum length of the ranking.

    Returns:
        An array with the DCG at 1, 2, … passages.
    """
    left, weights = np.ones(len(covers), bool), np.ones(covers.shape[1])
    gains = []
    for _ in range(min(depth, len(covers))):
        gain = covers @ weights
        best = int(np.argmax(np.where(left, gain.round(SAME_DECIMALS), -1.0)))
        gains.append(gain[best])
        left[best] = False
        weights = np.where(covers[best] > 0, weights * (1 - alpha), weights)
    return _dcg(np.array(gains))


def exact_ideal(covers: Floats, alpha: float) -> Floats:
    """Return the highest DCG that any ranking of 1, 2, … passages can have. For the arguments, see greedy_ideal.

    A passage's gain depends on the set of passages above it, not on their order. Therefore, the best ranking of a set
    consists of the best ranking of all passages but one, followed by that passage.
    """
    members, steps = _sets(len(covers))
    gains = ((1 - alpha) ** np.arange(len(covers) + 1))[(members @ covers).astype(int)] @ covers.T
    best, ideal = np.zeros(len(members)), np.zeros(len(covers))
    for size, (sets, above, last) in enumerate(steps, 1):
        best[sets] = (best[above] + gains[above, last] / np.log2(size + 1)).max(axis=1)
        ideal[size - 1] = best[sets].max()
    return ideal


@functools.cache
def _sets(count: int) -> tuple[Floats, list[tuple[Places, Places, Places]]]:
    """Return all subsets of ``count`` passages, numbered by their bits, as a membership matrix (sets, passages).

    Also return, for each size, the sets of that size (n,) and, for each passage in them (n, size), the set without that
    passage and the passage itself.
    """
    numbers = np.arange(2**count)
    members = (numbers[:, None] >> np.arange(count) & 1).astype(float)
    steps = []
    for size in range(1, count + 1):
        sets = numbers[members.sum(axis=1) == size]
        last = np.nonzero(members[sets])[1].reshape(-1, size)
        steps.append((sets, sets[:, None] ^ (1 << last), last))
    return members, steps


def _dcg(gains: Floats) -> Floats:
    return np.cumsum(gains / np.log2(np.arange(2, len(gains) + 2)))


def _at(values: Floats, k: int) -> float:
    """Return the value at the cutoff ``k``, or the last one if ``values`` is shorter."""
    return float(values[min(k, len(values)) - 1])
