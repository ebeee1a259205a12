"""What a change reruns of scores by a judge: the table of docs/reruns.md, by dry runs.

The jobs of the judged scorers only seem to have run: Snakemake's own `--touch` marked their files, which are empty.
"""

import re
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.support.changes import CODE, Change, Changes, changed
from tests.support.sandbox import ROOT, Sandbox

TABLE = (ROOT / "docs/reruns.md").read_text(encoding="utf-8").split("for scores by a judge")[1].split("\n\n")[1]
ROWS = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE)[1:])
NUGGETS = '{{"qid": "{}", "nuggets": [{{"text": "{}", "importance": "vital"}}]}}\n'
JUDGE = {"model": "resources/demo/model", "dtype": "float32", "prompt": "tian2025"}
SCORERS = {
    "by_hand": {"kind": "nuggets", "generator": "judge", "path": "nuggets.jsonl"},
    "written": {"kind": "nuggets", "generator": "judge", "written_by": "writer", "list_tokens": 100, "depth": 2},
    "agreed": {"kind": "llm_judge", "generator": "judge"},
    "checked": {"kind": "llm_judge", "generator": "demo-lm", "references": "none", "bias_checks": 5},
}
SOURCE = {"kind": "graded_llm", "generator": "demo-lm", "bias_checks": 5}
RETRIEVERS = 3
OF_ANSWERS = {"score_judged_answers": RETRIEVERS + 1, "compute_utility": 1}
JOBS = {
    "by_hand": {"read_nuggets": 1, **OF_ANSWERS},
    "written": {"write_nuggets": 1, "view_nuggets": 1, **OF_ANSWERS},
    "agreed": OF_ANSWERS,
    "checked": {**OF_ANSWERS, "check_judge": 1, "score_judge_checks": 1, "analyse_judge_checks": 1},
    "added": OF_ANSWERS,
    "grades": {
        "build_single_prompts": RETRIEVERS, "judge_passages": 1, "label_by_judge": 1, "measure_labels": 1,
        "build_check_prompts": 1, "check_passages": 1, "score_passage_checks": 1, "analyse_passage_checks": 1,
    },
}  # fmt: skip
FOLDER = "results/small/small"
TARGETS = [
    "all_scores",
    *(f"{FOLDER}/utility/{name}/demo-lm.parquet" for name in SCORERS),
    f"{FOLDER}/analysis/checked/demo-lm/judge_checks.csv",
    f"{FOLDER}/annotations/checks/grades/demo-lm/judge_checks.csv",
    f"{FOLDER}/annotations/labels/minilm/demo-lm/labels.parquet",
]


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The finished study of all tests with four judged scorers and a source, whose jobs seem to have run."""
    twin = finished.copied_to(tmp_path_factory.mktemp("judged") / "study")
    lists = [NUGGETS.format("q01", "a fact"), NUGGETS.format("q02", "another")]
    (twin.folder / "nuggets.jsonl").write_text("".join(lists), encoding="utf-8")
    twin.config["generators"] = {**twin.config["generators"], "judge": JUDGE, "writer": JUDGE}
    twin.config["scorers"] = SCORERS
    twin.config["annotations"] = {"grades": SOURCE}
    twin.config["grid"] = {**twin.config["grid"], "scorers": ["minilm", *SCORERS], "annotations": ["qrels", "grades"]}
    twin.write_config()
    every = {"judge_answers", *(rule for jobs in JOBS.values() for rule in jobs)}
    judges = {one["generator"] for one in SCORERS.values()}
    assert of_rules(twin.planned(*TARGETS)) == expected([*SCORERS, "grades"], every, judges)
    twin.seem_run(*TARGETS)
    assert of_rules(twin.planned(*TARGETS)) == Counter()
    return twin


def of_rules(planned: dict[str, int]) -> Counter[str]:
    """Without the target, and without the scorer that asks no judge."""
    others = {"all_scores", "score_answers", "score_zeroshot_answers"}
    return Counter({rule: count for rule, count in planned.items() if rule not in others})


def expected(scorers: Iterable[str], rules: Iterable[str], judges: set[str]) -> Counter[str]:
    """All scorers with the same judge share a job that asks it about all retrievers' answers."""
    jobs = sum((Counter({rule: JOBS[name].get(rule, 0) for rule in rules}) for name in scorers), Counter())
    return jobs + Counter({"judge_answers": len(judges) if "judge_answers" in rules else 0})


def scorer_added(study: Changes) -> None:
    study.entry("scorers", "added", kind="llm_judge", generator="judge", scale="grades")
    study.grid(scorers=[*study.config["grid"]["scorers"], "added"])


