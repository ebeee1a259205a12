"""Estimate the effect of one relevant passage: mean over queries, by position, and per unit of the retrieval measure.

Mean effects are tested like other mean differences. Slopes have Fieller intervals, as in analysis.relay.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests
from ragrelay.analysis.clusters import Clusters, Indexes, of_queries
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.equivalence import difference, testable, untestable, words_of
from ragrelay.analysis.relay import ALL_RANKINGS, why_no_answer
from ragrelay.analysis.remarks import REMARK
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.standing import AGAINST, STANDS, with_one_more
from ragrelay.analysis.verdicts import OF_DIFFERENCE, TOO_FEW
from ragrelay.annexes.interventions.columns import KEY
from ragrelay.annexes.interventions.intervention import BETWEEN, INTERVENTION_KINDS, OTHER, RELEVANT, ROW, Intervention
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    DOCNO,
    LABEL,
    QID,
    REASON,
    REFERENCES,
    STUDY_PART,
    boolean,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN

OVERALL, AT_PLACE, FIRST_LAST = "overall", "place", "first less last"
EFFECTS = {
    "intervention": text("name of the intervention in the configuration"),
    "kind": text("kind of the intervention"),
    "retriever": text("name of the retriever whose contexts are changed"),
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": integer("number of passages in the changed context", "passages"),
    "references": REFERENCES,
    "part": text(f"effect in the row: `{OVERALL}` (averaged over each query's positions and draws, then over "
                 "queries; for passages that were already in the context, the coefficient of relevance, adjusted for "
                 f"query and position), `{AT_PLACE}` (at one position in the prompt) or `{FIRST_LAST}` (effect at "
                 "the first position minus effect at the last, paired by query; only this row compares positions)"),
    "place": integer("position in the prompt, counted from 1; empty in rows for all positions"),
    "n": integer("number of queries with an effect", "queries"),
    "n_queries": integer("number of queries in the dataset, including those without an effect", "queries"),
    "n_changes": integer("number of individual changes, whose effects are averaged within each query", "changes"),
    "p_relevant": number("mean P with the relevant passage; empty if passages are compared within one context",
                         "the scorer's"),
    "p_other": number("mean P with the non-relevant passage; empty if passages are compared within one context",
    "the scorer's"),
    "effect": number("mean over queries of the effect of a relevant passage minus the effect of a non-relevant passage",
                     "the scorer's"),
    "verdict": text("verdict, based on the interval from `low` to `high`: "
                    f"{', '.join(f'`{word}`' for word in OF_DIFFERENCE)}"),
    "low": number("lower end of the interval at `level`", "the scorer's"),
    "high": number("upper end of the interval at `level`", "the scorer's"),
    "level": number("confidence level of the interval: 95%; for a single position, 1 − 5%/m for m positions, so that "
                    "the intervals at one k hold jointly"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the effect is 0"),
    "stands": STANDS,
    "remark": REMARK,
    "measure": text("name of the grid's first retrieval measure"),
    "moved": number("mean over queries of a relevant passage's effect on the measure, computed like `effect`"),
    "slope": number("causal gain in P per unit of the measure: `effect` divided by `moved`", "the scorer's"),
    "slope_low": number("lower end of Fieller's 95% interval for `slope`; empty if the interval is "
                        "unbounded", "the scorer's"),
    "slope_high": number("upper end of Fieller's 95% interval for `slope`; empty if the interval is "
                         "unbounded", "the scorer's"),
    "slope_stands": boolean(f"whether one more query (or cluster, as for `stands`) with an effect {AGAINST} above or "
                            "below the mean would leave the interval for `slope` nearly unchanged, moving neither end "
                            "outwards by more than half of the interval's width; empty if there is no interval"),
    "relay": number("correlational slope of P on the measure over all rankings in the same cell, from `relay.csv`; "
                    "empty if there is none", "the scorer's"),
    "relay_low": number("lower end of the interval for `relay`", "the scorer's"),
    "relay_high": number("upper end of the interval for `relay`", "the scorer's"),
    "reason": REASON,
    "relay_reason": text("why the page doesn't report relay in this cell; empty if the page reports it or `relay.csv` "
                         "has no row for the cell"),
}  # fmt: skip
COLUMNS = {**STUDY_PART, **EFFECTS}
"""Columns of intervention_effects.csv."""
PASSAGES = {
    "intervention": EFFECTS["intervention"],
    "what": text("description of the difference in P that `effect` measures"),
    "retriever": EFFECTS["retriever"],
    "ordering": EFFECTS["ordering"],
    "k": EFFECTS["k"],
    "references": REFERENCES,
    "qid": QID,
    "place": integer("position of the passage in the prompt, counted from 1"),
    "docno": DOCNO,
    "label": LABEL._replace(about="the passage's label in the judgements; empty if the passage is unjudged"),
    "effect": number("change in the query's P from including or repeating the passage; may be negative",
                     "the scorer's"),
}  # fmt: skip
PASSAGE_COLUMNS = {**STUDY_PART, **PASSAGES}
"""Columns of passage_effects.csv."""
OF_CELL = ["references", "k"]
COMPARABLE = 1e-9
"""Smaller sums of squared relevance, after removing its query and position means, are rounding errors."""
SINGULAR = 1e-9
"""Eigenvalues below this share of the largest are rounding errors of 0, since centred place indicators sum to 0."""
NOT_COMPARABLE = "relevant and non-relevant passages are never at the same position"


def intervention_effects(
    scores: Mapping[str, pl.DataFrame],
    changed: Mapping[str, pl.DataFrame],
    definitions: Mapping[str, Mapping[str, object]],
    relay: pl.DataFrame,
    qids: Sequence[str],
    grades: Sequence[str],
    orderings: Sequence[str],
    measure: str,
    margin: float,
    clusters: Clusters | None,
) -> pl.DataFrame:
    """Estimate each intervention's effect (columns EFFECTS, sorted by intervention, retriever, references and k).

    ``scores`` (columns scores.COLUMNS) and ``changed`` (columns contexts.COLUMNS) are keyed by retriever. ``relay``:
    the table in relay.csv. ``grades``: the names of the reference sets, without the unseen sets.
    """
    sets = [name for grade in grades for name in (grade, grade + UNSEEN)]
    rows: list[dict[str, Any]] = []
    for name, definition in definitions.items():
        kind = INTERVENTION_KINDS.of(definition)
        for retriever in kind.retrievers:
            own = scores[retriever].filter(intervention=name)
            measured = own.join(changed[retriever].select(*KEY, "value"), on=KEY, how="left", maintain_order="left")
            about = {"intervention": name, "kind": definition["kind"], "retriever": retriever,
                     "ordering": kind.laid_out(orderings), "n_queries": len(qids), "measure": measure}  # fmt: skip
            of_cells = measured.partition_by(OF_CELL, as_dict=True)
            for references, k in sorted(of_cells, key=lambda cell: (sets.index(cell[0]), cell[1])):
                cell = {**about, "references": references, "k": k}
                of_cell = _of_cell(kind, of_cells[references, k], margin, clusters)
                rows += [{**cell, **row, **_relay(relay, {**cell, **row})} for row in of_cell]
    schema = schema_of(EFFECTS)
    table = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
    # This includes a query's own passages: both effects contain the original P, so their difference is one of two Ps.
    return cut(table, (pl.col("part") != FIRST_LAST) & all(scaled(own, "p") for own in scores.values()))


def passage_effects(
    scores: Mapping[str, pl.DataFrame],
    changed: Mapping[str, pl.DataFrame],
    definitions: Mapping[str, Mapping[str, object]],
    orderings: Sequence[str],
) -> pl.DataFrame:
    """Compute each removed or repeated passage's effect (columns PASSAGES). For arguments, see intervention_effects."""
    frames = [pl.DataFrame(schema=schema_of(PASSAGES))]
    for name, definition in definitions.items():
        kind = INTERVENTION_KINDS.of(definition)
        for retriever in () if kind.needs_pairs else kind.retrievers:
            of_change = changed[retriever].filter(intervention=name)
            own = scores[retriever].filter(intervention=name)
            measured = own.join(of_change.select(*KEY, "value"), on=KEY, how="left", maintain_order="left")
            for (references, k), scored in measured.partition_by(OF_CELL, as_dict=True, maintain_order=True).items():
                passages = of_change.filter(k=k).select(*ROW, "docno", "label")
                names = {"intervention": name, "what": kind.about, "retriever": retriever,
                         "ordering": kind.laid_out(orderings), "k": k, "references": references}  # fmt: skip
                frames.append(
                    kind.effects(scored)
                    .drop_nulls("effect")
                    .join(passages, on=ROW, how="left", maintain_order="left")
                    .with_columns(pl.lit(value).cast(PASSAGES[key].dtype).alias(key) for key, value in names.items())
                    .select(*schema_of(PASSAGES))
                )
    return pl.concat(frames)


