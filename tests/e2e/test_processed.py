"""Processed contexts from the overlay to the page, by the demo's model: measures are the other retriever's."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.support.processed_study import HALVED, RETRIEVERS, every_second, table
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.full


def test_prompts_show_the_processed_texts_and_measures_are_the_ranking_s(processed: Sandbox) -> None:
    texts = dict(table(processed, "contexts/bm25.parquet").select("docno", "text").iter_rows())
    for docnos, prompt in (
        table(processed, "prompts/tian2025/halved/descending/k2.parquet").select("docnos", "prompt").rows()
    ):
        assert [every_second(texts[docno]) in prompt for docno in docnos] == [True, True]
    assert table(processed, "retrieval/halved.parquet").equals(table(processed, "retrieval/bm25.parquet"))
    receipt = json.loads((processed.results / "small/contexts/short.processed.json").read_text())
    assert receipt["made"] == receipt["asked"] == 16 and receipt["same_again"] is True
    passages = table(processed, "contexts/halved.parquet").drop("shown")
    assert passages.equals(table(processed, "contexts/bm25.parquet"))


def test_the_returned_order_is_shown_and_measured_nowhere(processed: Sandbox) -> None:
    for k in (1, 2):
        path = f"descending/k{k}.parquet"
        before, after = (
            table(processed, f"prompts/tian2025/{name}/{path}")["docnos"].to_list() for name in ("bm25", "turned")
        )
        assert after == [docnos[::-1] for docnos in before] and (k == 1 or after != before)
    assert table(processed, "retrieval/turned.parquet").equals(table(processed, "retrieval/bm25.parquet"))
    contexts = table(processed, "contexts/turned.parquet").drop("shown", "places")
    assert contexts.sort("qid", "rank").equals(table(processed, "contexts/bm25.parquet").sort("qid", "rank"))


def test_a_function_that_raises_is_to_be_corrected(processed: Sandbox, tmp_path: Path) -> None:
    failing = processed.copied_to(tmp_path / "study")
    processor = {"kind": "python", "function": "halves:fails"}
    failing.config["retrievers"] = {**RETRIEVERS, "turned": {"kind": "processed", "of": "bm25", "processor": processor}}
    failing.write_config()
    run = failing.snakemake(check=False)
    line = HALVED.splitlines().index("    return passages[0].title") + 1
    end = (run.stdout + run.stderr).rpartition("Fix this:")[2]
    assert run.returncode == 1 and f"halves.py, line {line}, for query " in end
    assert "processor halves:fails: found AttributeError: 'Passage' object has no attribute 'title' in " in end


def test_the_explorer_has_the_texts_shown(processed: Sandbox) -> None:
    explored = next((processed.results / "report/explorer/small_demo-lm_minilm").glob("*.js")).read_text(
        encoding="utf-8"
    )
    value = json.loads(explored[explored.index("(") + 1 : explored.rindex(")")])
    cells = {(cell["retriever"], cell["k"]): cell for cell in value["cells"]}
    cell, whole = cells["halved", 2], cells["bm25", 2]
    assert "shown" not in whole and sorted([*cell["context"], *cell["emptied"]]) == sorted(whole["context"])
    for at, shown in zip(cell["context"], cell["shown"], strict=True):
        assert value["shown"][shown] == every_second(value["passages"][at][2])


def test_the_plan_says_what_processors_took(processed: Sandbox, tmp_path: Path) -> None:
    plan = processed.copied_to(tmp_path / "study").snakemake("plan").stdout
    assert "small, short: of 16 calls to its processor, 0 were cached and 16 were made before this plan" in plan


def test_a_changed_key_makes_its_own_cells_again_and_nothing_else(processed: Sandbox, tmp_path: Path) -> None:
    changed = processed.copied_to(tmp_path / "study")
    processor = {**RETRIEVERS["halved"]["processor"], "options": {"first": 1}}  # type: ignore[dict-item]
    changed.config["retrievers"] = {**RETRIEVERS, "halved": {**RETRIEVERS["halved"], "processor": processor}}
    changed.write_config()
    planned = changed.planned()
    alone = ("build_run", "process_contexts", "measure_retrieval", "build_prompts", "view_answers", "score_answers")
    assert {rule: planned.get(rule) for rule in alone} == dict.fromkeys(alone, 1)
    assert not planned.keys() & {"build_contexts", "index_corpus", "build_zeroshot_prompts", "view_zeroshot_answers"}
    changed.snakemake()
    prompts = [table(processed, f"prompts/tian2025/halved/descending/k{k}.parquet") for k in (1, 2)]
    again = [table(changed, f"prompts/tian2025/halved/descending/k{k}.parquet") for k in (1, 2)]
    new = pl.concat(again)["prompt_id"].unique()
    assert 0 < changed.answers_made() <= 2 * len(new), "two seeds"
    assert pl.concat(prompts)["prompt_id"].is_in(new.implode()).mean() < 0.5
