"""Estimate how often a retriever's answers beat an opponent's answers, and the judge's order bias."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.analysis import mean_tests, relay
from ragrelay.analysis.bootstrap import fisher_jackknife, without_each
from ragrelay.analysis.clusters import Clusters, effective_number, of_queries
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import CONSTANT, is_constant
from ragrelay.analysis.kappa import cohens_kappa, tables_by_query
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, TOO_FEW, UNDECIDED, WORDS_AT_LEAST, few_pairs
from ragrelay.annexes.battles.votes import KEY
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    REASON,
    REFERENCES,
    boolean,
    integer,
    number,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN

WINS, LOSES = "wins", "loses"
TIE = 0.5
IN_CELL = ["ordering", "k"]
ONE_ORDER_MOST = 2 / 3
"""A verdict requires that, of the pairs judged in only one order, at most this share had the same side first."""
_PAIR = {
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": CONTEXT_COLUMNS["k"],
    "retriever": CONTEXT_COLUMNS["retriever"],
    "against": text("name of the opponent; `zeroshot` for answers without a context"),
}
WIN_COLUMNS = {
    **_PAIR,
    "n": integer("number of queries with votes", "queries"),
    "n_decided": integer("number of queries whose score is not .5", "queries"),
    "win_rate": number("mean score over queries (1 for a win, .5 for a tie, 0 for a loss), after averaging each query "
        "over orders and seeds", "0 to 1"),
    "low": number("lower end of the interval at `level`", "0 to 1"),
    "high": number("upper end of the interval at `level`", "0 to 1"),
    "level": number("confidence level of the interval: 95% if one retriever meets the opponent, 1 − 5%/m if m "
                    "retrievers do", "0 to 1"),
    "verdict": text("verdict: `wins`, `loses`, `undecided` or `too few queries`; empty outside the primary cell and "
                    "for pairs without the opponent"),
    "reason": REASON,
    "contradicting": number("share of pairs with contradictory votes, among pairs judged in both orders", "0 to 1"),
    "order_bias": number("half of the score that an answer gains by being shown first rather than second", "−.5 to .5"),
    "bias_low": number("lower end of the 95% interval for `order_bias`"),
    "bias_high": number("upper end of the 95% interval for `order_bias`"),
    "same": number("share of pairs decided without a vote (identical answers tie, an empty answer loses)", "0 to 1"),
    "left_out": integer("number of queries left out because some of their votes are missing", "queries"),
}  # fmt: skip
RELAY_COLUMNS = {
    **{name: _PAIR[name] for name in IN_CELL},
    "measure": text("name of the retrieval measure, which is computed at k"),
    "adjusted": boolean("whether win rate and measure are adjusted for the query’s mean value of the measure"),
    "n": integer("number of queries whose contexts differ", "queries"),
    "slope": number("increase in the win rate per unit of difference in the measure; both quantities are centred over "
        "the pair’s queries", "win rate per unit of the measure"),
    "low": number("lower end of the 95% interval for `slope`", "win rate per unit of the measure"),
    "high": number("upper end of the 95% interval for `slope`", "win rate per unit of the measure"),
    **{name: relay.TABLE[name] for name in ("p_value", "verdict", "reason")},
}  # fmt: skip
FOLLOW_COLUMNS = {
    **_PAIR,
    "with_scorer": text("name of the scorer whose P is compared with the battle"),
    "references": REFERENCES,
    "n": integer("number of queries with votes and with values of P for both retrievers", "queries"),
    "rho": number("Spearman’s ρ between the battle’s score and the difference in P, over queries", "−1 to 1"),
    "low": number("lower end of the 95% interval for `rho`"),
    "high": number("upper end of the 95% interval for `rho`"),
    "same_sign": number("share of queries with the same winner in the battle and in P, among queries with a winner in "
        "both", "0 to 1"),
    "by_chance": number("share of queries with the same winner that would be expected by chance, given only the win "
                        "rates in the battle and in P", "0 to 1"),
    "reason": REASON,
}  # fmt: skip
JUDGE_COLUMNS = {
    **_PAIR,
    "quantity": text("quantity in `value`: `without`, the panel’s win rate without one judge, or `kappa`, Cohen’s κ "
        "between two judges’ votes on all pairs, with quadratic weights"),
    "judge": text("name of the judge that is left out or, for `kappa`, of the first judge"),
    "other": text("for `kappa`: name of the second judge"),
    "value": number("win rate or κ"),
    "low": number("lower end of the interval for `value`; for a win rate, at the panel’s confidence level"),
    "high": number("upper end of the interval for `value`"),
    "verdict": text("for `without`: the panel’s verdict without the judge"),
    "n": integer("number of queries", "queries"),
}  # fmt: skip


@dataclass(frozen=True)
class Fight:
    """A battle's votes, and the data needed to estimate win rates, relay and agreement with P.

    Args:
        votes: Tables of votes (columns VOTES), keyed by judge.
        pairs: The pairs of systems to compare, each a retriever and an opponent.
        opponent: The battle's opponent; only pairs that include the opponent have verdicts.
        primary: The ordering and k of the primary comparison; results for other cells have no verdicts.
        clusters: Cluster numbers, keyed by qid; None if queries are independent."""

    votes: Mapping[str, pl.DataFrame]
    pairs: Sequence[tuple[str, str]]
    opponent: str
    primary: tuple[str, int]
    clusters: Clusters | None

    @property
    def cells(self) -> list[tuple[str, int]]:
        """The cells that have votes, starting with the primary comparison's cell."""
        named = pl.concat(table.select(IN_CELL) for table in self.votes.values()).unique().sort(IN_CELL).rows()
        return sorted(named, key=lambda cell: cell != self.primary)

    @property
    def level(self) -> float:
        """The confidence level of intervals for win rates."""
        return 1 - ALPHA / max(1, sum(against == self.opponent for _, against in self.pairs))

    def of(self, cell: tuple[str, int], pair: tuple[str, str], judges: Sequence[str]) -> "PairScores":
        """Average the judges' scores for a pair of systems, over the queries that all the judges voted on.

        Args:
            cell: Ordering and k.
            pair: The retriever and the opponent.
            judges: The judges.

        Returns:
            The scores.
        """
        names = dict(zip((*IN_CELL, "retriever", "against"), (*cell, *pair), strict=True))
        tables = [self.votes[name].filter(**names) for name in judges]
        scores = [table.group_by("qid").agg(_query_score(table)).sort("qid") for table in tables]
        every = pl.concat(table.select("qid") for table in tables).unique().height
        joined = scores[0].rename({"score": "score0"})
        for place, table in enumerate(scores[1:], start=1):
            joined = joined.join(table.rename({"score": f"score{place}"}), on="qid", maintain_order="left")
        known = joined.drop_nulls()
        scores_of_all = known.drop("qid").to_numpy().astype(np.float64)
        mean = scores_of_all.mean(axis=1) if known.height else np.zeros(0) + 0.5
        return PairScores(pl.concat(tables), known["qid"], mean - 0.5, every - known.height, self.clusters)


