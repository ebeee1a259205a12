"""How many words of the pages are written by hand; what tools write from code is marked, and not counted."""

import re

import pytest

from tests.support.sandbox import ROOT
from tests.support.tracked import tracked
from tools.blocks import BLOCK, by_hand, replaced

AT_MOST = 45_000
"""What is said twice, could be written from code or answers no question is to go before more is said."""
FOLDERS = ("docs", "config", "profiles", "resources")
LOG = ROOT / "CHANGELOG.md"
"""Not counted: it grows with each release."""
PAGES = tracked("*.md", *(f"{folder}/**/*.md" for folder in FOLDERS))
PAGE = "One two.\n<!-- numbers, by tools/some.py -->\n\nold\n\n<!-- -->\nthree\n"


def test_pages_have_few_words_by_hand() -> None:
    texts = {path: by_hand(path.read_text(encoding="utf-8")) for path in PAGES if path != LOG}
    assert len(texts) > 40 and "| `mean_difference` |" not in texts[ROOT / "docs/reference/results.md"]
    assert sum(len(text.split()) for text in texts.values()) <= AT_MOST


def test_every_tool_that_a_mark_names_is_there() -> None:
    blocks = [block for path in PAGES for block in BLOCK.findall(path.read_text(encoding="utf-8"))]
    tools = [tool for block in blocks for tool in re.findall(r"by (tools/\w+\.py)", block)]
    assert len(tools) == len(blocks) >= 3 and all((ROOT / tool).is_file() for tool in tools)


def test_a_block_is_written_anew_and_not_counted() -> None:
    new = replaced(PAGE, "<!-- numbers, by tools/some.py -->", "new words")
    assert new == PAGE.replace("old", "new words")
    assert by_hand(new).split() == ["One", "two.", "three"]
    assert by_hand("One\n<!-- Below: written from results by `make bench`. -->\n\ntwo\n").split() == ["One"]
    with pytest.raises(ValueError, match="found no lines '<!-- other -->'"):
        replaced(PAGE, "<!-- other -->", "")
