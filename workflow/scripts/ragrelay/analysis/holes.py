"""Measure how much relay's slope depends on the unknown labels of holes (unjudged passages in contexts)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.clusters import Clusters
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.labellings import ALL, HIGHEST, HOLES_ABOVE, LOWEST, NONE
from ragrelay.analysis.transmission import JudgedRankings, Transmission
from ragrelay.base.vocabulary.columns import REASON, REFERENCES, STUDY_PART, Columns, integer, number, schema_of, text
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.base.vocabulary.subtopic_measures import is_subtopic_measure

SWEEPS = 12
"""Maximum steps in the search for a labelling; the search ends earlier if no step helps."""
Flags = npt.NDArray[np.bool_]
TABLE: Columns = {
    "ordering": text("ordering in the primary comparison"),
    "k": integer("number of passages in the context", "passages"),
    "references": REFERENCES,
    "measure": text("name of the primary comparison's measure, which is computed at k"),
    "adjusted": relay.TABLE["adjusted"],
    "labelling": text(f"labels assumed for unjudged passages: `{NONE}` (as in `relay.csv`), `{ALL}`, or the labelling "
        f"with the `{LOWEST}` or `{HIGHEST}` that was found"),
    "share_unjudged": number("share of unjudged passages in the rankings' contexts", "0 to 1"),
    "holes": integer("number of unjudged passages (holes) in the rankings' contexts, each counted once per "
                     "query", "passages"),
    "relevant": integer("number of unjudged passages that the labelling assumes to be relevant", "passages"),
    "grade": integer("label given to the passages that are assumed to be relevant: the dataset's lowest reference "
                     "grade"),
    **{name: relay.TABLE[name] for name in ("n", "n_eff", "slope", "low", "high", "p_value", "verdict")},
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of holes.csv."""
_OF_SLOPE = ("n", "n_eff", "slope", "low", "high", "p_value", "verdict", "reason")


