"""Hostile words in names, ids and remarks stay words: in the page, in its scripts and in the drawings."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from ragrelay.report.display.chart_files import draw
from ragrelay.report.figures_by_k import utility_by_k
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.scatter import utility_by_measure

from tests.support.report_browser import needs_browser, opened
from tests.support.report_study import GRID, write_study

pytestmark = pytest.mark.page

# Without control characters and line separators, which names can't hold: vl-convert aborts on them.
MARKUP = '</script><script>made()</script><img src=x onerror="made()">\'&'


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[(tag, *sorted(name for name, _ in attrs))] += 1


def page(folder: Path, word: str) -> str:
    """A page whose every name, qid, remark and count's text is or holds ``word``."""
    files = write_study(folder, (f"d{word}",), GRID | {"retrievers": [f"r{word}", "rel"], "measures": ["nDCG"]}, n=12)
    [section] = files["sections"]
    for path in (section["files"]["per_query"], *section["retrieval"].values()):
        pl.read_parquet(path).with_columns(qid=pl.col("qid") + word).write_parquet(path)
    path = section["files"]["correlation"]
    pl.read_csv(path).with_columns(reason=pl.lit(word)).write_csv(path)
    section |= {"generator": f"g{word}", "scorer": f"s{word}"}
    for name in ("left_out", "provenance"):
        text = files[name].read_text().replace("demo-lm", json.dumps(word)[1:-1]).replace("D17", json.dumps(word)[1:-1])
        files[name].write_text(text)
    study = read_study(**files | {"name": word})
    for name, drawn in (("utility", utility_by_k), ("scatter", utility_by_measure)):
        draw(drawn(study.sections[0], "paper"), folder / f"{name}.svg")
    return render_page(study)


@needs_browser
def test_nothing_in_a_name_runs(browser: Any, tmp_path: Path) -> None:
    """Also in the name of a model, which is a path or a repository: `opened` sees any message and any request."""
    (tmp_path / "index.html").write_text(page(tmp_path / "study", MARKUP), encoding="utf-8")
    with opened(browser, tmp_path / "index.html") as tab:
        generators = tab.locator("table", has_text="1f2e3d4c5b6a7988")
        assert generators.locator("td", has_text=MARKUP).count() >= 1
        assert tab.locator("img").count() == 0


def test_words_of_data_add_no_markup(tmp_path: Path) -> None:
    """The page and the drawings of hostile names have the elements of harmless ones."""
    harmless, hostile = (page(tmp_path / name, word) for name, word in (("a", "word"), ("b", MARKUP)))
    assert Elements(hostile).found == Elements(harmless).found
    for name in ("utility", "scatter"):
        tags = [Counter(e.tag for e in ElementTree.parse(tmp_path / one / f"{name}.svg").iter()) for one in "ab"]
        assert tags[0].keys() == tags[1].keys() and not [tag for tag in tags[1] if "script" in tag]
    charts = re.search(r'<script type="application/json" id="charts">(.*?)</script>', hostile, re.DOTALL)
    assert charts is not None and f"r{MARKUP}" in json.dumps(json.loads(charts[1]), ensure_ascii=False).replace(
        '\\"', '"'
    )
