"""The page in a real browser: drawn, sorted by mouse and keys, without any request, and safe with any name."""

import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lxml import html
from ragrelay.base.io.atomic_files import write_text
from ragrelay.report import lead_answers
from ragrelay.report import page as page_module
from ragrelay.report.display import page_list
from ragrelay.report.display.numbers import number
from ragrelay.report.display.page import Page
from ragrelay.report.display.palette import looks
from ragrelay.report.display.script_json import script_json
from ragrelay.report.display.templates import bundle
from ragrelay.report.facts import facts_of
from ragrelay.report.figures_by_k import correlation_by_k
from ragrelay.report.lead_answers import MOST_WORDS
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study

from benchmarks.page_opening import write_queries
from tests.support.report_browser import needs_browser, opened, violations
from tests.support.report_study import GRID, changed, write_study
from tests.support.waiting import wait_for

pytestmark = pytest.mark.page

HOSTILE = "</script><script>window.hacked=1</script>"
IMAGE = "\"><img src=x onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "index.html"
    path.write_text(render_page(read_study(**write_study(folder / "study"))), encoding="utf-8")
    return path


@pytest.mark.parametrize("stands", [True, False])
def test_a_verdict_that_does_not_stand_has_a_remark_and_no_other(stands: bool, tmp_path: Path) -> None:
    """In the answer, under the figure and the first table, and in the tables of verdicts."""
    study = read_study(**write_study(tmp_path / "study", n=16))
    tables = ("systems", "gain", "equivalence")
    words = {"verdict": pl.lit("better"), "stands": pl.lit(stands)}
    said = {name: study.sections[0][name].with_columns(**words) for name in tables}
    text = html.fromstring(render_page(replace(study, sections=(changed(study.sections[0], **said),))))
    undo = "A single further query with a difference of 0.25 in the other direction would overturn"
    first = text.get_element_by_id("s1-first")
    shown = {
        "answer": undo + " this verdict." in first.find_class("said")[0].text_content(),
        "figure": undo + " the verdict" in first.find_class("tip")[0].text_content(),
        "mark": "*" in first.find_class("chip")[0].text_content(),
        "table": undo + " any verdict marked *." in first.find_class("lead-table")[0].text_content(),
    }
    shown |= {
        name: "one more query would overturn it" in text.get_element_by_id(f"s1-{name}-table").text_content()
        for name in tables
    }
    assert set(shown.values()) == {not stands}, shown


def column(tab: Any, table: str, place: int) -> list[str]:
    """The texts as shown of a column of the last body of a table."""
    rows = f"#{table} > tbody:last-of-type > tr:not([hidden])"
    return [text.strip() for text in tab.eval_on_selector_all(
        rows, "(rows, place) => rows.map((row) => row.cells[place].innerText)", place)]  # fmt: skip


def numbers_of(texts: list[str]) -> list[float]:
    found = [re.match(r"[−\d.]+", text) for text in texts]
    return [float(match[0].replace("−", "-")) for match in found if match]


@pytest.mark.gate
@needs_browser
def test_charts_are_drawn(browser: Any, page_file: Path):
    with opened(browser, page_file) as tab:
        points = {
            name: tab.locator(f'[data-chart="s1-{name}"] svg .mark-symbol.role-mark path').count()
            for name in ("utility", "scatter", "correlation")
        }
        # 4 retrievers x 3 k x 4 panels; 36 queries x 8 panels; nrel has no correlation.
        assert points == {"utility": 48, "scatter": 288, "correlation": 36}
        drawn = tab.eval_on_selector_all("[data-chart] svg.marks", "(all) => all.map((one) => one.querySelectorAll("
                                         "'.role-mark path').length)")  # fmt: skip
        assert len(drawn) == 11 and min(drawn) > 10
        svg = '[data-chart="s1-scatter"] svg.marks'
        before = tab.locator(svg).text_content()
        assert "r = " in before
        assert "no r: nDCG is constant" in before
        tab.select_option('[data-chart="s1-scatter"] select >> nth=0', "1")
        wait_for("another chart", lambda: tab.locator(svg).text_content() != before, 30)
        assert tab.locator(f"{svg} .mark-symbol.role-mark path").count() == 288


