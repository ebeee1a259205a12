"""Wrong keys of the comparison are refused before any job; a right one adds measures without answers or scores."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.config.study import Study

from tests.support.sandbox import ROOT

PLACE = "config key 'compare_measures"


@pytest.mark.parametrize(
    ("grid", "key", "found"),
    [
        ({}, {}, f"{PLACE}': found a single measure in grid.measures; expected two or more"),
        ({"measures": ["nDCG", "P"]}, {"declared": "AP"}, f"{PLACE}.declared': found 'AP'; expected a measure in"),
        ({"measures": ["nDCG", "P"], "retrievers": ["bm25", "rel"]}, {}, f"{PLACE}': found 1 comparable retriever in"),
        ({"measures": ["nDCG", "P"]}, {"declare": "P"}, f"{PLACE}': found unknown key 'declare'"),
    ],
)
def test_wrong_keys_are_refused_in_one_line(grid: dict[str, Any], key: dict[str, Any], found: str) -> None:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    config["grid"] |= grid
    with pytest.raises(InputError) as raised:
        Study({**config, "compare_measures": key}, Path(), [ROOT / "config/prompts"])
    assert found in str(raised.value) and "\n" not in str(raised.value)
