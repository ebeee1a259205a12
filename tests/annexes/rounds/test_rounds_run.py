"""A study with rounds from its first job to its page: what it asks, what a change reruns, what the plan counts."""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from tests.support.changes import Changes, changed
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.engine, pytest.mark.study]
REFERENCE, OTHER, TWIN = "bm25", "long", "twin"
FOLDER = "small/rounds/2"
ROUNDS = {"rounds": 2, "reference": REFERENCE, "retrievers": [OTHER, TWIN], "k": 2, "ordering": "descending"}


def add_rounds(study: Changes) -> None:
    study.add(OTHER, kind="bm25", engine="pisa", k1=0.1, b=0.9)
    study.add(TWIN, kind="bm25", engine="pisa", k1=0.9, b=0.4)
    study.remove("rel")
    study.remove("nrel")
    study.grid(orderings=["descending"])
    study.config["rounds"] = ROUNDS


def planned(study: Sandbox) -> dict[str, Any]:
    study.snakemake("plan")
    plan = pl.read_csv(study.results / "plan.csv").filter(job="generate_round_answers")
    row: dict[str, Any] = plan.row(0, named=True)
    return row


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """The study, run to its page, and the plan's line before it."""
    there = finished.copied_to(tmp_path_factory.mktemp("rounds") / "study")
    with changed(there, add_rounds):
        (there.folder / "before.json").write_text(json.dumps(planned(there)), encoding="utf-8")
        there.snakemake()
        yield there


def read(study: Sandbox, what: str, retriever: str) -> pl.DataFrame:
    return pl.read_parquet(study.results / f"{FOLDER}/{what}/demo-lm/{retriever}.parquet")


def test_the_plan_counts_later_rounds_before_their_prompts_are_there(study: Sandbox) -> None:
    """Before, those of the lists of round 1, twice as long; afterwards the real ones, of which none is missing."""
    before, after = json.loads((study.folder / "before.json").read_text(encoding="utf-8")), planned(study)
    files = [study.results / f"{FOLDER}/planned/tian2025/{name}.parquet" for name in (REFERENCE, OTHER, TWIN)]
    estimated = pl.concat(pl.read_parquet(path) for path in files)
    assert estimated["docnos"].list.len().unique().to_list() == [4] and estimated["seed"].unique().sort().to_list() == [
        1,
        2,
    ]
    assert before["asked"] == before["to_make"] == estimated.n_unique(["prompt_id", "seed"]) > 0
    assert before["retriever"] == "round 2"
    receipt = json.loads((study.results / f"{FOLDER}/generated/demo-lm/shard0.json").read_text(encoding="utf-8"))
    assert after["asked"] == after["cached"] == receipt["asked"] and after["to_make"] == 0


def test_a_round_shows_what_was_shown_before_and_then_what_is_new(study: Sandbox) -> None:
    first = pl.read_parquet(study.results / f"small/prompts/tian2025/{REFERENCE}/descending/k2.parquet")
    shown = dict(first.select("qid", "docnos").iter_rows())
    cells = study.results / f"small/answers/demo-lm/{REFERENCE}/descending/k2"
    answers = {
        seed: dict(pl.read_parquet(cells / f"seed{seed}.parquet").select("qid", "answer").iter_rows())
        for seed in (1, 2)
    }
    queries = pl.read_parquet(study.results / f"{FOLDER}/queries/demo-lm.parquet")
    questions = dict(pl.read_parquet(study.results / "small/collection/queries.parquet")["qid", "query"].iter_rows())
    assert {(qid, seed): query for qid, seed, query, _ in queries.iter_rows()} == {
        (qid, seed): f"{questions[qid]} {answers[seed][qid]}" for qid in questions for seed in (1, 2)
    }
    for retriever in (REFERENCE, OTHER):
        lists = read(study, "contexts", retriever)
        new = {(qid, seed): docnos for qid, seed, docnos, *_ in lists.iter_rows()}
        prompts = read(study, "prompts", retriever)
        for qid, seed, docnos, prompt in prompts.select("qid", "seed", "docnos", "prompt").iter_rows():
            assert docnos == [*shown[qid], *new[qid, seed]] and questions[qid] in prompt
            assert not {*shown[qid]} & {*new[qid, seed]}
        assert (lists["found"] - lists["repeated"]).to_list() == lists["docnos"].list.len().to_list()
        assert lists["docnos"].list.len().sum() > 0


