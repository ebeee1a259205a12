"""Pool results over a study's generators, which share queries, and over its datasets, which are independent samples."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis import relay, verdicts
from ragrelay.analysis.clusters import Clusters, of_queries
from ragrelay.analysis.correlation import CONSTANT, is_constant
from ragrelay.analysis.mean_tests import ClusterMeans
from ragrelay.analysis.relay import ALL_RANKINGS
from ragrelay.analysis.remarks import REMARK
from ragrelay.analysis.standing import STANDS
from ragrelay.analysis.systems import PRIMARY, systems
from ragrelay.base.vocabulary.columns import (
    CELL,
    REASON,
    REFERENCES,
    STUDY_PART,
    boolean,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.primary import Primary

ALL_DATASETS = "all datasets"
DATASETS_AT_LEAST = 5
"""Minimum number of datasets for a row about all datasets."""
SYSTEMS, RELAY = "systems", "relay"
Margins = Mapping[str, float | None]
UNIT = "the scorer's; for `relay`: P per unit of the measure"
COLUMNS = {
    "dataset": text(f"name of the dataset, or `{ALL_DATASETS}` in rows that pool at least five datasets"),
    "scorer": STUDY_PART["scorer"],
    "question": text(f"result in the row: `{SYSTEMS}` (the primary pair's difference in mean P) or "
                     f"`{RELAY}` (the slope of P on the measure over all pairs of rankings)"),
    "adjusted": boolean("for `relay`: whether the slope is adjusted for P₀ and the query's mean value of the measure"),
    "retrievers": text("names of the primary pair's retrievers, or `all rankings`"),
    "generators": text("names of the generators over which each query's P and P₀ are averaged"),
    "n_generators": integer("number of generators over which P and P₀ are averaged", "generators"),
    "n_datasets": integer("number of datasets that the row pools", "datasets"),
    "ordering": text("ordering in the primary comparison"),
    "k": integer("k in the primary comparison", "passages"),
    "references": REFERENCES,
    "measure": text("for `relay`: measure in the primary comparison"),
    "n": integer("number of queries; for `relay`, only queries whose contexts differ", "queries"),
    "estimate": number("estimated mean difference or slope", UNIT),
    "error": number("standard error of the estimate", UNIT),
    "low": number("lower end of the 95% interval", UNIT),
    "high": number("upper end of the 95% interval", UNIT),
    "p_value": number("two-sided p-value for the null hypothesis that the true difference or slope is 0"),
    "margin": number("for `systems`: the scorer's equivalence margin", "the scorer's"),
    "tau": number("for `all datasets`: estimated standard deviation, between datasets, of the true difference or "
                  "slope", UNIT),
    "verdict": text("verdict, based on the interval as in `systems.csv` and `relay.csv`"),
    "reason": REASON,
    "stands": STANDS,
    "remark": REMARK,
}  # fmt: skip
"""Columns of pooled.csv."""
SCHEMA = schema_of(COLUMNS)
PER_QUERY = [*CELL, "qid"]


class Sample(NamedTuple):
    """One dataset's answers with one scorer's scores."""

    dataset: str
    scorer: str
    primary: Primary
    utilities: Mapping[str, pl.DataFrame]
    """Tables with utility.COLUMNS, keyed by generator."""
    retrieval: pl.DataFrame
    """Columns retriever, qid, measure, k, value."""
    contexts: pl.DataFrame
    """Columns retriever, ordering, k, qid, docnos."""
    clusters: Clusters | None = None
    """Each query's cluster number (see Transmission)."""


def pool_samples(samples: Iterable[Sample], kinds: Mapping[str, str], margins: Margins) -> pl.DataFrame:
    """Compute pooled.csv (``SCHEMA``): rows for each sample and, for each scorer, rows for all datasets together.

    A sample has one row for the primary pair, as in systems.csv, and the rows for ``all rankings`` in the primary cell,
    as in relay.csv. P and P_0 are first averaged over generators, for queries with values from all generators, because
    answers to the same queries aren't independent samples. ``kinds`` maps retrievers to kinds, and ``margins`` maps
    scorers to margins.

    Datasets are independent samples. If at least DATASETS_AT_LEAST datasets have enough queries for a verdict, another
    row gives the random-effects estimate over these datasets (tau^2 of Paule and Mandel 1982) with the Hartung-Knapp
    interval (Student's t). This interval is widened to contain the interval based on the random-effects standard error
    (Röver et al. 2015) and the interval for the plain mean over datasets. Without the widening, a dataset far larger
    than the rest would alone determine the result (docs/methods.md).
    """
    rows = [row for sample in samples for row in _of_sample(sample, kinds, margins[sample.scorer])]
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault((row["scorer"], row["question"], row["adjusted"]), []).append(row)
    for family in families.values():
        known = [row for row in family if row["error"] and row["verdict"] != verdicts.TOO_FEW]
        if len(known) >= DATASETS_AT_LEAST:
            rows.append(_of_all(known, margins[known[0]["scorer"]]))
    return pl.DataFrame(rows, schema=SCHEMA)


