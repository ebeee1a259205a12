"""The reader's tools in a real browser: retrievers highlighted, hidden and renamed; figures saved, tables copied."""

import csv
import io
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from ragrelay.report import page
from ragrelay.report.display.page import SCRIPTS, STYLES
from ragrelay.report.display.templates import FOLDER
from ragrelay.report.reading import read_study

from benchmarks.page_opening import write_queries
from tests.support.report_browser import becomes, needs_browser, opened, violations
from tests.support.report_study import GRID, write_study

pytestmark = pytest.mark.page

SMALL = GRID | {"orderings": ["descending"], "k": [1, 5]}
SHOWN = ("utility", "ends", "gain", "table1")
"""Figures and tables: those that the tests look at."""
MOST_BYTES = 40_000
CLIPBOARD = """window.copied = []; Object.defineProperty(navigator, "clipboard",
    {value: {writeText: async (text) => { window.copied.push(text); }}});"""
ESCAPED = "a_b|50%&c"
LEGEND = '[data-chart="s1-utility"] .role-legend-label text'


def write_small(folder: Path, grid: dict[str, Any], queries: int = 3) -> Path:
    files = write_study(folder / "study", grid=grid)
    path = folder / "report" / "index.html"
    files["sections"][0]["explorer"] = write_queries(path.parent / "explorer", grid, queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "OUTPUTS", [output for output in page.OUTPUTS if output.name in SHOWN])
        path.write_text(page.render_page(read_study(**files), path=path), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("toolbox"), SMALL)


def drawn(tab: Any) -> None:
    tab.wait_for_selector("html[data-charts=drawn]")


def names_shown(tab: Any, rows: str) -> set[str]:
    return {text.removesuffix(" wins") for text in tab.locator(rows).all_inner_texts()}


def test_the_tools_are_small_and_a_page_without_scripts_is_without_them(page_file: Path) -> None:
    tools = [name for name in (*STYLES, *SCRIPTS) if name.partition(".")[0] in ("toolbox", "saving")]
    assert len(tools) == 3
    assert sum((FOLDER / name).stat().st_size for name in tools) < MOST_BYTES
    body = page_file.read_text(encoding="utf-8").partition("<body>")[2].partition("<script")[0]
    for word in ("toolbox", "Tools", '<button type="button" class="opener', 'class="menu"'):
        assert word not in body


@needs_browser
def test_by_keyboard_a_retriever_is_highlighted_hidden_and_renamed_everywhere(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file, 1400) as tab:
        tab.wait_for_selector("#explored table")
        assert tab.locator("#toolbox").is_hidden() and tab.locator(".steered").is_hidden()
        tab.locator(".bar .opener").focus()
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.ariaLabel") == "Highlight bm25"
        tab.keyboard.press("Space")
        for _ in range(4):  # hide bm25, rename bm25, highlight dense, hide dense
            tab.keyboard.press("Tab")
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.ariaLabel") == "Name of dense"
        tab.keyboard.type("E5 large")
        tab.keyboard.press("Enter")
        tab.get_by_label("Hide nrel").focus()
        tab.keyboard.press("Space")
        assert tab.evaluate("document.activeElement.ariaLabel") == "Hide nrel", "focus stays"
        drawn(tab)
        check_steered(tab)
        tab.keyboard.press("Escape")
        assert tab.locator("#toolbox").is_hidden()
        assert tab.evaluate("document.activeElement.className") == "opener"
        sent = tab.evaluate("location.hash")
        tab.get_by_role("link", name="How do we know?").first.click()
        becomes(tab, "location.hash.includes('&')")
        assert tab.evaluate("location.hash") == "#s1-how&" + sent.removeprefix("#"), "a link within the page keeps it"
        assert tab.locator("#s1-how").get_attribute("open") is not None
        tab.locator("#explorer-choice button[name=next]").click()
        becomes(tab, "location.hash.includes('query=')")
        assert tab.evaluate("location.hash").endswith("&" + sent.removeprefix("#")), "so does the explorer"
        tab.locator(".steered button").click()
        drawn(tab)
        assert tab.locator(".steered").is_hidden() and "hide=" not in tab.evaluate("location.hash")
        assert names_shown(tab, "#s1-lead tbody th") >= {"dense", "bm25", "dense − bm25", "rel", "nrel"}
        assert tab.locator("[data-gone], [data-lit]").count() == 0
        assert set(tab.locator(LEGEND).all_text_contents()) == {"bm25", "dense", "rel", "nrel"}
    again = browser.new_page()  # the link, from the start
    again.goto(page_file.as_uri() + sent)
    drawn(again)
    again.wait_for_selector("#explored table", state="attached")
    again.eval_on_selector_all("details.fold", "(folds) => folds.forEach((one) => { one.open = true; })")
    check_steered(again)
    again.close()


