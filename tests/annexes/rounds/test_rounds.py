"""Queries, lists and prompts of a round, its tables, and what of the key is refused."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml
from ragrelay.analysis import relay
from ragrelay.annexes.rounds.prompts import ask_next_query, estimate_round_prompts, longest_prompts, round_prompts
from ragrelay.annexes.rounds.queries import write_round_queries
from ragrelay.annexes.rounds.searches import Searching, search_round
from ragrelay.annexes.rounds.tables import Round, RoundStudy, round_scores, round_slopes
from ragrelay.base.errors import InputError
from ragrelay.config.study import Study
from ragrelay.prompting.templates import Template

from tests.support.sandbox import ROOT

TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{i} {text}\n")
QUERIES = pl.DataFrame({"qid": ["a", "b"], "query": ["first", "second"]})
TEXTS = {f"d{number}": f"a passage of its own about {number} and nothing {number} else {number}" for number in range(8)}
TEXTS["near"] = TEXTS["d0"] + " indeed"
QRELS = pl.DataFrame({"qid": ["a", "a", "b"], "docno": ["d0", "d2", "d1"], "label": [2, 2, 2]})
LISTING: Mapping[str, Any] = {"k": 3, "ordering": "descending", "measure": "nDCG"}


class FixedRankings(Searching):
    """Searches whose results are given by query, in a collection of TEXTS."""

    def run(self, name: str, queries: pl.DataFrame) -> pl.DataFrame:
        ranks = [
            (qid, docno, rank, 1.0 / rank)
            for qid, query in queries.select("qid", "query").iter_rows()
            for rank, docno in enumerate(self.definitions[name][query], 1)
        ]
        return pl.DataFrame(ranks, schema=["qid", "docno", "rank", "score"], orient="row")


def searching(rankings: Mapping[str, Sequence[str]], drop: bool = False) -> Searching:
    texts = SimpleNamespace(texts=lambda docnos: {docno: TEXTS[docno] for docno in docnos if docno in TEXTS})
    return FixedRankings(texts, {"bm25": rankings}, {}, 1, drop)  # type: ignore[arg-type]


def states(*rows: tuple[str, int, str, list[str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["qid", "seed", "query", "shown"], orient="row")


def test_the_next_query_is_the_question_and_the_answer_of_its_seed() -> None:
    answers = pl.DataFrame({"qid": ["a", "b", "a"], "seed": [1, 1, 2], "answer": ["x", "y", None]})
    prompts = pl.DataFrame({"qid": ["a"], "docnos": [["d1", "d0"]]})
    made = write_round_queries(QUERIES, answers, prompts, "answer", [1, 2])
    assert made.rows() == [
        ("a", 1, "first x", ["d1", "d0"]), ("a", 2, "first", ["d1", "d0"]), ("b", 1, "second y", []),
        ("b", 2, "second", []),
    ], "a question without an answer, or for which nothing was found, has a row, too"  # fmt: skip
    of_seed = prompts.with_columns(seed=pl.lit(2, pl.Int64))
    again = write_round_queries(QUERIES, answers, of_seed, "same", [1, 2])
    assert again["query"].to_list() == ["first", "first", "second", "second"]
    assert again["shown"].to_list() == [[], ["d1", "d0"], [], []]


def test_a_query_that_is_asked_for_is_the_first_line_of_the_reply() -> None:
    replies = pl.DataFrame(
        {"qid": ["a", "b", "a", "b"], "seed": [1, 1, 2, 2], "answer": [" more \nor less", "", None, "\nx"]}
    )
    prompts = pl.DataFrame({"qid": ["a"], "docnos": [["d1"]]})
    assert write_round_queries(QUERIES, replies, prompts, "ask", [1, 2])["query"].to_list() == [
        "more",
        "first",
        "second",
        "x",
    ]
    made = ask_next_query(QUERIES, prompts, TEXTS, TEMPLATE, [1, 2])
    assert made.select("qid", "seed", "docnos").rows() == [
        ("a", 1, ["d1"]),
        ("a", 2, ["d1"]),
        ("b", 1, []),
        ("b", 2, []),
    ]
    assert made["prompt"].to_list() == [f"1 {TEXTS['d1']}\nQ first"] * 2 + ["Q second"] * 2
    of_seed = pl.DataFrame({"qid": ["a", "b"], "seed": [2, 2], "docnos": [["d1", "d0"], ["d2"]]})
    again = ask_next_query(QUERIES, of_seed, TEXTS, TEMPLATE, [2])
    assert again["docnos"].to_list() == [["d1", "d0"], ["d2"]]


def test_passages_shown_before_and_near_copies_count_as_not_relevant() -> None:
    """They keep their ranks: d2 is relevant at rank 3 of a question with two relevant passages."""
    asked = states(("a", 1, "x", ["d0"]), ("a", 2, "y", ["d0"]), ("b", 1, "x", []))
    lists, texts = search_round(
        searching({"x": ["none", "near", "d0", "d2", "d3"], "y": ["d0"]}), "bm25", asked, QRELS, **LISTING, lowest=1,
        near_copy=0.8,
    )  # fmt: skip
    assert lists.select("docnos", "found", "repeated").rows() == [
        (["d2"], 3, 2),
        ([], 1, 1),
        (["near", "d0", "d2"], 3, 0),
    ]
    assert lists["unjudged"].to_list() == [0, 0, 3], "of b, only d1 is judged"
    dcg = 1 / 2  # rank 3: 1 / log2(4)
    assert lists["value"][:2].to_list() == [pytest.approx(dcg / (1 + 1 / 1.5849625007)), 0.0]
    assert texts.keys() == {"d0", "d2", "near"}
    exact, _ = search_round(searching({"x": ["near"]}), "bm25", states(("a", 1, "x", ["d0"])), QRELS, **LISTING,
                            lowest=1, near_copy=None)  # fmt: skip
    assert exact["docnos"].to_list() == [["near"]]


def test_the_question_again_brings_nothing_new() -> None:
    lists, _ = search_round(searching({"x": ["d0", "d1", "d2"]}), "bm25", states(("a", 1, "x", ["d2", "d0", "d1"])),
                            QRELS, **LISTING, lowest=1, near_copy=0.8)  # fmt: skip
    assert lists.select("docnos", "repeated", "found", "value").row(0) == ([], 3, 3, 0.0)


def test_a_passage_with_the_id_of_its_question_is_dropped() -> None:
    asked = states(("d1", 1, "x", []))
    for drop, expected in ((True, ["d0"]), (False, ["d1", "d0"])):
        lists, _ = search_round(searching({"x": ["d1", "d0"]}, drop), "bm25", asked, QRELS, **LISTING, lowest=1,
                                near_copy=None)  # fmt: skip
        assert lists["docnos"].to_list() == [expected]


def test_prompts_show_the_question_with_all_passages() -> None:
    asked = states(("a", 3, "first and more", ["d1"]), ("b", 3, "x", []))
    lists = pl.DataFrame(
        {"qid": ["a", "b"], "seed": [3, 3], "docnos": [["d0"], []]}, schema_overrides={"docnos": pl.List(pl.String)}
    )
    made = round_prompts(QUERIES, asked, lists, TEXTS, TEMPLATE)
    assert made["prompt"].to_list() == [f"1 {TEXTS['d1']}\n2 {TEXTS['d0']}\nQ first", "Q second"]
    assert made["docnos"].to_list() == [["d1", "d0"], []] and made["seed"].to_list() == [3, 3]


def test_estimates_repeat_passages_and_checks_take_the_longest() -> None:
    contexts = pl.DataFrame(
        {"qid": ["a", "a"], "rank": [1, 2], "docno": ["d0", "d1"], "text": ["short", "much longer"]}
    )
    made = estimate_round_prompts(QUERIES, contexts, TEMPLATE, 3, [1, 2])
    assert made["docnos"].to_list() == [["d0", "d1", "d0"]] * 2 + [[]] * 2 and made["prompt_id"].n_unique() == 4
    longest = longest_prompts(QUERIES, [contexts, contexts], TEMPLATE, 3)
    assert longest["docnos"][0].to_list() == ["d1", "d0", "d1"]


def utility(p: Mapping[str, Sequence[float | None]], n_seeds: Sequence[int]) -> pl.DataFrame:
    qids = [f"q{number:02}" for number in range(len(n_seeds))]
    return pl.concat(
        pl.DataFrame({"retriever": name, "ordering": "descending", "k": 3, "references": "lenient", "qid": qids,
                      "p": values, "p0": [0.3 + place / 100 for place in range(len(qids))], "n_seeds": n_seeds,
                      "without_results": False})
        for name, values in p.items()
    )  # fmt: skip


def study_of(n: int, rounds: Sequence[Round] = ()) -> RoundStudy:
    """Two lists on ``n`` questions whose P and measure follow the question's number."""
    qids = [f"q{number:02}" for number in range(n)]
    x = {name: [(place * step % 11) / 11 for place in range(n)] for name, step in (("bm25", 3), ("dense", 7))}
    p = {name: [0.4 + 0.3 * value + (place * 5 % 7) / 50 for place, value in enumerate(x[name])] for name in x}
    measures = pl.concat(
        pl.DataFrame({"retriever": name, "qid": qids, "measure": "nDCG", "k": 3, "value": x[name]}) for name in x
    )
    contexts = pl.concat(
        pl.DataFrame({"retriever": name, "qid": qids, "docnos": [[f"{name}{qid}"] for qid in qids]}) for name in x
    )
    answers = pl.concat(
        pl.DataFrame({"retriever": name, "qid": qids, "seed": 1, "answer": "x", "prompt_tokens": 10}) for name in x
    )
    return RoundStudy(["bm25", "dense"], LISTING, utility(p, [1] * n), measures, contexts, answers, rounds, [1])


