"""Measure how far judges can be trusted: agreement with human labels, and prediction-powered estimates."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.annexes.labels.agreement import Scale, agreement_tables
from ragrelay.annexes.labels.powered import powered_table
from ragrelay.annexes.labels.source import ANNOTATION_KINDS

File = str | Path


class Trust(NamedTuple):
    """The tables on trust in judges, with the columns agreement.TABLE, agreement.CONFUSION and powered.TABLE."""

    agreement: pl.DataFrame
    confusion: pl.DataFrame
    powered: pl.DataFrame


def people_of(agreement: Mapping[str, Any], catalogue: Mapping[str, Mapping[str, object]], names: Sequence[str]) -> str:
    """Return the name of the source with human labels: the configured source, or the first of kind `qrels`.

    ``agreement``: the value of the config key ``agreement``. Returns "" if no source has human labels.
    """
    qrels = [name for name in names if catalogue[name]["kind"] == "qrels"]
    return agreement.get("people") or (qrels[0] if qrels else "")


class Labelled(NamedTuple):
    """The label tables for a dataset, scorer and generator."""

    labels: pl.DataFrame
    """The labels (columns study_labels.LABELS)."""
    values: pl.DataFrame
    """The retrieval measures (columns values.SCHEMA)."""
    utility: pl.DataFrame
    """The utility table (columns analysis.utility.COLUMNS)."""
    qrels: pl.DataFrame


class Labellers(NamedTuple):
    """A study's annotation sources."""

    annotations: Mapping[str, Mapping[str, Any]]
    """The definitions of all sources in the catalogue, keyed by name."""
    names: Sequence[str]
    """The names of the sources that the study uses."""
    made: Mapping[str, File]
    """The tables computed by the sources' jobs, keyed by source."""


def measure_agreement(
    tables: Labelled,
    sources: Labellers,
    agreement: Mapping[str, object],
    lowest_grade: int,
) -> Trust:
    """Measure how well ``sources`` agree with human labels. If there are no human labels, the tables are empty.

    ``agreement``: the value of the config key ``agreement``. Prediction-powered estimates are computed only if
    ``random_sample`` is true, that is, if the queries with human labels are a random sample.
    """
    annotations, names, made = sources
    kinds = {name: ANNOTATION_KINDS.of(annotations[name]) for name in names}
    people = people_of(agreement, annotations, names)
    known = {}
    for name, kind in kinds.items():
        pairs = kind.known_pairs(tables.qrels, made.get(name))
        known.update({} if pairs is None else {name: pairs})
    scales = {
        name: Scale(
            kind.counted_from(lowest_grade) if kind.whole(annotations) else kind.relevant_from, kind.graded, kind.judge
        )
        for name, kind in kinds.items()
        if not kind.constant and people
    }
    agreements = agreement_tables(tables.labels, known, tables.values, people, scales)
    stated = bool(people) and agreement["random_sample"]
    others = [name for name in scales if name != people] if stated else []
    return Trust(*agreements, powered_table(tables.labels, tables.values, tables.utility, people, others))