@dataclass(frozen=True)
class PairScores:
    """The queries' scores for a pair of systems, with the votes behind these scores."""

    votes: pl.DataFrame
    qids: pl.Series
    y: Array
    """Each query's score minus .5, an array (n,)."""
    left_out: int
    clusters: Clusters | None

    @property
    def cluster(self) -> npt.NDArray[np.intp] | None:
        """Each query's cluster number, an array (n,) counted from 0; None if queries are independent."""
        numbers = of_queries(self.qids, self.clusters)
        return None if numbers is None else np.unique(numbers, return_inverse=True)[1].astype(np.intp)

    def rate(self, level: float) -> dict[str, Any]:
        """Estimate the win rate and conclude whether the retriever wins.

        Args:
            level: The interval's level.

        Returns:
            A dictionary with n, n_decided, win_rate, low, high, level, verdict and reason.
        """
        y = np.where(np.abs(self.y) > CONSTANT, self.y, 0.0)
        row: dict[str, Any] = {"n": len(y), "n_decided": int(np.count_nonzero(y)), "level": level}
        if not len(y):
            return row | {"verdict": TOO_FEW, "reason": f"0 queries, but {WORDS_AT_LEAST} are needed"}
        row["win_rate"] = float(y.mean()) + 0.5
        if (reason := mean_tests.few(y, self.cluster)) is not None:
            for show, have in (("shows", "has"), ("show", "have")):
                reason = reason.replace(f" {show} a difference,", f" {have} a score other than {TIE},")
        if not is_constant(y) and len(y) >= QUERIES_AT_LEAST:
            low, high = (float(end[0]) for end in mean_tests.cautious(y, self.cluster).interval(level))
            if np.isfinite([low, high]).all():
                row |= {"low": max(low + 0.5, 0.0), "high": min(high + 0.5, 1.0)}
        elif reason is None:
            reason = "all queries have the same score"
        if reason is None and "low" not in row:
            reason = "the interval is unbounded"
        if reason is not None:
            return row | {"verdict": TOO_FEW, "reason": reason}
        return row | {"verdict": WINS if row["low"] > 0.5 else LOSES if row["high"] < 0.5 else UNDECIDED}

    def bias(self) -> dict[str, Any]:
        """Estimate the order bias from the pairs that were judged in both orders.

        Returns:
            A dictionary with contradicting, order_bias, bias_low and bias_high; empty if there are no such pairs.
        """
        asked = self.votes.filter(pl.col("asked") == 1).drop_nulls(["score_first", "score_second"])
        if asked.is_empty():
            return {}
        halves = (pl.col("score_first") - pl.col("score_second")) / 2
        by_query = asked.group_by("qid").agg(bias=halves.mean()).sort("qid")
        bias, numbers = by_query["bias"].to_numpy(), of_queries(by_query["qid"], self.clusters)
        contradicting = float(asked.select((halves.abs() == 0.5).mean()).item())
        row = {"contradicting": contradicting, "order_bias": float(bias.mean())}
        if mean_tests.few(bias, None) is None and not is_constant(bias):
            cluster = None if numbers is None else np.unique(numbers, return_inverse=True)[1].astype(np.intp)
            low, high = (mean_tests.end(end[0]) for end in mean_tests.cautious(bias, cluster).interval())
            if low is not None and high is not None:
                row |= {"bias_low": low, "bias_high": high}
        return row

    def one_sided(self) -> str | None:
        """Return why the pairs that were judged in only one order rule out a verdict, or None if they don't."""
        known = self.votes.filter(pl.col("qid").is_in(self.qids.implode()))
        single = known.filter(pl.col("score_first").is_null() != pl.col("score_second").is_null())
        first = single["score_first"].count()
        if single.is_empty() or max(first, single.height - first) <= ONE_ORDER_MOST * single.height:
            return None
        return f"{first} of {single.height} pairs with votes in one order have the retriever’s answer first"


