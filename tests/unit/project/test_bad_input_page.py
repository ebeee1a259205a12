"""docs/reference/bad-input*.md: every case is really tried, and the pages say what it ended in."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.support.tools import load_tool

pytestmark = pytest.mark.process

Ends = dict[str, dict[str, tuple[str, str]]]


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    return load_tool("bad_input")


@pytest.fixture(scope="module")
def ends(writer: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Ends:
    return writer.ends_of_all(tmp_path_factory.mktemp("cases"))


def test_the_pages_are_what_the_cases_end_in(writer: ModuleType, ends: Ends, tmp_path: Path) -> None:
    pages = writer.pages(ends, writer.ends_of_snakemake(tmp_path))
    assert {path: path.read_text(encoding="utf-8") for path in pages} == pages, "run `make docs`"
    assert all(text.count("\n| ") > 10 for text in pages.values())


def test_one_line_with_place_found_and_expected(ends: Ends) -> None:
    for found in ends.values():
        for what, (_, message) in found.items():
            assert message.isprintable() and ": found " in message and "; expected " in message, what


def test_stages(ends: Ends) -> None:
    """What the configuration alone shows is told before any job; data by the first job of their dataset."""
    late = {what: stage for found in ends.values() for what, (stage, _) in found.items()}
    assert {late.pop("Prompt over the window")} == {"generate_answers"}
    for what in ("reads the clock, and no date", "omits the question"):
        assert {late.pop(f"Chat template that {what}")} == {"generate_answers"}
    assert {late.pop("Lists of nuggets beyond the window")} == {"write_nuggets"}
    assert {late.pop("A judge without a token for a word")} == {"judge_answers"}
    from tests.support.bad_input import STAGES

    assert set(late.values()) == {"start", "prepare_collection", "read_nuggets", *STAGES}
    assert {stage for stage, _ in ends["Configuration"].values()} == {"start"}


def test_an_access_token_is_not_shown(ends: Ends) -> None:
    assert "xxx" not in ends["Configuration"]["Access token in the configuration"][1]


def test_the_unspoilt_study_gets_to_the_engine(tmp_path: Path, tiny_llama: Path) -> None:
    from tests.support.bad_input import EngineStartedError, end_of
    from tests.support.bad_input_changes import Case

    with pytest.raises(EngineStartedError):
        end_of(Case("nothing", lambda config: None), tmp_path / "good", tiny_llama)
