"""Only the running job is killed, after a change: the same command then gives what an undisturbed run gives.

Six drawn by hand; of all rules, drawn by a seed: tests/faults/test_killed_rules.py.
"""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.changes import CODE, Changes, changed
from tests.support.kills import Kill, killing, run_with_kills
from tests.support.sandbox import Sandbox, jobs_of

ANALYSIS = "small/analysis/minilm/demo-lm"
GAIN = 'gain = pl.col("p") - pl.col("p0")'


class Case(NamedTuple):
    """``rule``'s jobs are killed after ``change`` while ``target``, a file that follows them, is made."""

    rule: str
    change: Callable[[Changes], object]
    target: str
    kill: Kill
    retries: int = 0


CASES = [
    Case(
        "build_run",
        lambda study: study.entry("retrievers", "bm25", k1=0.01),
        "small/contexts/bm25.parquet",
        Kill(signal.SIGKILL),
        retries=1,
    ),
    Case(
        "build_contexts",
        lambda study: study.entry("retrievers", "nrel", seed=7),
        "small/prompts/tian2025/nrel/descending/k2.parquet",
        Kill(signal.SIGTERM, "renames", 1),
    ),
    Case(
        "prepare_collection",
        lambda study: study.edit("small/queries.tsv", "\t", "\tNow "),
        "small/prompts/tian2025/zeroshot/none/k0.parquet",
        Kill(signal.SIGKILL, "renames", 1, times=2),
    ),
    Case(
        "measure_retrieval",
        lambda study: study.grid(measures=["nDCG", "P"]),
        f"{ANALYSIS}/correlation.csv",
        Kill(signal.SIGKILL, "renames", 1),
    ),
    Case(
        "compute_utility",
        lambda study: study.edit(f"{CODE}/analysis/utility.py", GAIN, f"{GAIN} / 2"),
        f"{ANALYSIS}/gain.csv",
        Kill(signal.SIGTERM),
    ),
    Case(
        "analyse_transmission",
        lambda study: study.config.update(analysis={"resamples": 400}),
        "report/tables/correlation_small_demo-lm_minilm.csv",
        Kill(signal.SIGTERM, "renames", 2),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_the_same_command_after_a_kill(
    copied: Callable[[], Sandbox], finished: Sandbox, tmp_path: Path, case: Case
) -> None:
    study = copied()
    target = f"results/small/{case.target}"
    with changed(study, case.change):
        undisturbed = study.copied_to(tmp_path / "undisturbed")
        needed = jobs_of(undisturbed.snakemake(target))
        assert needed[case.rule] and len(needed) > 1
        missed, unneeded = run_with_kills(study, [target], {case.rule: case.kill}, case.retries)
        assert not unneeded
        assert not missed
        made = study.contents()
        assert made == undisturbed.contents()
        assert made[case.target] != finished.contents()[case.target], "the change matters"


def warmer_and_another_oracle(study: Changes) -> None:
    study.entry("generators", "demo-lm", temperature=0.5)
    study.entry("retrievers", "nrel", seed=7)


@pytest.mark.gate
def test_a_change_that_is_taken_back_after_its_generation_was_killed(
    copied: Callable[[], Sandbox], finished: Sandbox
) -> None:
    """No engine starts, and no view is left of the change, behind receipts that views only follow."""
    study = copied()
    with changed(study, warmer_and_another_oracle), killing(study, {"generate_answers": Kill(signal.SIGTERM)}):
        assert study.snakemake("--keep-going", check=False).returncode
    done = jobs_of(study.snakemake())
    assert done["generate_answers"] == done["view_answers"] == 1, "of the retriever that was changed, and back"
    assert study.answers_made() == 0
    assert study.contents() == finished.contents()


@pytest.mark.full
def test_two_failures_after_two_changes(copied: Callable[[], Sandbox], tmp_path: Path) -> None:
    """Generation fails after the first, scoring after a second; then both are in all that follows."""
    study = copied()

    def second(study: Changes) -> None:
        warmer_and_another_oracle(study)
        study.entry("scorers", "minilm", layer=5)

    undisturbed = study.copied_to(tmp_path / "undisturbed")
    for number, (change, rule) in enumerate([(warmer_and_another_oracle, "generate_answers"), (second, "fill_scores")]):
        with changed(study, change), killing(study, {rule: Kill(signal.SIGKILL)}):
            assert study.snakemake("--keep-going", check=False).returncode, number
    with changed(study, second):
        study.snakemake()
        assert study.planned() == {}
        made = study.contents()
    with changed(undisturbed, second):
        undisturbed.snakemake()
        assert made == undisturbed.contents()


@pytest.mark.gate
def test_files_of_failed_jobs_are_not_kept(copied: Callable[[], Sandbox]) -> None:
    done = copied().snakemake("--keep-incomplete", check=False)
    said = done.stdout + done.stderr
    assert done.returncode and "Traceback" not in said
    (line,) = (line for line in said.splitlines() if line.startswith("ragrelay: error"))
    assert line.startswith("ragrelay: error: option --keep-incomplete: found this option, which would let the next"), (
        line
    )