@needs_browser
def test_a_retriever_has_one_colour_in_all_charts(browser: Any, page_file: Path):
    expected = {name: look.colour.lower() for name, look in looks(GRID["retrievers"]).items()}
    with opened(browser, page_file) as tab:
        for name in ("utility", "scatter", "correlation", "position", "spread", "lengths"):
            legend = tab.eval_on_selector_all(
                f'[data-chart="s1-{name}"] .role-legend-entry .mark-group.role-scope > g',
                """(entries) => entries.map((entry) => [entry.querySelector("text").textContent,
                   entry.querySelector("path:not(.background):not(.foreground)").getAttribute("fill")])
                   .filter(([, fill]) => fill)""",
            )
            assert {retriever: fill.lower() for retriever, fill in legend} == expected


@pytest.mark.gate
@needs_browser
def test_sorting_by_click_and_by_key(browser: Any, page_file: Path):
    with opened(browser, page_file) as tab:
        button = tab.locator("#s1-table1-table th button").nth(2)  # lenient, k = 1
        header = tab.locator("#s1-table1-table th:has(button)").nth(2)
        unsorted = numbers_of(column(tab, "s1-table1-table", 2))
        button.click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert numbers_of(column(tab, "s1-table1-table", 2)) == sorted(unsorted) != unsorted
        button.focus()
        tab.keyboard.press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert numbers_of(column(tab, "s1-table1-table", 2)) == sorted(unsorted, reverse=True)
        tab.keyboard.press("Tab")
        tab.keyboard.press("Space")
        assert header.get_attribute("aria-sort") is None
        assert tab.locator("#s1-table1-table th[aria-sort]").count() == 1
        assert numbers_of(column(tab, "s1-table1-table", 3)) == sorted(numbers_of(column(tab, "s1-table1-table", 3)))
        assert tab.inner_text("#s1-table1-table tbody:first-of-type").startswith("0-shot")  # its row stays where it is


@needs_browser
def test_missing_values_are_sorted_last_both_ways(browser: Any, page_file: Path):
    with opened(browser, page_file) as tab:
        tab.locator("#s1-correlation-table th button").first.click()  # nrel, which has none, comes before rel
        button = tab.locator("#s1-correlation-table th button").nth(6)  # Pearson's r
        for descending in (False, True):
            button.click()
            texts = column(tab, "s1-correlation-table", 6)
            known = numbers_of(texts)
            assert len(known) == 72  # 3 retrievers x 2 orderings x 3 k x 4 references
            assert known == sorted(known, reverse=descending)
            assert set(texts[len(known) :]) == {"–"}


@needs_browser
def test_filters_and_the_choice_of_quantity(browser: Any, page_file: Path):
    with opened(browser, page_file) as tab:
        tools = tab.locator('[data-tools="s1-correlation-table"]')
        assert tools.locator("[role=status]").inner_text() == "96 of 192 rows"  # all queries, at first
        tools.get_by_label("retriever").select_option("dense")
        assert tools.locator("[role=status]").inner_text() == "24 of 192 rows"
        assert set(column(tab, "s1-correlation-table", 0)) == {"dense"}
        p = column(tab, "s1-table1-table", 2)
        tab.locator('fieldset[data-shows="s1-table1-table"]').get_by_label("mean utility").check()
        assert not set(column(tab, "s1-table1-table", 2)) & set(p)


@pytest.mark.gate
@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone_and_follows_the_colour_scheme(browser: Any, page_file: Path, scheme: str):
    with opened(browser, page_file, 400, scheme) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 400
        inside = "(charts) => charts.every((chart) => chart.scrollWidth <= chart.clientWidth + 1)"
        assert tab.eval_on_selector_all(".chart", inside)
        ink = tab.evaluate("getComputedStyle(document.body).color")
        texts = tab.eval_on_selector_all(
            ".chart svg .role-axis-label text", "(all) => all.map((one) => getComputedStyle(one).fill)"
        )
        assert set(texts) == {ink}
        brightness = sum(map(int, re.findall(r"\d+", ink)[:3])) / 3
        assert (brightness > 128) == (scheme == "dark")