def _query_score(table: pl.DataFrame) -> pl.Expr:
    """Average a query's scores over seeds, correcting scores from one order for order bias; null if one is
    missing."""
    single = table.filter(pl.col("score_first").is_null() != pl.col("score_second").is_null())
    means = single["score_first"].mean(), single["score_second"].mean()
    bias = 0.0
    if isinstance(means[0], float) and isinstance(means[1], float):
        bias = (means[0] - means[1]) / 2
    only_first, only_second = pl.col("score_second").is_null(), pl.col("score_first").is_null()
    side = only_first.cast(pl.Float64) - only_second.cast(pl.Float64)
    score = (pl.col("score") - bias * side).alias("score")
    return pl.when(pl.col("score").is_null().any()).then(None).otherwise(score.mean()).alias("score")


def win_rows(fight: Fight) -> Iterator[dict[str, object]]:
    """Yield a row with columns WIN_COLUMNS for every cell and pair of systems.

    A panel reaches a verdict only if the verdict stays the same whichever judge is left out.

    Args:
        fight: The battle.

    Yields:
        The rows.
    """
    for cell, pair in itertools.product(fight.cells, fight.pairs):
        scored = fight.of(cell, pair, [*fight.votes])
        row = scored.rate(fight.level) | scored.bias()
        if (reason := scored.one_sided()) and row["verdict"] != TOO_FEW:
            row |= {"verdict": UNDECIDED, "reason": reason}
        if row["verdict"] in (WINS, LOSES):
            needed = [name for name, part in parts(fight, cell, pair) if part["verdict"] != row["verdict"]]
            reason = f"the verdict changes without {' or '.join(needed)}"
            row |= {"verdict": UNDECIDED, "reason": reason} if needed else {}
        if cell != fight.primary or pair[1] != fight.opponent:
            row["verdict"] = None
        named = dict(zip((*IN_CELL, "retriever", "against"), (*cell, *pair), strict=True))
        same = (scored.votes["asked"] == 0).to_numpy()
        yield {**named, **row, "same": float(same.mean()) if len(same) else None, "left_out": scored.left_out}


