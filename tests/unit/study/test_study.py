"""The study as rules see it, without Snakemake."""

from types import SimpleNamespace

import pytest
from ragrelay.annexes.acu.rules import claims_of
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.questions.question import question_named
from ragrelay.workflow.jobs.code_digest import code_digest
from ragrelay.workflow.study import files
from ragrelay.workflow.study.asking import StudyQuestion
from ragrelay.workflow.study.study import StudyOfRules, any_of, code_of

from tests.support.sandbox import ROOT


@pytest.fixture(scope="module")
def study() -> StudyOfRules:
    """The demo's, with two orderings, two cutoffs and two seeds."""
    config = read_yaml(ROOT / "config/config.yaml")
    config["grid"] |= {"orderings": ["descending", "ascending"], "k": [2, 1], "seeds": [0, 1]}
    study = StudyOfRules(config, ROOT, [ROOT / "config/prompts"])
    study.fingerprints = {name: f"hash of {name}" for name in study.grid.generators}
    return study


def test_cutoffs_grow_within_an_ordering_and_seeds_within_a_cutoff(study: StudyOfRules) -> None:
    assert [(c["ordering"], c["k"], c["seed"]) for c in study.cells][:5] == [
        ("descending", 1, 0), ("descending", 1, 1), ("descending", 2, 0), ("descending", 2, 1), ("ascending", 1, 0),
    ]  # fmt: skip
    assert study.zeroshot_cells == [{"ordering": "none", "k": 0, "seed": seed} for seed in (0, 1)]


def test_paths_go_over_the_grid_or_over_given_names(study: StudyOfRules) -> None:
    datasets, retrievers = study.grid.datasets, study.grid.retrievers
    assert study.grid_paths(files.run) == [
        files.run.at(dataset=dataset, retriever=retriever) for dataset in datasets for retriever in retrievers
    ]
    assert study.grid_paths(files.run, retriever=["own"]) == [
        files.run.at(dataset=d, retriever="own") for d in datasets
    ]


def test_functions_of_wildcards_give_what_the_catalogue_says(study: StudyOfRules) -> None:
    generator, dataset = study.grid.generators[0], study.grid.datasets[0]
    wildcards = SimpleNamespace(generator=generator, dataset=dataset)
    assert study.fingerprint_of(wildcards) == f"hash of {generator}"
    assert study.threads_of(wildcards) == study.generator(generator)["threads"]
    assert study.dataset_of(wildcards)["references"] == {}
    assert "shards" not in study.dataset_of(wildcards)
    assert study.drop_identical_ids_of(wildcards) is None
    study.dataset(dataset)["drop_identical_ids"] = False
    assert study.drop_identical_ids_of(wildcards) is False and "drop_identical_ids" not in study.dataset_of(wildcards)
    prompts = study.prompts_with_context(study.contexts)
    assert prompts(wildcards)[0] == files.prompts.at(template=study.generator(generator)["prompt"], **study.contexts[0])
    assert study.makers == {prompts: "build_prompts"}


def test_only_a_scorer_with_a_model_has_jobs_that_score_for_all_retrievers(study: StudyOfRules) -> None:
    [encoder] = study.grid.scorers
    study.config["scorers"] = {**study.config["scorers"], "words": {"kind": "token_f1"}}
    of_job = {"dataset": study.grid.datasets[0], "generator": study.grid.generators[0]}
    assert study.score_receipts_of(SimpleNamespace(scorer=encoder, **of_job)) == [files.score_receipt.at(shard=0)]
    assert study.score_receipts_of(SimpleNamespace(scorer="words", **of_job)) == []


def test_a_digest_is_computed_for_a_job_with_its_own_modules() -> None:
    digests, kinds = code_of("build_run.py", str), "ragrelay.retrieval.retrievers"
    assert digests(f"{kinds}.bm25") == code_digest("build_run.py", f"{kinds}.bm25") != digests(f"{kinds}.dense")


def test_names_are_taken_literally_and_none_matches_nothing() -> None:
    assert any_of(["a.b", "c"]) == r"a\.b|c"
    assert any_of([]) == "(?!)"


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