@needs_browser
def test_hostile_names_stay_text(browser: Any, tmp_path: Path):
    retrievers = [HOSTILE, IMAGE, "rel", "{{ 7 * 7 }}"]
    files = write_study(tmp_path / "study", (HOSTILE,), GRID | {"retrievers": retrievers}, n=12)
    files["sections"][0] |= {"generator": IMAGE, "scorer": "${window.hacked=1}"}
    study = read_study(**files | {"name": HOSTILE})
    left_out = [{"stage": "<b>x</b>", "dataset": HOSTILE, "what": IMAGE, "count": 1, "detail": "'\"&<>"}]
    provenance = {"config": {HOSTILE: IMAGE}, "commit": HOSTILE, "versions": {IMAGE: 1}, "generators": {IMAGE: {}}}
    hostile = replace(study, provenance=provenance, left_out=left_out)
    path = tmp_path / "index.html"
    path.write_text(render_page(hostile), encoding="utf-8")
    with opened(browser, path) as tab:
        tab.locator("#s1-table1-table th button").nth(3).click()
        tab.locator('[data-chart="s1-utility"] svg .mark-symbol.role-mark path').first.hover()
        tab.wait_for_selector("#vg-tooltip-element.visible")
        assert tab.locator("#vg-tooltip-element td.value").first.inner_text() in retrievers
        assert tab.evaluate("window.hacked") is None
        assert tab.locator("img").count() == 0
        assert tab.title() == f"This question needs two retrievers, but the study has only one – {HOSTILE} – ragrelay"
        assert HOSTILE in column(tab, "s1-table1-table", 0)
        assert column(tab, "left-out-table", 0) == ["<b>x</b>"]
        assert HOSTILE[:20] in tab.locator('[data-chart="s1-utility"] svg.marks').text_content()


@needs_browser
def test_the_smallest_grid_is_drawn_too(browser: Any, tmp_path: Path):
    grid = GRID | {"retrievers": ["bm25"], "orderings": ["random"], "k": [3], "seeds": [1]}
    study = read_study(**write_study(tmp_path / "study", grid=grid, n=8))
    assert study.sections[0].reference_retriever is None
    path = tmp_path / "index.html"
    path.write_text(render_page(replace(study, provenance={}, left_out=[])), encoding="utf-8")
    with opened(browser, path) as tab:
        assert tab.locator('[data-chart="s1-scatter"] svg.marks .mark-symbol.role-mark path').count() == 8
        assert tab.inner_text("#left-out").endswith("Nothing was left out.")
        assert tab.get_by_text("differs from").count() == 0


