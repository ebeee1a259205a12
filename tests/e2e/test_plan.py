"""`snakemake plan`: its exact figures are what a real generation run then does, by the receipts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.support.sandbox import Sandbox

Copy = Callable[[], Sandbox]


def planned_rows(study: Sandbox) -> dict[str, dict[str, Any]]:
    """The plan's rows by retriever, the total's under `total`."""
    rows = pl.read_csv(study.results / "plan.csv").to_dicts()
    return {row["retriever"] or "total": row for row in rows}


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sandbox, str, dict[str, dict[str, Any]]]:
    """A study with some answers held (zero-shot and one retriever's, of one seed), planned and then generated."""
    study = Sandbox(tmp_path_factory.mktemp("plan") / "study")
    grid = study.config["grid"]
    study.config["grid"] = {**grid, "retrievers": ["rel"], "seeds": [2]}
    study.write_config()
    study.snakemake("all_answers")
    study.config["grid"] = grid
    study.write_config()
    done = study.snakemake("plan")
    assert not list(study.results.glob("small/generated/*/bm25"))
    rows = planned_rows(study)
    study.snakemake("all_answers")
    return study, done.stdout + done.stderr, rows


def test_the_plans_exact_figures_are_what_is_then_done(planned: tuple[Sandbox, str, dict[str, Any]]) -> None:
    study, output, rows = planned
    assert "Not counted" not in output
    receipts = {name.split("/")[0]: receipt for name, receipt in study.receipts().items()}
    assert set(rows) == {*receipts, "total"} == {"zeroshot", "bm25", "rel", "nrel", "total"}
    for retriever, receipt in receipts.items():
        row = rows[retriever]
        cells = list(study.results.glob(f"small/answers/demo-lm/{retriever}/*/k*/seed*.parquet"))
        prompts = pl.read_parquet(list(study.results.glob(f"small/prompts/tian2025/{retriever}/*/k*.parquet")))
        assert (row["cells"], row["prompts"]) == (len(cells), prompts["prompt_id"].n_unique())
        assert row["asked"] == receipt["asked"] == row["held"] + row["to_make"]
        # What retrievers share, the first of them makes and the others find held.
        assert row["held"] <= receipt["held"]
    total, made = rows["total"], [receipt for receipt in receipts.values() if receipt["made"]]
    assert total["to_make"] == sum(receipt["made"] for receipt in made) > 0
    assert total["prompt_tokens"] == sum(receipt["prompt_tokens"] for receipt in made)
    assert total["cells"] == sum(row["cells"] for name, row in rows.items() if name != "total")
    assert (rows["rel"]["held"], rows["zeroshot"]["held"]) == (24, 8)


def test_a_key_that_retrievers_share_counts_once_in_the_total(planned: tuple[Sandbox, str, dict[str, Any]]) -> None:
    study, _, rows = planned
    asked = pl.read_parquet(list(study.results.glob("small/prompts/**/*.parquet")))["prompt_id"].n_unique() * 2
    parts = [row for name, row in rows.items() if name != "total"]
    assert rows["total"]["asked"] == asked < sum(row["asked"] for row in parts), "bm25 and rel should share a prompt"


def test_estimates_are_labelled_and_near(planned: tuple[Sandbox, str, dict[str, Any]]) -> None:
    study, output, rows = planned
    total, receipts = rows["total"], study.receipts().values()
    assert {name for name in total if "estimate" in name} == {
        "answer_tokens_estimate", "prefix_shared_tokens_estimate", "gpu_hours_estimate", "disk_bytes_estimate",
    }  # fmt: skip
    assert "~answer tokens" in output and "mean of 32 answers held" in output and "earlier jobs on cpu" in output
    assert rows["bm25"]["tokens_per_second"] > 0 and total["gpu_hours_estimate"] > 0
    answer_tokens = sum(receipt.get("answer_tokens", 0) for receipt in receipts)
    assert 0.5 * answer_tokens < total["answer_tokens_estimate"] < 2 * answer_tokens
    assert total["disk_bytes_estimate"] > 0


def test_what_is_whole_is_planned_as_nothing_to_do(finished: Sandbox, copied: Copy) -> None:
    study = copied()
    study.snakemake("plan")
    total = planned_rows(study)["total"]
    assert (total["to_make"], total["prompt_tokens"], total["answer_tokens_estimate"]) == (0, 0, 0)
    assert total["held"] == total["asked"] == sum(receipt["made"] for receipt in finished.receipts().values())


def test_what_the_plan_leaves_out_it_names(copied: Copy) -> None:
    study = copied()
    study.config["context_use"] = True
    assert left_out(study) == "Not counted: score_context_use"
    study.config["grid"] = {**study.config["grid"], "annotations": ["llm"]}
    study.config["acu"] = {"claims": ["demo-claims"], "prompts": ["claims_zeroshot"], "generators": ["demo-lm"]}
    study.config["context_use"] = False
    assert left_out(study) == "Not counted: judge_passages, score_claims"


def left_out(study: Sandbox) -> str:
    """What the plan of ``study`` says that it doesn't count, up to the rules' names."""
    study.write_config()
    [line] = [line for line in study.snakemake("plan").stdout.splitlines() if line.startswith("Not counted")]
    return line.split(", whose")[0]


def test_planning_alone_makes_prompts_and_no_answers(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    jobs = study.planned("plan")
    assert {"build_run", "build_prompts", "build_zeroshot_prompts", "plan"} <= set(jobs)
    assert not [rule for rule in jobs if "generate" in rule or "view" in rule]
