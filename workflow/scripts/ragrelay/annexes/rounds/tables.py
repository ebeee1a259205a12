"""Compute the tables about search rounds: relay by step, and P, lists and tokens by round."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import special

from ragrelay.analysis import mean_tests, relay
from ragrelay.analysis.clusters import Clusters, of_queries
from ragrelay.analysis.coefficients import ROUNDING
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annexes.rounds import slopes
from ragrelay.annexes.rounds.queries import STATE
from ragrelay.base.vocabulary.columns import REFERENCES, STUDY_PART, integer, number, schema_of, text
from ragrelay.base.vocabulary.names import UNSEEN, ZEROSHOT

UNTESTED = "no verdict: its error rate is not known for queries that a model writes"
_REFERENCES = REFERENCES._replace(about="name of the reference set")
SLOPES = {**STUDY_PART, "references": _REFERENCES, **slopes.TABLE}
"""Columns of round_slopes.csv."""
OF_ROUND = {
    "references": _REFERENCES,
    "round": integer("number of the round; 0 for the zero-shot answers", "rounds"),
    "retriever": text("name of the retriever that returned the list in this round; in earlier rounds, the lists came "
        "from the reference retriever"),
    "n": integer("number of queries", "queries"),
    "p": number("mean P over queries, counting a missing answer as 0", "the scorer's"),
    "low": number("lower end of the 95% interval for mean P"),
    "high": number("upper end of the 95% interval for mean P"),
    "unjudged": number("share of the list's new passages that have no judgement; unjudged passages count as not "
                       "relevant",
                       "0 to 1"),
    "missing": number("share of answers that are missing", "0 to 1"),
    "repeated": number("share of the list's passages that were already shown or are near copies of shown "
        "passages", "0 to 1"),
    "empty": number("share of lists without new passages", "0 to 1"),
    "worse": integer("number of queries with a lower P than in the previous round, in which the list came from the "
        "reference retriever", "queries"),
    "better": integer("number of queries with a higher P than in the previous round, in which the list came from the "
        "reference retriever", "queries"),
    "prompt_tokens": number("mean number of tokens in the prompts; empty if unknown", "tokens"),
}  # fmt: skip
SCORES = {**STUDY_PART, **OF_ROUND}
"""Columns of round_scores.csv."""


class Round(NamedTuple):
    """A retriever's results in a round after the first."""

    number: int
    retriever: str
    contexts: pl.DataFrame
    """The round's contexts: columns searches.COLUMNS."""
    answers: pl.DataFrame
    """The round's answers: columns answers.COLUMNS."""
    scores: pl.DataFrame
    """The answers' scores: columns scores.COLUMNS."""


class RoundStudy(NamedTuple):
    """The data from which the tables for a dataset, generator and scorer are computed."""

    retrievers: Sequence[str]
    """The retrievers in search rounds, starting with the reference."""
    listing: Mapping[str, Any]
    """Each round's ordering, k and measure, keyed by these names."""
    utility: pl.DataFrame
    """The utility file's rows for round 1's cell and for zero-shot answers."""
    measures: pl.DataFrame
    """Retrieval measures in round 1: retriever, qid, measure, k, value."""
    contexts: pl.DataFrame
    """Contexts in round 1: retriever, qid, docnos."""
    answers: pl.DataFrame
    """Answers in round 1: retriever, qid, seed, answer, prompt_tokens."""
    rounds: Sequence[Round]
    seeds: Sequence[int]
    clusters: Clusters | None = None
    tested: bool = True
    """Whether slopes have verdicts."""

    @property
    def reference(self) -> str:
        """The reference retriever, which searches in every round."""
        return self.retrievers[0]

    def sets(self) -> list[str]:
        """Return the names of the reference sets, without the unseen sets."""
        names = self.utility.filter(pl.col("retriever").is_in(self.retrievers))["references"]
        return [name for name in names.unique().sort() if not name.endswith(UNSEEN)]

    def first(self, references: str) -> pl.DataFrame:
        """Return P in round 1 (retriever, qid, p, p0): 0 for missing answers, and P₀ for queries without passages."""
        rows = self.utility.filter(pl.col("retriever").is_in(self.retrievers), references=references)
        rows = rows.join(self.contexts.select("retriever", "qid", found=True), on=["retriever", "qid"], how="left")
        share = pl.col("n_seeds") / len(self.seeds)
        p = pl.when("found").then(pl.col("p") * share).otherwise("p0")
        return rows.select("retriever", "qid", p.fill_null(0.0).alias("p"), "p0")

    def later(self, references: str) -> Iterator[tuple[Round, pl.DataFrame]]:
        """Yield each later round, with a table (qid, seed, p, docnos, value) of the queries that have references."""
        qids = self.first(references)["qid"].unique().implode()
        for each in self.rounds:
            scores = each.scores.filter(references=references).select(*STATE, "p")
            states = each.contexts.filter(pl.col("qid").is_in(qids)).join(scores, on=STATE, how="left")
            yield each, states.with_columns(pl.col("p").fill_null(0.0)).sort(STATE)


def analyse_rounds(study: RoundStudy) -> dict[str, pl.DataFrame]:
    """Compute the tables ``round_slopes`` and ``round_scores``, keyed by name."""
    return {"round_slopes": round_slopes(study), "round_scores": round_scores(study)}


def round_slopes(study: RoundStudy) -> pl.DataFrame:
    """Compute the slopes for each reference set (columns SLOPES without STUDY_PART)."""
    without = {} if study.tested else {"verdict": UNDECIDED, "reason": UNTESTED}
    rows = [
        {"references": references, **row, **without}
        for references in study.sets()
        for row in slopes.round_slopes(_steps(study, references))
    ]
    return pl.DataFrame(rows, schema=schema_of({name: SLOPES[name] for name in SLOPES if name not in STUDY_PART}))


