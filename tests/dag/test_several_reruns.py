"""Of two generators, scorers and measures, one edited or removed: only its own jobs run, by dry runs.

The second generator has the first one's model and decoding under another name, so that no engine starts for it.
"""

import json
from collections import Counter

import pytest
import yaml

from tests.support.changes import Change, changed
from tests.support.sandbox import Sandbox

TARGETS = ("all_runs", "all_scores")
RETRIEVERS = 3
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
    assert receipt["asked"] == receipt["held"] == study.distinct_keys() and receipt["made"] == 0
    assert len(list((study.folder / "cache/answers").iterdir())) == 1


def test_the_answers_of_both_are_pooled_for_the_page(study: Sandbox) -> None:
    assert study.planned("results/small/report/index.html")["pool_samples"] == 1


def generation(retrievers: int) -> Counter[str]:
    return Counter({"generate_answers": 1, "view_zeroshot_answers": 1, "view_answers": retrievers})


def scoring(times: int) -> Counter[str]:
    return Counter({"score_zeroshot_answers": times, "score_answers": times * RETRIEVERS})


CASES: dict[str, tuple[Change, Counter[str]]] = {
    "generator removed": (lambda study: study.grid(generators=["demo-lm"]), Counter()),
    "first generator removed": (lambda study: study.grid(generators=["twin"]), Counter()),
    "scorer removed": (lambda study: study.grid(scorers=["minilm"]), Counter()),
    "measure removed": (lambda study: study.grid(measures=["nDCG"]), Counter({"measure_retrieval": RETRIEVERS})),
    "generator edited": (
        lambda study: study.entry("generators", "twin", temperature=0.9),
        generation(RETRIEVERS) + scoring(2) + Counter({"fill_scores": 1}),
    ),
    "scorer edited": (
        lambda study: study.entry("scorers", "words", variant="rouge1"),
        Counter({"encode_references": 1}) + scoring(2),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_its_own_jobs_run(study: Sandbox, case: str) -> None:
    change, expected = CASES[case]
    with changed(study, change):
        planned = study.planned(*TARGETS)
    assert {rule: count for rule, count in planned.items() if rule not in TARGETS} == dict(expected)