def mean_of_generators(utilities: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Average P and P_0 over generators (columns PER_QUERY, p, p0), with null unless every generator has a value."""
    return (
        pl.concat([table.select(*PER_QUERY, "p", "p0") for table in utilities])
        .sort(PER_QUERY, maintain_order=True)
        .group_by(PER_QUERY, maintain_order=True)
        .agg("p", "p0")
        .with_columns(
            pl.when(pl.col(name).list.drop_nulls().list.len() == len(utilities)).then(pl.col(name).list.mean())
            for name in ("p", "p0")
        )
    )


def _of_sample(sample: Sample, kinds: Mapping[str, str], margin: float | None) -> Iterator[dict[str, object]]:
    primary = sample.primary
    cell = {"ordering": primary.ordering, "k": primary.k, "references": primary.references}
    averaged = mean_of_generators([table.filter(**cell) for table in sample.utilities.values()])
    names = {"dataset": sample.dataset, "scorer": sample.scorer, **cell, "n_datasets": 1}
    names |= {"generators": ", ".join(sample.utilities), "n_generators": len(sample.utilities)}
    pair = averaged.filter(pl.col("retriever").is_in([primary.retriever, primary.reference]))
    both, clusters = [primary.reference, primary.retriever], sample.clusters
    for row in systems(pair, both, None, primary, margin, clusters=clusters).iter_rows(named=True):
        if row["role"] == PRIMARY:
            sd = row["sd_difference"]
            yield names | {
                "question": SYSTEMS, "adjusted": None, "margin": margin,
                "retrievers": f"{primary.retriever}, {primary.reference}",
                "estimate": row["mean_difference"],
                "error": _mean_error(pair, both, clusters, sd) if sd is not None and sd > CONSTANT else None,
                **{name: row[name] for name in
                   ("n", "low", "high", "p_value", "verdict", "reason", "stands", "remark")},
            }  # fmt: skip
    measured = sample.retrieval.filter(measure=primary.measure)
    for _, cells in relay.cells_of(averaged, measured, sample.contexts, kinds, clusters=sample.clusters):
        pairs = [list(relay.pair_sums(cells[primary.k], adjusted)) for adjusted in (False, True)]
        for adjusted in (False, True) if pairs[0] else ():
            named = names | {"question": RELAY, "adjusted": adjusted, "retrievers": ALL_RANKINGS,
                             "measure": primary.measure}  # fmt: skip
            if adjusted and not np.isfinite(cells[primary.k].p0).any():
                yield named | {"n": 0, "error": None, "verdict": verdicts.UNDECIDED, "reason": relay.WITHOUT_P0}
                continue
            sums = relay.all_pairs(of_pair for _, of_pair in pairs[adjusted])
            fit = dict.fromkeys(("low", "high", "p_value", "reason")) | relay.slope(sums)
            slope = fit.get("slope")
            yield named | {
                "estimate": slope, "error": _error(sums, slope),
                **{name: fit[name] for name in ("n", "low", "high", "p_value", "verdict", "reason")},
            }  # fmt: skip


def _mean_error(pair: pl.DataFrame, both: Sequence[str], clusters: Clusters | None, sd: float) -> float:
    """Compute the standard error of the mean difference in P between ``both``, given its standard deviation ``sd``."""
    wide = pair.pivot("retriever", index="qid", values="p").drop_nulls(both)
    if (cluster := of_queries(wide["qid"], clusters)) is None:
        return sd / math.sqrt(wide.height)
    return ClusterMeans.of((wide[both[1]] - wide[both[0]]).to_numpy(), cluster).error


def _error(sums: relay.Sums, slope: float | None) -> float | None:
    """Compute the slope's standard error, with queries or their clusters as units; None if no unit deviates from it."""
    if slope is None:
        return None
    xx, xp, _ = sums.of_units
    n = len(xx)
    if is_constant(xp - slope * xx):
        return None
    return float(math.sqrt(sums.inflation * n / (n - 1) * ((xp - slope * xx) ** 2).sum()) / xx.sum())


def _of_all(rows: Sequence[Mapping[str, Any]], margin: float | None) -> dict[str, Any]:
    # Imported here, because it loads many modules that a study with few datasets doesn't need.
    from statsmodels.stats.meta_analysis import combine_effects

    effects = np.array([row["estimate"] for row in rows])
    with warnings.catch_warnings(), np.errstate(divide="ignore"):  # equal effects have zero heterogeneity
        # This warning is about the intervals of single samples, which aren't used.
        warnings.filterwarnings("ignore", message=".*requires `nobs`")
        combined = combine_effects(effects, np.array([row["error"] ** 2 for row in rows]), "iterated", use_t=True)
    degrees, estimate = len(rows) - 1, float(combined.mean_effect_re)
    error = float(max(combined.sd_eff_w_re, combined.sd_eff_w_re_hksj))
    means = ((estimate, error), (float(effects.mean()), float(stats.sem(effects))))
    reach = float(stats.t.ppf(0.975, degrees))
    low, high = min(mean - reach * se for mean, se in means), max(mean + reach * se for mean, se in means)
    of_slope = verdicts.ABOVE if low > 0 else verdicts.BELOW if high < 0 else verdicts.UNDECIDED
    same = {name: rows[0][name] if len({row.get(name) for row in rows}) == 1 else None for name in rows[0]}
    return same | {
        "dataset": ALL_DATASETS, "n_datasets": len(rows), "n": sum(row["n"] for row in rows), "estimate": estimate,
        "error": error, "low": low, "high": high, "tau": math.sqrt(max(float(combined.tau2), 0.0)),
        "p_value": _p_value(means, degrees), "reason": None, "stands": None,
        "verdict": of_slope if rows[0]["question"] == RELAY else verdicts.of_interval(low, high, margin),
    }  # fmt: skip


def _p_value(means: Iterable[tuple[float, float]], degrees: int) -> float:
    """Return the two-sided p-value for the more cautious of (mean, error) pairs; 1 if the means differ in sign.

    A mean of equal values has no error; unless the mean is 0, it counts as infinitely many errors away from 0.
    """
    t = [mean / error if error else math.copysign(math.inf, mean) if mean else 0.0 for mean, error in means]
    return float(min(1.0, 2.0 * min(max(stats.t.sf(side * statistic, degrees) for statistic in t) for side in (-1, 1))))