def test_an_equal_retriever_asks_nothing_new_and_differs_nowhere(study: Sandbox) -> None:
    assert read(study, "contexts", TWIN).equals(read(study, "contexts", REFERENCE))
    assert read(study, "prompts", TWIN).equals(read(study, "prompts", REFERENCE))
    distinct = pl.concat([read(study, "prompts", name) for name in (REFERENCE, OTHER)]).unique(["prompt_id", "seed"])
    receipt = json.loads((study.results / f"{FOLDER}/generated/demo-lm/shard0.json").read_text(encoding="utf-8"))
    assert receipt["asked"] == distinct.height
    assert read(study, "answers", TWIN).equals(read(study, "answers", REFERENCE))


def test_tables_and_page_tell_of_the_rounds(study: Sandbox) -> None:
    analysis = study.results / "small/analysis/minilm/demo-lm"
    slopes, scores = (pl.read_csv(analysis / f"round_{name}.csv") for name in ("slopes", "scores"))
    assert slopes.filter(references="lenient").select("step", "adjusted").rows() == [
        (1, False), (1, True), (2, False), (2, True), (None, False), (None, True),
    ]  # fmt: skip
    assert set(slopes["verdict"]) == {"too few queries"}
    utility = pl.read_parquet(study.results / "small/utility/minilm/demo-lm.parquet")
    first = utility.filter(ordering="descending", k=2, references="lenient", retriever=OTHER)["p"].mean()
    rows = scores.filter(references="lenient")
    assert rows.filter(round=1, retriever=OTHER)["p"].item() == pytest.approx(first)
    p = pl.read_parquet(study.results / f"{FOLDER}/scores/minilm/demo-lm/{OTHER}.parquet").filter(references="lenient")
    by_query = p.group_by("qid").agg(pl.col("p").mean())["p"].mean()
    assert rows.filter(round=2, retriever=OTHER)["p"].item() == pytest.approx(by_query)
    assert rows["round"].to_list() == [0, 1, 1, 1, 2, 2, 2] and rows["missing"].drop_nulls().unique().to_list() == [0]
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "Is relevance relayed at each step of a search?" in page and "Too few queries to say whether" in page


def test_the_explorer_has_the_query_and_the_lists_of_the_round(study: Sandbox) -> None:
    asked = pl.read_parquet(study.results / f"{FOLDER}/queries/demo-lm.parquet").select("qid", "query")
    folder, found = study.results / "report/explorer/small_demo-lm_minilm", set()
    for path in folder.glob("*.js"):
        value = json.loads(path.read_text(encoding="utf-8").removeprefix("ragrelay.query(").removesuffix(");\n"))
        (block,) = value["blocks"]
        found |= {(value["qid"], row["text"]) for row in block["rows"]}
        assert all([one["retriever"] for one in row["lists"]] == [REFERENCE, OTHER, TWIN] for row in block["rows"])
    assert found == set(asked.rows())


def test_a_changed_list_reruns_nothing_of_the_reference(study: Sandbox) -> None:
    assert study.planned() == {}, "nothing is left to do"

    def change(changes: Changes) -> None:
        changes.entry("retrievers", OTHER, k1=0.2)

    with changed(study, change):
        plan = study.planned()
        assert plan["search_round"] == plan["view_round_answers"] == plan["score_round_answers"] == 1
        assert plan["generate_round_answers"] == 1 and "write_round_queries" not in plan

    def more(changes: Changes) -> None:
        changes.config["rounds"] = {**ROUNDS, "rounds": 3}

    with changed(study, more):
        plan = study.planned()
        assert plan["write_round_queries"] == 1 and plan["search_round"] == 3
        study.snakemake("plan")
        table = pl.read_csv(study.results / "plan.csv").filter(job="generate_round_answers")
        assert table["retriever"].to_list() == ["round 2", "round 3"] and table["to_make"][0] == 0 < table["to_make"][1]