def by_query(effects: pl.DataFrame) -> pl.DataFrame:
    """Average the effects (from Intervention.effects) for each query; returns columns qid, effect, moved and n_changes.

    Within a query, all positions and draws have equal weight. If the column ``side`` says which passages are relevant,
    the effect compares relevant with non-relevant passages at equal positions, for queries that have both.
    """
    # Lists are sorted before they are summed, so that the number of threads doesn't change the last digit.
    rows = effects.drop_nulls("effect").sort("qid", "draw", "place")
    whole = rows.filter(pl.col("side").is_null()).group_by("qid", maintain_order=True).agg("effect", "moved")
    means = whole.select(
        "qid", pl.col("effect").list.mean(), pl.col("moved").list.mean(),
        n_changes=pl.col("effect").list.len().cast(pl.Int64),
    )  # fmt: skip
    compared = _compared(rows.filter(pl.col("side").is_in([RELEVANT, OTHER])))
    return pl.concat([means, compared.cast(means.schema)]).sort("qid")


def _compared(rows: pl.DataFrame) -> pl.DataFrame:
    """Return by_query's columns for changes to a context's own passages, for queries with both sides.

    A column's mean is the coefficient of relevance in the regression on relevance, query and place: places have effects
    of their own, and relevant passages stand at other places than non-relevant ones (unadjusted, 15 to 36% of findings
    are false: benchmarks/intervention_errors.py). A query's number is its part of the coefficient (Frisch and Waugh
    1933), so that tests over queries are those of cluster-robust regression. If the sides share no place, there are no
    rows.
    """
    both = rows.filter(pl.col("side").n_unique().over("qid") == 2)
    nothing = both.clear().select("qid", "effect", "moved", n_changes=pl.lit(0, pl.Int64))
    if both.is_empty():
        return nothing
    qids = both["qid"].unique(maintain_order=True)
    query = both["qid"].rank("dense").to_numpy().astype(np.int64) - 1
    place = both["place"].rank("dense").to_numpy().astype(np.int64) - 1
    counts = np.bincount(query)

    def within(values: Array) -> Array:
        return values - np.stack([np.bincount(query, column) / counts for column in values.T])[:, query].T

    places = within(np.eye(place.max() + 1)[place])
    inverse = np.linalg.pinv(np.einsum("ij,ik->jk", places, places), rcond=SINGULAR, hermitian=True)

    def rest(values: Array) -> Array:
        own = within(values[:, None])
        return (own - np.einsum("ij,jk->ik", places, inverse @ np.einsum("ij,ik->jk", places, own)))[:, 0]

    relevant = rest((both["side"] == RELEVANT).to_numpy().astype(np.float64))
    squares = np.bincount(query, relevant**2)
    if squares.sum() <= COMPARABLE:
        return nothing
    columns = {
        name: None if both[name].null_count() else
        np.bincount(query, relevant * rest(both[name].to_numpy())) / squares.mean()
        for name in ("effect", "moved")
    }  # fmt: skip
    return pl.DataFrame({"qid": qids, **columns, "n_changes": counts}, schema=nothing.schema)