def test_one_round_is_the_relay_of_the_plain_study_bit_for_bit() -> None:
    study = study_of(40)
    kinds = dict.fromkeys(study.retrievers, "bm25")
    laid = study.contexts.with_columns(ordering=pl.lit("descending"), k=pl.lit(3, pl.Int64))
    plain = relay.relay(study.utility, study.measures, laid, kinds).filter(retrievers=relay.ALL_RANKINGS, k=3)
    made = round_slopes(study)
    for step in (1, None):
        rows = made.filter(pl.col("step").eq_missing(pl.lit(step, pl.Int64)))
        columns = ["adjusted", "n", "n_eff", "share_same", "slope", "low", "high", "p_value", "verdict"]
        assert rows.select(columns).equals(plain.select(columns)) and rows["slope"].null_count() == 0


def later(retriever: str, p: Sequence[float | None], new: Sequence[list[str]], number: int = 2) -> Round:
    qids = [f"q{place:02}" for place in range(len(p))]
    columns = {"qid": qids, "seed": 1, "docnos": new, "found": 3, "repeated": [3 - len(one) for one in new],
               "unjudged": [len(one) for one in new], "value": [0.5 * len(one) for one in new]}  # fmt: skip
    table = pl.DataFrame(columns, schema_overrides={"docnos": pl.List(pl.String)})
    given = pl.Series("answer", [None if one is None else "x" for one in p], dtype=pl.String)
    answers = table.select("qid", "seed", given, prompt_tokens=pl.lit(20, pl.Int64))
    scores = table.select("qid", "seed", p=pl.Series(p, dtype=pl.Float64)).drop_nulls()
    return Round(number, retriever, table, answers, scores.with_columns(references=pl.lit("lenient")))


