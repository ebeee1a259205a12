"""The later rounds of a query in the query explorer: their data, and the block on the page."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.rounds.answers import COLUMNS as ANSWERS
from ragrelay.annexes.rounds.explored import explore_rounds, round_states
from ragrelay.annexes.rounds.queries import SCHEMA as QUERIES
from ragrelay.annexes.rounds.scores import SCHEMA as SCORES
from ragrelay.annexes.rounds.searches import SCHEMA as CONTEXTS
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.report.page import render_page
from ragrelay.report.query_explorer.write import explore_queries
from ragrelay.report.reading import read_study

from tests.support.explorer_study import GRID, IMAGE, SCRIPT, write_sources
from tests.support.report_browser import needs_browser, opened, violations
from tests.support.report_study import write_study

pytestmark = pytest.mark.page
WITHOUT = "37debc9541388e20cb8579b5cee221121511d265df7b5ad6905bcd606dd4ec95"
"""SHA-256 over the explorer files, sorted by name, as they were without blocks."""
TEXTS = {"d2": IMAGE, "d8": SCRIPT, "d9": "valves"}
"""d2 is in the contexts of round 1, with the same text."""


def states(docnos: list[str], answers: list[str | None], p: float) -> pl.DataFrame:
    """Query 1 with two seeds that search for the same, and query 2 with one; an answer may be missing."""
    keys = [("1", 1), ("1", 2), ("2", 1)]
    queries = [(*key, "pump more", ["d4"]) for key in keys]
    lists = [(*key, docnos, 3, 3 - len(docnos), 0, None if key[0] == "2" else 0.25) for key in keys]
    told = [
        (*key, answer, None if answer is None else "stop", 9, None if answer is None else 4, "id", [])
        for key, answer in zip(keys, answers, strict=True)
    ]
    scores = [("lenient", *key, p) for key, answer in zip(keys, answers, strict=True) if answer is not None]
    schemas = (QUERIES, CONTEXTS, schema_of(ANSWERS), SCORES)
    tables = zip((queries, lists, told, scores), schemas, strict=True)
    return round_states(*(pl.DataFrame(rows, schema=schema, orient="row") for rows, schema in tables))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The explorer's data without rounds in `plain`, and with rounds in `demo`."""
    path = tmp_path_factory.mktemp("explored")
    rounds = {
        (2, "bm25"): states(["d9"], [SCRIPT, None, "x"], 0.5),
        (2, "rel"): states(["d8", "d2"], ["it beats"] * 3, 0.75),
        (3, "bm25"): states([], ["x"] * 3, 0.125),
    }
    qrels = pl.DataFrame({"qid": ["1", "1"], "docno": ["d8", "d2"], "label": [1, 2]})
    blocks = explore_rounds(rounds, qrels, TEXTS, "bm25", {"ordering": "descending", "k": 3, "measure": "nDCG"})
    blocks.write_parquet(path / "blocks.parquet")
    files = write_sources(path / "files")
    explore_queries(files, path / "plain")
    explore_queries(replace(files, blocks=[path / "blocks.parquet"]), path / "demo")
    return path


def value_of(folder: Path, qid: str) -> dict[str, Any]:
    text = (folder / f"{hashlib.sha256(qid.encode()).hexdigest()}.js").read_text(encoding="utf-8")
    assert "<" not in text
    value: dict[str, Any] = json.loads(text.removeprefix("ragrelay.query(").removesuffix(");\n"))
    return value


def test_a_study_without_rounds_has_the_same_explorer_files(folder: Path) -> None:
    content = b"".join(path.read_bytes() for path in sorted((folder / "plain").iterdir()))
    assert hashlib.sha256(content).hexdigest() == WITHOUT
    name = f"{hashlib.sha256(b'a/b').hexdigest()}.js"  # a query without a row in the rounds
    assert (folder / "demo" / name).read_bytes() == (folder / "plain" / name).read_bytes()


def test_a_round_has_its_query_and_each_list_with_its_answers(folder: Path) -> None:
    value, plain = value_of(folder / "demo", "1"), value_of(folder / "plain", "1")
    (block,) = value["blocks"]
    assert block["title"] == "Later rounds of the search (descending, k = 3)"
    assert [(row["title"], row["text"], [one["retriever"] for one in row["lists"]]) for row in block["rows"]] == [
        ("Round 2 searches for (seeds 1, 2)", "pump more", ["bm25", "rel"]),
        ("Round 3 searches for (seeds 1, 2)", "pump more", ["bm25"]),
    ]
    own, other = block["rows"][0]["lists"]
    assert own["note"] == "reference · nDCG 0.250 · 2 of 3 passages repeated"
    assert [value["passages"][at] for at in own["context"]] == [["d9", None, "valves"]]
    assert [value["passages"][at] for at in other["context"]] == [["d8", 1, SCRIPT], ["d2", 2, IMAGE]]
    assert [(seed, value["answers"][at], *more) for seed, at, *more in own["answers"]] == [
        (1, SCRIPT, "stop", 4, 0), (2, None, "the window", 0, 0),
    ]  # fmt: skip
    assert own["scores"] == {"lenient": [[0.5, None], None]} and other["scores"] == {"lenient": [[0.75, None]] * 2}
    for name in ("passages", "answers"):  # they only add to those of the cells
        assert value[name][: len(plain[name])] == plain[name]
    assert value["cells"] == plain["cells"]
    (of_second,) = value_of(folder / "demo", "2")["blocks"]
    assert of_second["rows"][0]["lists"][1]["note"] == "1 of 3 passages repeated"


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_the_block_is_below_the_contexts_and_its_texts_stay_text(browser: Any, folder: Path, width: int) -> None:
    study = replace(read_study(**write_study(folder / f"study{width}", grid=GRID, n=8)), explorer=[folder / "demo"])
    page = folder / f"page{width}.html"
    page.write_text(render_page(study, path=page), encoding="utf-8")
    with opened(browser, page, width) as tab:
        tab.wait_for_selector("#explored[data-qid='1']")
        assert tab.locator("#explored > *").last.get_attribute("class") == "block"
        lists = tab.locator(".block article")
        assert lists.locator("h5").all_inner_texts() == ["bm25", "rel", "bm25"]
        assert lists.first.locator(".badge").all_inner_texts() == ["unjudged"]
        assert lists.first.locator("blockquote").inner_text() == SCRIPT
        said = [" ".join(one.split()) for one in lists.first.locator(".answers .head").all_inner_texts()]
        assert said == ["seed 1 · P 0.500 · 4 tokens", "seed 2 · P – · 0 tokens · ended by the window"]
        assert "No reference" not in lists.first.inner_text() and lists.last.locator("ol").count() == 0
        assert tab.locator(".block").locator("img, script").count() == 0 and tab.evaluate("window.hacked") is None
        assert violations(tab) == []
