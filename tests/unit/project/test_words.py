"""Pages mark the blocks that tools write from code."""

import re

import pytest

from tests.support.sandbox import ROOT
from tests.support.tracked import tracked
from tools.blocks import BLOCK, by_hand, replaced

FOLDERS = ("docs", "config", "profiles", "resources")
PAGES = tracked("*.md", *(f"{folder}/**/*.md" for folder in FOLDERS))
PAGE = "One two.\n<!-- numbers, by tools/some.py -->\n\nold\n\n<!-- -->\nthree\n"


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
