"""The query explorer's data, and the explorer itself in a real browser: by click, by keyboard, with hostile texts."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lxml import html
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report import explorer as explorer_module
from ragrelay.report.display.script_json import script_json
from ragrelay.report.page import render_page
from ragrelay.report.query_explorer import write as write_module
from ragrelay.report.query_explorer.queries import sample_queries
from ragrelay.report.query_explorer.reading import ExplorerFiles
from ragrelay.report.query_explorer.write import explore_queries
from ragrelay.report.reading import read_study

from tests.support.explorer_study import ANSWERS, GRID, IMAGE, QUERIES, SCRIPT, TEXTS, THOUGHTS, context, write_sources
from tests.support.report_browser import becomes, needs_browser, opened, violations
from tests.support.report_study import changed, write_study

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer")
    explore_queries(write_sources(path / "files"), path / "explorer" / "demo")
    return path


def value_of(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("ragrelay.query(") and text.endswith(");\n")
    return json.loads(text.removeprefix("ragrelay.query(").removesuffix(");\n"))


def test_a_query_is_written_whole(folder: Path):
    listed = json.loads((folder / "explorer/demo/queries.json").read_text())
    assert listed["total"] == 3
    assert [(query["qid"], query["query"]) for query in listed["queries"]] == list(QUERIES.items())
    value = value_of(folder / "explorer/demo" / listed["queries"][2]["file"])
    assert value["qid"] == "a/b"
    assert {docno: (label, text) for docno, label, text in value["passages"]} == {
        "d4": (None, TEXTS["d4"]), "d2": (2, TEXTS["d2"]), "d3": (0, TEXTS["d3"]), "d1": (3, TEXTS["d1"]),
    }  # fmt: skip
    cells = {(cell["retriever"], cell["ordering"], cell["k"]): cell for cell in value["cells"]}
    assert len(cells) == 2 * 2 * 2 + 1
    cell = cells["rel", "ascending", 2]
    assert [value["passages"][place][0] for place in cell["context"]] == context("ascending", 2)
    assert [(seed, value["answers"][place]) for seed, place, *_ in cell["answers"]] == list(ANSWERS.items())
    scores = [[f1, value["passages"][place][0]] for f1, place in cell["scores"]["lenient"]]
    assert scores == [[0.6, "d2"], [0.7, "d2"]]
    assert cell["means"] == {"lenient": [0.65, 0.5, -1.0]}
    assert cell["measures"] == {"nDCG": 0.5}
    assert cells["zeroshot", "none", 0]["context"] == []


def test_thoughts_are_written_once_and_only_where_there_are_any(folder: Path, tmp_path: Path) -> None:
    """A file without them is written as before; an answer without a thought has what it had."""
    whole = {path.name: value_of(path) for path in (folder / "explorer/demo").glob("*.js")}
    explore_queries(write_sources(tmp_path / "files", ("bm25", "zeroshot")), tmp_path / "out")
    for path in (tmp_path / "out").glob("*.js"):
        value, before = value_of(path), whole[path.name]
        assert value["thoughts"] == [text for text, *_ in THOUGHTS.values()] and "thoughts" not in before
        for cell, of_before in zip(value["cells"], before["cells"], strict=True):
            thoughts = [answer[5:] for answer in cell["answers"]]
            assert thoughts == ([[0, 4, "mark"], [1, None, "budget"]] if cell["retriever"] == "bm25" else [[], []])
            assert {**cell, "answers": [answer[:5] for answer in cell["answers"]]} == of_before


def test_the_explorer_shows_each_generators_prompt_template(folder: Path, tmp_path: Path) -> None:
    study = read_study(**write_study(tmp_path / "study", n=8))
    study = replace(study, explorer=[folder / "explorer/demo"] * len(study.sections))
    assert "Prompt template" not in render_page(study)
    prompts = {"lm": {"kshot": f"{{contexts}} Answer {SCRIPT}:"}, "other": {"zeroshot": "Answer:"}}
    tree = html.fromstring(render_page(replace(study, prompts=prompts)))
    shown = {
        fold.findtext("summary"): [pre.text for pre in fold.iter("pre")]
        for fold in tree.xpath("//details[@id='explorer']//details[dl]")
    }
    assert shown == {
        "Prompt template for lm": [f"{{contexts}} Answer {SCRIPT}:"], "Prompt template for other": ["Answer:"],
    }  # fmt: skip


@needs_browser
def test_a_thought_is_folded_above_its_answer(browser: Any, folder: Path, tmp_path: Path) -> None:
    """With its tokens and its end, of the seeds that have it; as text, whatever it contains."""
    explore_queries(write_sources(tmp_path / "files", ("bm25",)), tmp_path / "explorer" / "demo")
    write_page(tmp_path, tmp_path / "page.html")
    with opened(browser, tmp_path / "page.html") as tab:
        items = tab.locator('article[data-retriever="bm25"] .answers > li')
        assert items.count() == 2 and items.locator("details.thought[open]").count() == 0
        said = [items.nth(at).locator("details.thought summary").inner_text() for at in range(2)]
        assert said == ["thought · 4 tokens", "thought · unknown tokens · cut at the budget"]
        kinds = items.nth(0).evaluate("item => [...item.children].map((one) => one.className || one.tagName)")
        assert kinds.index("thought") < kinds.index("BLOCKQUOTE")
        items.nth(1).locator("details.thought summary").click()
        assert items.nth(1).locator("details.thought p").inner_text() == IMAGE
        assert tab.evaluate("window.hacked") is None
        others = tab.locator('article:not([data-retriever="bm25"]) details.thought')
        assert others.count() == 0 and tab.locator("article").count() == 3


def write_effects(folder: Path) -> ExplorerFiles:
    """The study's files with the effects of two passages of one cell, and of one that no context shows."""
    files = write_sources(folder)
    cell = {"retriever": "bm25", "ordering": "descending", "k": 2, "references": "lenient", "qid": "1"}
    effects = {"d4": -0.05, "d2": 0.25}
    rows = [{**cell, "docno": docno, "what": "P with less P without", "effect": by} for docno, by in effects.items()]
    pl.DataFrame([*rows, {**rows[0], "k": 9}]).with_columns(place=1).write_csv(folder / "effects.csv")
    return replace(files, effects=[folder / "effects.csv"])


