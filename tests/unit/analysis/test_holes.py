"""Holes: against relay on measures computed from other judgements, and against every labelling there is."""

import itertools

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.holes import LabelledLists, holes
from ragrelay.analysis.labellings import ALL, HIGHEST, LOWEST, NONE, answers_by_labelling
from ragrelay.analysis.relay import ALL_RANKINGS, relay
from ragrelay.analysis.transmission import JudgedRankings
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.base.vocabulary.primary import Primary

KINDS = {"bm25": "bm25", "dense": "dense", "rel": "oracle"}
PRIMARY = Primary("dense", "bm25", "descending", 2, "lenient", "nDCG", "minilm")
WHERE = {"ordering": "descending", "references": "lenient", "measure": "nDCG"}
RELEVANT = 2


class Data:
    """A study of 16 queries whose P follows nDCG of the complete judgements."""

    def __init__(self, unjudged: int, slope: float = 0.4) -> None:
        random = np.random.default_rng(3)
        qids = [f"q{query:02d}" for query in range(16)]
        ranked = [
            (name, qid, rank, f"{qid}-{docno}")
            for qid in qids for name in KINDS for rank, docno in enumerate(random.permutation(6), 1)
        ]  # fmt: skip
        self.rankings = pl.DataFrame(ranked, schema=["retriever", "qid", "rank", "docno"], orient="row")
        labels = [(qid, f"{qid}-{docno}", int(random.integers(0, 4))) for qid in qids for docno in range(6)]
        whole = pl.DataFrame(labels, schema=["qid", "docno", "label"], orient="row")
        shown = self.rankings.filter(pl.col("rank") <= 2, pl.col("retriever") != "rel").select("qid", "docno").unique()
        self.missing = shown.sort("qid", "docno")[:: shown.height // unjudged][:unjudged] if unjudged else shown.clear()
        self.qrels = whole.join(self.missing, on=["qid", "docno"], how="anti")
        complete, p0 = self.measured(whole), dict(zip(qids, random.normal(0.4, 0.1, 16), strict=True))
        noise = random.normal(0, 0.05, complete.height)
        self.utility = complete.select(
            "retriever", "k", "qid", ordering=pl.lit("descending"), references=pl.lit("lenient"),
            p=0.4 + slope * pl.col("value") + pl.Series(noise), p0=pl.col("qid").replace_strict(p0),
        )  # fmt: skip
        first = self.rankings.filter(pl.col("rank") <= 2).group_by("retriever", "qid", maintain_order=True)
        self.contexts = first.agg(docnos="docno").with_columns(ordering=pl.lit("descending"), k=pl.lit(2, pl.Int64))

    def measured(self, qrels: pl.DataFrame) -> pl.DataFrame:
        by_name = {name: self.rankings.filter(retriever=name).drop("retriever") for name in KINDS}
        found = [
            measure_ranking(one, qrels, ["nDCG"], [2], RELEVANT).with_columns(retriever=pl.lit(name))
            for name, one in by_name.items()
        ]
        return pl.concat(found)

    def relay(self, added: pl.DataFrame, utility: pl.DataFrame | None = None) -> dict[bool, dict]:
        """The rows of all rankings where the passages ``added`` (qid, docno) are relevant too."""
        qrels = pl.concat([self.qrels, added.with_columns(label=pl.lit(RELEVANT, pl.Int64))])
        table = relay(self.utility if utility is None else utility, self.measured(qrels), self.contexts, KINDS)
        return {row["adjusted"]: row for row in table.filter(retrievers=ALL_RANKINGS).iter_rows(named=True)}

    def holes(self, primary: Primary | None = PRIMARY) -> pl.DataFrame:
        judged = JudgedRankings(self.rankings, self.qrels, RELEVANT)
        measured = self.measured(self.qrels).with_columns(measure=pl.lit(primary.measure if primary else "nDCG"))
        return holes(self.utility, measured, self.contexts, KINDS, judged, primary)


def test_the_scenarios_are_relay_on_measures_of_these_judgements() -> None:
    data = Data(8)
    table = data.holes()
    assert table["share_unjudged"].unique().item() >= 8 / 64 and set(table["holes"]) == {8}
    for labelling, added in ((NONE, data.missing.clear()), (ALL, data.missing)):
        expected = data.relay(added)
        for row in table.filter(labelling=labelling).iter_rows(named=True):
            assert row["relevant"] == added.height
            for column in ("n", "n_eff", "slope", "low", "high", "p_value", "verdict", "reason"):
                assert row[column] == pytest.approx(expected[row["adjusted"]][column]), column


@pytest.mark.parametrize("slope", [-0.3, 0.4])
@pytest.mark.simulation
def test_the_search_finds_nearly_the_lowest_and_highest_slope_of_all_labellings(slope: float) -> None:
    data = Data(5, slope)
    slopes: dict[bool, list[float]] = {False: [], True: []}
    for on in itertools.product((False, True), repeat=5):
        for adjusted, row in data.relay(data.missing.filter(pl.Series(on))).items():
            slopes[adjusted].append(row["slope"])
    table = data.holes()
    for adjusted, every in slopes.items():
        found = dict(table.filter(adjusted=adjusted).select("labelling", "slope").iter_rows())
        reach = max(every) - min(every)
        assert min(every) - 1e-9 <= found[LOWEST] <= min(every) + 0.12 * reach
        assert max(every) - 0.12 * reach <= found[HIGHEST] <= max(every) + 1e-9
        assert found[LOWEST] <= min(found[NONE], found[ALL]) and found[HIGHEST] >= max(found[NONE], found[ALL])


@pytest.mark.parametrize("measure", ["nDCG", "Judged", "ERR"])
def test_lists_measured_together_have_the_measures_of_each_alone(measure: str) -> None:
    """With few labels and short lists, many lists agree in their own labels but not in those of their query."""
    random = np.random.default_rng(5)
    queries, rankings, holes_per_query = 30, 3, 3
    shown = pl.DataFrame(
        [
            (ranking, query, str(query), rank, f"{query}-{docno}")
            for ranking in range(rankings) for query in range(queries)
            for rank, docno in enumerate(random.permutation(6)[:2], 1)
        ], schema=["ranking", "query", "qid", "rank", "docno"], orient="row",
    )  # fmt: skip
    judged = [
        (str(query), f"{query}-{docno}", int(random.integers(0, 2)))
        for query in range(1, queries) for docno in range(holes_per_query, 6)
    ]  # fmt: skip
    qrels = pl.DataFrame(judged, schema=["qid", "docno", "label"], orient="row")
    names = [(str(query), f"{query}-{docno}") for query in range(queries) for docno in range(holes_per_query)]
    passages = pl.DataFrame(names, schema=["qid", "docno"], orient="row").with_row_index("hole")
    lists = LabelledLists(shown, passages, JudgedRankings(shown, qrels, 1), measure, 2)
    x = np.zeros((rankings, queries))
    x[:, 0] = x[1, 3] = np.nan
    for _ in range(8):
        relevant, chosen = random.random(passages.height) < 0.5, random.random(queries) < 0.7
        relabelled = pl.concat([qrels, passages.filter(relevant).select("qid", "docno", label=pl.lit(1, pl.Int64))])
        expected = x.copy()
        for ranking in range(rankings):
            one = shown.filter(pl.col("ranking") == ranking)
            for qid, value in measure_ranking(one, relabelled, [measure], [2]).select("qid", "value").iter_rows():
                query = int(qid)
                if chosen[query] and np.isfinite(x[ranking, query]):
                    expected[ranking, query] = value
        x = lists(relevant, chosen, x)
        np.testing.assert_array_equal(x, expected)


def test_there_are_no_rows_where_few_passages_lack_a_judgement_or_nothing_is_compared() -> None:
    assert Data(2).holes().is_empty() and Data(0).holes().is_empty()
    assert Data(8).holes(None).is_empty()
    assert Data(8).holes(PRIMARY._replace(measure="StRecall")).is_empty(), "a hole has no subtopic"
    assert not Data(8).holes().is_empty()


def test_the_answer_of_each_labelling_needs_both_of_its_rows() -> None:
    table = Data(8).holes()
    assert list(answers_by_labelling(table, 2)) == [NONE, ALL, LOWEST, HIGHEST] and answers_by_labelling(table, 5) == {}
    above = table.with_columns(verdict=pl.lit("above zero"))
    assert set(answers_by_labelling(above, 2).values()) == {"it is"}
    one = above.with_columns(verdict=pl.when(labelling=LOWEST, adjusted=True).then(pl.lit("undecided"))
                             .otherwise("verdict"))  # fmt: skip
    assert [name for name, word in answers_by_labelling(one, 2).items() if word != "it is"] == [LOWEST]