class Outline(HTMLParser):
    """Ids, links within the page, references to other files, and header cells of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.tags: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.ids += [found["id"]] if found.get("id") else []
        for name in ("src", "href", "srcset", "action", "data"):
            value = found.get(name)
            if value is not None:
                (self.links if value.startswith("#") else self.outside).append(value)
        if tag == "table":
            assert f"{found['id']}"
        if tag == "th":
            assert found.get("scope")


def test_page_is_whole_in_itself(page_file: Path):
    text = page_file.read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(text)
    # An empty icon, or browsers ask for one; the list of the study's pages, for the header alone.
    assert outline.outside == ["data:,", "../report/pages.js"]
    assert len(set(outline.ids)) == len(outline.ids)
    # Links of the first figure are states of the explorer.
    assert {link[1:] for link in outline.links if "=" not in link} <= set(outline.ids)
    assert outline.tags["caption"] == outline.tags["table"]
    assert outline.tags["main"] == outline.tags["header"] == outline.tags["footer"] == 1
    assert len(text.encode()) < 2_000_000


def test_the_library_of_charts_comes_after_all_that_is_seen_first(page_file: Path):
    text = page_file.read_text(encoding="utf-8")
    assert text.index('getElementById("explorer-choice")') < text.index(bundle()[:500])


@needs_browser
def test_of_many_queries_the_first_are_listed_and_the_others_found(browser: Any, tmp_path: Path):
    files = write_study(tmp_path / "study", n=12)
    report = tmp_path / "report"
    files["sections"][0]["explorer"] = write_queries(report / "explorer", GRID, 501)
    path = report / "index.html"
    path.write_text(render_page(read_study(**files), path=path), encoding="utf-8")
    with opened(browser, path) as tab:
        options = tab.locator("select[name=query] option")
        assert options.count() == 500
        assert tab.inner_text("#explorer-rest") == (
            "The list shows the first 500 of 501 queries. Search or filter to find others."
        )
        tab.fill("#explorer-choice input[name=search]", "1500")  # the last of them
        assert options.count() == 1 and options.first.inner_text().strip().startswith("1500")
        assert tab.inner_text("#explorer-rest") == ""


def test_page_has_the_numbers_of_table1(page_file: Path, tmp_path: Path):
    section = read_study(**write_study(tmp_path)).sections[0]
    text = page_file.read_text(encoding="utf-8")
    body = text.split('id="s1-table1-table"')[1].split("</table>")[0]
    rows = section["utility"].filter(section["utility"]["references"].is_in(section.grades))
    shown = re.findall(r'<span class="utility(?: best)?">([−\d.]+)<', body)
    expected = [number(row["mean_utility"]) for row in rows.iter_rows(named=True) if row["k"]]
    assert sorted(shown) == sorted(expected)


def test_several_sections_are_listed_and_share_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page_module, "MOST_POINTS", 1000)
    monkeypatch.setattr(page_module, "MOST_ROWS", 300)
    text = render_page(read_study(**write_study(tmp_path, ("one", "two"))))
    for place, dataset in enumerate(("one", "two"), 1):
        assert f'<a href="#s{place}">{dataset}</a>' in text, "by what they differ in"
        assert f'id="s{place}-table1-table"' in text
    assert '<p class="facts note">2 datasets · ' in text and "demo-lm, scored by minilm</p>" in text
    assert text.count("The figure shows an evenly spaced sample of the queries") == 4
    assert "The CSV file has 162 more rows" in text  # 192 correlations, of which 300 / 2 / 5 are shown


def test_the_first_screen_has_the_first_answer_of_every_scorer(tmp_path: Path):
    """Such as people's, who may say otherwise; not those of other datasets, which a table of all has."""
    study = read_study(**write_study(tmp_path, n=16))
    (first,) = study.sections
    worse = first["systems"].with_columns(verdict=pl.lit("worse"), mean_difference=-pl.col("mean_difference"))
    people = replace(changed(first, systems=worse), scorer="people <b>")
    others = (people, replace(first, generator="other"), replace(first, dataset="other"))
    pages = [render_page(replace(study, sections=(first, *some))) for some in ((), others)]
    said = [html.fromstring(page).xpath("//main/p[starts-with(., 'Scored by')]") for page in pages]
    assert [len(lines) for lines in said] == [0, 1]
    (line,) = said[1]
    answer = lead_answers.compared(facts_of(people)).sentence
    assert line.text_content() == f"Scored by people <b>: {answer}"
    assert answer.startswith("Answers are better with bm25")
    (link,) = line.xpath("a/@href")
    (section,) = html.fromstring(pages[1]).xpath(f"//section[@id='{link[1:]}']")
    assert section.get("aria-label") == people.title
    assert pages[1].index("Scored by") < pages[1].index('class="answers-of"')


def test_script_json_can_not_end_its_element():
    text = script_json({HOSTILE: ["<!--", "\u2028"]})
    assert "<" not in text
    assert "\u2028" not in text
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json({"value": float("nan")})


def test_a_notice_is_on_the_first_screen_and_terms_are_at_the_end(tmp_path: Path):
    study = read_study(**write_study(tmp_path, n=8))
    plain = render_page(study)
    assert '<li class="warning">' not in plain
    assert plain.index("How do we know?</h3>") < plain.index("<dt>utility</dt>") < plain.index('id="provenance"')
    noticed = render_page(replace(study, notices=["demo-lm <only> copies."]))
    assert '<li class="warning">demo-lm &lt;only&gt; copies.</li>' in noticed.partition("<details")[0]


def test_papers_are_named(page_file: Path):
    body = page_file.read_text(encoding="utf-8").partition("<script")[0]
    assert "the paper" not in body
    assert "as in Table 1 of Tian et al., ECIR 2025" in body


def test_choosers_have_words_and_no_panel_is_empty(tmp_path: Path):
    section = read_study(**write_study(tmp_path, n=8)).sections[0]
    value = pl.when(pl.col("ordering") == "descending").then("value").alias("value")
    section = changed(section, correlation=section["correlation"].with_columns(value))
    spec = correlation_by_k(section, "page")
    assert {row["panel"] for row in spec["data"]["values"]} == {"descending · lenient", "descending · strict"}
    words = {label for param in spec["params"] for label in param["bind"]["labels"]}
    assert {"Kendall’s tau-b", "all queries"} <= words
    assert "kendall" not in words