def test_effects_of_passages_are_those_of_their_cell(folder: Path, tmp_path: Path) -> None:
    whole = {path.name: value_of(path) for path in (folder / "explorer/demo").glob("*.js")}
    explore_queries(write_effects(tmp_path / "files"), tmp_path / "out")
    told = 0
    for path in (tmp_path / "out").glob("*.js"):
        value = value_of(path)
        for cell in value["cells"]:
            effects = cell.pop("effects", {}).get("lenient", [])
            told += len(effects)
            if effects:
                assert (value["qid"], cell["retriever"], cell["ordering"], cell["k"]) == ("1", "bm25", "descending", 2)
                of = [(value["passages"][at][0], what, by) for at, what, by in effects]
                assert of == [("d4", "P with less P without", -0.05), ("d2", "P with less P without", 0.25)]
        assert value == whole[path.name]
    assert told == 2


@needs_browser
def test_an_effect_is_beside_its_passage(browser: Any, tmp_path: Path) -> None:
    explore_queries(write_effects(tmp_path / "files"), tmp_path / "explorer" / "demo")
    write_page(tmp_path, tmp_path / "page.html")
    with opened(browser, tmp_path / "page.html") as tab:
        tab.locator("#explorer-choice select[name=k]").select_option("2")
        own = tab.locator('article[data-retriever="bm25"] .context .head')
        assert [head.split()[1:] for head in own.all_inner_texts()] == [
            ["d4", "P", "with", "less", "P", "without:", "−0.050"],
            ["2", "d2", "best", "reference,", "seed", "1,", "2", "P", "with", "less", "P", "without:", "+0.250"],
        ]
        assert "without" not in tab.locator('article[data-retriever="rel"] .context').inner_text()


def test_no_text_can_end_a_script(folder: Path):
    for path in (folder / "explorer/demo").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert "<" not in text and "\u2028" not in text