def parts(fight: Fight, cell: tuple[str, int], pair: tuple[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Return each panel judge's name and the win rate by the other judges' votes; empty with a single judge."""
    judges = [*fight.votes] if len(fight.votes) > 1 else []
    return [
        (name, fight.of(cell, pair, [other for other in judges if other != name]).rate(fight.level)) for name in judges
    ]


def judge_rows(fight: Fight) -> Iterator[dict[str, object]]:
    """Compare a panel's judges in the primary cell (columns JUDGE_COLUMNS); yields no rows if there is only one judge.

    Args:
        fight: The battle.

    Yields:
        Win rates for each pair of systems and left-out judge, then Cohen's κ for each pair of judges.
    """
    for pair in fight.pairs:
        for name, part in parts(fight, fight.primary, pair):
            named = dict(zip((*IN_CELL, "retriever", "against"), (*fight.primary, *pair), strict=True))
            figures = {key: part.get(key) for key in ("low", "high", "verdict", "n")}
            yield {**named, "quantity": "without", "judge": name, "value": part.get("win_rate"), **figures}
    of_cell = dict(zip(IN_CELL, fight.primary, strict=True))
    for judge, other in itertools.combinations(fight.votes, 2):
        yield {**of_cell, "quantity": "kappa", "judge": judge, "other": other, **_kappa(fight, judge, other)}


def _kappa(fight: Fight, judge: str, other: str) -> dict[str, Any]:
    """Compute kappa between two judges' votes (one per order) over the primary cell's pairs."""
    of_cell = dict(zip(IN_CELL, fight.primary, strict=True))
    long = [
        table.filter(**of_cell)
        .unpivot(["score_first", "score_second"], index=KEY, variable_name="order", value_name="vote")
        .drop_nulls("vote")
        for table in (fight.votes[judge], fight.votes[other])
    ]
    both = long[0].join(long[1], on=[*KEY, "order"], suffix="_other", maintain_order="left").sort(*KEY, "order")
    row: dict[str, Any] = {"n": both["qid"].n_unique()}
    if row["n"] < WORDS_AT_LEAST:
        return row
    numbers = of_queries(both["qid"], fight.clusters)
    query = both["qid"].rank("dense").to_numpy() - 1 if numbers is None else np.unique(numbers, return_inverse=True)[1]
    labels, places = np.unique([both["vote"].to_numpy(), both["vote_other"].to_numpy()], return_inverse=True)
    first, second = places.reshape(2, -1)
    tables = tables_by_query(query.astype(np.int64), first, second, len(labels))
    value, low, high = (float(figure) for figure in cohens_kappa(tables, True, labels))
    return row | ({"value": value, "low": low, "high": high} if np.isfinite([value, low, high]).all() else {})


def relay_rows(
    fight: Fight, measures: pl.DataFrame, contexts: pl.DataFrame, measure: str
) -> Iterator[dict[str, object]]:
    """Yield, for each cell, the slope of the win rate on the difference in a retrieval measure (columns RELAY_COLUMNS).

    The slope is computed as in analysis.relay, with the win rate in place of the difference in P.

    Args:
        fight: The battle; pairs with zero-shot answers are left out, because a retrieval measure needs a ranking.
        measures: The measure's values (columns retriever, qid, k and value).
        contexts: The retrievers' contexts (columns retriever, ordering, k, qid and docnos).
        measure: The measure's name.

    Yields:
        Two rows per cell: the unadjusted slope, and the slope adjusted for the query's mean measure over all systems.
    """
    ranked = set(measures["retriever"])
    pairs = [pair for pair in fight.pairs if {*pair} <= ranked]
    for ordering, k in fight.cells if pairs else []:
        qids = contexts.filter(ordering=ordering, k=k)["qid"].unique().sort()
        x = {name: _placed(measures.filter(retriever=name, k=k), "value", qids) for name in ranked}
        shown = contexts.filter(ordering=ordering, k=k).with_columns(
            list=pl.col("docnos").list.join("\n").rank("dense").cast(pl.Float64)
        )
        lists = {name: np.nan_to_num(_placed(shown.filter(retriever=name), "list", qids)) for name in ranked}
        met = {name for pair in pairs for name in pair}
        mean_x = np.mean([x[name] for name in sorted(met)], axis=0)
        cluster = of_queries(qids, fight.clusters)
        sums: dict[bool, list[relay.Sums]] = {False: [], True: []}
        for one, other in pairs:
            scored = fight.of((ordering, k), (one, other), [*fight.votes])
            y = _placed(pl.DataFrame({"qid": scored.qids, "y": scored.y}), "y", qids)
            of_pair = np.array([lists[one], lists[other]]), np.array([x[one], x[other]]), y
            for adjusted, of_pairs in sums.items():
                of_pairs.append(pair_sums(*of_pair, mean_x, adjusted, cluster))
        for adjusted, of_pairs in sums.items():
            row = relay.slope(relay.all_pairs(of_pairs))
            row |= {} if (ordering, k) == fight.primary else {"verdict": None}
            yield {"ordering": ordering, "k": k, "measure": measure, "adjusted": adjusted, **row}


def pair_sums(
    context: Array, x: Array, y: Array, mean_x: Array, adjusted: bool, cluster: npt.NDArray[np.intp] | None = None
) -> relay.Sums:
    """Return the sums from which analysis.relay computes a pair's slope, with the battle's scores in place of P.

    Args:
        context: An array (2, n) with a number for each list of passages; equal numbers mean equal lists.
        x: The retrieval measure for both systems, an array (2, n).
        y: The battle's scores minus .5, an array (n,); NaN if there is no score.
        mean_x: The mean of the measure over all compared systems, an array (n,).
        adjusted: Whether to replace the measure and the scores with the residuals of regressions on ``mean_x``.
        cluster: Each query's cluster number, an array (n,); None if queries are independent.

    Returns:
        The sums.
    """
    zeros = np.zeros(len(y))
    cell = relay.Cell(context, x, np.array([y, zeros]), mean_x, zeros, cluster=cluster)
    ((_, sums),) = relay.pair_sums(cell, adjusted)
    return sums


def _placed(table: pl.DataFrame, value: str, qids: pl.Series) -> Array:
    joined = pl.DataFrame({"qid": qids}).join(table.select("qid", value), on="qid", how="left", maintain_order="left")
    return joined[value].cast(pl.Float64).fill_null(np.nan).to_numpy()


def follow_rows(fight: Fight, scorer: str, utility: pl.DataFrame) -> Iterator[dict[str, object]]:
    """Compare the battle's scores with a scorer's P (columns FOLLOW_COLUMNS).

    Args:
        fight: The battle.
        scorer: The scorer's name.
        utility: The scorer's P: columns retriever, ordering, k, references, qid and p; k is 0 for zero-shot answers.

    Yields:
        A row for each cell, pair of systems and reference set.
    """
    for cell, pair in itertools.product(fight.cells, fight.pairs):
        scored = fight.of(cell, pair, [*fight.votes])
        own = pl.DataFrame({"qid": scored.qids, "y": scored.y}, schema={"qid": pl.String, "y": pl.Float64})
        sides = [_p_of(utility, name, cell) for name in pair]
        both = sides[0].join(sides[1], on=["qid", "references"], suffix="_other").join(own, on="qid")
        for (references,), rows in both.sort("references", "qid").group_by("references", maintain_order=True):
            d = (rows["p"] - rows["p_other"]).to_numpy()
            named = dict(zip((*IN_CELL, "retriever", "against"), (*cell, *pair), strict=True))
            row = agreement(rows["y"].to_numpy(), d, of_queries(rows["qid"], fight.clusters))
            yield {**named, "with_scorer": scorer, "references": references, **row}


def _p_of(utility: pl.DataFrame, retriever: str, cell: tuple[str, int]) -> pl.DataFrame:
    own = utility.filter(~pl.col("references").str.ends_with(UNSEEN), retriever=retriever)
    is_cell = (pl.col("ordering") == cell[0]) & (pl.col("k") == cell[1])
    return own.filter(is_cell | (pl.col("k") == 0)).select("qid", "references", "p").drop_nulls()


def agreement(y: Array, d: Array, numbers: npt.NDArray[np.intp] | None) -> dict[str, Any]:
    """Correlate the battle's scores with the queries' differences in P, and compare the signs.

    Equal signs alone don't show agreement: most signs are equal if battle and P prefer the same system on average.

    Args:
        y: The battle's scores minus .5, an array (n,).
        d: The differences in P, an array (n,).
        numbers: Each query's cluster number, an array (n,); None if queries are independent.

    Returns:
        A dictionary with n, rho, low, high, same_sign, by_chance and reason.
    """
    n = len(y)
    y, d = (np.where(np.abs(column) > CONSTANT, column, 0.0) for column in (y, d))
    decided = (y != 0) & (d != 0)
    row: dict[str, Any] = {"n": n}
    if decided.any():
        won = [float((column[decided] > 0).mean()) for column in (y, d)]
        row["same_sign"] = float((np.sign(y[decided]) == np.sign(d[decided])).mean())
        row["by_chance"] = won[0] * won[1] + (1 - won[0]) * (1 - won[1])
    if n < 3 or is_constant(y) or is_constant(d):
        return row | {"reason": "too few queries, or all values are equal"}
    ranks = [pl.Series(column).rank().to_numpy() for column in (y, d)]
    row["rho"] = float(np.corrcoef(np.array(ranks))[0, 1])
    of_query = np.arange(n, dtype=np.intp) if numbers is None else np.unique(numbers, return_inverse=True)[1]
    sizes = np.bincount(of_query)
    effective = effective_number(sizes)
    names = ("score", "difference in P")
    if reason := few_pairs(y, d, names, None if numbers is None else len(sizes), effective):
        return row | {"reason": reason}
    tested = fisher_jackknife(row["rho"], without_each("spearman", y, d, of_query.astype(np.intp)), effective - 1.0)
    if tested.low is None:
        return row | {"reason": "leaving out any one query changes nothing"}
    return row | {"low": tested.low, "high": tested.high}
