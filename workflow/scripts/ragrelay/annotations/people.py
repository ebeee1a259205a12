"""Trust in judges: agreement with people's labels, and prediction-powered measures over all queries."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.annotations.agreement import HALF, Scale, agreement_tables
from ragrelay.annotations.powered import powered_table
from ragrelay.annotations.source import ANNOTATION_KINDS

File = str | Path


class Trust(NamedTuple):
    """Columns agreement.TABLE, agreement.CONFUSION and powered.TABLE."""

    agreement: pl.DataFrame
    confusion: pl.DataFrame
    powered: pl.DataFrame


def people_of(agreement: Mapping[str, Any], catalogue: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> str:
    """The source among ``names`` whose labels are people's: the configured one, or the first of kind qrels; or ``""``.

    ``agreement``: that key of the configuration.
    """
    judged = [name for name in names if catalogue[name]["kind"] == "qrels"]
    return agreement.get("people") or (judged[0] if judged else "")


class Labelled(NamedTuple):
    """Of a dataset, scorer and generator: study_labels.LABELS, values.SCHEMA, utility.COLUMNS and the qrels."""

    labels: pl.DataFrame
    values: pl.DataFrame
    utility: pl.DataFrame
    qrels: pl.DataFrame


class Labellers(NamedTuple):
    """The sources ``names`` of the catalogue ``annotations``; ``made``: tables of the sources' jobs, by source."""

    annotations: Mapping[str, Mapping[str, Any]]
    names: Sequence[str]
    made: Mapping[str, File]


def measure_agreement(
    tables: Labelled,
    sources: Labellers,
    agreement: Mapping[str, Any],
    lowest_grade: int,
    resamples: int,
    seed: int,
) -> Trust:
    """Agreement of ``sources`` with people's labels. No rows without these.

    ``agreement``: that key of the configuration. Prediction-powered rows are made only where it states that people's
    queries are a random sample.
    """
    annotations, names, made = sources
    kinds = {name: ANNOTATION_KINDS.of(annotations[name]) for name in names}
    people = people_of(agreement, annotations, names)
    known = {}
    for name, kind in kinds.items():
        pairs = kind.known_pairs(tables.qrels, made.get(name))
        known.update({} if pairs is None else {name: pairs})
    scales = {
        name: Scale(kind.counted_from(lowest_grade) if kind.whole(annotations) else HALF, kind.graded, kind.judge)
        for name, kind in kinds.items()
        if not kind.constant and people
    }
    both = agreement_tables(tables.labels, known, tables.values, people, scales, resamples, seed)
    stated = bool(people) and agreement["random_sample"]
    others = [name for name in scales if name != people] if stated else []
    return Trust(*both, powered_table(tables.labels, tables.values, tables.utility, people, others))
