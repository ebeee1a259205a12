"""README's numbers are those of the demo's page."""

from pathlib import Path

import pytest

from tests.support.measured_study import demo, section_of
from tools.demo_page import PARAGRAPH, README, readme

pytestmark = pytest.mark.page


def test_readme_says_what_the_demos_page_says(tmp_path: Path) -> None:
    found = PARAGRAPH.search(README.read_text(encoding="utf-8"))
    assert found is not None
    written = found[0].removeprefix(found[1]).removesuffix(found[2])
    assert written == readme(section_of(demo(), tmp_path, resamples=10_000)), "run make demo and make docs"