def _steps(study: RoundStudy, references: str) -> dict[int, list[relay.Cell]]:
    """Return each step's cells: a single cell for round 1, then one per seed."""
    first = study.first(references)
    steps = {1: [_cell(study, first, study.measures, study.contexts)]}
    before = first.filter(retriever=study.reference).select("qid", before="p")
    later = list(study.later(references))
    for step in dict.fromkeys(each.number for each, _ in later):
        of_round = pl.concat(
            states.with_columns(retriever=pl.lit(each.retriever)) for each, states in later if each.number == step
        )
        steps[step] = []
        if set(of_round["qid"]) != set(first["qid"]):
            raise ValueError(f"round {step} has other questions than round 1")
        keys = STATE if "seed" in before.columns else ["qid"]
        with_before = of_round.join(before, on=keys, how="left").rename({"before": "p0"})
        for (_,), states in with_before.partition_by("seed", as_dict=True, maintain_order=True).items():
            measured = states.select("retriever", "qid", "value", measure=pl.lit(study.listing["measure"]),
                                     k=pl.lit(study.listing["k"], pl.Int64))  # fmt: skip
            steps[step].append(_cell(study, states, measured, states.select("retriever", "qid", "docnos")))
        before = of_round.filter(retriever=study.reference).select(*STATE, before="p")
    return steps


def _cell(study: RoundStudy, answers: pl.DataFrame, measures: pl.DataFrame, contexts: pl.DataFrame) -> relay.Cell:
    """Build relay's cell from ``answers`` (retriever, qid, p, p0), measures and contexts (with relay's columns)."""
    place = {"ordering": pl.lit(study.listing["ordering"]), "k": pl.lit(study.listing["k"], pl.Int64)}
    utility = answers.select("retriever", "qid", "p", "p0", references=pl.lit("all"), **place)
    laid = contexts.with_columns(**place)
    kinds = dict.fromkeys(study.retrievers, "")
    ((_, cells),) = relay.cells_of(utility, measures.drop_nulls("value"), laid, kinds, clusters=study.clusters)
    (cell,) = cells.values()
    return cell


def round_scores(study: RoundStudy) -> pl.DataFrame:
    """Summarise each reference set, round and retriever (columns SCORES without STUDY_PART). Zero-shot comes first."""
    rows = [row for references in study.sets() for row in _of_references(study, references)]
    return pl.DataFrame(rows, schema=schema_of(OF_ROUND))


def _of_references(study: RoundStudy, references: str) -> Iterator[dict[str, object]]:
    first = study.first(references)
    own = first.filter(retriever=study.reference)
    zeroshot = own.select("qid", p="p0").drop_nulls()
    names = {"references": references}
    yield {**names, "round": 0, "retriever": ZEROSHOT, **_mean(study, zeroshot)}
    for retriever in study.retrievers:
        table = first.filter(retriever=retriever).select("qid", "p")
        answers = study.answers.filter(pl.col("qid").is_in(table["qid"].implode()), retriever=retriever)
        lists = study.contexts.filter(pl.col("qid").is_in(table["qid"].implode()), retriever=retriever)
        row: dict[str, object] = {
            "round": 1,
            "retriever": retriever,
            "repeated": 0.0,
            "empty": 1 - len(lists) / max(len(table), 1),
        }
        changes = _changed(zeroshot, table) if retriever == study.reference else {}
        yield {**names, **row, **_mean(study, table), **_answered(answers), **changes}
    before = own.select("qid", "p")
    for each, states in study.later(references):
        table = states.group_by("qid", maintain_order=True).agg("p").with_columns(pl.col("p").list.mean())
        answers = each.answers.join(states, on=STATE, how="semi")
        found, repeated = int(states["found"].sum()), int(states["repeated"].sum())
        row = {
            "round": each.number, "retriever": each.retriever, "repeated": repeated / found if found else None,
            "empty": (states["docnos"].list.len() == 0).mean(),
            "unjudged": int(states["unjudged"].sum()) / new if (new := found - repeated) else None,
        }  # fmt: skip
        changes = {}
        if each.retriever == study.reference:
            changes, before = _changed(before, table), table
        yield {**names, **row, **_mean(study, table), **_answered(answers), **changes}


def _mean(study: RoundStudy, table: pl.DataFrame) -> dict[str, object]:
    """Return the mean of ``p`` over the queries in ``table``, with Student's interval over queries or clusters."""
    column = table["p"].to_numpy().astype(np.float64)
    row: dict[str, object] = {"n": len(column), "p": float(column.mean()) if len(column) else None}
    cluster = of_queries(table["qid"], study.clusters)
    if not mean_tests.enough(column, cluster):
        return row
    if cluster is not None:
        low, high = mean_tests.ClusterMeans.of(column, cluster).interval()
        return row | {"low": mean_tests.end(low[0]), "high": mean_tests.end(high[0])}
    half = special.stdtrit(len(column) - 1, 0.975) * column.std(ddof=1) / np.sqrt(len(column))
    return row | {"low": float(column.mean() - half), "high": float(column.mean() + half)}


def _answered(answers: pl.DataFrame) -> dict[str, object]:
    missing = answers["answer"].null_count() / len(answers) if len(answers) else None
    return {"missing": missing, "prompt_tokens": answers["prompt_tokens"].mean()}


def _changed(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, int]:
    """Count the queries whose P fell or rose."""
    both = before.join(after, on="qid", suffix="_after")
    change = both["p_after"] - both["p"]
    return {"worse": int((change < -ROUNDING).sum()), "better": int((change > ROUNDING).sum())}
