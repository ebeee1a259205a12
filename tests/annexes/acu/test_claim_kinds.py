"""A format of claims, or a source of them, is one file: dropped in, it is in schema, reference, checks, and read."""

from pathlib import Path
from typing import Any

import pytest
from ragrelay.annexes.acu.source import CLAIM_FORMATS, CLAIM_KINDS, prepare_claims

from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of
from tests.unit.kinds.conftest import Drop

BARS = '''"""Bars between columns."""

from ragrelay.annexes.acu.source import ClaimFormat
from ragrelay.base.errors import InputError
from ragrelay.base.io.text_lines import numbered_lines


class Bars(ClaimFormat):
    """lines of claim|evidence|stance."""

    def records(self, path):
        for number, line in numbered_lines(path):
            claim, evidence, stance = line.split("|")
            yield f"{path}, line {number}", {
                "id": str(number), "claim": claim, "evidence": evidence, "evidence_stance": stance,
            }

    def check_path(self, place, path):
        if path.suffix != ".bars":
            raise InputError(place, f"the ending {path.suffix!r}", ".bars")
'''
FIXED = '''"""A claim that everyone knows."""

from pydantic import Field

from ragrelay.annexes.acu.source import ClaimSource
from ragrelay.base.errors import InputError


class Fixed(ClaimSource):
    """Tea is a plant, as often as you like."""

    times: int = Field(1, ge=1, description="How often.")

    def check(self, place, study):
        if self.times > 9:
            raise InputError(f"{place}.times'", str(self.times), "fewer")

    def records(self):
        for number in range(self.times):
            yield f"row {number}", {
                "id": str(number), "claim": "tea is a plant", "evidence": "tea grows", "evidence_stance": "supports",
            }

    def origin(self):
        return "nowhere"
'''


@pytest.fixture
def claims(config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """The small configuration with a claims study of ``mine``."""
    (tmp_path / "claim_prompts").mkdir()
    texts = 'without_evidence: "{claim}"\nwith_evidence: "{evidence} {claim}"\n'
    (tmp_path / "claim_prompts/plain.yaml").write_text(texts)
    config["acu"] = {"claims": ["mine"], "prompts": ["plain"], "generators": ["lm"]}
    return config


def test_format(drop: Drop, claims: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    drop(CLAIM_FORMATS, "bars", BARS)
    (tmp_path / "few.bars").write_text("tea is a plant|tea grows|supports\nrice is a stone|rice grows|refutes\n")
    entry = {"source": "local", "path": "few.bars", "format": "bars"}
    claims["claims"] = {"mine": entry}
    definition = study_of(claims, tmp_path).config["claims"]["mine"]
    read = prepare_claims({**definition, "path": str(tmp_path / "few.bars")})
    assert read["claim"].to_list() == ["tea is a plant", "rice is a stone"]
    reference: str = request.getfixturevalue("reference")
    assert "| `format` | `bars`, `conflictqa`" in reference
    assert "Format of the file: `bars` lines of claim\\|evidence\\|stance; `conflictqa`" in reference
    (tmp_path / "few.txt").write_text("a|b|supports\n")
    claims["claims"] = {"mine": {**entry, "path": "few.txt"}}
    check_error(claims, tmp_path, ["'claims.mine.path'", "the ending '.txt'", ".bars"])
    claims["claims"] = {"mine": {**entry, "format": "bar"}}
    check_error(claims, tmp_path, ["'claims.mine.format'", "bars, conflictqa", "did you mean 'bars'?"])


def test_source(drop: Drop, claims: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    drop(CLAIM_KINDS, "fixed", FIXED)
    claims["claims"] = {"mine": {"source": "fixed", "times": 2}}
    read = prepare_claims(study_of(claims, tmp_path).config["claims"]["mine"])
    assert read["claim"].to_list() == ["tea is a plant"] * 2
    reference: str = request.getfixturevalue("reference")
    assert "### `source: fixed`" in reference and "| `times` | integer, ≥ 1 | `1` | How often. |" in reference
    claims["claims"] = {"mine": {"source": "fixed", "times": 10}}
    check_error(claims, tmp_path, ["'claims.mine.times'", "found 10", "fewer"])
