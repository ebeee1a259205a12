"""Annotation sources in the configuration: what can't work is told before anything runs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ragrelay.annexes.labels.source import parts
from ragrelay.base.errors import InputError
from ragrelay.config.study import Study

from tests.support.forked_python import run_snakemake
from tests.support.sandbox import ROOT, Sandbox

CONFIG = (ROOT / "config/config.yaml").read_text(encoding="utf-8")


def study(change: dict[str, Any]) -> Study:
    config = yaml.safe_load(CONFIG)
    config["grid"] |= {"annotations": ["qrels", "erag"]} | change.pop("grid", {})
    for key, value in change.items():
        config[key] = {**config[key], **value} if isinstance(value, dict) else value
    return Study(config, ROOT, [ROOT / "config/prompts"])


def test_combinations_bring_their_sources_along() -> None:
    made = study({"grid": {"annotations": ["qrels_and_erag", "erag"]}})
    assert parts(made.config["annotations"], made.config["grid"]["annotations"]) == ["qrels", "erag"]
    assert set(made.selected()["annotations"]) == {"qrels", "erag", "qrels_and_erag"}


def test_without_sources_nothing_is_checked_of_them() -> None:
    made = study({"grid": {"annotations": [], "orderings": ["ascending"], "k": [1]}})
    assert made.selected()["annotations"] == {}


COMBINATION = {"kind": "combination", "sources": ["qrels", "qrels_and_erag"], "combine": "max"}
JUDGE = {"model": "resources/demo/model", "prompt": "tian2025"}


def test_a_judge_beside_the_grids_generators_is_part_of_the_study() -> None:
    change = {"generators": {"judge": JUDGE}, "annotations": {"llm": {"kind": "llm", "generator": "judge"}}}
    assert set(study({"grid": {"annotations": ["llm"]}, **change}).selected()["generators"]) == {"demo-lm", "judge"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": {"annotations": ["qrel"]}}, "grid.annotations': found 'qrel'; expected one of .*'qrels'"),
        ({"grid": {"k": [1, 20]}}, "grid.k': found 1, 20; expected a k from 2 to 10 .annotation_depth"),
        ({"grid": {"orderings": ["ascending"]}}, "grid.orderings': found ascending; expected descending as well"),
        ({"annotation_depth": 60}, "annotation_depth': found 60; expected at most 50 .context_depth"),
        (
            {"annotations": {"erag": {"kind": "erag", "scorer": "bleu"}}},
            "erag.scorer': found 'bleu'; expected a scorer in grid.scorers: minilm",
        ),
        ({"grid": {"scorers": ["length"]}}, "erag.scorer': found scorer 'length' of kind length"),
        ({"grid": {"annotations": ["containment"]}}, "no answers.jsonl .* which annotations.containment reads"),
        (
            {"annotations": {"erag": COMBINATION}},
            "annotations.erag.sources': found 'qrels_and_erag'; expected one of",
        ),
        (
            {"grid": {"annotations": ["llm"]}, "annotations": {"llm": {"kind": "llm", "generator": "gpt"}}},
            "annotations.llm.generator': found 'gpt'; expected one of",
        ),
        (
            {
                "grid": {"annotations": ["llm"]},
                "annotations": {"llm": {"kind": "llm", "generator": "judge"}},
                "generators": {"judge": {"engine": "file", "path": "answers.jsonl"}},
            },
            "found judge, with engine file; expected one with engine: openai or vllm",
        ),
        (
            {
                "grid": {"annotations": ["graded"]},
                "annotations": {"graded": {"kind": "graded_llm", "generator": "judge", "prefix": "Grade: "}},
                "generators": {"judge": {"engine": "openai", "model": "m", "prompt": "chat", "chat": True}},
            },
            "graded.generator': found a chat endpoint, which can't prefill the reply with 'Grade: '; expected key",
        ),
        (
            {
                "grid": {"annotations": ["llm"]},
                "annotations": {"llm": {"kind": "llm", "generator": "judge"}},
                "generators": {"judge": {**JUDGE, "thinking": ["<think>", "</think>"]}},
            },
            r"annotations.llm.generator': found a reasoning model .*expected chat_template_kwargs: "
            r"\{enable_thinking: false\} \(or the model's equivalent\) and thinking: none, or another judge",
        ),
        ({"annotations": {"erag": {"kind": "erag", "threshold": 0}}}, "erag.threshold': found 0.*expected more than 0"),
    ],
)  # fmt: skip
def test_wrong_sources_are_told(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        study(change)


@pytest.mark.process
def test_annotation_sources_on_the_demo(tmp_path: Path) -> None:
    """All retrievers' passages are one job's; the generator that judges and the scorer that labels have one each."""
    clean = Sandbox(tmp_path / "study")
    done = run_snakemake(clean.folder, ["--dry-run", "erag", "--configfile", "config/erag.yaml"], clean.environment())
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    for rule in ("generate_single_answers", "label_passages", "measure_labels", "correlate_labels", "erag"):
        assert re.search(rf"^{rule} +1$", said, re.MULTILINE), rule
    assert re.search(r"^build_single_prompts +2$", said, re.MULTILINE)