@needs_browser
@pytest.mark.parametrize(("width", "height", "screens"), [(1400, 900, 1), (390, 844, 2)])
def test_the_first_screen_holds_answers_figure_and_table(
    browser: Any, page_file: Path, width: int, height: int, screens: int
):
    with opened(browser, page_file, width, folded=True) as tab:
        tab.add_style_tag(content="body { font-family: 'DejaVu Sans', sans-serif; }")  # the widest of the usual fonts
        needed = [".answers-of", ".lead-figure", *([".lead-table", ".warnings"] if screens == 1 else [])]
        for name in needed:
            box = tab.locator(name).bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= height * screens, name
            assert box["x"] >= 0 and box["x"] + box["width"] <= width, name
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.locator(".lead-figure svg:visible").count() == 1
        texts = tab.locator(".lead-figure svg:visible g[data-of*=' − '] > text")
        label = ["paired", "difference"] if screens == 2 else ["dense − bm25", "paired, 95% or more"]
        assert texts.all_text_contents()[:2] == label
        boxes = [text.bounding_box() for text in texts.all()]
        assert max(box["x"] + box["width"] for box in boxes) <= width
        for one, other in itertools.combinations(boxes, 2):
            apart = [abs(one[x] + one[size] / 2 - other[x] - other[size] / 2) * 2 / (one[size] + other[size])
                     for x, size in (("x", "width"), ("y", "height"))]  # fmt: skip
            assert max(apart) > 0.9, "texts cover each other"
        assert len(tab.locator(".answer").all()) == 3
        for said in tab.locator(".said").all_inner_texts():
            answer, *remark = said.split("A single further query")
            assert 2 < len(answer.replace(":", "").split()) <= MOST_WORDS and len(" ".join(remark).split()) <= 13
        assert len(tab.inner_text("body").split()) <= 1500
        assert [one.get_attribute("open") for one in tab.locator("details.fold").all()] == [None] * tab.locator(
            "details.fold"
        ).count()
        assert tab.locator("details.fold").count() > 8


@needs_browser
def test_the_first_table_and_figure_have_the_numbers_of_the_tables(browser: Any, page_file: Path, tmp_path: Path):
    section = read_study(**write_study(tmp_path)).sections[0]
    here = (pl.col("ordering") == "descending", pl.col("k") == 5, pl.col("references") == "lenient")
    cells = {row["retriever"]: row for row in section["utility"].filter(*here).to_dicts()}
    gains = {row["retriever"]: row for row in section["gain"].filter(*here).to_dicts()}
    with opened(browser, page_file, 1400, folded=True) as tab:
        rows = {
            row.locator("th").inner_text().removesuffix(" wins"): row.locator("td").all_inner_texts()
            for row in tab.locator("#s1-lead tbody tr:has(th)").all()
        }
        assert list(rows) == ["dense", "bm25", "dense − bm25", "zero-shot", "rel", "nrel"]
        for name, cell in cells.items():
            arrow = {"better": "↑ better", "worse": "↓ worse"}.get(gains[name]["verdict"], gains[name]["verdict"])
            arrow += "*" if gains[name]["stands"] is False else ""
            assert rows[name][:3] == [arrow, number(cell["nDCG"], 2), number(cell["mean_p"], 2)]
            assert float(rows[name][3].replace("−", "-")) == pytest.approx(gains[name]["mean_difference"], abs=0.0051)
        assert float(rows["zero-shot"][2]) == pytest.approx(cells["rel"]["mean_p0"], abs=0.0051)
        tab.locator("svg.wide .ranking [data-tip]").last.hover()
        p = section["per_query"].filter(*here, retriever="dense")["p"]
        assert tab.inner_text(".tip").startswith(f"dense, k = 5: P {p.mean():.2f} [")
        tab.mouse.move(5, 5)
        assert tab.inner_text(".tip").startswith("Mean P")
        tab.locator("svg.wide .zero-shot").locator("..").focus()
        assert tab.inner_text(".tip").startswith("zero-shot, no passages: P ")


@needs_browser
def test_links_and_keys_open_folds_and_print_opens_all(browser: Any, page_file: Path):
    with opened(browser, page_file, 1400, folded=True) as tab:
        tab.get_by_role("link", name="How do we know?").first.click()
        assert tab.locator("#s1-how").get_attribute("open") is not None
        assert tab.evaluate("document.querySelector('#s1-how').getBoundingClientRect().top") < 450
        tab.locator("#terms summary").focus()
        tab.keyboard.press("Enter")
        assert tab.locator("#terms dl").is_visible()
        folds = tab.locator("main details.fold")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("main details.fold[open]").count() == folds.count()
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.locator("main details.fold[open]").count() == 2
        tab.emulate_media(media="print")
        assert not tab.locator("nav:visible").count()


