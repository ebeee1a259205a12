"""2,338 inputs made of good ones, the same each time: none ends in a traceback, none is taken for what it is not."""

from pathlib import Path

import pytest

from tests.support.fuzzing import NAMES, fuzz

pytestmark = pytest.mark.process

EXAMPLES = 334


@pytest.mark.parametrize("name", NAMES)
def test_inputs_made_of_good_ones(name: str, tmp_path: Path, tiny_llama: Path) -> None:
    accepted = fuzz(name, tmp_path / "study", tiny_llama, EXAMPLES)
    assert len(accepted) >= EXAMPLES and 0 < sum(accepted) < len(accepted), "some are still good, others are not"
