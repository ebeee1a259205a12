"""Which jobs ask a question, about which parts, and what the jobs that read them depend on."""

from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import asking as of_study
from ragrelay.execution.study.asking import StudyQuestion, asking_jobs, planned_questions, study_questions
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.questions.bases import AboutRetrievers
from ragrelay.questions.question import question_named
from snakemake.io import is_flagged

from tests.support.sandbox import ROOT

JUDGE = {"model": "resources/demo/model", "dtype": "float32", "prompt": "tian2025"}


@pytest.fixture(scope="module")
def study() -> StudyOfRules:
    """The demo's, with three judged scorers, two of them by one judge, and lists of nuggets in two shards."""
    config = read_yaml(ROOT / "config/config.yaml")
    config["generators"] = {**config["generators"], "judge": {**config["generators"]["demo-lm"], **JUDGE}}
    judged = {"kind": "llm_judge", "references": "judged"}
    config["scorers"] = {
        **config["scorers"],
        "first": {**judged, "generator": "judge", "bias_checks": 5},
        "second": {**judged, "generator": "judge"},
        "other": {**judged, "generator": "demo-lm"},
    }
    config["grid"]["scorers"] = [*config["grid"]["scorers"], "first", "second", "other"]
    return StudyOfRules(config, ROOT, [ROOT / "config/prompts"])


def entry(study: StudyOfRules, name: str) -> StudyQuestion:
    return StudyQuestion(study, question_named(name))


def wildcards(key: Any) -> Any:
    return SimpleNamespace(items=lambda: key.items(), **key)


def test_a_judge_has_one_job_for_all_scorers_and_retrievers(study: StudyOfRules) -> None:
    judged = entry(study, "judge_answers")
    tables = [ZEROSHOT, *study.grid.retrievers]
    assert [(job.generator, len(job.parts)) for job in judged.jobs] == [
        ("judge", 2 * len(tables)), ("demo-lm", len(tables)),
    ]  # fmt: skip
    assert {part["scorer"] for part in judged.jobs[0].parts} == {"first", "second"}
    [dataset], [generator] = study.grid.datasets, study.grid.generators
    assert judged.jobs[0].key == {"dataset": dataset, "generator": generator, "judge": "judge"}
    listed = asking_jobs([judged], lambda path: path.replace("<results>", "r").replace("<logs>", "l"))
    assert [(job["generator"], job["retriever"]) for job in listed] == [("judge", ""), ("demo-lm", "")]
    assert listed[0]["receipt"] == f"r/{dataset}/asked/judge_answers/{generator}/judge.json"
    assert listed[0]["log"] == f"l/judge_answers/{dataset}/{generator}/judge.log"


def test_a_job_asks_for_the_files_of_its_parts_and_a_table_for_its_own(study: StudyOfRules) -> None:
    judged = entry(study, "judge_answers")
    job = judged.jobs[0]
    inputs, parts = judged.ask_inputs(wildcards(job.key)), judged.ask_parts(wildcards(job.key))
    assert len(set(inputs["answers"])) == len(inputs["answers"]) > len(judged.question.inputs(study, job.parts[1]))
    for part, described in zip(job.parts, parts, strict=True):
        assert described["wildcards"] == part
        for name, files in judged.question.inputs(study, part).items():
            paths = [files] if isinstance(files, str) else files
            assert [inputs[name][place] for place in described["files"][name]] == [
                StudyFile.at(path, **part) for path in paths
            ], name

    table = job.parts[1]
    read = judged.read_inputs(wildcards(table))
    assert {path.split("/")[4] for path in read["answers"]} == {table["retriever"]}
    assert len(judged.read_parts(wildcards(table))) == 2, "the part, and the table"
    [receipt] = read["receipt"]
    assert receipt == judged.receipt.at(**job.key) and is_flagged(receipt, "ancient")
    assert judged.of_asked(str)(wildcards(table)) == judged.of_asked(str)(wildcards(job.key)) == "judge"
    assert judged.of_asked(str)(wildcards(judged.jobs[1].key)) == "demo-lm"


def test_checks_follow_the_job_of_the_same_judge(study: StudyOfRules) -> None:
    checked, judged = entry(study, "check_judge"), entry(study, "judge_answers")
    [job] = checked.jobs
    [before] = checked.ask_inputs(wildcards(job.key))["follows"]
    assert before == judged.receipt.at(**judged.jobs[0].key) and is_flagged(before, "ancient")


def test_a_line_of_the_plan_has_the_jobs_of_all_shards(study: StudyOfRules) -> None:
    lines = planned_questions(study_questions(study), str)
    assert [(line["rule"], line["generator"], [len(parts) for parts in line["parts"]]) for line in lines] == [
        ("check_judge", "judge", [1]),
        ("judge_answers", "judge", [2 * (1 + len(study.grid.retrievers))]),
        ("judge_answers", "demo-lm", [1 + len(study.grid.retrievers)]),
    ]


class PerRetriever(AboutRetrievers):
    """Asks another generator about one retriever."""

    asks, reads, does = "ask_mine", "read_mine", ("Ask.", "Read.")
    made: ClassVar = {"table": StudyFile("{dataset}/mine/{generator}/{retriever}.parquet", "read_mine", "mine")}

    def asker(self, study: StudyOfRules, key: Any) -> str:
        return "demo-lm" if key["retriever"] == "bm25" else "judge"


class Apart(PerRetriever):
    """Asks as PerRetriever does, and says so by its key."""

    ask_key = "{dataset}/{generator}/{asked}"


def test_a_job_asks_one_generator(study: StudyOfRules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "asked_generators", lambda: ["demo-lm", "judge"])
    monkeypatch.setattr(of_study, "question_named", lambda name: PerRetriever())
    with pytest.raises(
        InputError, match=r"generators 'demo-lm' and 'judge' in a job of \{dataset\}/\{generator\}; .* ask_key$"
    ):
        of_study._user_question(study, "mine:PerRetriever")
    monkeypatch.setattr(of_study, "question_named", lambda name: Apart())
    found = of_study._user_question(study, "mine:Apart")
    assert {(job.key["asked"], job.generator) for job in found.jobs} == {("demo-lm", "demo-lm"), ("judge", "judge")}
