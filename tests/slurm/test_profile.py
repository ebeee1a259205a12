"""The profile `slurm` on a real cluster: what is submitted where, and what a change submits. In this order.

And that a cluster leaves nothing behind, even where the tests that started it are killed.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from ragrelay.generation.engine_use import used_in_all

from tests.support.cluster import Cluster
from tests.support.janitor import left
from tests.support.sandbox import ROOT, Sandbox
from tests.support.slurm_study import SlurmStudy, what
from tests.support.waiting import wait_for

RETRIEVERS = ("bm25", "rel", "nrel")
GROUPS = ("collection", "contexts", "analysis", "report")


@pytest.mark.gate
def test_no_job_gets_a_gpu_if_no_answer_is_missing(submitted: SlurmStudy) -> None:
    """The engine's job then gets what all jobs get by default."""
    assert not submitted.gpu_jobs()
    assert {job["Partition"] for job in submitted.jobs()} == {"cpu"}
    assert not [job for job in submitted.jobs() if "gpu" in job["AllocTRES"]]
    [job] = [job for job in submitted.jobs() if what(job) == "generate_answers small_demo-lm_0"]
    assert "mem=4000M" in job["AllocTRES"].split(",") and job["Timelimit"] == "00:30:00"


@pytest.mark.gate
def test_every_job_succeeded_at_once_and_was_charged_to_the_account(submitted: SlurmStudy) -> None:
    jobs = submitted.jobs()
    assert {job["State"] for job in jobs} == {"COMPLETED"}
    assert {job["Account"] for job in jobs} == {submitted.cluster.account}


@pytest.mark.gate
def test_light_rules_go_as_groups(submitted: SlurmStudy) -> None:
    names = Counter(what(job).split()[0] for job in submitted.jobs())
    groups = {group: sum(names[name] for name in names if name.startswith(f"{group}_")) for group in GROUPS}
    assert groups == {"collection": 1, "contexts": len(RETRIEVERS), "analysis": 1, "report": 1}, names


@pytest.mark.gate
def test_same_files_as_without_slurm(submitted: SlurmStudy, finished: Sandbox) -> None:
    assert submitted.tables() == finished.tables()


def test_the_page_has_what_was_requested_and_the_executor_its_report(submitted: SlurmStudy) -> None:
    provenance = json.loads((submitted.results / "report/provenance.json").read_text())
    requested = {stage["stage"]: (stage["requested_minutes"], stage["requested_mb"]) for stage in provenance["stages"]}
    assert requested["generate_answers"] == (480, 32000) and requested["build_run"] == (480, 16000)
    [report] = (submitted.folder / "logs/slurm").glob("efficiency_report_*.csv")
    assert {*pl.read_csv(report)["RuleName"]} == {job["Comment"] for job in submitted.jobs()}


@pytest.mark.gate
def test_second_run_submits_nothing(submitted: SlurmStudy) -> None:
    before = len(submitted.jobs())
    done = submitted.snakemake()
    assert "Nothing to be done" in done.stdout + done.stderr
    assert len(submitted.jobs()) == before


@pytest.mark.gate
def test_a_removed_retriever_needs_no_gpu(submitted: SlurmStudy) -> None:
    shard, before = "results/small/small/generated/demo-lm/shard0.json", len(submitted.jobs())
    submitted.config["grid"] = {**submitted.config["grid"], "retrievers": [*RETRIEVERS[:-1]]}
    submitted.write_config()
    submitted.snakemake(shard)
    jobs = submitted.jobs()[before:]
    assert sorted(what(job) for job in jobs) == ["count_answers small_demo-lm_0", "generate_answers small_demo-lm_0"]
    assert {job["Partition"] for job in jobs} == {"cpu"}
    assert not list((submitted.results / ".missing").rglob("*.json")), "counts are removed"


@pytest.mark.full
def test_deleted_results_need_no_gpu(submitted: SlurmStudy) -> None:
    """Nor do scores, where the profile gives scoring a GPU."""
    submitted.config["grid"] = {**submitted.config["grid"], "retrievers": [*RETRIEVERS]}
    submitted.write_config()
    shutil.rmtree(submitted.results)
    path = submitted.folder / "profiles/slurm/config.yaml"
    shipped = path.read_text(encoding="utf-8")
    path.write_text(shipped.replace("\n  scoring:\n", "\n  scoring:\n    slurm_partition: gpu\n    gpu: 1\n"))
    before = len(submitted.jobs())
    submitted.snakemake()
    path.write_text(shipped, encoding="utf-8")
    assert not submitted.gpu_jobs()
    names = {what(job).split()[0] for job in submitted.jobs()[before:]}
    assert {"count_answers", "count_scores", "count_references", "fill_scores"} <= names


@pytest.mark.full
def test_a_seed_more_sends_only_the_shards_with_missing_answers_to_a_gpu(submitted: SlurmStudy) -> None:
    """The answers of one of two shards are made before, by a job with a GPU."""
    shards = [f"results/small/small/generated/demo-lm/shard{shard}.json" for shard in (0, 1)]
    submitted.config["grid"] = {**submitted.config["grid"], "seeds": [1, 2, 4]}
    submitted.config["datasets"]["small"]["shards"] = 2
    submitted.write_config()
    submitted.snakemake(shards[1])
    assert [what(job) for job in submitted.gpu_jobs()] == ["generate_answers small_demo-lm_1"]
    (submitted.folder / shards[1]).unlink()
    submitted.snakemake("plan")
    done = submitted.snakemake(*shards, "--dry-run")
    account = submitted.cluster.account
    lines = [line.split() for line in (done.stdout + done.stderr).splitlines() if line.startswith("generate_a")]
    table = [line[:5] for line in lines if account in line]  # Snakemake's own counts of jobs have two columns
    asked = [["generate_answers", "1", "cpu", account, "2"], ["generate_answers", "1", "gpu", account, "1"]]
    assert sorted(table) == asked, "by the plan's counts"
    submitted.snakemake(*shards)
    jobs = submitted.gpu_jobs()
    assert [what(job) for job in jobs] == ["generate_answers small_demo-lm_1", "generate_answers small_demo-lm_0"]
    assert all("gres/gpu=1" in job["AllocTRES"].split(",") for job in jobs)
    assert {job["NodeList"] for job in jobs} == {"gpu1"}


