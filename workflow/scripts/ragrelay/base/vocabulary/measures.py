"""Compute retrieval measures at every k with ir_measures (MacAvaney et al., ECIR 2022)."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import polars as pl

from ragrelay.base.errors import InputError, nearest
from ragrelay.base.vocabulary.columns import QID, integer, number, schema_of, text

COLUMNS = {
    "qid": QID,
    "measure": text("name of the retrieval measure, as in ir_measures"),
    "k": integer("cutoff of the measure", "passages"),
    "value": number("value of the measure at the cutoff, computed on the ranking that the prompts use"),
}
HIGHEST_LABELS = {"gdeval": 4}
"""The highest label that a provider in ir_measures accepts, for each provider with a limit."""
SUBTOPIC_MEASURES = ("StRecall", "alpha_nDCG")
"""The subtopic measures that ragrelay computes itself (subtopic_measures.py)."""
REFUSED = {
    "pyndeval": ("a subtopic measure", "StRecall, alpha_nDCG, or a measure of judged passages"),
    "accuracy": ("which has no value for many queries", "a measure with a value for every query with results"),
}
"""Providers in ir_measures whose measures are rejected, each with the reason and the measures to use instead."""


class _Computed(NamedTuple):
    """What to request from ir_measures. For a measure without a cutoff, such as RBP, rankings are cut at ``cut``."""

    measure: ir_measures.Measure
    cut: int | None


def measure_ranking(
    ranking: pl.DataFrame,
    qrels: pl.DataFrame,
    measures: Sequence[str],
    ks: Sequence[int],
    relevant: int = 1,
    qids: Sequence[str] = (),
) -> pl.DataFrame:
    """Compute ``measures`` at the cutoffs ``ks`` for each query in ``ranking`` (qid, docno, rank).

    Scores are derived from ranks, because trec_eval would reorder passages with equal float32 scores. Binary measures
    treat labels of at least ``relevant`` as relevant, unless the measure's name sets a level (``P(rel=3)``). Queries in
    ``qids`` that have judgements but no results get 0. Returns the columns qid, measure, k and value, in the order of
    ``measures``, ``ks`` and the ranking's queries. Raises InputError if no installed provider computes a measure, or if
    a provider doesn't accept a label or returns no value for a query with results and a relevant passage.
    """
    check_labels(measures, qrels["label"], "judgements")
    judged = _by_query(qrels, pl.col("label"))
    # By measure rather than by name, because AP and MAP are the same measure in ir_measures.
    wanted = {(name, k): _computed(name, k, relevant) for name in measures for k in ks}
    values: dict[_Computed, dict[str, float]] = {}
    for cut in {asked.cut for asked in wanted.values()}:
        shown = ranking if cut is None else ranking.filter(pl.col("rank") <= cut)
        of_cut = {asked.measure for asked in wanted.values() if asked.cut == cut}
        found = _values(of_cut, judged, _by_query(shown, -pl.col("rank").cast(pl.Float64)))
        values |= {_Computed(measure, cut): of_measure for measure, of_measure in found.items()}
    ranked = ranking["qid"].unique(maintain_order=True).to_list()
    empty = sorted(judged.keys() & set(qids) - set(ranked))
    rows: list[tuple[str, str, int, float]] = []
    for (name, k), asked in wanted.items():
        of_measure = values[asked] | dict.fromkeys(empty, 0.0)
        rows += [(qid, name, k, of_measure[qid]) for qid in [*ranked, *empty] if qid in of_measure]
    return pl.DataFrame(rows, schema=schema_of(COLUMNS), orient="row")


def check_measure(place: str, name: str) -> None:
    """Raise InputError unless an installed provider of ir_measures can compute ``name`` at a cutoff."""
    try:
        measure = ir_measures.parse_measure(name)
        taken = measure @ 1 if "cutoff" in measure.SUPPORTED_PARAMS else measure
        taken.validate_params()
    except (ValueError, NameError, SyntaxError, TypeError, AttributeError, KeyError, AssertionError) as error:
        near = "" if name in (known := ir_measures.measures.registry) else nearest(known, name)
        why = re.sub("=<object .*>", " is not given", str(error))  # how ir_measures writes a missing parameter
        raise InputError(place, f"{name!r} ({why})", f"a measure in ir_measures{near}") from None
    if "cutoff" in measure.params:
        raise InputError(place, repr(name), "a measure without a cutoff, because every measure is computed at every k")
    if measure.NAME in SUBTOPIC_MEASURES:
        _check_subtopic_measure(place, name, measure)
        return
    for provider in _providers(taken):
        if provider.NAME in REFUSED:
            why, expected = REFUSED[provider.NAME]
            raise InputError(place, f"{name!r}, {why}", expected)
    if "cutoff" not in measure.SUPPORTED_PARAMS:
        raise InputError(place, repr(name), "a measure that can be computed at a cutoff")
    _computed(name, 1, 1, place)


def _check_subtopic_measure(place: str, name: str, measure: ir_measures.Measure) -> None:
    if measure.params.get("judged_only"):
        raise InputError(place, f"{name!r}, which uses only judged passages", "a measure of complete rankings")
    if measure["rel"] < 1:
        raise InputError(place, repr(name), "a rel of at least 1, because label 0 means not relevant")
    if not 0 <= measure.params.get("alpha", 0.5) <= 1:
        raise InputError(place, repr(name), "an alpha from 0 to 1")


def check_labels(measures: Iterable[str], labels: pl.Series, place: str) -> None:
    """Raise InputError if a label is too high for one of ``measures``."""
    for name, limit in highest_labels(measures).items():
        for label in labels.filter(labels > limit):
            raise InputError(place, f"label {label}", f"labels up to {limit}, the highest that measure {name} accepts")


def highest_labels(measures: Iterable[str]) -> dict[str, int]:
    """Return the highest label that each measure accepts. Measures without a limit are left out."""
    providers = {name: _providers(_computed(name, 1, 1).measure, installed=True)[0].NAME for name in measures}
    return {name: HIGHEST_LABELS[provider] for name, provider in providers.items() if provider in HIGHEST_LABELS}


def _computed(name: str, k: int, relevant: int, place: str = "measure") -> _Computed:
    """Return the measure ``name`` at the cutoff ``k``, with ``rel`` set to ``relevant`` if the name doesn't give it.

    Raises InputError for ``place`` if no installed provider computes it.
    """
    measure = ir_measures.parse_measure(name)
    if "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:  # graded measures don't have it
        measure = measure(rel=relevant)
    # With judged_only, cutting the ranking at k differs from cutting the measure at k.
    ways = [_Computed(measure @ k, None)] + ([] if measure.params.get("judged_only") else [_Computed(measure, k)])
    for asked in ways:
        if _providers(asked.measure, installed=True):
            return asked
    packages = [provider.install_instructions() for asked in ways for provider in _providers(asked.measure)]
    install = f"a provider that does ({' or '.join(dict.fromkeys(packages))}), or " if packages else ""
    raise InputError(place, f"{name!r}, which no installed ir_measures provider computes at a cutoff",
                     f"{install}another measure")  # fmt: skip


def _providers(measure: ir_measures.Measure, installed: bool = False) -> list[ir_measures.Provider]:
    """Return the providers that compute ``measure``, starting with the one that ir_measures would use."""
    try:
        measure.validate_params()
    except AssertionError:  # such as a missing cutoff
        return []
    known = [provider for provider in ir_measures.DefaultPipeline.providers if provider.supports(measure)]
    return [provider for provider in known if provider.is_available() or not installed]


def _values(
    measures: Iterable[ir_measures.Measure], judged: Mapping[str, Any], run: Mapping[str, Any]
) -> dict[ir_measures.Measure, dict[str, float]]:
    """Return each measure's values for the judged queries in ``run``, by query.

    Providers get numbers as qids, because gdeval accepts nothing else. Where a provider returns no value, ir_measures
    returns the measure's DEFAULT. Here that becomes 0 for a query without a relevant passage, as in trec_eval, and an
    error for any other query.
    """
    numbers = {qid: str(number) for number, qid in enumerate((qid for qid in run if qid in judged), 1)}
    values: dict[ir_measures.Measure, dict[str, float]] = {measure: {} for measure in measures}
    if not numbers:
        return values
    for measure in values:
        measure.DEFAULT = math.nan
    qrels, rankings = ({number: by_qid[qid] for qid, number in numbers.items()} for by_qid in (judged, run))
    named = {number: qid for qid, number in numbers.items()}
    for result in ir_measures.iter_calc(list(values), qrels, rankings):
        values[result.measure][named[result.query_id]] = float(result.value)
    for measure, of_query in values.items():
        least = measure["rel"] if "rel" in measure.SUPPORTED_PARAMS else 1
        with_relevant = {qid for qid in numbers if max(judged[qid].values()) >= least}
        if empty := [qid for qid in numbers if math.isnan(of_query.get(qid, math.nan)) and qid in with_relevant]:
            found = f"no value for {len(empty)} of {len(numbers)} queries, such as {empty[0]!r}"
            raise InputError(f"measure {measure}", found, "a value for every query with results")
        values[measure] = {qid: 0.0 if math.isnan(value) else value for qid, value in of_query.items()}
    return values


def _by_query(table: pl.DataFrame, value: pl.Expr) -> dict[str, dict[str, Any]]:
    """Return ``value`` by query and passage, in the form that ir_measures accepts without conversion."""
    values: dict[str, dict[str, Any]] = defaultdict(dict)
    for qid, docno, valued in table.select("qid", "docno", value.alias("value")).iter_rows():
        values[qid][docno] = valued
    return dict(values)