def check_steered(tab: Any) -> None:
    """bm25 is highlighted, nrel hidden, dense renamed: in the address, the line, figures, tables and queries."""
    assert tab.evaluate("location.hash") == "#highlight=bm25&hide=nrel&rename=dense&to=E5+large"
    line = tab.locator(".steered").inner_text()
    assert "1 retriever hidden (nrel); numbers and verdicts still cover all retrievers." in line
    assert "E5 large is dense; some sentences keep the study’s names." in line
    assert "E5 large" in tab.locator(".answer .named").all_inner_texts()
    assert names_shown(tab, "#s1-lead tbody tr:visible th") == {
        "E5 large", "bm25", "E5 large − bm25", "zero-shot", "rel"}  # fmt: skip
    labels = tab.locator("svg.wide text.label:visible").all_text_contents()
    assert any(label.startswith("E5 large 0.") for label in labels) and not any("nrel" in label for label in labels)
    assert tab.locator("svg.wide .line:visible").count() == 3
    faded = "(all) => all.map((one) => [one.dataset.of, getComputedStyle(one.querySelector('.mark')).opacity])"
    opacity = dict(tab.eval_on_selector_all("svg.wide .line:not([data-gone])", faded))
    assert opacity == {"bm25": "1", "dense": "0.2", "rel": "0.2"}
    tip = tab.locator("svg.wide [data-of=dense] [data-tip]").first
    assert tip.get_attribute("data-tip").startswith("E5 large, k = 1: P ") == (
        tip.get_attribute("aria-label").startswith("E5 large, k = 1: P ")) is True  # fmt: skip
    assert set(tab.locator(LEGEND).all_text_contents()) == {"bm25", "E5 large", "rel"}
    fills = tab.eval_on_selector_all(
        '[data-chart="s1-utility"] .mark-symbol.role-mark path', "(all) => all.map((one) => one.getAttribute('fill'))"
    )
    assert len(fills) == 3 * 2 * 2 and len({fill for fill in fills if len(fill) == 7}) == 1, "others are pale"
    panels = tab.locator('[data-chart="s1-ends"] .role-column-title, [data-chart="s1-ends"] .role-title-text')
    assert not any("nrel" in text for text in panels.all_text_contents())
    rows = "#s1-gain-table tbody tr:not([data-gone])"
    assert names_shown(tab, f"{rows} td:first-child") >= {"E5 large", "bm25", "rel"}
    assert "nrel" not in names_shown(tab, f"{rows} td:first-child")
    assert names_shown(tab, "#s1-gain-table tr[data-lit] td:first-child") == {"bm25"}
    assert names_shown(tab, "#s1-table1-table tbody tr:visible th") == {"0-shot", "E5 large", "bm25", "rel"}
    assert names_shown(tab, ".map tbody tr:visible th") == {"E5 large", "bm25", "rel"}
    assert names_shown(tab, "#explored article:visible h4") == {"E5 large", "bm25", "rel"}
    offered = tab.locator("#explorer-choice select[name=retriever] option").all_inner_texts()
    assert offered == ["bm25", "E5 large", "rel"]


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_the_tools_fit_and_break_no_rule_of_accessibility(
    browser: Any, page_file: Path, width: int, scheme: str
) -> None:
    with opened(browser, page_file, width, scheme, folded=True) as tab:
        tab.locator(".bar .opener").click()
        tab.get_by_label("Highlight dense").check()
        tab.get_by_label("Hide nrel").check()
        drawn(tab)
        tab.locator(".lead-table .menu summary").focus()
        tab.keyboard.press("Enter")
        box = tab.locator("#toolbox").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= 900
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(tab) == []
        tab.get_by_label("Name of rel").fill("dense")
        tab.keyboard.press("Enter")
        assert "Another retriever is already named dense." in tab.locator("#toolbox").inner_text()
        assert "rename" not in tab.evaluate("location.hash")
        tab.emulate_media(media="print", reduced_motion="reduce")
        assert tab.locator(".opener:visible, #toolbox:visible, .menu:visible").count() == 0
        assert tab.locator(".steered").is_visible(), "paper says it, too"