def _of_cell(
    kind: Intervention, scored: pl.DataFrame, margin: float, clusters: Clusters | None
) -> Iterator[dict[str, object]]:
    effects = kind.effects(scored)
    queries = by_query(effects)
    arms = (
        scored.join(queries, on="qid", how="semi").group_by("arm", "qid", maintain_order=True).agg(pl.col("p").mean())
    )
    means = dict(arms.group_by("arm", maintain_order=True).agg(pl.col("p").mean()).iter_rows())
    two_arms = effects["side"].is_null().all() and len(effects) > 0
    of_arms = {"p_relevant": means.get(RELEVANT), "p_other": means.get(OTHER)} if two_arms else {}
    row = {"part": OVERALL, **of_arms, **_means([queries], margin, clusters)[0], **_slope(queries, clusters)}
    sides = (
        effects.drop_nulls("effect").group_by("qid").agg(pl.col("side").filter(pl.col("side") != BETWEEN).n_unique())
    )
    yield row | ({"reason": NOT_COMPARABLE} if queries.is_empty() and (sides["side"] == 2).any() else {})
    places = effects["place"].unique().sort().to_list() if two_arms else []
    if len(places) > 1:
        of_places = [by_query(effects.filter(place=place)) for place in places]
        for place, row in zip(places, _means(of_places, margin, clusters), strict=True):
            yield {"part": AT_PLACE, "place": place, **row}
        paired = of_places[0].join(of_places[-1], on="qid", suffix="_last").select(
            "qid", effect=pl.col("effect") - pl.col("effect_last"), moved=pl.lit(None, pl.Float64),
            n_changes=pl.col("n_changes") + pl.col("n_changes_last"),
        ).sort("qid")  # fmt: skip
        yield {"part": FIRST_LAST, **_means([paired], margin, clusters)[0]}