def test_files_are_named_by_the_whole_hash_of_the_qid(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qids can be chosen so that 48 bits of their hashes are equal: 16 million tries are enough."""
    listed = json.loads((folder / "explorer/demo/queries.json").read_text())["queries"]
    assert [query["file"] for query in listed] == [f"{hashlib.sha256(qid.encode()).hexdigest()}.js" for qid in QUERIES]
    real = write_module.text_hash
    monkeypatch.setattr(write_module, "text_hash", lambda text: "0" * 12 + real(text)[12:])
    explore_queries(write_sources(tmp_path / "files"), tmp_path / "out")
    listed = json.loads((tmp_path / "out/queries.json").read_text())["queries"]
    assert [value_of(tmp_path / "out" / query["file"])["qid"] for query in listed] == list(QUERIES)


def test_large_sets_are_sampled_evenly(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert sample_queries([str(qid) for qid in range(10)], 4) == ["0", "3", "6", "9"]
    assert sample_queries(["a", "b"], 2) == ["a", "b"]
    monkeypatch.setattr(write_module, "MOST_QUERIES", 2)
    explore_queries(write_sources(tmp_path / "files"), tmp_path / "out")
    listed = json.loads((tmp_path / "out/queries.json").read_text())
    assert (listed["total"], len(listed["queries"])) == (3, 2)
    assert len(list((tmp_path / "out").glob("*.js"))) == 2


def write_page(folder: Path, page: Path) -> str:
    files = write_study(folder / "study", grid=GRID, n=8)
    study = replace(read_study(**files), explorer=[folder / "explorer" / "demo"])
    page.write_text(render_page(study, path=page), encoding="utf-8")
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page_inside(folder: Path) -> Path:
    text = write_page(folder, folder / "inside.html")
    assert "explorer/demo" not in text
    return folder / "inside.html"


@pytest.fixture(scope="module")
def page_of_gains(folder: Path) -> Path:
    """A page whose section has the explorer's queries, with these P and a P_0 of 0.4."""
    study = read_study(**write_study(folder / "gains", grid=GRID, n=8))
    section = study.sections[0]
    values = {("bm25", "1"): 0.5, ("bm25", "2"): 0.7, ("bm25", "a/b"): 0.5, ("rel", "1"): 0.6}
    names = dict(zip(section["per_query"]["qid"].unique(maintain_order=True), QUERIES, strict=False))
    rows = section["per_query"].filter(pl.col("qid").is_in(list(names))).with_columns(pl.col("qid").replace(names))
    p = [values.get(pair, 0.5) for pair in rows.select("retriever", "qid").iter_rows()]
    section = changed(section, per_query=rows.with_columns(p=pl.Series(p), p0=pl.lit(0.4)))
    primary = Primary("bm25", "rel", "descending", 2, "lenient", "nDCG", "minilm")
    study = replace(study, sections=(replace(section, primary=primary),), explorer=[folder / "explorer/demo"])
    page = folder / "report" / "gains.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text(render_page(study, path=page), encoding="utf-8")
    return page


@needs_browser
def test_explorer_by_click(browser: Any, page_inside: Path):
    with opened(browser, page_inside) as tab:
        place = tab.locator("#explored[data-qid='1']")
        assert place.locator("article").count() == 3  # two retrievers and zero-shot
        of_rel = place.locator("article[data-retriever=rel]")
        assert (
            of_rel.locator(".figures").inner_text()
            == "nDCG@2 0.500 · P 0.650 · P₀ 0.500 · U −1.000 · context use 0.250 · text change 0.500"
        )
        assert of_rel.locator(".context .badge").all_inner_texts() == ["unjudged", "label 2"]
        tab.locator(".map button[aria-label='rel, ascending, k = 2: U −1.000']").click()
        assert of_rel.locator(".context code").all_inner_texts() == context("ascending", 2)
        assert tab.evaluate("document.activeElement.dataset.retriever") == "rel"
        assert "best reference, seed 1, 2" in of_rel.locator(".context li").first.inner_text()
        assert "cut at max_tokens" in of_rel.locator(".answers li").last.inner_text()
        assert "in the context, position 1" in of_rel.locator(".answers summary").first.inner_text()
        tab.locator("#explorer-choice button[name=next]").click()
        tab.wait_for_selector("#explored[data-qid='2']")
        assert tab.locator("#explored h3").inner_text() == f"2 {SCRIPT}"


@needs_browser
def test_the_choice_is_in_the_address_and_is_taken_from_it(browser: Any, page_inside: Path):
    with opened(browser, page_inside) as tab:
        tab.wait_for_selector("#explored[data-qid='1']")
        assert tab.evaluate("location.hash") == ""
        tab.locator("#explorer-choice select[name=ordering]").select_option("ascending")
        sent = tab.evaluate("location.hash")
        assert "query=1" in sent and "ordering=ascending" in sent
        tab.evaluate("(sent) => { location.hash = sent; }", sent.replace("query=1", "query=a%2Fb"))
        tab.wait_for_selector("#explored[data-qid='a/b']")
        assert tab.locator("#explorer-choice select[name=ordering]").input_value() == "ascending"


@needs_browser
def test_explorer_by_keyboard(browser: Any, page_inside: Path):
    with opened(browser, page_inside) as tab:
        tab.locator("#explorer-choice select[name=query]").focus()
        tab.keyboard.press("ArrowDown")
        tab.wait_for_selector("#explored[data-qid='2']")
        tab.keyboard.press("Tab")  # previous
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#explored[data-qid='1']")
        assert tab.locator("#explorer-status").inner_text() == "Query 1: lenient references, k = 2, descending order."
        tab.locator(".map button").first.focus()
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"  # focus is seen
        tab.keyboard.press("Space")
        assert tab.locator("#explorer-status").inner_text() == "Query 1: lenient references, k = 1, descending order."


@pytest.fixture(scope="module")
def page_beside(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorer_module, "MOST_BYTES", 100)
        text = write_page(folder, folder / "beside.html")
    assert "the page needs no other file" in text and "tea grows" not in text
    return folder / "beside.html"


@needs_browser
@pytest.mark.parametrize("where", ["inside", "beside"])
def test_hostile_answers_and_passages_stay_text(browser: Any, folder: Path, request: Any, where: str):
    page = request.getfixturevalue(f"page_{where}")
    with opened(browser, page, beside=("explorer/demo/",) if where == "beside" else ()) as tab:
        tab.wait_for_selector("#explored[data-qid='1']")
        shown = tab.locator("#explored").inner_text()
        assert SCRIPT in shown and "<img src=x" in shown
        assert tab.locator("#explored img, #explored script").count() == 0
        assert tab.evaluate("window.hacked") is None
        assert IMAGE.split("<!--")[0].strip() in tab.locator("article[data-retriever=bm25] .context").inner_text()
        tab.locator("#explorer-choice select[name=query]").select_option("1")
        tab.wait_for_selector("#explored[data-qid='2']")
        assert tab.locator("#explored h3").inner_text() == f"2 {SCRIPT}"
        assert tab.evaluate("window.hacked") is None


@needs_browser
def test_large_data_is_read_from_files_beside_the_page(browser: Any, page_beside: Path):
    with opened(browser, page_beside, beside=("explorer/demo/",)) as tab:
        tab.wait_for_selector("#explored[data-qid='1']")
        tab.locator("#explorer-choice select[name=query]").select_option("2")
        tab.wait_for_selector("#explored[data-qid='a/b']")
        assert tab.locator("#explored article").count() == 3


@needs_browser
def test_a_point_of_a_chart_opens_its_query(browser: Any, folder: Path):
    files = write_study(folder / "points", grid=GRID, n=8)
    known = list(QUERIES)[1]
    names = {str(1000 + place): known for place in range(8)}
    study = read_study(**files)
    section = study.sections[0]
    section = changed(
        section,
        per_query=section["per_query"]
        .with_columns(section["per_query"]["qid"].replace(names))
        .unique(["retriever", "ordering", "k", "references", "qid"], keep="first", maintain_order=True),
        retrieval=section["retrieval"]
        .with_columns(section["retrieval"]["qid"].replace(names))
        .unique(["retriever", "k", "qid"], keep="first", maintain_order=True),
    )
    page = folder / "points.html"
    page.write_text(
        render_page(replace(study, sections=(section,), explorer=[folder / "explorer/demo"]), path=page),
        encoding="utf-8",
    )
    with opened(browser, page) as tab:
        tab.locator('[data-chart="s1-distribution"] svg .mark-symbol.role-mark path').first.click()
        tab.wait_for_selector(f"#explored[data-qid='{known}']")


@needs_browser
def test_a_point_of_the_first_figure_opens_the_answers_of_its_cell(browser: Any, page_inside: Path):
    with opened(browser, page_inside, 1400, folded=True) as tab:
        assert not tab.locator("#explored").is_visible()
        point = tab.locator("svg.wide a[aria-label^='rel, k = 1:']")
        href = point.get_attribute("href")
        assert href == "#part=1&retriever=rel&k=1&ordering=descending&references=lenient"
        # A first tap shows the numbers; the second one follows.
        tap = """(link) => { const of = (type, kind, more) => link.dispatchEvent(new kind(type, {bubbles: true,
                 cancelable: true, pointerType: "touch", detail: 1, ...more}));
                 of("pointerdown", PointerEvent); of("pointerover", PointerEvent); of("click", MouseEvent); }"""
        point.evaluate(tap)
        assert tab.inner_text(".tip").startswith("rel, k = 1: P ")
        assert tab.evaluate("location.hash") == ""
        point.evaluate(tap)
        becomes(tab, "location.hash !== ''")
        tab.wait_for_selector("#explored[data-qid='1']")
        assert tab.input_value("#explorer-choice select[name=k]") == "1"
        becomes(tab, "document.activeElement.dataset.retriever === 'rel'")
    with opened(browser, page_inside, 1400, folded=True) as tab:
        tab.locator("svg.wide a[aria-label^='rel, k = 2:']").focus()
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#explored[data-qid='1']")
        assert tab.input_value("#explorer-choice select[name=k]") == "2"
        assert [link.inner_text() for link in tab.locator("nav a").all()][:2] == ["Report", "Queries"]


def shown_queries(tab: Any) -> list[str]:
    """The qids that are listed, in order."""
    listed = tab.locator("#explorer-choice select[name=query] option").all_inner_texts()
    return [next(word for word in text.split() if word in QUERIES) for text in listed]


@needs_browser
def test_queries_are_sorted_filtered_searched_and_every_state_is_a_link(browser: Any, page_of_gains: Path):
    with opened(browser, page_of_gains) as tab:
        tab.wait_for_selector("#explored[data-qid='2']")
        assert violations(tab) == []
        assert tab.input_value("select[name=retriever]") == "bm25" and tab.input_value("select[name=against]") == "rel"
        assert shown_queries(tab) == ["2", "a/b", "1"]  # bm25's P less rel's: .2, 0, -.1
        options = tab.locator("#explorer-choice select[name=query] option").all_inner_texts()
        assert [text.split()[0] for text in options] == ["+0.200", "0.000", "−0.100"]
        tab.select_option("select[name=sort]", "loss")
        assert shown_queries(tab) == ["1", "a/b", "2"]
        for side, qid in (("better", "2"), ("worse", "1"), ("same", "a/b")):
            tab.select_option("select[name=show]", side)
            assert shown_queries(tab) == [qid]
            tab.wait_for_selector(f"#explored[data-qid='{qid}']")
        tab.select_option("select[name=against]", "zeroshot")  # P is .5, P_0 .4 everywhere else
        tab.select_option("select[name=show]", "better")
        assert shown_queries(tab) == ["1", "a/b", "2"] and "+0.300" in options_text(tab)
        tab.fill("input[name=search]", "HEART")
        assert shown_queries(tab) == ["1"]
        tab.check("input[name=inside]")  # every query has an answer on the heart
        becomes(tab, "document.querySelector('[name=query]').options.length === 3")
        tab.select_option("select[name=query]", "1")
        tab.wait_for_selector("#explored[data-qid='2']")
        tab.locator("summary", has_text="Differences between the answers").click()
        assert "Identical answers." in tab.locator(".difference").inner_text()
        sent = tab.evaluate("location.hash")
        tab.fill("input[name=search]", "no such words")
        assert shown_queries(tab) == []
        assert tab.locator("#explorer-status").inner_text() in ("0 of 3 queries.", "No query matches.")
    for part in ("search=HEART", "show=better", "against=zeroshot", "inside=1", "query=2", "sort=loss"):
        assert part in sent
    again = browser.new_page()
    again.goto(page_of_gains.as_uri() + sent)
    again.wait_for_selector("#explored[data-qid='2']")
    becomes(again, "document.querySelector('[name=query]').options.length === 3")
    assert again.input_value("input[name=search]") == "HEART" and again.input_value("select[name=show]") == "better"
    again.close()


@needs_browser
def test_the_difference_of_two_answers_marks_the_words_of_one_alone(browser: Any, folder: Path, page_of_gains: Path):
    text = page_of_gains.read_text(encoding="utf-8")
    value = json.loads(text.split('id="q1-0">')[1].split("</script>")[0])
    for cell in value["cells"]:
        if cell["retriever"] == "rel":
            cell["answers"] = [[seed, len(value["answers"]), *more] for seed, _, *more in cell["answers"]]
    value["answers"].append("the strong heart is no pump")
    other = folder / "report" / "differing.html"
    before, _, after = text.partition('id="q1-0">')
    other.write_text(
        f'{before}id="q1-0">{script_json(value)}</script>{after.partition("</script>")[2]}', encoding="utf-8"
    )
    with opened(browser, other) as tab:
        tab.select_option("select[name=query]", "0")
        tab.wait_for_selector("#explored[data-qid='1']")
        tab.locator("summary", has_text="Differences between the answers").click()
        first = tab.locator(".difference li").first
        assert first.locator("del").all_inner_texts() == [" strong", " no"]
        assert first.locator("ins").all_inner_texts() == [" a"]
        assert first.locator("blockquote").inner_text().replace(" ", "") == "thestrongheartisnoapump"


def options_text(tab: Any) -> str:
    return " ".join(tab.locator("#explorer-choice select[name=query] option").all_inner_texts())