def test_a_missing_answer_counts_as_0_and_its_share_is_told() -> None:
    first = study_of(4)
    own = first.first("lenient").filter(retriever="bm25")["p"].to_list()
    study = study_of(4, [later("bm25", [own[0] + 0.1, own[1] - 0.1, own[2], None], [["x"], [], ["y"], []])])
    row = round_scores(study).filter(round=2).row(0, named=True)
    assert row["p"] == pytest.approx((own[0] + own[1] + own[2]) / 4) and row["missing"] == 0.25
    assert (row["better"], row["worse"]) == (1, 2) and row["empty"] == 0.5 and row["repeated"] == 10 / 12
    assert row["unjudged"] == 1.0
    assert row["prompt_tokens"] == 20 and round_scores(study)["round"].to_list() == [0, 1, 1, 2]


def test_a_query_without_passages_has_the_answer_without_context() -> None:
    study = study_of(4)
    lacking = study._replace(
        contexts=study.contexts.filter(~((pl.col("retriever") == "bm25") & (pl.col("qid") == "q01")))
    )
    (row,) = lacking.first("lenient").filter(retriever="bm25", qid="q01").to_dicts()
    assert row["p"] == row["p0"] != study.first("lenient").filter(retriever="bm25", qid="q01")["p"].item()
    lost = study._replace(rounds=[later("bm25", [0.5] * 3, [["x"]] * 3)])
    with pytest.raises(ValueError, match="round 2 has other questions"):
        round_slopes(lost)