@needs_browser
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_for_readers_who_ask_for_less_motion(browser: Any, page_file: Path, motion: str) -> None:
    with opened(browser, page_file, folded=True) as tab:
        tab.emulate_media(reduced_motion=motion)
        seconds = tab.evaluate(
            "[...document.querySelectorAll('*')].flatMap((one) => [null, '::before', '::after'].flatMap((part) => {"
            " const style = getComputedStyle(one, part); return [style.transitionDuration, style.animationDuration];"
            "})).flatMap((text) => text.split(',').map(parseFloat))"
        )
        assert (max(seconds) == 0) == (motion == "reduce")


@needs_browser
def test_many_retrievers_are_ten_rows_then_all(browser: Any, tmp_path: Path):
    names = ["bm25", *(f"ranking{place:02d}" for place in range(12))]
    names.insert(7, "dense")  # after as many as there are colours
    study = read_study(**write_study(tmp_path / "study", grid=GRID | {"retrievers": names, "kinds": {}}, n=12))
    path = tmp_path / "index.html"
    path.write_text(render_page(study), encoding="utf-8")
    with opened(browser, path, 1400, folded=True) as tab:
        rows = tab.locator("#s1-lead tbody tr:visible")
        assert rows.count() <= 12
        shown = rows.all_inner_texts()
        assert any(row.startswith("dense") for row in shown) and any(row.startswith("bm25") for row in shown)
        tab.get_by_role("button", name="All 16 rows").click()
        assert rows.count() == 16
        # Colours and names are those of the pair and of the best.
        styles = [line.get_attribute("style") for line in tab.locator("svg.wide .line.ranking").all()]
        assert 2 <= len(set(styles)) == len(styles) <= 3
        assert tab.locator("svg.wide .line.rest").count() == 14 - tab.locator("svg.wide .line.ranking").count()


@needs_browser
def test_without_a_baseline_p_and_its_differences_lead(browser: Any, tmp_path: Path):
    study = read_study(**write_study(tmp_path / "study"))
    section = study.sections[0]
    none = {"p0": pl.lit(None, pl.Float64), "utility": pl.lit(None, pl.Float64)}
    bare = changed(
        section,
        per_query=section["per_query"].with_columns(**none),
        gain=section["gain"].with_columns(
            n=pl.lit(0), verdict=pl.lit("undecided"),
            **{name: pl.lit(None, pl.Float64) for name in ("mean_difference", "low", "high", "p_verdict")},
        ),
        utility=section["utility"].filter(pl.col("retriever") != "zeroshot").with_columns(
            mean_utility=pl.lit(None, pl.Float64), mean_p0=pl.lit(None, pl.Float64)
        ),
        correlation=section["correlation"].with_columns(value=pl.lit(None, pl.Float64)),
    )  # fmt: skip
    path = tmp_path / "index.html"
    path.write_text(render_page(replace(study, sections=(bare,))), encoding="utf-8")
    with opened(browser, path, 1400, folded=True) as tab:
        assert "zero-shot" not in tab.inner_text(".lead")
        assert tab.locator(".answer").count() == 2, "no question that needs them"
        assert "–" not in tab.inner_text("#s1-lead").split()
        assert "P − bm25’s" in tab.inner_text("#s1-lead thead")
        assert tab.inner_text(".answer .said >> nth=0").startswith(
            "Answers are better with dense"
        ) or "not know" in tab.inner_text(".answer .said >> nth=0")
        dense = tab.locator("#s1-lead tr:has(th span:text-matches('^dense'))").first.inner_text()
        row = section["systems"].filter(role="primary").row(0, named=True)
        assert f"{row['mean_difference']:+.2f}" in dense or f"{row['mean_difference']:+.3f}" in dense
        assert tab.locator('[data-chart="s1-utility"]').count() == 0
        drawn = tab.locator('[data-chart="s1-scatter"] svg.marks')
        assert "P" in drawn.locator(".role-axis-title").all_text_contents() and "r = " not in drawn.text_content()
        for name in ("gain", "correlation", "differences", "coupling"):
            assert tab.locator(f"#s1-{name}-table").count() == 0
        tab.evaluate("[...document.querySelectorAll('main dl')].forEach((terms) => terms.remove())")
        said = tab.locator("main").text_content()
        for word in ("zero-shot", "utility is", "No query has both", "compared with zero-shot", "without a utility"):
            assert word not in said.replace("zero-shot answers", ""), word
        empty = """(tables) => tables.flatMap((table) => [...table.querySelectorAll("thead button")].filter((_, at) =>
                   [...table.tBodies[0].rows].every((row) => ["", "–"].includes(row.cells[at].textContent)))
                   .map((head) => `${table.id}: ${head.textContent}`))"""
        assert tab.eval_on_selector_all("table.sortable:not(.first)", empty) == []
        assert tab.locator("#s1-table1-table").get_attribute("data-shows") == "p"


