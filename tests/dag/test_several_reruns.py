"""Of two generators, scorers and measures, one edited or removed: only its own jobs run, by dry runs.

The second generator has the first one's model and decoding under another name, so that no engine starts for it.
"""

import json

import pytest
import yaml

from tests.support.changes import Change, changed
from tests.support.graphs import Job, graph
from tests.support.reruns import downstream, named, running, things
from tests.support.sandbox import Sandbox

TARGETS = ("all_runs", "all_scores")
RECEIPT = "small/generated/twin/shard0.json"


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The finished study of all tests with a second generator, scorer and measure.

    One job of the second generator ran, the others seem to have run.
    """
    wider = finished.copied_to(tmp_path_factory.mktemp("several") / "study")
    same = yaml.safe_load((wider.folder / "config/config.yaml").read_text(encoding="utf-8"))["generators"]["demo-lm"]
    wider.config["generators"] = {**wider.config["generators"], "twin": same}
    wider.config["scorers"] = {"words": {"kind": "rouge", "variant": "rougeL"}}
    more = {"generators": ["demo-lm", "twin"], "scorers": ["minilm", "words"], "measures": ["nDCG", "P"]}
    wider.config["grid"] = {**wider.config["grid"], **more}
    wider.write_config()
    wider.snakemake(f"results/small/{RECEIPT}")
    wider.seem_run(*TARGETS)
    return wider


def test_a_twin_has_the_answers_of_the_first(study: Sandbox) -> None:
    """One fingerprint: nothing is generated, in a job that ran."""
    receipt = json.loads((study.results / RECEIPT).read_text(encoding="utf-8"))
    assert receipt["asked"] == receipt["cached"] == study.distinct_keys() and receipt["made"] == 0
    assert len(list((study.folder / "cache/answers").iterdir())) == 1


def test_the_answers_of_both_are_pooled_for_the_page(study: Sandbox) -> None:
    assert study.planned("results/small/report/index.html")["pool_samples"] == 1


CASES: dict[str, tuple[Change, str]] = {
    "twin: removed": (lambda study: study.grid(generators=["demo-lm"]), ""),
    "demo-lm: removed": (lambda study: study.grid(generators=["twin"]), ""),
    "words: removed": (lambda study: study.grid(scorers=["minilm"]), ""),
    "bm25, rel, nrel: measure removed": (lambda study: study.grid(measures=["nDCG"]), "measure_retrieval"),
    "twin: edited": (
        lambda study: study.entry("generators", "twin", temperature=0.9),
        "generate_answers view_answers view_zeroshot_answers",
    ),
    "words: edited": (lambda study: study.entry("scorers", "words", variant="rouge1"), "encode_references"),
}
"""By what changes: the change, and the rules whose jobs run first; of a thing that is removed there are no jobs."""


@pytest.mark.parametrize("case", CASES)
def test_only_its_own_jobs_run(study: Sandbox, before: dict[str, Job], case: str) -> None:
    change, first = CASES[case]
    with changed(study, change):
        jobs = graph(study, TARGETS)
    runs = running(jobs)
    assert runs == downstream(before, jobs, first.split(), things(case)) == named(jobs, runs, things(case))
