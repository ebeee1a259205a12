"""20,000 inputs made of good ones, from a seed that is printed and new each time."""

import os
import secrets
from pathlib import Path

import pytest

from tests.support.fuzzing import NAMES, fuzz
from tests.support.tiny_model import build_tiny_llama

pytestmark = pytest.mark.full
EXAMPLES = -(-20_000 // len(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_inputs_made_of_good_ones(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Setting RAGRELAY_FUZZ_SEED to what was printed makes the same inputs again."""
    seed = int(os.environ.get("RAGRELAY_FUZZ_SEED", secrets.randbits(32)))
    with capsys.disabled():
        print(f"\n{name}: RAGRELAY_FUZZ_SEED={seed}")
    accepted = fuzz(name, tmp_path / "study", build_tiny_llama(tmp_path / "model", window=512), EXAMPLES, seed)
    assert len(accepted) >= EXAMPLES and 0 < sum(accepted) < len(accepted)
