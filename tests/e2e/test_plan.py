"""`snakemake plan`: its exact figures are what a real run then does, by the receipts; and the files of that run.

It begins with nothing but a store that is almost whole, and goes in shards: what is missing alone is generated, and
every answer, score and table is the same byte for byte.
"""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from ragrelay.generation.store import AnswerStore

from tests.support.sandbox import Sandbox, jobs_of

LIMITED = ("--set-resources", "generate_answers:runtime=attempt*10")
Copy = Callable[[], Sandbox]


def planned_rows(study: Sandbox) -> dict[str, dict[str, Any]]:
    """The plan's rows by job, the total's under `total`."""
    rows = pl.read_csv(study.results / "plan.csv").to_dicts()
    return {row["job"] or "total": row for row in rows}


def emptied(finished: Sandbox, folder: Path) -> Sandbox:
    """The small study without its results; of the cached answers, none of ``rel``'s own with seed 2."""
    study = finished.copied_to(folder)
    prompts = {path: pl.read_parquet(path) for path in study.results.glob("small/prompts/tian2025/**/*.parquet")}
    of_rel = pl.concat(frame for path, frame in prompts.items() if "/rel/" in str(path))
    others = pl.concat(frame for path, frame in prompts.items() if "/rel/" not in str(path))
    lost = of_rel.join(others, on="prompt_id", how="anti").select("prompt_id", seed=pl.lit(2, pl.Int64)).unique()
    assert len(lost) > 10
    for part in sorted(study.folder.glob("cache/answers/*/part-*.parquet")):
        store = AnswerStore(study.folder / "cache", part.parent.name)
        kept, written = pl.read_parquet(part).join(lost, on=["prompt_id", "seed"], how="anti"), store.metadata(part)
        part.unlink()
        store.add(kept, {name: value for name, value in written.items() if name != "written"})
    for folder in ("results", "logs", ".snakemake"):  # what was used so far is beside the logs
        shutil.rmtree(study.folder / folder)
    return study