class Holes(NamedTuple):
    """Holes (unjudged passages) and their occurrences in contexts.

    ``query`` has one entry per hole; the other fields have one entry per occurrence of a hole in a context.
    """

    query: npt.NDArray[np.intp]
    hole: npt.NDArray[np.intp]
    ranking: npt.NDArray[np.intp]
    rank: npt.NDArray[np.intp]


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of holes.csv from the answers and rankings in ``given``."""
    _, kinds, contexts, judged = given.rankings
    return holes(given.cells, given.measured, contexts, kinds, judged, given.compared.primary, given.clusters)


def holes(
    utility: pl.DataFrame,
    retrieval: pl.DataFrame,
    contexts: pl.DataFrame,
    kinds: Mapping[str, str],
    judged: JudgedRankings,
    primary: Primary | None,
    clusters: Clusters | None = None,
) -> pl.DataFrame:
    """Estimate relay's slope for different labels of the holes: one row (``SCHEMA``) per k, adjustment and labelling.

    For ``utility``, ``retrieval``, ``contexts``, ``kinds`` and ``clusters``, see relay. All rows use the ordering,
    references and measure of ``primary``. There are rows for each k at which the share of unjudged passages in contexts
    exceeds HOLES_ABOVE. Each labelling assigns the label ``judged.relevant`` to none, some or all of the holes, and the
    measure is recomputed with these labels. P doesn't change, because an unjudged passage is never a reference.

    The first labelling makes no hole relevant; the second makes every hole relevant. The other two give the lowest and
    the highest slope found by a search that uses Dinkelbach's (1967) method for ratios; the true extremes may lie
    further out. To find the lowest slope, the search relabels a hole if doing so is predicted to lower sum xp - b sum
    xx, where b is the current slope. For the highest slope, the sum must rise. The prediction uses the derivative with
    respect to the label: p - 2b x, summed over the hole's contexts with weights 1 / log2(rank + 1). Only labels that
    improve the recomputed sum are kept.
    """
    if primary is None or is_subtopic_measure(primary.measure):  # a hole has no subtopic
        return pl.DataFrame(schema=SCHEMA)
    here = {"ordering": primary.ordering, "references": primary.references}
    utility, retrieval = utility.filter(**here), retrieval.filter(measure=primary.measure)
    rankings, qids = relay.places(utility, kinds)
    rows = [
        {**names, "k": k, **row}
        for names, cells in relay.cells_of(utility, retrieval, contexts, kinds, clusters=clusters)
        for k, cell in cells.items()
        for row in _rows(cell, judged, rankings, qids, primary.measure, k)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(
    cell: relay.Cell, judged: JudgedRankings, rankings: Sequence[str], qids: pl.Series, measure: str, k: int
) -> Iterator[dict[str, object]]:
    if len(rankings) < 2:
        return
    shown = (
        judged.rankings.filter(pl.col("rank") <= k)
        .join(pl.DataFrame({"retriever": rankings}).with_row_index("ranking"), on="retriever")
        .join(pl.DataFrame({"qid": qids}).with_row_index("query"), on="qid")
    )
    missing = shown.join(judged.qrels, on=["qid", "docno"], how="anti").sort("query", "docno", "ranking")
    share = missing.height / max(shown.height, 1)
    if share <= HOLES_ABOVE:
        return
    passages = missing.select("query", "qid", "docno").unique(maintain_order=True).with_row_index("hole")
    placed = missing.join(passages, on=["query", "docno"], maintain_order="left")
    at = Holes(passages["query"].to_numpy().astype(np.intp),
               *(placed[name].to_numpy().astype(np.intp) for name in ("hole", "ranking", "rank")))  # fmt: skip

    measured = LabelledLists(shown, passages, judged, measure, k)
    with_holes = np.isin(np.arange(cell.x.shape[1]), at.query)
    every = measured(np.ones(passages.height, bool), with_holes, cell.x)
    plain: dict[str, tuple[Flags, Array]] = {}
    for adjusted in (False, True):
        if adjusted and not np.isfinite(cell.p0).any():
            continue
        scenarios = {NONE: (np.zeros(passages.height, bool), cell.x), ALL: (np.ones(passages.height, bool), every)}
        for name, sign in ((LOWEST, -1.0), (HIGHEST, 1.0)):
            # The search may miss a better labelling that is already known.
            others = [scenarios[NONE], scenarios[ALL], *([plain[name]] if name in plain else [])]
            tried = [*others, _farthest(cell, adjusted, sign, at, measured)]
            slopes = [sign * _parts(with_measure(cell, x), adjusted).slope for _, x in tried]
            scenarios[name] = tried[int(np.argmax(slopes))]
        plain = plain or scenarios
        for name, (on, x) in scenarios.items():
            row = relay.slope(relay.all_pairs(dict(relay.pair_sums(with_measure(cell, x), adjusted)).values()))
            yield {
                "adjusted": adjusted, "labelling": name, "share_unjudged": share, "holes": passages.height,
                "relevant": int(on.sum()), "grade": judged.relevant,
                **{column: row.get(column) for column in _OF_SLOPE},
            }  # fmt: skip


class LabelledLists:
    """A cell's rankings, truncated at k, for which the measure can be recomputed with any labels for the holes.

    If two rankings have equal labels and their queries have equal judgements, the measure is computed only once.
    """

    def __init__(
        self, shown: pl.DataFrame, passages: pl.DataFrame, judged: JudgedRankings, measure: str, k: int
    ) -> None:
        """``shown``: ranking, query, qid, rank, docno; ``passages``: hole, qid, docno of each hole."""
        self.passages, self.relevant, self.measure, self.k = passages, judged.relevant, measure, k
        self.labels = judged.qrels.select("qid", "docno", pl.col("label").cast(pl.Int64))
        of_query = self.labels.group_by("qid").agg(judged=pl.col("label").sort().cast(pl.String).str.join(" "))
        # Each ranking of a query becomes a separate query, so that one call measures all of them.
        self.shown = (
            shown.with_columns(list=pl.struct("ranking", "query").rank("dense").cast(pl.String))
            .join(self.labels, on=["qid", "docno"], how="left")
            .join(passages.select("qid", "docno", "hole"), on=["qid", "docno"], how="left")
            .join(of_query.with_columns(pl.col("judged").rank("dense")), on="qid")
            .sort("ranking", "query", "rank")
        )
        self.known = pl.DataFrame(schema={"like": pl.String, "value": pl.Float64})

    def __call__(self, relevant: Flags, queries: Flags, x: Array) -> Array:
        """Return ``x`` with the measure recomputed for ``queries``; a missing measure stays missing."""
        changed = self.shown.filter(pl.Series(queries)[self.shown["query"]])
        added = self.passages.filter(pl.Series(relevant)).select("qid", "docno", label=pl.lit(self.relevant, pl.Int64))
        flags = pl.DataFrame({"hole": self.passages["hole"], "relevant": relevant})
        label = pl.when("relevant").then(self.relevant).otherwise("label").cast(pl.String).fill_null("-")
        lists = (
            changed.join(flags, on="hole", how="left", maintain_order="left")
            .group_by("list", "ranking", "query", "qid", "judged", maintain_order=True)
            .agg(labels=label.str.join(" "))
            .join(added.group_by("qid").agg(added=pl.len()), on="qid", how="left", maintain_order="left")
            .with_columns(like=pl.format("{} {}: {}", "judged", pl.col("added").fill_null(0), "labels"))
        )
        new = lists.join(self.known, on="like", how="anti", maintain_order="left").unique("like", maintain_order=True)
        values = measure_ranking(
            changed.join(new, on="list", how="semi").select("docno", "rank", qid="list"),
            new.join(pl.concat([self.labels, added]), on="qid").select("docno", "label", qid="list"),
            [self.measure], [self.k], self.relevant,
        )  # fmt: skip
        self.known = pl.concat([self.known, new.join(values, left_on="list", right_on="qid").select("like", "value")])
        measures = lists.join(self.known, on="like")
        new_x = x.copy()
        new_x[measures["ranking"].to_numpy(), measures["query"].to_numpy()] = measures["value"].to_numpy()
        return np.where(np.isfinite(x), new_x, np.nan)


def with_measure(cell: relay.Cell, x: Array) -> relay.Cell:
    """Return a copy of ``cell`` with ``x`` (R, Q) as the measure; each query's mean measure is recomputed."""
    known = np.isfinite(x)
    counts = known.sum(axis=0)
    mean = np.where(counts > 0, np.where(known, x, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    return cell._replace(x=x, mean_x=mean)


def _farthest(cell: relay.Cell, adjusted: bool, sign: float, at: Holes, measured: LabelledLists) -> tuple[Flags, Array]:
    """Search for the largest ``sign`` × slope; return which holes are relevant there, and the measure."""
    on = np.zeros(len(at.query), bool)
    x = cell.x
    own = _parts(with_measure(cell, x), adjusted)
    best = own.slope, on, x
    # Per query, change all holes that help; after a failure, only the hole that helps most; then none.
    steps = np.full(cell.x.shape[1], 2)
    for _ in range(SWEEPS):
        pull = own.p - 2 * own.slope * own.x
        weight = sign * pull[at.ranking, at.query[at.hole]] / np.log2(at.rank + 1)
        gains = np.where(on, -1.0, 1.0) * np.bincount(at.hole, weight, len(on))
        most = np.zeros(cell.x.shape[1])
        np.maximum.at(most, at.query, gains)
        allowed = np.where(steps == 2, 0.0, np.nextafter(most, 0.0))[at.query]
        flips = (gains > allowed) & (steps[at.query] > 0)
        if not flips.any():
            break
        tried = np.isin(np.arange(len(steps)), at.query[flips])
        trial = measured(on ^ flips, tried, x)
        new = _parts(with_measure(cell, trial), adjusted)
        helps = sign * ((new.xp - own.slope * new.xx) - (own.xp - own.slope * own.xx)) > 1e-12
        steps[tried & ~helps] -= 1
        on = np.where(helps[at.query], on ^ flips, on)
        x = np.where(helps, trial, x)
        own = _parts(with_measure(cell, x), adjusted)
        best = max(best, (own.slope, on, x), key=lambda candidate: sign * candidate[0])
    return best[1], best[2]


class _Parts(NamedTuple):
    """Sums over pairs: the residuals of x and p per ranking and query (R, Q), and xx and xp per query (Q,)."""

    x: Array
    p: Array
    xx: Array
    xp: Array

    @property
    def slope(self) -> float:
        total = float(self.xx.sum())
        return float(self.xp.sum()) / total if total else 0.0


def _parts(cell: relay.Cell, adjusted: bool) -> _Parts:
    x, p = np.zeros_like(cell.x), np.zeros_like(cell.x)
    xx, xp = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for pair in relay.pairs(cell, adjusted):
        if pair.residuals is None:
            continue
        for total, residual in zip((x, p), pair.residuals.T, strict=True):
            total[pair.first, pair.differs] += residual
            total[pair.second, pair.differs] -= residual
        xx[pair.differs] += pair.residuals[:, 0] ** 2
        xp[pair.differs] += pair.residuals.prod(axis=1)
    return _Parts(x, p, xx, xp)
