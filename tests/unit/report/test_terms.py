"""Terms of the page: explained where they are first used, by pointer, tap and key, with the glossary's meanings."""

from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from ragrelay.report.display.templates import FOLDER, environment
from ragrelay.report.display.terms import EXPLAINED, MEANINGS, Explainer, explained, meanings
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study

from tests.support.report_browser import needs_browser, opened
from tests.support.report_study import write_study
from tools.terms import written

pytestmark = pytest.mark.page


def test_every_term_has_a_meaning_in_plain_text() -> None:
    assert dict(explained()).keys() == EXPLAINED.keys() == meanings().keys()
    assert not [meaning for _, meaning in explained() if any(mark in meaning for mark in "[]`*")]


def test_the_meanings_are_the_glossarys() -> None:
    assert MEANINGS.read_text(encoding="utf-8") == written(), "python tools/terms.py"


def test_a_term_is_marked_once_where_it_stands_alone() -> None:
    explainer = Explainer()
    first, second = explainer("P < P₀ at k = 3, not k-means or PMI"), explainer("P at k = 5")
    assert first.count('class="term"') == 3 and first.endswith(" = 3, not k-means or PMI")
    assert "&lt;" in first and f'data-meaning="{escape(meanings()["P₀"])}">P₀</span>' in first
    assert second == "P at k = 5"


def test_a_constant_of_a_template_is_not_marked_before_the_page_is_rendered() -> None:
    template = environment(FOLDER).from_string('{{ text | explained }} {{ "P" | explained }}')
    assert template.render(text="P").startswith("<span") and template.render(text="P").endswith(" P")


@needs_browser
@pytest.mark.parametrize("width", [390, 1400])
def test_a_meaning_is_one_hover_tap_or_key_away(browser: Any, tmp_path: Path, width: int) -> None:
    page = tmp_path / "page.html"
    page.write_text(render_page(read_study(**write_study(tmp_path / "study", n=8))), encoding="utf-8")
    with opened(browser, page, width) as tab:
        terms, shown = tab.locator(".lead .term"), tab.locator("#meaning")
        assert terms.count() > 5 and not shown.is_visible()
        for number, act in enumerate(("hover", "focus", "click")):
            term = terms.nth(number)
            getattr(term, act)()
            assert shown.inner_text() == term.get_attribute("data-meaning")
            assert term.get_attribute("aria-describedby") == "meaning"
            box = shown.bounding_box()
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
            tab.keyboard.press("Escape")
            assert not shown.is_visible() and term.get_attribute("aria-describedby") is None
