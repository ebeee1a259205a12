"""The study as rules see it, without Snakemake."""

from types import SimpleNamespace

import pytest
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.execution.jobs.code_digest import code_digest
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import any_of, code_of, of_job

from tests.support.sandbox import ROOT


@pytest.fixture(scope="module")
def study() -> StudyOfRules:
    """The demo's, with two orderings, two cutoffs and two seeds."""
    config = read_yaml(ROOT / "config/config.yaml")
    config["datasets"]["demo"]["drop_identical_ids"] = False
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
    generation, collection = study.generation, study.collection
    assert of_job(generation.fingerprint)(wildcards) == f"hash of {generator}"
    assert of_job(generation.threads)(wildcards) == study.generator(generator)["threads"]
    assert of_job(generation.number_of_shards)(wildcards) == len(generation.shards(dataset, generator))
    assert of_job(collection.drop_identical_ids)(wildcards) is False
    of_jobs = of_job(collection.of_jobs)(wildcards)
    assert of_jobs["references"] == {} and not {"shards", "drop_identical_ids"} & set(of_jobs)
    prompts = generation.prompts_with_context(study.contexts)
    assert prompts(wildcards)[0] == files.prompts.at(template=study.generator(generator)["prompt"], **study.contexts[0])
    assert generation.makers == {prompts: "build_prompts"}


def test_only_a_scorer_with_a_model_has_jobs_that_score_for_all_retrievers(study: StudyOfRules) -> None:
    [encoder] = study.grid.scorers
    study.config["scorers"] = {**study.config["scorers"], "words": {"kind": "token_f1"}}
    key = (study.grid.datasets[0], study.grid.generators[0])
    assert study.scoring.receipts(*key, encoder) == [files.score_receipt.at(shard=0)]
    assert study.scoring.receipts(*key, "words") == []


def test_a_digest_is_computed_for_a_job_with_its_own_modules() -> None:
    digests, kinds = code_of("retrieval/build_run.py", str), "ragrelay.retrieval.retrievers"
    assert (
        digests(f"{kinds}.bm25") == code_digest("retrieval/build_run.py", f"{kinds}.bm25") != digests(f"{kinds}.dense")
    )


def test_names_are_taken_literally_and_none_matches_nothing() -> None:
    assert any_of(["a.b", "c"]) == r"a\.b|c"
    assert any_of([]) == "(?!)"
