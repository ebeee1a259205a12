"""The most tokens of a thought, by the kind of engine."""

from typing import Any

import pytest
from ragrelay.annexes.thoughts.rules import of_study
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.execution.study.study import StudyOfRules

from tests.support.sandbox import ROOT

MARKS = {"thinking": {"marks": ["<think>", "</think>"], "budget": 500}}
CHATS = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m", "max_tokens": 700, "prompt": "tian2025"}


@pytest.mark.parametrize(("definition", "most"), [
    (MARKS, 500), ({}, None), (CHATS, 700),
])  # fmt: skip
def test_a_thought_has_its_budget_or_what_it_shares_with_the_answer(
    definition: dict[str, Any], most: int | None
) -> None:
    config = read_yaml(ROOT / "config/config.yaml")
    own = definition if "engine" in definition else {**config["generators"]["demo-lm"], **definition}
    config["generators"] = {**config["generators"], "thinker": own}
    config["grid"]["generators"] = ["thinker"]
    study = StudyOfRules(config, ROOT, [ROOT / "config/prompts"])
    assert of_study(study).budget_of("thinker") == (most or study.generator("thinker")["max_tokens"])
