"""A study with battles from its first job to its page: what is asked, what a change reruns, what the plan counts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import pytest

from tests.support.changes import Changes, changed
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.engine, pytest.mark.study]
JUDGE = {"kind": "judge", "generator": "demo-lm", "against": "bm25"}
BATTLES = {
    "judged": {**JUDGE, "references": "none"},
    "best": {**JUDGE, "best": 1},
    "voted": {"kind": "file", "path": "votes.csv", "against": "bm25"},
    "panel": {"kind": "panel", "of": ["judged", "best", "voted"]},
}
FOLDER = "small/battles"


def add_battles(study: Changes) -> None:
    study.config["battles"] = BATTLES
    queries = pl.read_parquet(study.folder / "results/small/small/collection/queries.parquet")["qid"].to_list()
    lines = [f"{qid},{order},{vote},2" for place, qid in enumerate(queries)
             for order, vote in (("rel,bm25", "first"), ("bm25,rel", "second" if place else "tie"))]  # fmt: skip
    text = "\n".join(["qid,first,second,vote,k", *lines])
    (study.folder / "votes.csv").write_text(text + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """The study, which has its answers, run to its page again with battles."""
    there = finished.copied_to(tmp_path_factory.mktemp("battles") / "study")
    with changed(there, add_battles):
        there.snakemake("plan")
        (there.folder / "before.csv").write_bytes((there.results / "plan.csv").read_bytes())
        there.snakemake()
        yield there


def votes(study: Sandbox, battle: str) -> pl.DataFrame:
    return pl.read_parquet(study.results / f"{FOLDER}/{battle}/demo-lm/votes.parquet")


def answers(study: Sandbox, retriever: str, cell: Mapping[str, Any]) -> dict[str, str]:
    path = "small/answers/demo-lm/{}/{ordering}/k{k}/seed{seed}.parquet".format(retriever, **cell)
    return dict(pl.read_parquet(study.results / path).select("qid", "answer").iter_rows())


def test_every_pair_of_answers_is_asked_about_in_both_orders_once(study: Sandbox) -> None:
    """The plan counts the questions before, and none when the votes are stored."""
    asked = pl.concat(
        pl.read_parquet(study.results / f"{FOLDER}/{name}/demo-lm/asked.parquet") for name in ("judged", "best")
    )
    before = pl.read_csv(study.folder / "before.csv").filter(job="judge_pairs")
    distinct = asked["prompt_id"].drop_nulls().n_unique()
    receipt = json.loads((study.results / "small/asked/judge_pairs/demo-lm/demo-lm.json").read_text(encoding="utf-8"))
    assert before["to_make"].sum() == before["asked"].sum() == receipt["asked"] > 0
    assert receipt["asked"] % distinct == 0, "as many tokens for each question"
    for row in votes(study, "judged").iter_rows(named=True):
        sides = [answers(study, row[name], row)[row["qid"]] for name in ("retriever", "against")]
        assert row["asked"] == (sides[0] != sides[1]), sides
        assert row["score"] == (row["score_first"] + row["score_second"]) / 2
        assert row["asked"] or row["score"] == 0.5
    study.snakemake("plan")
    after = pl.read_csv(study.results / "plan.csv").filter(job="judge_pairs")
    assert after["to_make"].sum() == 0 and after["asked"].sum() == receipt["asked"]
    assert study.planned() == {}, "nothing is left to do"


def win_rate(study: Sandbox, battle: str) -> float:
    """Of rel in the primary cell."""
    wins = pl.read_csv(study.results / f"{FOLDER}/{battle}/demo-lm/wins.csv")
    rate: float = wins.filter(retriever="rel", ordering="descending", k=2)["win_rate"].item()
    return rate


def test_votes_from_a_file_and_a_panel_take_the_same_path(study: Sandbox) -> None:
    """The votes are for k = 2 and the first seed: rel wins both orders, but ties in one for the first query."""
    voted = votes(study, "voted")
    assert voted.select("k", "seed").unique().rows() == [(2, 1)]
    assert sorted(voted["score"])[:2] == [0.75, 1.0] and voted["score"].sum() == voted.height - 0.25
    rates = [win_rate(study, name) for name in ("judged", "best", "voted")]
    assert rates[2] == pytest.approx(1 - 0.25 / voted.height)
    assert win_rate(study, "panel") == pytest.approx(sum(rates) / 3)
    judges = pl.read_csv(study.results / f"{FOLDER}/panel/demo-lm/judges.csv").filter(
        quantity="without", retriever="rel"
    )
    assert judges["judge"].to_list() == ["judged", "best", "voted"]
    left_out = json.loads((study.results / f"{FOLDER}/voted/demo-lm/votes.left_out.json").read_text(encoding="utf-8"))
    assert [row["count"] for row in left_out] == [0, 0, 0, 0]


def test_page_and_explorer_show_the_battles(study: Sandbox) -> None:
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "Which answer does a judge prefer?" in page and "Battle panel, judged by a panel" in page
    folder = study.results / "report/explorer/small_demo-lm_minilm"
    value = json.loads(next(folder.glob("*.js")).read_text(encoding="utf-8")
                       .removeprefix("ragrelay.query(").removesuffix(");\n"))  # fmt: skip
    blocks = {block["title"]: block for block in value["blocks"]}
    assert len(blocks) == 4
    for row in blocks["Battle voted (descending, k = 2)"]["rows"]:
        assert [one["retriever"] for one in row["lists"]] == ["rel", "bm25"]
        assert [one["note"].split(" as the ")[0] for one in row["lists"]] == ["wins", "loses"]


def test_a_changed_vote_asks_no_model_and_another_prompt_asks_only_its_judge(study: Sandbox) -> None:
    def vote(changes: Changes) -> None:
        changes.edit("votes.csv", "first,2", "tie,2")

    with changed(study, vote):
        plan = study.planned()
        assert plan["read_vote_file"] == 1 and plan["analyse_battles"] == 2 and "judge_pairs" not in plan

    def prompt(changes: Changes) -> None:
        changes.config["battles"] = {**BATTLES, "best": {**JUDGE, "best": 2}}

    with changed(study, prompt):
        plan = study.planned()
        assert plan["judge_pairs"] == 1 and plan["read_pair_votes"] == 1 and "read_vote_file" not in plan
