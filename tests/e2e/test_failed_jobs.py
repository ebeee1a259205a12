"""Only the running job is killed, after a change: the same command then gives what an undisturbed run gives."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.changes import Changes, changed
from tests.support.forked_python import KILLED
from tests.support.sandbox import Sandbox, jobs_of

ANALYSIS = "small/analysis/minilm/demo-lm"


class Case(NamedTuple):
    """``rule``'s job is killed ``times`` times by ``how`` after ``renames``; ``target``: a file that follows it."""

    rule: str
    change: Callable[[Changes], object]
    target: str
    how: signal.Signals
    renames: int = 0
    times: int = 1


def bm25(study: Changes) -> None:
    study.entry("retrievers", "bm25", k1=0.01)


CASES = [
    Case("build_run", bm25, "small/contexts/bm25.parquet", signal.SIGKILL, times=2),
    Case(
        "build_contexts",
        lambda study: study.entry("retrievers", "nrel", seed=7),
        "small/prompts/tian2025/nrel/descending/k2.parquet",
        signal.SIGTERM,
        1,
    ),
    Case(
        "prepare_collection",
        lambda study: study.edit("small/queries.tsv", "\t", "\tNow "),
        "small/prompts/tian2025/zeroshot/none/k0.parquet",
        signal.SIGKILL,
        1,
    ),
    Case(
        "measure_retrieval",
        lambda study: study.grid(measures=["nDCG", "P"]),
        f"{ANALYSIS}/correlation.csv",
        signal.SIGKILL,
        1,
    ),
    Case(
        "compute_utility",
        lambda study: study.entry("scorers", "minilm", utility="absolute"),
        f"{ANALYSIS}/gain.csv",
        signal.SIGTERM,
    ),
    Case(
        "analyse_transmission",
        lambda study: study.config.update(analysis={"resamples": 400}),
        "report/tables/correlation_small_demo-lm_minilm.csv",
        signal.SIGTERM,
        2,
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_the_same_command_after_a_kill(
    copied: Callable[[], Sandbox],
    finished: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: Case,
) -> None:
    study = copied()
    target = f"results/small/{case.target}"
    with changed(study, case.change):
        undisturbed = study.copied_to(tmp_path / "undisturbed")
        needed = jobs_of(undisturbed.snakemake(target))
        assert needed[case.rule] and len(needed) > 1
        monkeypatch.setenv(KILLED, f"{case.rule}.py {int(case.how)} {case.renames}")
        for _ in range(case.times):
            failed = study.snakemake(target, check=False)
            assert failed.returncode and f"Error in rule {case.rule}:" in failed.stdout + failed.stderr
        monkeypatch.delenv(KILLED)
        done = jobs_of(study.snakemake(target))
        assert done[case.rule]
        made = study.contents()
        assert made == undisturbed.contents()
        assert made[case.target] != finished.contents()[case.target], "the change matters"
        assert study.planned(target) == {}


def test_files_of_failed_jobs_are_not_kept(copied: Callable[[], Sandbox]) -> None:
    done = copied().snakemake("--keep-incomplete", check=False)
    said = done.stdout + done.stderr
    assert done.returncode and "Traceback" not in said
    (line,) = (line for line in said.splitlines() if line.startswith("ragrelay: error"))
    assert line.startswith("ragrelay: error: option --keep-incomplete: found it, with which"), line
