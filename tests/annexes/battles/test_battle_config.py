"""Wrong keys of battles are refused before any job."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.config.study import Study

from tests.support.sandbox import ROOT

JUDGE = {"kind": "judge", "generator": "demo-lm"}
PLACE = "config key 'battles."


@pytest.mark.parametrize(
    ("battles", "found"),
    [
        ({"b": {**JUDGE, "against": "bm26"}}, f"{PLACE}b.against': found 'bm26'"),
        ({"b": {"kind": "judge", "generator": "gpt"}}, f"{PLACE}b.generator': found 'gpt'"),
        ({"b": {**JUDGE, "prompt": "answer_yes_no"}}, "answer_yes_no.yaml"),
        ({"b": {**JUDGE, "references": "some"}}, f"{PLACE}b.references': found 'some'"),
        ({"b": {"kind": "file", "path": "none.csv"}}, "none.csv: found no such file"),
        ({"b": JUDGE, "p": {"kind": "panel", "of": ["b", "c", "d"]}}, f"{PLACE}p.of': found 'c'"),
        ({"b": JUDGE, "p": {"kind": "panel", "of": ["b", "b", "b"]}}, "unique values"),
        ({"b": JUDGE, "c": JUDGE, "p": {"kind": "panel", "of": ["b", "p", "c"]}}, f"{PLACE}p.of': found 'p', which is"),
        (
            {"b": JUDGE, "c": {**JUDGE, "pairs": "all"}, "d": JUDGE, "p": {"kind": "panel", "of": ["b", "c", "d"]}},
            f"{PLACE}p.of': found battles with different opponents or pairs",
        ),
    ],
)
def test_wrong_keys_are_refused_in_one_line(battles: dict[str, Any], found: str) -> None:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InputError) as raised:
        Study({**config, "battles": battles}, Path(), [ROOT / "config/prompts"])
    assert found in str(raised.value) and "\n" not in str(raised.value)
