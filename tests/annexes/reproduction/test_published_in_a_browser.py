"""Published tables on the page of a study with labels, in a browser."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.annexes.labels.annex import Labels
from ragrelay.annexes.reproduction import annex
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.study import AnnexPart

from tests.annexes.labels.test_annotations_page import drawn
from tests.support.report_browser import needs_browser, opened, violations
from tests.support.report_study import write_study


@needs_browser
def test_labels_and_published_tables_in_a_browser(browser: Any, tmp_path: Path) -> None:
    """Both parts of a study's page, their folds open, break no rule of axe-core."""
    whole = read_study(**write_study(tmp_path / "study"))
    claimed = {"claims": "mine", "generator": "lm", "template": "plain", "n": 40, "value": 0.1, "low": 0.0, "high": 0.2,
               "published": 0.15, "difference": -0.05, "inside": True}  # fmt: skip
    published = Reproduction({"reproduced_claims": pl.DataFrame([claimed])})
    page = tmp_path / "index.html"
    labels = AnnexPart([drawn(1, tmp_path)], Labels().page_part, Labels.template, Labels.link)
    compared = AnnexPart(
        published, annex.Reproduction().page_part, annex.Reproduction.template, annex.Reproduction.link
    )
    shown = replace(whole, parts=[labels, compared])
    page.write_text(render_page(shown), encoding="utf-8")
    with opened(browser, page) as tab:
        assert tab.get_by_text("1 of 1 published value lies in our 95% intervals").count() == 1
        assert tab.locator("#annotations table").count() > 0
        assert violations(tab) == []
