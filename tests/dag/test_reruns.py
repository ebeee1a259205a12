"""What a change reruns: the table of tests/support/reruns.md, by dry runs (about a second each) on a finished study."""

import json
import os
import re

import pytest

from tests.support.changes import CHANGES, CODE, RETRIEVERS, Changes, changed, seed_and_run
from tests.support.graphs import Job, graph
from tests.support.reruns import Table, downstream, running, things
from tests.support.rule_files import RULE_FILES
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.gate

TABLE = Table("change", "step")
CASES = [(row, case) for row, cases in CHANGES.items() for case in cases]
TARGETS = ("report",)


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The finished study of all tests, to which a run file and a fusion were added, whose jobs seem to have run."""
    assert finished.planned() == {}
    twin = finished.copied_to(tmp_path_factory.mktemp("reruns") / "study")
    docnos = [json.loads(line)["doc_id"] for line in (twin.collection / "passages.jsonl").open(encoding="utf-8")]
    qids = [line.split("\t")[0] for line in (twin.collection / "queries.tsv").open(encoding="utf-8")]
    lines = [f"{qid} Q0 {docno} {rank} {10 - rank} x\n" for qid in qids for rank, docno in enumerate(docnos[:5])]
    (twin.folder / "mine.run").write_text("".join(lines), encoding="utf-8")
    twin.config["retrievers"] = {
        "mine": {"kind": "run", "path": "mine.run"},
        "fused": {"kind": "fusion", "retrievers": ["bm25", "mine"]},
    }
    twin.config["grid"] = {**twin.config["grid"], "retrievers": RETRIEVERS}
    twin.write_config()
    twin.seem_run()
    return twin


OF_SEVERAL = ["pool_samples"]
"""Rules that a study of several generators or datasets has, as the one with a generator more."""


def test_every_row_is_tried_and_every_rule_of_the_study_is_in_a_step(before: dict[str, Job]) -> None:
    assert list(CHANGES) == list(TABLE.first)
    assert sorted(TABLE.rules) == sorted({*OF_SEVERAL, *(job.rule for job in before.values() if job.output)})


@pytest.mark.parametrize(("row", "case"), CASES, ids=[f"{row.split(',')[0]}: {case}" for row, case in CASES])
def test_a_change_reruns_what_follows_from_it(study: Sandbox, before: dict[str, Job], row: str, case: str) -> None:
    with changed(study, CHANGES[row][case]):
        jobs = graph(study, TARGETS)
    TABLE.check(row, case, before, jobs)


def test_two_changes_at_once_rerun_what_both_do(study: Sandbox, before: dict[str, Job]) -> None:
    """Snakemake looks at no job below one that is to run; an `ancient` input would hide what else has changed."""
    with changed(study, seed_and_run):
        jobs = graph(study, TARGETS)
    assert running(jobs) == downstream(before, jobs, TABLE.first["seed added or removed"])


VIEW_CODE, TABLE_CODE = f"{CODE}/generation/answer_files.py", f"{CODE}/scoring/retriever_table.py"


@pytest.mark.parametrize(("module", "step"), [(VIEW_CODE, "views"), (TABLE_CODE, "scores")], ids=["view", "table"])
@pytest.mark.parametrize(
    ("row", "case"),
    [("retriever or run file edited", "nrel"), ("retriever added", "some"), ("k removed", "smaller")],
)
def test_a_change_behind_a_followed_receipt_is_not_lost(
    study: Sandbox, before: dict[str, Job], module: str, step: str, row: str, case: str
) -> None:
    """The code of what follows a store, edited with a change that fills the store: all of its jobs run."""

    def both(study: Changes) -> None:
        CHANGES[row][case](study)
        study.edit_code(module)

    with changed(study, both):
        jobs = graph(study, TARGETS)
    first = downstream(before, jobs, TABLE.first[row], things(case))
    assert running(jobs) >= first | downstream(before, jobs, TABLE.steps[step])


RECEIPTS = {
    "generate_answers": "generated/demo-lm/shard0.json",
    "fill_scores": "scored/minilm/demo-lm/shard0.json",
}


@pytest.mark.parametrize("rule", RECEIPTS)
def test_a_missing_receipt_reruns_its_job_and_no_view(study: Sandbox, before: dict[str, Job], rule: str) -> None:
    """As after a job that was killed with nothing changed, or with `--forcerun`: the next finds all in the store."""
    path = study.results / "small" / RECEIPTS[rule]
    content, times = path.read_bytes(), path.stat()
    path.unlink()
    try:
        jobs = graph(study, TARGETS)
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert running(jobs) == running(graph(study, (*TARGETS, "--forcerun", rule))) == downstream(before, before, [rule])
    assert {jobs[name].rule for name in running(jobs)} <= {rule, *TABLE.steps["report"]}


def test_measures_of_subtopics_rerun_no_answer_and_no_score(study: Sandbox, before: dict[str, Job]) -> None:
    """Nor do they prepare the collection again, where the subtopics come from elsewhere than its judgements."""

    def covered(study: Changes) -> None:
        study.grid(measures=["nDCG", "StRecall", "alpha_nDCG(alpha=0.9)"])
        study.entry("datasets", "small", subtopics="hops")

    with changed(study, covered):
        jobs = graph(study, TARGETS)
    rules = {jobs[name].rule for name in running(jobs)}
    assert rules >= {"prepare_subtopics", "measure_retrieval", "analyse_transmission"}
    steps = ("collection", "index", "runs", "prompts", "generation", "views", "references", "scoring", "scores")
    assert not rules & {rule for step in steps for rule in TABLE.steps[step]}


def test_generation_runs_alone(study: Sandbox) -> None:
    """`--until` goes no further."""
    with changed(study, CHANGES["generator edited"]["demo-lm: temperature"]):
        assert study.planned("--until", "generate_answers") == {"generate_answers": 1}


def test_jobs_follow_only_receipts_of_the_stores(study: Sandbox) -> None:
    """By `ancient`, which hides what changes in a file: no table that another rule makes may be read so."""
    texts = {path: path.read_text(encoding="utf-8") for path in RULE_FILES}
    assert [path.name for path, text in texts.items() if re.search(r"ancient\(\w", text)] == ["common.smk"]
    followed = [name for text in texts.values() for name in re.findall(r"following\((.+)\),", text)]
    answers = {name for name in followed if re.fullmatch(r"generation\.receipts\(\w+\.(\w+_)?receipt\)", name)}
    assert "generation.receipts(files.receipt)" in answers
    assert set(followed) == {*answers, "of_job(scoring.receipts)"}


def test_a_run_file_that_joins_is_checked_before_any_job(study: Sandbox) -> None:
    (study.folder / "bad.run").write_text("q01 Q0 d011 1 much tag\n")
    message = "ragrelay: error: bad.run, line 1: found score 'much'; expected a finite number"
    with changed(study, lambda one: one.add("bad", kind="run", path="bad.run")), pytest.raises(AssertionError) as told:
        study.planned()
    assert message in str(told.value)