@needs_browser
def test_contents_are_above_and_tables_take_the_width(browser: Any, page_file: Path):
    with opened(browser, page_file, 1600) as tab:
        assert tab.locator("#s1-cells-table").locator("xpath=..").bounding_box()["width"] > 1250
        header, text = tab.locator("header").bounding_box(), tab.locator("main").bounding_box()
        assert header["y"] + header["height"] <= text["y"] and header["height"] < 60
        assert tab.locator("nav a").all_inner_texts() == ["Report", "Terms", "Left out", "Provenance"]
    with opened(browser, page_file, 400) as tab:
        assert tab.locator("header").bounding_box()["y"] < tab.locator("main").bounding_box()["y"]


@needs_browser
def test_tables_show_ten_rows_then_all_are_searched_and_saved(browser: Any, page_file: Path):
    with opened(browser, page_file, 1400) as tab:
        rows = tab.locator("#s1-gain-table > tbody > tr:visible")
        all_rows = tab.locator(".scroll:has(#s1-gain-table) + button.all")
        assert rows.count() == 10 and all_rows.inner_text() == "All 96 rows"
        all_rows.click()
        assert rows.count() == 96 and all_rows.inner_text() == "First 10 rows"
        all_rows.click()
        tools = tab.locator('[data-tools="s1-gain-table"]')
        tools.get_by_label("search").fill("NREL")
        assert tools.locator("[role=status]").inner_text() == "24 of 96 rows"
        assert rows.count() == 10 and all("nrel" in text for text in rows.all_inner_texts())
        tools.locator("select").nth(2).select_option("5")  # k
        with tab.expect_download() as saved:
            tools.get_by_role("button", name="CSV").click()
        frame = pl.read_csv(saved.value.path(), infer_schema=False)
        assert frame.columns[:4] == ["retriever", "ordering", "k", "references"] and frame.height == 8
        assert set(frame["retriever"]) == {"nrel"} and set(frame["k"]) == {"5"}
        cut = tab.eval_on_selector_all(
            ".scroll", "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
        )
        assert cut == []


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_the_page_breaks_no_rule_of_accessibility(browser: Any, page_file: Path, scheme: str, width: int):
    for folded in (True, False):
        with opened(browser, page_file, width, scheme, folded=folded) as tab:
            assert violations(tab) == []


@needs_browser
def test_the_header_links_to_the_pages_that_exist(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page_list, "PLACES", ("report/index.html", "others/*/index.html"))
    results = tmp_path / "results"
    study = read_study(**write_study(tmp_path / "study"))
    pages = {"report/index.html": page_module.render_page(study)}
    other = Page("a <b>", "Why?", [], {"main": "x & <y>"}, results="../..")
    pages["others/a-to-b/index.html"] = other.html(page_module.FOLDER / "preview.html.j2", parts=[])
    for name, text in pages.items():
        write_text(text, results / name)
    page_list.list_pages(results)
    (line,) = (results / "report/pages.js").read_text(encoding="utf-8").splitlines()
    listed = json.loads(line.removeprefix("ragrelayPages = ").removesuffix(";"))
    assert listed == [["Report", "report/index.html#main"], ["x & <y>", "others/a-to-b/index.html#main"]]
    with opened(browser, results / "report/index.html", listed=listed, folded=True) as tab:
        links = tab.locator('nav[aria-label="Pages"] a')
        assert links.all_inner_texts() == ["Report", "x & <y>"]
        assert links.first.get_attribute("href") == "#main" and links.first.get_attribute("aria-current") == "page"
        assert links.last.get_attribute("href") == (results / "others/a-to-b/index.html").as_uri() + "#main"
    with opened(browser, results / "others/a-to-b/index.html", listed=listed) as tab:
        links = tab.locator('nav[aria-label="Pages"] a')
        assert links.first.get_attribute("href") == (results / "report/index.html").as_uri() + "#main"
        assert links.last.get_attribute("aria-current") == "page"
