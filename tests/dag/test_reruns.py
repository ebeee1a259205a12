"""What a change reruns: the table of docs/reruns.md, by dry runs (about a second each) on a finished study."""

import json
import os
import re
from collections.abc import Mapping

import pytest

from tests.support.changes import CHANGES, CODE, RETRIEVERS, Changes, changed, seed_and_run
from tests.support.sandbox import ROOT, Sandbox

pytestmark = pytest.mark.gate

TABLES = (ROOT / "docs/reruns.md").read_text(encoding="utf-8").split("## What reruns")[1].split("\n## ")[0]
RULE = re.compile(r"`(\w+)`")


def cells(first: str) -> list[list[str]]:
    """The rows of the table whose first column is headed ``first``, its head on top."""
    [table, *_] = [part for part in re.split(r"\n\n", TABLES) if part.startswith(f"| {first} |")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    return [row for row in rows if set(row[0]) != {"-"}]


STEPS = {step: RULE.findall(rules) for step, rules in cells("step")[1:]}
HEAD, *ROWS = cells("change")
TABLE = {row[0]: dict(zip(HEAD[1:], row[1:], strict=True)) for row in ROWS}
CASES = [(row, case) for row, cases in CHANGES.items() for case in cases]


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
    assert expected("retriever added", twin.planned("--forceall"), 2) == counted(twin.planned())
    twin.seem_run()
    return twin


@pytest.fixture(scope="module")
def everything(study: Sandbox) -> dict[str, int]:
    return study.planned("--forceall")


OF_SEVERAL = ["pool_samples"]
"""Rules that a study of several generators or datasets has, as the one with a generator more."""


def counted(planned: Mapping[str, int]) -> dict[str, int]:
    """Jobs by rule, without the target."""
    return {rule: count for rule, count in planned.items() if rule != "report"}


def expected(
    row: str, everything: Mapping[str, int], its: int = 0, before: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Jobs by rule, as the table's ``row`` has them for a study of which all jobs are ``everything``.

    ``its``: how many retrievers change; where none does, it is what the study ``before`` does not have.
    """

    def count(which: str, rule: str) -> int:
        if which == "its" and not its:
            return everything.get(rule, 0) - (before or {}).get(rule, 0)
        if which != "all" and "zeroshot" in rule:
            return 0
        return its if which == "its" else everything.get(rule, 0)

    jobs = {}
    for step, cell in TABLE[row].items():
        for term in filter(None, cell.split(",")):
            names = RULE.findall(term)
            chosen = [rule for rule in STEPS[step] if (rule in names) != (" but " in term)] if names else STEPS[step]
            jobs |= {rule: count(term.split()[0], rule) for rule in chosen}
    return {rule: number for rule, number in jobs.items() if number}


def test_every_row_is_tried_and_every_rule_of_the_study_is_in_a_step(everything: dict[str, int]) -> None:
    assert list(CHANGES) == list(TABLE)
    steps = [rule for rules in STEPS.values() for rule in rules]
    assert sorted(steps) == sorted([*counted(everything), *OF_SEVERAL])


@pytest.mark.parametrize(("row", "case"), CASES, ids=[f"{row.split(',')[0]}: {case}" for row, case in CASES])
def test_a_change_reruns_what_the_table_says(study: Sandbox, everything: dict[str, int], row: str, case: str) -> None:
    with changed(study, CHANGES[row][case]):
        planned = counted(study.planned())
        after = study.planned("--forceall") if row.endswith(("added", "shards", "own")) else everything
    of_retrievers = 2 if "and what is fused" in case else 1 if row.startswith("retriever") else None
    assert planned == expected(row, after, of_retrievers, everything)


def test_two_changes_at_once_rerun_what_both_do(study: Sandbox) -> None:
    """Snakemake looks at no job below one that is to run; an `ancient` input would hide what else has changed."""
    with changed(study, seed_and_run):
        planned, after = counted(study.planned()), study.planned("--forceall")
    assert planned == expected("retriever added", after, 1) | expected("seed added or removed", after)


VIEW_CODE, TABLE_CODE = f"{CODE}/generation/answer_files.py", f"{CODE}/scoring/retriever_table.py"


@pytest.mark.parametrize(("module", "step"), [(VIEW_CODE, "views"), (TABLE_CODE, "scores")], ids=["view", "table"])
@pytest.mark.parametrize("row", ["retriever or run file edited", "retriever added", "k removed"])
def test_a_change_behind_a_followed_receipt_is_not_lost(
    study: Sandbox, everything: dict[str, int], module: str, step: str, row: str
) -> None:
    """The code of what follows a store, edited with a change that fills the store: all of its jobs run."""
    case = {"retriever or run file edited": "oracle", "retriever added": "oracle", "k removed": "smaller"}[row]

    def both(study: Changes) -> None:
        CHANGES[row][case](study)
        study.edit_code(module)

    with changed(study, both):
        planned, after = counted(study.planned()), study.planned("--forceall")
    at_least = expected(row, after, 1) | {rule: after[rule] for rule in STEPS[step]}
    assert {rule: number for rule, number in at_least.items() if planned.get(rule, 0) < number} == {}


RECEIPTS = {
    "generated/demo-lm/shard0.json": {"generate_answers", "gather_provenance", "write_page", "write_tables"},
    "scored/minilm/demo-lm/shard0.json": {"fill_scores"},
}


@pytest.mark.parametrize("receipt", RECEIPTS)
def test_a_missing_receipt_reruns_its_job_and_no_view(study: Sandbox, receipt: str) -> None:
    """As after a job that was killed with nothing changed: the next one finds all in the store."""
    path = study.results / "small" / receipt
    content, times = path.read_bytes(), path.stat()
    path.unlink()
    try:
        assert set(counted(study.planned())) == RECEIPTS[receipt]
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_forced_generation_and_scoring_run_alone(study: Sandbox) -> None:
    """`--forcerun` of what fills a store reruns only what reads its receipt; `--until` goes no further."""
    assert set(counted(study.planned("--forcerun", "generate_answers"))) == RECEIPTS["generated/demo-lm/shard0.json"]
    assert set(counted(study.planned("--forcerun", "fill_scores"))) == {"fill_scores"}
    with changed(study, CHANGES["generator edited"]["temperature"]):
        assert counted(study.planned("--until", "generate_answers")) == {"generate_answers": 1}


def test_jobs_follow_only_receipts_of_the_stores(study: Sandbox) -> None:
    """By `ancient`, which hides what changes in a file: no table that another rule makes may be read so."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.smk")}
    assert [name for name, text in texts.items() if re.search(r"ancient\(\w", text)] == ["common.smk"]
    followed = [name for text in texts.values() for name in re.findall(r"following\((.+)\),", text)]
    assert set(followed) == {"study.receipts_of(files.receipt)", "of_job(study.score_receipts)"}


def test_a_run_file_that_joins_is_checked_before_any_job(study: Sandbox) -> None:
    (study.folder / "bad.run").write_text("q01 Q0 d011 1 much tag\n")
    message = "ragrelay: error: bad.run, line 1: found score 'much'; expected a finite number"
    with changed(study, lambda one: one.add("bad", kind="run", path="bad.run")), pytest.raises(AssertionError) as told:
        study.planned()
    assert message in str(told.value)