@needs_browser
def test_a_figure_is_saved_as_svg_and_png(browser: Any, page_file: Path, tmp_path: Path) -> None:
    """Dark on white also from a dark page, with its style in attributes, and what is hidden in its description."""
    with opened(browser, page_file, 1400, "dark") as tab:
        tab.get_by_label("Hide nrel").evaluate("(box) => box.click()")
        drawn(tab)
        for figure, words in ((".lead-figure", "dense 0."), ("#s1-utility-figure", "descending · lenient")):
            menu = tab.locator(figure).locator(".menu")
            saved = {}
            for kind in ("SVG", "PNG"):
                menu.locator("summary").focus()
                tab.keyboard.press("Enter")
                with tab.expect_download() as download:
                    menu.get_by_role("button", name=kind).click()
                saved[kind] = tmp_path / download.value.suggested_filename
                download.value.save_as(saved[kind])
                assert saved[kind].suffix == f".{kind.lower()}"
            text = saved["SVG"].read_text(encoding="utf-8")
            root = etree.fromstring(text.encode())
            assert not re.search(r"var\(|currentColor|color\(| class=| style=| data-| href=|undefined|NaN", text)
            assert "#1b1f24" in text and words in "".join(root.itertext()) and "nrel 0." not in text
            assert "1 retriever hidden (nrel)" in root.findtext("{*}desc")
            header = saved["PNG"].read_bytes()[:24]
            size = struct.unpack(">II", header[16:])
            assert header.startswith(b"\x89PNG")
            assert size == tuple(pytest.approx(2 * float(root.get(side)), abs=1) for side in ("width", "height"))
            assert saved["PNG"].stat().st_size > 10_000


@needs_browser
def test_a_table_is_copied_as_csv_markdown_and_latex(browser: Any, tmp_path: Path) -> None:
    path = write_small(tmp_path, SMALL | {"retrievers": ["bm25", ESCAPED, "nrel"]})
    with opened(browser, path, 1400) as tab:
        tab.evaluate(CLIPBOARD)
        tab.get_by_label("Hide bm25").evaluate("(box) => box.click()")

        def copied(menu: Any, kind: str) -> str:
            menu.locator("summary").click()
            menu.get_by_role("button", name=kind).click()
            becomes(tab, "window.copied.length")
            return str(tab.evaluate("window.copied.pop()"))

        menu = tab.locator('[data-tools="s1-gain-table"] .menu')
        shown = tab.locator("#s1-gain-table tbody tr:not([data-gone])").count()
        head, *rows = list(csv.reader(io.StringIO(copied(menu, "CSV"))))
        assert head[:4] == ["retriever", "ordering", "k", "references"] and len(rows) == shown > 0
        assert {len(row) for row in rows} == {len(head)} and {row[0] for row in rows} == {ESCAPED, "nrel"}
        column = head.index("P − P₀".replace("−", "-"))
        assert any(float(row[column].split()[0]) < 0 for row in rows), "a minus that a spreadsheet reads"
        lines = copied(menu, "Markdown").splitlines()
        cells = [re.split(r"(?<!\\)\|", line) for line in lines]
        assert len(lines) == shown + 2 and len({len(row) for row in cells}) == 1
        assert r"a\_b\|50%\&c" in {row[1].strip() for row in cells} and "---:" in lines[1]
        latex = copied(menu, "LaTeX")
        body = [line for line in latex.splitlines() if line.endswith(r" \\")]
        assert len(body) == shown + 1 and r"a\_b\textbar{}50\%\&c" in latex and "% 1 retriever hidden" in latex
        counts = {len(re.split(r"(?<!\\)&", line)) for line in body}
        assert counts == {len(re.search(r"\{tabular\}\{([lr]+)\}", latex)[1])}
        assert "$-$" in latex and "−" not in "".join(body) and "P$_0$" in latex
        # Two rows of heads, raised marks, and of two quantities the one that is shown.
        first = copied(tab.locator('fieldset[data-shows="s1-table1-table"] .menu'), "LaTeX")
        assert r"\multicolumn{2}{c}{lenient}" in first and first.count(r"\midrule") == 2
        assert first.count("k = 1") == 2 and "lenient, k" not in first
        lead = copied(tab.locator(".lead-table .menu"), "Markdown")
        assert lead.splitlines()[0].startswith("| retriever | verdict |") and "bm25" not in lead.partition("nrel")[0]
        queries = copied(tab.locator("#explored .menu"), "CSV")
        assert queries.splitlines()[0] == '"retriever","ordering","k = 1","k = 5"'


@needs_browser
def test_with_one_retriever_there_is_a_name_to_give_and_nothing_to_hide(browser: Any, tmp_path: Path) -> None:
    study = read_study(**write_study(tmp_path / "study", grid=SMALL | {"retrievers": ["bm25"]}, n=8))
    path = tmp_path / "index.html"
    path.write_text(page.render_page(replace(study, provenance={}, left_out=[])), encoding="utf-8")
    with opened(browser, path, folded=True) as tab:
        tab.locator(".bar .opener").click()
        assert tab.locator("#toolbox thead th").all_inner_texts() == ["retriever", "rename"]
        assert tab.locator("#toolbox [type=checkbox]").count() == 0
        assert tab.evaluate("document.activeElement.ariaLabel") == "Name of bm25"
