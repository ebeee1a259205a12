"""Hashes of completed sources of labels, which decide what is kept."""

from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.io.hashing import value_hash

from tests.unit.conftest import study_of

SOURCE_HASHES: list[tuple[dict[str, Any], str]] = [
    ({"kind": "qrels"}, "06f24ac7"),
    ({"kind": "erag"}, "35969b51"),
    ({"kind": "erag", "scorer": "minilm", "threshold": 1}, "61c7ba57"),
    ({"kind": "containment"}, "bc86fc35"),
    ({"kind": "llm"}, "a8edf281"),
    ({"kind": "llm", "generator": "demo-lm", "yes_word": "ja", "threshold": 0.5}, "579b2957"),
    ({"kind": "combination", "sources": ["qrels", "erag"], "combine": "mean"}, "c1a76cba"),
]


@pytest.mark.parametrize(("given", "definition"), SOURCE_HASHES)
def test_annotation_sources(config: dict[str, Any], tmp_path: Path, given: dict[str, Any], definition: str) -> None:
    """The hash is of what decides the labels; the checks of a judge do not."""
    config["annotations"] = {"it": given}
    completed = study_of(config, tmp_path).config["annotations"]["it"]
    assert value_hash({key: value for key, value in completed.items() if key != "bias_checks"}, 8) == definition
