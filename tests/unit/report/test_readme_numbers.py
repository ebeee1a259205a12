"""README's numbers, and those on what P rewards, are those of the stored tables."""

import re
from pathlib import Path

import pytest

from tests.support.measured_study import real, section_of
from tools import what_p_rewards
from tools.blocks import replaced
from tools.demo_page import PARAGRAPH, README, ROOT, readme

pytestmark = pytest.mark.page


def test_readme_says_what_the_demos_page_says(tmp_path: Path) -> None:
    found = PARAGRAPH.search(README.read_text(encoding="utf-8"))
    assert found is not None
    written = found[0].removeprefix(found[1]).removesuffix(found[2])
    assert written == readme(section_of(real(), tmp_path, resamples=10_000)), "run make demo and make docs"


def test_the_tutorial_quotes_the_same_answers() -> None:
    """Its runs are the demo's BM25 and dense; only the retrievers' names and line breaks differ."""
    said = " ".join(README.read_text(encoding="utf-8").split()).replace("bm25", "run-a").replace("dense", "run-b")
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^```text\n(We .*)\n```$", page, re.MULTILINE)
    assert len(quoted) == 3 and all(answer in said for answer in quoted)


def test_the_kinds_of_answers_are_those_of_the_stored_ones() -> None:
    """The table, and that every answer has one kind."""
    page = what_p_rewards.PAGE.read_text(encoding="utf-8")
    assert page == replaced(page, what_p_rewards.MARK, what_p_rewards.text()), "run make docs"
    rows = what_p_rewards.answers()
    assert rows.height == 36 * 9 and rows["kind"].null_count() == 0
