"""Scoring, indexes and processors with a GPU in the profile: only jobs with work ask for it, as they are started."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.annex_cases import add_of_annexes, entries_of_annexes, targets
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.full

CLASSES = ("scoring", "index", "processing")
WITH_GPUS = (
    "--set-resources", *(f"{name}:{value}" for name in CLASSES for value in ("gpu=1", "mem_mb=999")),
    "--default-resources", "mem_mb=100",
)  # fmt: skip
NOTE_RESOURCES = """
from snakemake.scheduling.job_scheduler import JobScheduler

run = JobScheduler.run


def run_and_note(scheduler, jobs, *rest, **options):
    jobs = list(jobs)
    with open("asked.txt", "a") as file:
        for job in jobs:
            file.write(f"{job.rule.name} {job.resources.get('gpu', 0)} {job.resources.get('mem_mb')}\\n")
    return run(scheduler, jobs, *rest, **options)


JobScheduler.run = run_and_note
"""
PROCESSOR = """
def first_words(query, passages, number=9):
    return [(docno, " ".join(text.split()[:number])) for docno, text in passages]
"""
TARGETS = ("all_scores", *targets("counted"))
WORK, NONE, COUNT = ("1", "999"), ("0", "100"), ("0", "100")


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study with a processed retriever and what annexes add, whose records know no counts."""
    study = finished.copied_to(tmp_path_factory.mktemp("gpus") / "study")
    (study.folder / "own.py").write_text(PROCESSOR, encoding="utf-8")
    processor = {"kind": "python", "function": "own:first_words"}
    study.config["retrievers"] = {"short": {"kind": "processed", "of": "bm25", "processor": processor}}
    study.config["grid"] = {**study.config["grid"], "retrievers": ["bm25", "short"]}
    add_of_annexes(study, "counted")
    study.write_config()
    own = (study.folder / "Snakefile").read_text(encoding="utf-8")
    (study.folder / "Snakefile").write_text(own + NOTE_RESOURCES, encoding="utf-8")
    study.snakemake(*TARGETS)
    return study


Asked = Callable[..., dict[str, tuple[str, str]]]


@pytest.fixture
def asked(study: Sandbox) -> Asked:
    """A function that runs the targets with a profile for GPUs, and returns each rule's GPUs and memory."""

    def asked(*arguments: str) -> dict[str, tuple[str, str]]:
        log = Path(study.folder / "asked.txt")
        log.unlink(missing_ok=True)
        study.snakemake(*TARGETS, *WITH_GPUS, *arguments)
        lines = log.read_text().splitlines() if log.exists() else []
        return {rule: (gpus, memory) for rule, gpus, memory in map(str.split, lines)}

    return asked


COUNTED = {
    "index_corpus": "count_indexes", "process_contexts": "count_processed_texts",
    "encode_references": "count_references", "fill_scores": "count_scores", **entries_of_annexes("COUNTED"),
}  # fmt: skip


def test_a_gpu_in_the_profile_reruns_nothing(study: Sandbox, asked: Asked) -> None:
    assert asked() == {}
    assert asked("--touch") == {}


def test_deleted_results_need_no_gpu(study: Sandbox, asked: Asked) -> None:
    """Embeddings, scores, the index and processed texts are in the cache."""
    before = study.contents()
    shutil.rmtree(study.results)
    rules = asked()
    assert {rule: rules[rule] for rule in COUNTED} == dict.fromkeys(COUNTED, NONE)
    assert {count: rules[count] for count in COUNTED.values()} == dict.fromkeys(COUNTED.values(), COUNT)
    assert not list((study.results / ".missing").rglob("*.*")), "counts are removed"
    after = {name: content for name, content in study.contents().items() if name.startswith("small/")}
    assert after and after == {name: before[name] for name in after}


def test_forced_jobs_have_their_work_counted_first(asked: Asked) -> None:
    rules = asked("--forcerun", *COUNTED)
    assert {rule: rules[rule] for rule in COUNTED} == dict.fromkeys(COUNTED, NONE)
    assert {count: rules[count] for count in COUNTED.values()} == dict.fromkeys(COUNTED.values(), COUNT)
    asked("--forcerun", *COUNTED, "--touch")
    assert asked() == {}


def test_jobs_with_work_get_their_class(study: Sandbox, asked: Asked) -> None:
    """Everything that they keep in the cache is gone, but for the answers."""
    for name in ("indexes", "processed", "references", "scores"):
        shutil.rmtree(study.folder / "cache" / name)
    rules = asked("--forcerun", *COUNTED)
    assert {rule: rules[rule] for rule in COUNTED} == dict.fromkeys(COUNTED, WORK)
    assert {count: rules[count] for count in COUNTED.values()} == dict.fromkeys(COUNTED.values(), COUNT)
