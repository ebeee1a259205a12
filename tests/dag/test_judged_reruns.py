"""What a change reruns of scores by a judge: the table of tests/support/reruns.md, by dry runs.

The jobs of the judged scorers only seem to have run: Snakemake's own `--touch` marked their files, which are empty.
"""

import pytest

from tests.support.annex_cases import add_of_annexes, all_are_there, check_documented, entries_of_annexes, targets
from tests.support.changes import CODE, Change, Changes, changed
from tests.support.graphs import Job, graph
from tests.support.reruns import Table
from tests.support.sandbox import Sandbox

TABLE = Table("change with a judge", "step of judges")
NUGGETS = '{{"qid": "{}", "nuggets": [{{"text": "{}", "importance": "vital"}}]}}\n'
JUDGE = {"model": "resources/demo/model", "dtype": "float32", "prompt": "tian2025"}
SCORERS = {
    "by_hand": {"kind": "nuggets", "generator": "judge", "path": "nuggets.jsonl"},
    "written": {"kind": "nuggets", "generator": "judge", "written_by": "writer", "list_tokens": 100, "depth": 2},
    "agreed": {"kind": "llm_judge", "generator": "judge"},
    "checked": {"kind": "llm_judge", "generator": "demo-lm", "references": "none", "bias_checks": 5},
}
RETRIEVERS = 3
FOLDER = "results/small/small"
TARGETS = [
    "all_scores",
    *(f"{FOLDER}/utility/{name}/demo-lm.parquet" for name in SCORERS),
    f"{FOLDER}/analysis/checked/demo-lm/judge_checks.csv",
    *targets("rerun"),
]


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The finished study of all tests with four judged scorers and what annexes add, whose jobs seem to have run."""
    twin = finished.copied_to(tmp_path_factory.mktemp("judged") / "study")
    lists = [NUGGETS.format("q01", "a fact"), NUGGETS.format("q02", "another")]
    (twin.folder / "nuggets.jsonl").write_text("".join(lists), encoding="utf-8")
    twin.config["generators"] = {**twin.config["generators"], "judge": JUDGE, "writer": JUDGE}
    twin.config["scorers"] = SCORERS
    twin.config["grid"] = {**twin.config["grid"], "scorers": ["minilm", *SCORERS]}
    add_of_annexes(twin, "rerun")
    twin.write_config()
    twin.seem_run(*TARGETS)
    return twin


REFERENCES_SHOWN = (f"{CODE}/scoring/scorers/llm_judge.py", "case.references[: self.best]", "case.references[:1]")


def scorer_added(study: Changes) -> None:
    study.entry("scorers", "added", kind="llm_judge", generator="judge", scale="grades")
    study.grid(scorers=[*study.config["grid"]["scorers"], "added"])


CASES: dict[str, dict[str, Change]] = {
    "comment in a prompt or in the configuration": {
        "of answers": lambda study: study.append("config/judge_prompts/nuggets.yaml", "\n# new\n"),
        "of lists": lambda study: study.append("config/nugget_prompts/nuggets.yaml", "\n# new\n"),
    },
    "key that only the analysis reads": {"agreed": lambda study: study.entry("scorers", "agreed", utility="relative")},
    "judge, its prompt or a key for its questions changed": {
        "agreed, judge: another": lambda study: study.entry("scorers", "agreed", generator="demo-lm"),
        "by_hand, written, agreed: judge": lambda study: study.entry("generators", "judge", max_model_len=512),
        "by_hand, written: prompt": lambda study: study.edit("config/judge_prompts/nuggets.yaml", "Fact:", "A fact:"),
        "written: value": lambda study: study.entry("scorers", "written", value="all_strict"),
        "agreed: scale": lambda study: study.entry("scorers", "agreed", scale="grades"),
    },
    "nugget file edited": {
        "by_hand: text": lambda study: study.edit("nuggets.jsonl", "a fact", "a new fact"),
        "by_hand: list added": lambda study: study.append("nuggets.jsonl", NUGGETS.format("q03", "a third")),
    },
    "nugget lists' writer, prompt or key changed": {
        "written: writer": lambda study: study.entry("scorers", "written", written_by="demo-lm"),
        "written: prompt": lambda study: study.edit("config/nugget_prompts/nuggets.yaml", "{nuggets}", "{nuggets} "),
        "written: tokens": lambda study: study.entry("scorers", "written", list_tokens=200),
        "written: depth": lambda study: study.entry("scorers", "written", depth=3),
    },
    "`near_copy`, for scorers with unseen references": {"agreed, minilm": lambda one: one.config.update(near_copy=0.7)},
    "code of a scorer's questions": {"agreed, checked": lambda study: study.edit(*REFERENCES_SHOWN)},
    "judged scorer added": {"added": scorer_added},
    "`bias_checks`": {"checked": lambda study: study.entry("scorers", "checked", bias_checks=6)},
    **entries_of_annexes("JUDGED_RERUNS"),
}


def test_every_row_is_tried_and_every_rule_is_in_a_step(before: dict[str, Job]) -> None:
    check_documented(set(CASES), set(TABLE.first))
    assert {*TABLE.rules} <= {job.rule for job in before.values()} or not all_are_there()


@pytest.mark.parametrize(("row", "case"), [(row, case) for row, cases in CASES.items() for case in cases])
def test_a_change_reruns_what_follows_from_it(study: Sandbox, before: dict[str, Job], row: str, case: str) -> None:
    of_added = [f"{FOLDER}/utility/added/demo-lm.parquet"] if case == "added" else []
    with changed(study, CASES[row][case]):
        jobs = graph(study, (*TARGETS, *of_added))
    TABLE.check(row, case, before, jobs)


def test_a_retriever_or_a_k_more_asks_about_its_answers_alone(study: Sandbox) -> None:
    with changed(study, lambda one: one.add("some", kind="oracle", min_label=1)):
        added = study.planned(*TARGETS)
    judges = len({one["generator"] for one in SCORERS.values()})
    assert (added["judge_answers"], added["score_judged_answers"]) == (judges, len(SCORERS)), "no other tables"
    with changed(study, lambda one: one.grid(k=[1, 2, 5])):
        larger = study.planned(*TARGETS)
    assert (larger["judge_answers"], larger["score_judged_answers"]) == (judges, len(SCORERS) * RETRIEVERS)
    assert not {"read_nuggets", "write_nuggets", "view_nuggets"} & (added.keys() | larger.keys())
