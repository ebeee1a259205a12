"""The jobs of a study of claims, without Snakemake and by dry runs."""

from pathlib import Path

import pytest
from ragrelay.annexes.acu.rules import of_study as claims_of
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.execution.study.asking import StudyQuestion
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.questions.question import question_named

from tests.support.sandbox import ROOT, Sandbox


def test_claims_templates_of_all_generators_or_of_each() -> None:
    config = read_yaml(ROOT / "config/config.yaml")
    names = ["demo-lm", "pythia-6.9b"]
    config["acu"] = {"claims": ["demo-claims"], "generators": names, "prompts": ["claims_zeroshot"]}

    def asked() -> tuple[list[tuple[str, str]], list[str]]:
        study = StudyOfRules(config, ROOT, [ROOT / "config/prompts"])
        jobs = StudyQuestion(study, question_named("score_claims")).jobs
        [of_one] = [job.parts for job in jobs if job.generator == "pythia-6.9b"]
        units = [(unit["generator"], unit["template"]) for unit in claims_of(study).units]
        return units, [part["template"] for part in of_one]

    assert asked() == ([(name, "claims_zeroshot") for name in names], ["claims_zeroshot"])
    config["acu"]["prompts"] = {"demo-lm": ["claims_zeroshot"], "pythia-6.9b": ["claims_3shot"]}
    assert asked() == ([("demo-lm", "claims_zeroshot"), ("pythia-6.9b", "claims_3shot")], ["claims_3shot"])


def test_a_judge_of_evidence_is_asked_once_per_set_of_claims() -> None:
    config = read_yaml(ROOT / "config/config.yaml")
    acu = {"claims": ["demo-claims"], "generators": ["demo-lm"], "prompts": ["claims_zeroshot"]}
    question = question_named("judge_evidence")
    for judge, jobs in ((None, []), ("pythia-6.9b", [{"claims": "demo-claims"}])):
        config["acu"] = acu | {"evidence_judge": judge}
        study = StudyOfRules(config, ROOT, [ROOT / "config/prompts"])
        assert question.jobs(study) == jobs
        assert ("pythia-6.9b" in study.used_generators()) == bool(judge), "its model is fetched and checked"
    assert question.asker(study, jobs[0]) == "pythia-6.9b"


@pytest.mark.process
def test_the_target_needs_claims_and_starts_one_engine_per_set_and_generator(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    done = study.snakemake("--dry-run", "acu", check=False)
    assert done.returncode != 0
    assert "config key 'acu': found no value; expected {claims: [...], prompts: [...]" in done.stdout + done.stderr
    study.config["acu"] = {
        "claims": ["demo-claims"],
        "prompts": ["claims_zeroshot", "claims_3shot"],
        "generators": ["demo-lm"],
    }
    study.write_config()
    planned = study.planned("acu")
    assert planned["score_claims"] == planned["prepare_claims"] == planned["report_acu"] == 1
    assert planned["compute_acu"] == 2 and "generate_answers" not in planned
    study.config["context_use"] = True
    study.write_config()
    assert study.planned("report")["analyse_acu"] == 1
