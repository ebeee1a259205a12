"""The section of context use: on a page of its own, in the study's page, and its figures as files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.acu.annex import Acu
from ragrelay.annexes.acu.outputs import OUTPUTS
from ragrelay.annexes.acu.page import report_acu
from ragrelay.annexes.acu.page_tables import acu_correlation_table
from ragrelay.annexes.acu.sentences import claim_sentences
from ragrelay.annexes.acu.study import judged_counts
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.study import AnnexPart

from tests.annexes.acu.claims_study import study_of
from tests.support.report_browser import needs_browser, opened, violations
from tests.support.report_study import write_study

pytestmark = pytest.mark.page

FIGURES = [output for output in OUTPUTS if output.kind == "figure"]


@needs_browser
def test_page_in_a_browser(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "acu.html"
    report_acu("mine <script>", study_of(tmp_path), page)
    with opened(browser, page) as tab:
        assert violations(tab) == []
        assert tab.locator("#acu figure svg.marks").count() == len(FIGURES)
        assert "mine <script>" in tab.inner_text("header")
        assert tab.locator("#acu-acu_stances-table tbody tr").count() == 9
        drawn = tab.locator("#acu-acu_correlations-figure svg.marks").bounding_box()
        room = tab.locator("#acu-acu_correlations-figure").bounding_box()
        assert drawn["x"] + drawn["width"] <= room["x"] + room["width"] + 1, "wide labels leave the figure its place"


def test_it_is_a_section_of_the_study_where_there_is_one(tmp_path: Path) -> None:
    study = read_study(**write_study(tmp_path))
    assert 'id="acu"' not in render_page(study)
    page = render_page(replace(study, parts=[AnnexPart(study_of(tmp_path), Acu().page_part, Acu.template, Acu.link)]))
    assert 'id="acu"' in page and '<a href="#acu">Claims</a>' in page and 'data-chart="acu-acu_usage"' in page


def test_sentences(tmp_path: Path) -> None:
    made = study_of(tmp_path)
    found = claim_sentences(made, made.units[0])
    whole = " ".join(found.sentences)
    assert "42 claim–evidence pairs (14 claims)" in whole and "memory_conflict (ρ" in whole
    limits = " ".join(found.limits)
    assert (
        "For None, the first token is only the beginning" in limits
        and "without values for these claims: is_gold" in limits
    )
    assert "does not answer" not in whole, "the three words have 90% here"


def test_a_judge_of_evidence_that_says_something_else(tmp_path: Path) -> None:
    """Its words have little of the probability: the limits say so, of these claims alone."""
    texts, study = [], study_of(tmp_path)
    for masses in ([0.9] * 18 + [0.1] * 2, [0.9] * 15 + [0.1] * 5, [0.1] * 20):
        path = tmp_path / "judged_evidence.parquet"
        pl.DataFrame({"id": [f"{n}" for n in range(20)], "mass": masses}).write_parquet(path)
        shown = replace(study, judged={"mine": judged_counts(path)})
        said = claim_sentences(shown, shown.units[0]).limits
        texts.append([text for text in said if "external source" in text])
    assert texts[0] == []
    assert "For 5 of 20 texts, it gave Yes and No together less than half" in texts[1][0] and "0.70)" in texts[1][0]
    assert "For 20 of 20 texts" in texts[2][0] and "0.10)" in texts[2][0]
    other = replace(study, judged={"others": judged_counts(path)})
    assert not any("external source" in text for text in claim_sentences(other, other.units[0]).limits)


def test_nothing_is_found_where_the_model_does_not_answer_with_the_words(tmp_path: Path) -> None:
    made = study_of(tmp_path)
    silent = made.usage.with_columns(mean_mass_evidence=pl.lit(0.000012))
    (said,) = claim_sentences(replace(made, usage=silent), made.units[0]).sentences
    assert "the three words together have only 0.0012% of" in said


def test_both_coefficients_are_in_one_row(tmp_path: Path) -> None:
    made = study_of(tmp_path)
    table = acu_correlation_table(made)
    titles = [column.title for column in table.columns]
    assert len(table.rows) * 2 == made.correlations.height and all(len(row) == len(titles) for row in table.rows)
    row = next(row for row in table.rows if row[3:5] == ["all stances", "evidence_length"])
    assert row[titles.index("Spearman’s ρ")] != row[titles.index("Pearson’s r")]


def test_figures_as_files(tmp_path: Path) -> None:
    draw_figures(study_of(tmp_path), FIGURES, tmp_path / "figures")
    paths = sorted((tmp_path / "figures").iterdir())
    assert len(paths) == len(FIGURES) * 3 and all(path.stat().st_size > 5_000 for path in paths)
    svg = (tmp_path / "figures/acu_correlations.svg").read_text(encoding="utf-8")
    assert "evidence_length" in svg and "claim_length" not in svg, "what was never correlated has no row"
