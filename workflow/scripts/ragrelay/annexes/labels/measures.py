"""Compute retrieval measures from an annotation source's passage labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.vocabulary.columns import integer, number, schema_of
from ragrelay.base.vocabulary.measures import COLUMNS as RANKING
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.base.vocabulary.names import PAPER_NAMES

CONTINUOUS = ("P", "Success", "nDCG")
"""The measures that are defined for labels between 0 and 1."""
COLUMNS = {
    **RANKING,
    "value": number("value of the measure at the cutoff, computed from the source's labels"),
    "n_ranked": integer("number of passages in the ranking, at most k", "passages"),
}
SCHEMA = schema_of(COLUMNS)
_VALUES = {name: kind for name, kind in SCHEMA.items() if name != "n_ranked"}


class How(NamedTuple):
    """Settings for computing measures from one annotation source's labels."""

    whole: bool
    """Whether the source's labels are integers."""
    relevant: float = 1.0
    """The lowest integer label that binary measures count as relevant."""
    constant: bool = False
    """Whether all of a query's passages have the same label by definition."""
    gains: pl.DataFrame | None = None
    """The gains that nDCG uses instead of labels: qid, docno, gain (a real number from 0 for every label)."""
    signed: bool = False
    """Whether labels may be negative; nDCG counts negative labels as 0."""
    below: int | None = None
    """The lowest cutoff at which measures have no value, if there is one."""


def measure_labels(
    ranking: pl.DataFrame, labels: pl.DataFrame, measures: Sequence[str], ks: Sequence[int], how: How | None = None
) -> pl.DataFrame:
    """Compute ``measures`` from labels at the cutoffs ``ks`` for each query.

    Returns the columns in SCHEMA; rows are sorted by measure, cutoff and query. ``ranking``: qid, docno, rank (from 1);
    ``labels``: qid, docno, label, without duplicate pairs; labels of unranked passages are ignored. For integer labels,
    ir_measures is used: nDCG uses labels as gains, and other measures count labels of at least ``how.relevant`` as
    relevant. For labels between 0 and 1, precision (P) is the mean label, and hit ratio (Success) is the largest label
    (Salemi and Zamani, SIGIR 2024, section 2.2). nDCG is the sum of label / log2(rank + 1), divided by the same sum
    with sorted labels (Järvelin and Kekäläinen, TOIS 2002, with trec_eval's discount). Ideal DCG, recall and AP use
    only the ranking's labelled passages. In rankings shorter than k, missing passages count as 0.

    ``value`` is null if one of the first k passages has no label, if the measure is undefined for labels between 0 and
    1, for nDCG if ``how.constant`` is true, or if the cutoff is ``how.below`` or more. Without ``how``, labels are
    treated as integers if all of them are. Raises InputError for an unknown measure, or for a negative label unless
    ``how.signed``.
    """
    for measure in measures:
        if measure not in PAPER_NAMES:
            raise InputError("measure", repr(measure), one_of(PAPER_NAMES, measure))
    below = labels.filter(pl.col("label") < 0)["label"]
    if len(below) and not (how and how.signed):
        raise InputError("labels", str(below[0]), "labels of at least 0")
    ranked = ranking.select("qid", "docno", "rank").sort("qid", "rank")
    graded = labels.select("qid", "docno", pl.col("label").cast(pl.Float64))
    ranked = ranked.join(graded, on=["qid", "docno"], how="left", maintain_order="left")
    how = how or How(whole=_are_whole(labels["label"]))
    values = _values(ranked, measures, list(ks), how)
    measured = pl.lit(True) if how.below is None else pl.col("k") < how.below
    varies = ~(pl.lit(how.constant) & (pl.col("measure") == "nDCG"))
    known = ranked.group_by("qid", maintain_order=True).agg("label", pl.len().cast(pl.Int64).alias("n_ranked"))
    unlabelled = pl.col("label").list.head(pl.col("k")).list.eval(pl.element().is_null()).list.any()
    order = {name: place for place, name in enumerate(measures)}
    return (
        values.join(known, on="qid")
        .with_columns(value=pl.when(measured, ~unlabelled, varies).then(pl.col("value")))
        .sort(pl.col("measure").replace_strict(order, return_dtype=pl.Int64), "k", "qid")
        .select(*SCHEMA)
    )


def _are_whole(labels: pl.Series) -> bool:
    return bool((labels.cast(pl.Float64) % 1 == 0).all())


def _values(ranked: pl.DataFrame, measures: Sequence[str], ks: list[int], how: How) -> pl.DataFrame:
    if not how.whole:
        return _continuous(ranked, measures, ks)
    if how.gains is None:
        return _counted(ranked, measures, ks, how.relevant)
    gained = ranked.drop("label").join(
        how.gains.select("qid", "docno", pl.col("gain").alias("label")), on=["qid", "docno"], how="left"
    )
    counted = _counted(ranked, [name for name in measures if name != "nDCG"], ks, how.relevant)
    return pl.concat([counted, _continuous(gained, [name for name in measures if name == "nDCG"], ks)])


def _counted(ranked: pl.DataFrame, measures: Sequence[str], ks: list[int], relevant: float) -> pl.DataFrame:
    """Compute measures with ir_measures: nDCG uses the labels, others count labels of at least ``relevant``."""
    judged = ranked.drop_nulls("label").select("qid", "docno", pl.col("label"))
    binary = judged.with_columns((pl.col("label") >= relevant).cast(pl.Int64))
    graded = judged.with_columns(pl.col("label").cast(pl.Int64))
    parts = ((binary, [name for name in measures if name != "nDCG"]), (graded, [n for n in measures if n == "nDCG"]))
    measured = [measure_ranking(ranked, qrels, names, ks) for qrels, names in parts if names]
    return pl.concat(measured or [pl.DataFrame(schema=_VALUES)])


def _continuous(ranked: pl.DataFrame, measures: Sequence[str], ks: Sequence[int]) -> pl.DataFrame:
    rows: list[tuple[str, str, int, float | None]] = []
    for qid, labels in ranked.group_by("qid", maintain_order=True).agg("label").iter_rows():
        # A null label has no gain here; the caller sets each value that it affects to null.
        gains = np.array([label or 0.0 for label in labels])
        for name in measures:
            rows += [(qid, name, k, _value(name, gains, k) if name in CONTINUOUS else None) for k in ks]
    return pl.DataFrame(rows, schema=_VALUES, orient="row")


def _value(name: str, gains: np.ndarray, k: int) -> float:
    if name == "P":
        return float(gains[:k].sum() / k)
    if name == "Success":
        return float(np.pad(gains, (0, k))[:k].max())
    gains = np.maximum(gains, 0.0)
    ideal = _dcg(np.sort(gains)[::-1], k)
    return _dcg(gains, k) / ideal if ideal > 0 else 0.0


def _dcg(gains: np.ndarray, k: int) -> float:
    top = gains[:k]
    return float((top / np.log2(np.arange(2, len(top) + 2))).sum())