@pytest.mark.full
def test_gpu_hours_are_those_that_slurm_charges(submitted: SlurmStudy) -> None:
    """But for the seconds before a job's script begins."""
    charged = [job["Elapsed"].split(":") for job in submitted.gpu_jobs()]
    seconds = sum(3600 * int(hours) + 60 * int(minutes) + int(rest) + 1 for hours, minutes, rest in charged)
    assert 0 < used_in_all(submitted.folder / "logs/small")["gpu_hours"] * 3600 <= seconds


@pytest.mark.full
def test_an_added_run_and_a_changed_retriever_submit_their_own_chains_alone(submitted: SlurmStudy) -> None:
    built = submitted.results / "small/runs/bm25.run.gz"
    shutil.copy(built, submitted.folder / "mine.run.gz")
    submitted.config["grid"] = {**submitted.config["grid"], "seeds": [1, 2]}
    submitted.config["datasets"]["small"]["shards"] = 1
    submitted.write_config()
    submitted.snakemake("all_scores")
    before = len(submitted.jobs())
    submitted.config["retrievers"] = {"mine": {"kind": "run", "path": "mine.run.gz"}, "nrel": {"seed": 1}}
    submitted.config["grid"] = {**submitted.config["grid"], "retrievers": [*RETRIEVERS, "mine"]}
    submitted.write_config()
    submitted.snakemake("all_scores")
    names = [what(job) for job in submitted.jobs()[before:]]
    groups = [name for name in names if name.startswith("contexts_")]
    assert len(groups) == 2 and sorted(set(names) - set(groups)) == [
        "analysis_score_answers",
        "build_run small_mine",
        "build_run small_nrel",
        "count_answers small_demo-lm_0",
        "fill_scores small_minilm_demo-lm_0",
        "generate_answers small_demo-lm_0",
        "view_answers small_demo-lm_mine",
        "view_answers small_demo-lm_nrel",
    ]


def test_two_engines_on_two_gpus_are_one_task_and_ask_for_more_when_it_is_tried_again(submitted: SlurmStudy) -> None:
    """By SLURM's own record. The GPUs are fakes, and the engines are the CPU's, with one worker each.

    The first job is cancelled while it waits for the node, the second one makes the answers.
    """
    cluster, shard = submitted.cluster, "small/generated/demo-lm/shard0.json"
    submitted.config["generators"] = {"demo-lm": {"threads": 2, "engines_per_job": 2}}
    submitted.config["grid"] = {**submitted.config["grid"], "seeds": [3]}
    submitted.config["datasets"]["small"]["shards"] = 1
    submitted.write_config()

    def pending() -> list[str]:
        found = cluster.run("squeue", "--noheader", "--partition=gpu", "--states=PENDING", "-o%i").split()
        return [job for job in found if job not in cancelled]

    cancelled: list[str] = []
    told = []
    cluster.run("scontrol", "update", "NodeName=gpu1", "State=DRAIN", "Reason=test")
    driver = submitted.start(f"results/small/{shard}")
    try:
        for _ in range(2):
            wait_for("a job in the queue", pending, 120)
            [job] = pending()
            told.append(cluster.told(job))
            if not cancelled:
                cluster.run("scancel", job)
                cancelled.append(job)
        cluster.run("scontrol", "update", "NodeName=gpu1", "State=RESUME")
        assert driver.wait(timeout=900) == 0, (submitted.folder / "output.txt").read_text()[-3000:]
    finally:
        driver.kill()
        cluster.ask("scontrol", "update", "NodeName=gpu1", "State=RESUME")  # refused where it is resumed already
    assert [(one["NumTasks"], one["NumNodes"].split("-")[0]) for one in told] == [("1", "1")] * 2
    assert [one["TimeLimit"] for one in told] == ["08:00:00", "16:00:00"]
    assert [one["MinMemoryNode"] for one in told] == ["32000M", "62.50G"], "64,000 MB, as SLURM writes it"
    first, second = submitted.gpu_jobs()[-2:]
    assert (first["State"].split()[0], second["State"]) == ("CANCELLED", "COMPLETED")
    assert "gres/gpu=2" in second["AllocTRES"].split(",")
    receipt = json.loads((submitted.results / shard).read_text())
    assert receipt["made"] > 0 and receipt["device"] == "cpu"


START = """
from tests.support.cluster import Cluster
cluster = Cluster("lab")
cluster.start()
cluster.run("sbatch", "--account=lab", "--output=/dev/null", "--wrap=sleep 600")
print(cluster.folder, flush=True)
input()
"""


def test_killed_tests_leave_no_process_and_no_folder(cluster: Cluster) -> None:
    tests = subprocess.Popen(
        [sys.executable, "-c", START], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert tests.stdout
    folder = Path(tests.stdout.readline().strip())
    names = {"munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "slurmstepd", "sleep"}
    wait_for("the job to run", lambda: names <= {process.name() for process in left(folder)}, 60)
    tests.kill()
    tests.communicate()
    wait_for("the folder to be gone", lambda: not folder.exists(), 60)
    assert not left(folder)
    assert cluster.node_states(), "the other cluster is as it was"
