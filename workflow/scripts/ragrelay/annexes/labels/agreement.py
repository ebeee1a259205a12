"""Measure how well each annotation source agrees with human labels, on passages labelled by both source and people."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.kappa import METHOD, cohens_kappa, tables_by_query
from ragrelay.analysis.orders import AT_LEAST as RETRIEVERS_FOR_INTERVAL
from ragrelay.analysis.orders import DECIMALS, TAU, kendall_tau, order_agreement
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    STUDY_PART,
    boolean,
    integer,
    number,
    schema_of,
    text,
)

KAPPA, WEIGHTED, PASSAGES, RETRIEVERS = "kappa", "kappa_weighted", "tau_passages", "tau_retrievers"
RETRIEVERS_AT_LEAST = 3
TABLE = {
    "source": text("name of the annotation source"),
    "judge": boolean("whether the source's labels are used in place of human labels, so that results may depend on the "
                     "source"),
    "people": text("name of the annotation source with human labels"),
    "references": REFERENCES,
    "quantity": text(f"kind of agreement in `value`: `{KAPPA}`, Cohen's kappa for relevant or not; `{WEIGHTED}`, "
        f"Cohen's kappa for graded labels, with quadratic weights; `{PASSAGES}`, Kendall's tau-b between both labels "
        f"over a query's passages, averaged over queries; `{RETRIEVERS}`, Kendall's tau-b between retrievers' mean "
        "values of the measure with the two kinds of labels, with an interval that treats the retrievers as a sample"),
    "measure": text("for `tau_retrievers`: name of the retrieval measure, which is computed from the labels"),
    "k": integer("cutoff of the measure", "passages"),
    "value": number("value of the coefficient in `quantity`", "at most 1"),
    **INTERVAL,
    "n": integer("number of query–passage pairs with both labels; for `tau_retrievers`, number of retrievers"),
    "n_queries": integer("number of queries with at least one pair that has both labels", "queries"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of agreement.csv."""
CONFUSION = {
    "source": TABLE["source"],
    "people": TABLE["people"],
    "references": REFERENCES,
    "people_label": integer("human label for the pairs"),
    "source_label": integer("source's label for the pairs; a label between 0 and 1 counts as 1 if it is at least 0.5, "
        "and an effect on P counts as 1 if it is above 0"),
    "pairs": integer("number of query–passage pairs with the labels in `people_label` and `source_label`", "pairs"),
}  # fmt: skip
CONFUSION_COLUMNS = {**STUDY_PART, **CONFUSION}
"""Columns of confusion.csv."""


class Scale(NamedTuple):
    """The scale of a source's labels."""

    relevant: float
    """The lowest label that counts as relevant."""
    graded: bool
    """Whether the labels are grades, which may be above 1."""
    judge: bool
    """Whether the source's labels replace human labels."""


class Paired(NamedTuple):
    """Human labels and source labels for query-passage pairs; ``query``: each pair's query number, from 0."""

    query: Array
    people: Array
    source: Array