BY_JUDGE = ["by_hand", "written", "agreed"]
CASES: dict[str, dict[str, tuple[list[str], Change]]] = {
    "comment in a prompt or in the configuration": {
        "of answers": ([], lambda study: study.append("config/judge_prompts/nuggets.yaml", "\n# new\n")),
        "of lists": ([], lambda study: study.append("config/nugget_prompts/nuggets.yaml", "\n# new\n")),
    },
    "key that only the analysis reads": {
        "utility": (["agreed"], lambda study: study.entry("scorers", "agreed", utility="relative")),
    },
    "another judge, prompt or key of the questions": {
        "judge": (["agreed"], lambda study: study.entry("scorers", "agreed", generator="demo-lm")),
        "judge's entry": (BY_JUDGE, lambda study: study.entry("generators", "judge", max_model_len=512)),
        "prompt": (["by_hand", "written"],
                   lambda study: study.edit("config/judge_prompts/nuggets.yaml", "Fact:", "The fact:")),
        "value": (["written"], lambda study: study.entry("scorers", "written", value="all_strict")),
        "scale": (["agreed"], lambda study: study.entry("scorers", "agreed", scale="grades")),
    },
    "file of nuggets edited": {
        "text": (["by_hand"], lambda study: study.edit("nuggets.jsonl", "a fact", "a new fact")),
        "list added": (["by_hand"], lambda study: study.append("nuggets.jsonl", NUGGETS.format("q03", "a third"))),
    },
    "another writer, prompt or key of the lists": {
        "writer": (["written"], lambda study: study.entry("scorers", "written", written_by="demo-lm")),
        "prompt": (["written"],
                   lambda study: study.edit("config/nugget_prompts/nuggets.yaml", "{nuggets}", "{nuggets} ")),
        "tokens": (["written"], lambda study: study.entry("scorers", "written", list_tokens=200)),
        "depth": (["written"], lambda study: study.entry("scorers", "written", depth=3)),
    },
    "near copies": {"threshold": (["agreed"], lambda study: study.config.update(near_copy=0.7))},
    "code of a scorer's questions": {
        "references shown": (["agreed", "checked"],
                             lambda study: study.edit(f"{CODE}/scoring/scorers/llm_judge.py",
                                                      "case.references[: self.best]", "case.references[:1]")),
    },
    "judged scorer added": {"in another scale": (["added"], scorer_added)},
    "`bias_checks`": {
        "more": (["checked"], lambda study: study.entry("scorers", "checked", bias_checks=6)),
    },
    "`bias_checks` of an annotation source": {
        "more": (["grades"], lambda study: study.entry("annotations", "grades", bias_checks=6)),
        "swapped": (["grades"],
                    lambda study: study.edit("config/prompts/grades.yaml", 'swapped: "', 'swapped: "New. ')),
    },
}  # fmt: skip


def test_every_row_is_tried() -> None:
    assert list(CASES) == list(ROWS)


@pytest.mark.parametrize(("row", "case"), [(row, case) for row, cases in CASES.items() for case in cases])
def test_a_change_reruns_what_the_table_says(study: Sandbox, row: str, case: str) -> None:
    scorers, change = CASES[row][case]
    of_added = [f"{FOLDER}/utility/added/demo-lm.parquet"] if "added" in scorers else []
    judges = judges_of(study, scorers)
    with changed(study, change):
        planned = of_rules(study.planned(*TARGETS, *of_added))
        judges |= judges_of(study, scorers)
    assert planned == expected(scorers, re.findall(r"`(\w+)`", ROWS[row]), judges)


def judges_of(study: Sandbox, scorers: Iterable[str]) -> set[str]:
    return {one["generator"] for name, one in study.config["scorers"].items() if name in scorers}


def test_a_retriever_or_a_k_more_asks_about_its_answers_alone(study: Sandbox) -> None:
    with changed(study, lambda one: one.add("some", kind="oracle", min_label=1)):
        added = study.planned(*TARGETS)
    judges = len(judges_of(study, SCORERS))
    assert (added["judge_answers"], added["score_judged_answers"]) == (judges, len(SCORERS)), "no other tables"
    with changed(study, lambda one: one.grid(k=[1, 2, 5])):
        larger = study.planned(*TARGETS)
    assert (larger["judge_answers"], larger["score_judged_answers"]) == (judges, len(SCORERS) * RETRIEVERS)
    assert not {"read_nuggets", "write_nuggets", "view_nuggets"} & (added.keys() | larger.keys())
