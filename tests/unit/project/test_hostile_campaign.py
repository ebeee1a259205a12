"""The second campaign of hostile inputs: each ends as it declares, none in silence and none in a traceback."""

from itertools import chain
from pathlib import Path

import pytest

from tests.support.bad_input import EngineStartedError, end_of
from tests.support.bad_input_cases import CASES
from tests.support.bad_input_changes import FINE, Case
from tests.support.hostile_campaign import campaign

pytestmark = pytest.mark.engine

CAMPAIGN = list(campaign())


@pytest.mark.parametrize(("case", "expected"), CAMPAIGN, ids=[case.what for case, _ in CAMPAIGN])
def test_ends_as_it_declares(tmp_path: Path, tiny_llama: Path, case: Case, expected: str) -> None:
    """Any other exception than InputError, which end_of makes the message of, fails the test."""
    if expected == FINE:
        with pytest.raises(EngineStartedError):
            end_of(case, tmp_path / "case", tiny_llama)
        return
    stage, message = end_of(case, tmp_path / "case", tiny_llama)
    assert message.isprintable() and ": found " in message and "; expected " in message, message
    assert expected in message, f"{stage}: {message}"
    assert len(message) < 2000


def test_there_are_enough_and_none_is_in_the_other_list() -> None:
    names = [case.what for case, _ in CAMPAIGN]
    assert len(names) >= 150 and len(set(names)) == len(names)
    assert not {case.what for case in chain.from_iterable(CASES.values())} & set(names)