def agreement_tables(
    labels: pl.DataFrame,
    known: Mapping[str, pl.DataFrame],
    values: pl.DataFrame,
    people: str,
    scales: Mapping[str, Scale],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare each source's labels with human labels from the source ``people`` (columns TABLE and CONFUSION).

    ``labels``: columns study_labels.LABELS; ``values``: columns values.SCHEMA; ``known``: for sources that replace
    missing labels, the pairs (qid, docno) with real labels. The sampling units of intervals are queries, or retrievers
    for correlations between retrievers' means. Rows without a value or an interval have a ``reason``.
    """
    rows: list[dict[str, object]] = []
    cells: list[dict[str, object]] = []
    by_people = _really_labelled(labels, known, people)
    for name in (name for name in scales if name != people):
        by_source = _really_labelled(labels, known, name)
        paired_labels = by_people.join(by_source, on=["references", "qid", "docno"], suffix="_source")
        if paired_labels.is_empty():
            nothing = {"judge": scales[name].judge, "n": 0, "n_queries": 0, "reason": "no passage has both labels"}
            named = {"source": name, "people": people, "quantity": KAPPA}
            rows += [named | nothing | {"references": one} for one in labels["references"].unique(maintain_order=True)]
        for (references,), pairs in paired_labels.sort("qid", "docno").group_by("references", maintain_order=True):
            named = {"source": name, "people": people, "references": references}
            paired = Paired(*pairs.select(pl.col("qid").rank("dense") - 1, "label", "label_source").to_numpy().T)
            pair = scales[people], scales[name]
            counts = {"judge": scales[name].judge, "n": pairs.height, "n_queries": pairs["qid"].n_unique()}
            rows += [named | counts | row for row in _of_pairs(paired, *pair)]
            cells += [named | cell for cell in _confusion(paired, pair[1])]
        rows += [{"judge": scales[name].judge, **row} for row in _of_retrievers(values, people, name)]
    return pl.DataFrame(rows, schema=schema_of(TABLE)), pl.DataFrame(cells, schema=schema_of(CONFUSION))


def _really_labelled(labels: pl.DataFrame, known: Mapping[str, pl.DataFrame], name: str) -> pl.DataFrame:
    of_source = labels.filter(source=name).drop("source")
    return of_source.join(known[name], on=["qid", "docno"], how="semi") if name in known else of_source


def _of_pairs(paired: Paired, people: Scale, source: Scale) -> Iterator[dict[str, object]]:
    by_people, by_source = paired.people >= people.relevant, paired.source >= source.relevant
    yield {"quantity": KAPPA} | _kappa(paired.query, by_people.astype(float), by_source.astype(float), False)
    if source.graded and people.graded:
        yield {"quantity": WEIGHTED} | _kappa(paired.query, paired.people, paired.source, True)
    else:
        yield {"quantity": WEIGHTED, "reason": "the labels aren’t grades"}
    yield {"quantity": PASSAGES} | _of_passages(paired)


def _kappa(query: Array, people: Array, source: Array, weighted: bool) -> dict[str, object]:
    # Counts are by the label's rank among the distinct labels, because a grade may be any number.
    labels, places = np.unique([people, source], return_inverse=True)
    by_people, by_source = places.reshape(2, -1)
    tables = tables_by_query(query.astype(np.int64), by_people, by_source, len(labels))
    value, low, high = (float(figure) for figure in cohens_kappa(tables, weighted, labels))
    if not np.isfinite(value):
        return {"reason": "people and the source give every pair the same label"}
    if len(tables) < QUERIES_AT_LEAST or not np.isfinite(low):
        return {"value": value, "reason": f"fewer than {QUERIES_AT_LEAST} queries with different labels"}
    if low == high:  # for example 0, if one of the two gives every pair the same label
        return {"value": value, "reason": "leaving out any one query changes nothing"}
    return {"value": value, "low": low, "high": high, "method": METHOD}


def _of_passages(paired: Paired) -> dict[str, object]:
    places = np.split(np.arange(len(paired.query)), np.flatnonzero(np.diff(paired.query)) + 1)
    taus = np.array([kendall_tau(paired.people[rows], paired.source[rows]) for rows in places])
    taus = taus[np.isfinite(taus)]
    if not len(taus):
        return {"reason": "no query has two different labels both from people and from the source"}
    row: dict[str, object] = {"value": float(taus.mean()), "n_queries": len(taus)}
    if len(taus) < QUERIES_AT_LEAST or is_constant(taus):
        return row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries have two different labels from both"
                                if len(taus) < QUERIES_AT_LEAST else "all queries have the same τ"}  # fmt: skip
    (low,), (high,) = mean_tests.Means.of(taus[:, None]).interval()
    return row | {"low": float(low), "high": min(float(high), 1.0), "method": mean_tests.METHOD}


def _confusion(paired: Paired, source: Scale) -> list[dict[str, object]]:
    by_source = paired.source if source.graded else paired.source >= source.relevant
    frame = pl.DataFrame({"people_label": paired.people.astype(int), "source_label": by_source.astype(int)})
    counts = frame.group_by("people_label", "source_label").agg(pl.len().alias("pairs"))
    return counts.sort("people_label", "source_label").to_dicts()


def _of_retrievers(values: pl.DataFrame, people: str, source: str) -> Iterator[dict[str, object]]:
    keys = ["references", "measure", "k"]
    own = values.filter(source=people).select("retriever", *keys, "qid", "value")
    paired_values = own.join(values.filter(source=source), on=["retriever", *keys, "qid"], suffix="_source").drop_nulls(
        ["value", "value_source"]
    )
    for key, cell in paired_values.group_by(keys, maintain_order=True):
        named = dict(zip(keys, key, strict=True)) | {"source": source, "people": people, "quantity": RETRIEVERS}
        names = cell["retriever"].unique(maintain_order=True).to_list()
        whole = cell.filter(pl.len().over("qid") == len(names)).sort("qid", "retriever")
        of_people, of_source = (whole[name].to_numpy().reshape(-1, len(names)) for name in ("value", "value_source"))
        named |= {"n": len(names), "n_queries": len(of_people)}
        if len(names) < RETRIEVERS_AT_LEAST or len(of_people) < QUERIES_AT_LEAST:
            yield named | {"reason": f"fewer than {RETRIEVERS_AT_LEAST} retrievers or {QUERIES_AT_LEAST} queries"}
            continue
        yield named | tau_means(of_people, of_source)


def tau_means(people: Array, source: Array, at_least: int = RETRIEVERS_FOR_INTERVAL) -> dict[str, object]:
    """Compute Kendall's tau-b, with an interval, between the retrievers' means in two tables (queries, retrievers).

    The interval describes tau for these queries and similar retrievers, so the sampling units are retrievers (see
    analysis.orders). Resampling queries would add sampling noise to the means a second time, and would ignore that the
    retrievers are a sample.
    """
    x, y = (np.round(table.mean(axis=0), DECIMALS) for table in (people, source))
    return order_agreement(x, y, TAU, "retriever", at_least)