def _means(tables: Sequence[pl.DataFrame], margin: float, clusters: Clusters | None) -> list[dict[str, object]]:
    """Return the columns from n on for the mean of each of ``tables`` (from by_query), with simultaneous intervals."""
    columns = [_rounded(table["effect"]) for table in tables]
    of_columns = [of_queries(table["qid"], clusters) for table in tables]
    rows = []
    for table, column, cluster, word in zip(
        tables, columns, of_columns, words_of(columns, margin, of_columns), strict=True
    ):
        moved = table["moved"].mean()
        rows.append({
            "n": len(column), "n_changes": table["n_changes"].sum(), "moved": moved,
            "effect": float(column.mean()) if len(column) else None,
            "verdict": word["verdict"], "low": word.get("verdict_low"), "high": word.get("verdict_high"),
            "level": word.get("verdict_level"), "p_value": word.get("p_difference"), "stands": word.get("stands"),
            "remark": word["remark"],
            "reason": mean_tests.unbounded(word.get("verdict_low"), column, cluster) if testable(column, cluster)
            else untestable(column, cluster),
        })  # fmt: skip
    return rows


def _rounded(column: pl.Series) -> Array:
    """Return the effects, with 0 in place of effects that differ from 0 only by rounding."""
    values = column.to_numpy().astype(np.float64)
    return difference(values, np.zeros_like(values))


def _slope(queries: pl.DataFrame, clusters: Clusters | None) -> dict[str, object]:
    """Return the mean effect divided by the mean difference in the measure, with Fieller's interval.

    The slope stands if the interval of the mean effect, on which it is based, survives one more query: a sample of
    similar effects may just lack rare, large ones (analysis.standing).
    """
    known = queries.drop_nulls("moved")
    above, below = (known[name].to_numpy().astype(np.float64) for name in ("effect", "moved"))
    if not len(below) or not below.sum() > 0:
        return {}
    row: dict[str, object] = {"slope": float(above.sum() / below.sum())}
    cluster, degrees = of_queries(known["qid"], clusters), None
    effects = _rounded(known["effect"])
    if not testable(effects, cluster):
        return row
    if cluster is not None:
        degrees = mean_tests.ClusterMeans.of(above, cluster).effective - 1
        above, below = (mean_tests.ClusterMeans.of(column, cluster).sums for column in (above, below))
    ends = mean_tests.ratio_interval(above, below, skewness=mean_tests.SKEWNESS, degrees=degrees)
    if ends is None:
        return row
    return row | {"slope_low": ends[0], "slope_high": ends[1], "slope_stands": stays(effects, cluster)}


def stays(effects: Array, cluster: Indexes | None) -> bool:
    """Return whether one more query would leave the interval for the mean of ``effects`` (n,) nearly unchanged."""
    (low,), (high,) = mean_tests.cautious(effects, cluster).interval()
    (less,), _ = with_one_more(effects, effects.mean() - AGAINST, cluster).interval()
    _, (more,) = with_one_more(effects, effects.mean() + AGAINST, cluster).interval()
    return bool(max(low - less, more - high) <= (high - low) / 2)


def _relay(relay: pl.DataFrame, row: Mapping[str, object]) -> dict[str, object]:
    """Return relay's slope in the cell of an overall ``row``."""
    if row["part"] != OVERALL:
        return {}
    here = {name: row[name] for name in ("ordering", "k", "references", "measure")}
    both = relay.filter(retrievers=ALL_RANKINGS, **here).sort("adjusted").to_dicts()
    if not both or both[0]["adjusted"]:
        return {}
    reason = next((reason for one, reason in why_no_answer(both) if one["verdict"] == TOO_FEW), None)
    return {"relay": both[0]["slope"], "relay_low": both[0]["low"], "relay_high": both[0]["high"],
            "relay_reason": reason}  # fmt: skip
