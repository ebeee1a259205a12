"""What is missing of a finished study is made again, with all that follows it, and nothing else; by dry runs.

The rules and what follows them are those of the graph that Snakemake has loaded.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.support.annex_cases import entries_of_annexes
from tests.support.graphs import following_any, graph, told_apart
from tests.support.optional_study import TARGETS
from tests.support.sandbox import Sandbox

SOME = {
    ("plan",): ["build_run", "prepare_collection", "build_prompts"],
    ("results/small/small/retrieval/bm25.parquet",): ["prepare_collection", "build_run"],
    ("report",): ["score_answers", "compute_utility"],
    **entries_of_annexes("DELETED"),
}


@pytest.fixture(scope="module")
def study(optional: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    twin = optional.copied_to(tmp_path_factory.mktemp("deleted") / "study")
    twin.seem_run("plan")
    return twin


def check(study: Sandbox, targets: tuple[str, ...], rules: list[str] | int, aside: Path) -> None:
    """Move the files of one job of each of ``rules`` ``aside`` and look at the plan.

    ``rules``: names, or each of how many rules that have files is taken.
    """
    jobs = graph(study, targets)
    # A target without files always runs.
    always = {name for name, job in jobs.items() if job.runs}
    assert always <= {f"{target} {{}}" for target in targets}
    first = {job.rule: name for name, job in sorted(jobs.items(), reverse=True) if job.output}
    taken = sorted(first)[::rules] if isinstance(rules, int) else rules
    assert len(first) > 1 and set(taken) <= set(first)
    for group in told_apart(jobs, {first[rule]: {first[rule]} for rule in taken}):
        missing = [study.folder / path for name in group for path in jobs[name].output]
        moved = {path: aside / str(n) for n, path in enumerate(missing)}
        for path, place in moved.items():
            shutil.move(path, place)
        try:
            planned = {name for name, job in graph(study, targets).items() if job.runs}
        finally:
            for path, place in moved.items():
                shutil.move(place, path)
        assert planned == following_any(jobs, group) | always, group


@pytest.mark.parametrize("part", [pytest.param(1, marks=pytest.mark.full), 4], ids=lambda part: f"1 of {part}")
def test_all_that_follows_a_job_whose_files_are_missing(study: Sandbox, tmp_path: Path, part: int) -> None:
    """A job of each rule that has files, or of one rule of four."""
    check(study, TARGETS, part, tmp_path)


@pytest.mark.parametrize("targets", SOME, ids=lambda targets: targets[0].rpartition("/")[2])
def test_for_other_targets(study: Sandbox, tmp_path: Path, targets: tuple[str, ...]) -> None:
    check(study, targets, SOME[targets], tmp_path)


def test_without_snakemakes_records(copied: Callable[[], Sandbox]) -> None:
    """A finished study moved to a new checkout, whose files are newer: all its jobs would run.

    docs/reliability.md's command records it again, and then none would.
    """
    moved = copied()
    shutil.rmtree(moved.folder / ".snakemake")
    for path in moved.collection.iterdir():
        path.touch()
    assert moved.planned().keys() >= {"index_corpus", "generate_answers", "score_answers", "write_page"}
    moved.snakemake("--touch")
    assert moved.planned() == {}


def test_after_a_touch_nothing_is_to_run(copied: Callable[[], Sandbox]) -> None:
    """Snakemake's `--touch` declares all results current, those that only follow a receipt too."""
    touched = copied()
    catalogue = yaml.safe_load((touched.folder / "config/config.yaml").read_text(encoding="utf-8"))
    changed = {"bm25": {**catalogue["retrievers"]["bm25"], "k1": 0.5}}
    touched.config["retrievers"] = {**touched.config.get("retrievers", {}), **changed}
    touched.config["generators"] = {"demo-lm": {**catalogue["generators"]["demo-lm"], "temperature": 0.9}}
    touched.write_config()
    assert touched.planned().keys() >= {"build_run", "generate_answers", "view_answers", "fill_scores", "score_answers"}
    touched.snakemake("--touch")
    assert touched.planned() == {}