class Planned(NamedTuple):
    """The study, what planning it said, the plan's rows, and what the run said that its budget forbade."""

    study: Sandbox
    done: subprocess.CompletedProcess[str]
    rows: dict[str, dict[str, Any]]
    refused: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def planned(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """A study in two shards with nothing made but what is cached, planned and then run to its report.

    It has a budget, at first one that does not suffice.
    """
    study = emptied(finished, tmp_path_factory.mktemp("plan") / "study")
    study.config["datasets"]["small"]["shards"] = 2
    study.config["budget"] = {"tokens": 100}
    study.write_config()
    done = study.snakemake("plan")
    rows = planned_rows(study)
    refused = study.snakemake(check=False)
    assert not list(study.results.glob("small/generated"))
    study.config["budget"] = {"tokens": 10**6, "gpu_hours": 1}
    study.write_config()
    study.snakemake()
    return Planned(study, done, rows, refused)


def test_planning_alone_makes_prompts_and_no_answers(planned: Planned) -> None:
    jobs = jobs_of(planned.done)
    assert {"build_run", "build_prompts", "build_zeroshot_prompts", "plan"} <= set(jobs)
    assert not [rule for rule in jobs if "generate" in rule or "view" in rule]


def test_the_plans_exact_figures_are_what_is_then_done(planned: Planned) -> None:
    study, _, rows, _ = planned
    receipts = study.receipts()
    assert list(receipts) == ["demo-lm/shard0", "demo-lm/shard1"] and set(rows) == {"generate_answers", "total"}
    done = {
        name: sum(receipt.get(name, 0) for receipt in receipts.values())
        for name in ("asked", "cached", "made", "prompt_tokens")
    }
    cells = list(study.results.glob("small/answers/demo-lm/*/*/k*/seed*.parquet"))
    prompts = pl.read_parquet(list(study.results.glob("small/prompts/tian2025/*/*/k*.parquet")))
    for row in rows.values():
        assert (row["cells"], row["prompts"]) == (len(cells), prompts["prompt_id"].n_unique())
        assert row["asked"] == done["asked"] == row["cached"] + row["to_make"]
        assert (row["cached"], row["to_make"], row["requests"]) == (done["cached"], done["made"], done["made"])
        assert row["prompt_tokens"] == done["prompt_tokens"] and done["made"] > 10
        assert row["engine_starts"] == 2, "one per shard"


def test_one_more_seed_asks_only_for_its_answers_and_each_shard_for_its_own(planned: Planned) -> None:
    """`rel` had its answers with seed 1, the others had all of theirs, although no result was left."""
    study, _, rows, _ = planned
    receipts, of_rel = study.receipts().values(), study.results.glob("small/prompts/tian2025/rel/*/k*.parquet")
    assert sum(receipt["asked"] for receipt in receipts) == study.distinct_keys()
    assert sum(receipt["made"] for receipt in receipts) <= pl.read_parquet(list(of_rel))["prompt_id"].n_unique() == 24
    assert all(receipt["made"] > 0 for receipt in receipts)
    store = pl.read_parquet(list((study.folder / "cache/answers").rglob("part-*.parquet")))
    assert store.select("prompt_id", "seed").is_unique().all() and len(store) == rows["total"]["asked"]


def test_all_files_are_the_same_again(planned: Planned, finished: Sandbox) -> None:
    assert planned.study.tables() == finished.tables()


def test_a_key_that_retrievers_share_counts_once(planned: Planned) -> None:
    study, _, rows, _ = planned
    files = list(study.results.glob("small/prompts/**/*.parquet"))
    by_retriever: dict[str, set[str]] = {}
    for file in files:
        by_retriever.setdefault(file.parts[-3], set()).update(pl.read_parquet(file)["prompt_id"])
    assert rows["total"]["asked"] == 2 * len(set().union(*by_retriever.values()))
    assert rows["total"]["asked"] < 2 * sum(map(len, by_retriever.values())), "bm25 and rel should share a prompt"


def test_estimates_are_labelled_and_near(planned: Planned) -> None:
    study, done, rows, _ = planned
    total, receipts = rows["total"], study.receipts().values()
    assert {name for name in total if "estimate" in name} == {
        "answer_tokens_estimate", "prefix_shared_tokens_estimate", "gpu_hours_estimate", "disk_bytes_estimate",
    }  # fmt: skip
    assert "~answer tokens" in done.stdout and f"mean of {total['cached']} cached answers" in done.stdout
    assert "earlier jobs on cpu" in done.stdout
    assert rows["generate_answers"]["tokens_per_second"] > 0 and total["gpu_hours_estimate"] > 0
    answer_tokens = sum(receipt.get("answer_tokens", 0) for receipt in receipts if receipt["made"])
    assert 0.5 * answer_tokens < total["answer_tokens_estimate"] < 2 * answer_tokens
    assert total["disk_bytes_estimate"] > 0


@pytest.mark.gate
def test_what_is_whole_is_planned_as_nothing_to_do(finished: Sandbox, copied: Copy) -> None:
    study = copied()
    study.config["shards"] = "auto"
    study.config["generators"] = {"demo-lm": {"threads": 2, "tokens_per_second": 1e-6}}
    study.write_config()
    done = study.snakemake("plan", *LIMITED)
    assert "Shards (auto) of small, demo-lm: 1, as before, since answers exist." in done.stdout
    assert not {rule for rule in study.planned() if "generate" in rule}
    total = planned_rows(study)["total"]
    assert (total["to_make"], total["prompt_tokens"], total["answer_tokens_estimate"]) == (0, 0, 0)
    assert total["cached"] == total["asked"] == finished.answers_made()


def test_the_plan_finds_how_many_shards_a_time_limit_asks_for(planned: Planned, tmp_path: Path) -> None:
    study = planned.study.copied_to(tmp_path / "study")
    shutil.rmtree(study.results / "small/generated")
    shutil.rmtree(study.folder / "cache/answers")
    study.config["shards"] = "auto"
    study.config["generators"] = {"demo-lm": {"threads": 2, "tokens_per_second": 1e-6}}
    study.write_config()
    assert study.planned("all_answers")["generate_answers"] == 2, "the dataset's own number"
    done = study.snakemake("plan", *LIMITED)
    assert "Shards (auto) of small, demo-lm: 8, with which a job takes ~" in done.stdout, "one per query"
    assert study.planned("all_answers")["generate_answers"] == 8
    study.config["budget"] = {"tokens": 100}
    study.write_config()
    refused = study.snakemake("all_answers", check=False)
    assert "config key 'budget.tokens': found a run that needs about " in refused.stderr, (
        "the plan is that of this study"
    )


def test_a_run_beyond_its_budget_ends_in_one_line_before_any_job(planned: Planned) -> None:
    need = planned.rows["total"]["prompt_tokens"] + planned.rows["total"]["answer_tokens_estimate"]
    assert f"Budget: 100 tokens, less than the ~{need:,.6g} needed, so no run will start." in planned.done.stdout
    refused = planned.refused
    [line] = [line for line in (refused.stdout + refused.stderr).splitlines() if line.startswith("ragrelay: ")]
    found = f"found a run that needs about {need:,.6g} tokens; expected at most 100; `snakemake plan` shows what each "
    assert line == f"ragrelay: error: config key 'budget.tokens': {found}job needs"
    assert refused.returncode == 1 and "Traceback" not in refused.stderr
    assert "rule " not in refused.stderr.partition("Job stats")[2], "no job was started"


def test_with_a_budget_a_changed_study_is_planned_again(planned: Planned, tmp_path: Path) -> None:
    study = planned.study.copied_to(tmp_path / "study")
    study.config["grid"] = {**study.config["grid"], "seeds": [1, 2, 3]}
    study.write_config()
    refused = study.snakemake("all_answers", check=False)
    assert (
        "config key 'budget': found a plan from " in refused.stderr
        and "older than the study's latest changes" in refused.stderr
    )
    study.snakemake("all_runs")
    assert set(study.planned("all_answers")) > {"generate_answers"}, "a dry run shows them"