def test_slopes_of_queries_that_a_model_writes_have_no_verdict() -> None:
    made = round_slopes(study_of(40)._replace(tested=False))
    assert set(made["verdict"]) == {"undecided"} and made["reason"].str.starts_with("no verdict").all()
    assert made["slope"].equals(round_slopes(study_of(40))["slope"])


def test_equal_lists_have_no_slope_in_their_step() -> None:
    p = study_of(40).first("lenient").filter(retriever="bm25")["p"].to_list()
    same = [later(name, p, [["x"]] * 40) for name in ("bm25", "dense")]
    made = round_slopes(study_of(40, same)).filter(adjusted=False)
    assert made.filter(step=2).select("n", "slope", "share_same").row(0) == (0, None, 1.0)
    assert made.filter(step=1)["slope"].item() == made.filter(pl.col("step").is_null())["slope"].item()


def refused(measures: tuple[str, ...] = ("nDCG",), **keys: Any) -> str:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    rounds = {"rounds": 3, "reference": "bm25", "retrievers": ["dense"], "k": 2, **keys}
    own = {"kind": "run", "path": "mine.run"}
    config["retrievers"] |= {"own": own, "fused": {"kind": "fusion", "retrievers": ["bm25", "own"]}}
    config["grid"] |= {"retrievers": ["bm25", "dense", "rel", "own", "fused"], "k": [1, 2], "measures": [*measures]}
    config["datasets"]["demo"]["subtopics"] = "hops"
    (Path("mine.run")).touch()
    with pytest.raises(InputError) as error:
        Study({**config, "rounds": rounds}, Path(), [ROOT / "config/prompts"])
    return str(error.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"k": 5}, "config key 'rounds.k': found 5; expected a value in the grid: 1 or 2"),
        ({"measure": "RR"}, "config key 'rounds.measure': found 'RR'; expected a value in the grid: nDCG"),
        ({"measures": ("StRecall", "nDCG")}, "'rounds.measure': found 'StRecall', a subtopic measure; expected"),
        ({"retrievers": ["nrel"]}, "rounds.retrievers': found 'nrel'; expected a value in the grid: one of bm25,"),
        ({"retrievers": ["bm25"]}, "found 'bm25', the reference itself; expected other retrievers"),
        ({"retrievers": ["rel"]}, "found 'rel', which the judgements choose; expected a retriever that searches"),
        ({"reference": "own"}, "config key 'rounds.reference': found 'own', whose run file has no results for queries"),
        ({"next_query": "ask"}, "config key 'rounds.query_prompt': found 'none'; expected a template"),
        (
            {"query_prompt": "plain"},
            "config key 'rounds.query_prompt': found 'plain'; expected this key only with next_query",
        ),
        ({"next_query": "ask", "query_prompt": "lost"}, "lost.yaml"),
        ({"retrievers": ["fused"]}, "found 'fused', which uses 'own', whose run file has no results"),
    ],
)
def test_retrievers_that_cant_search_and_cells_out_of_the_grid_are_refused(
    keys: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    monkeypatch.chdir(tmp_path)
    assert message in refused(**keys)
