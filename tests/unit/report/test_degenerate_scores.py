"""Scores that do not vary, few queries and missing answers run through to the page, and it claims nothing of them.

Every kind of scorer, with every pattern of scores: tables without a number that is none, sentences without a verdict
that the scores do not support, and no warning of numpy or scipy.
"""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from ragrelay.generation.answer_files import MISSING
from ragrelay.report import lead_table, lead_warnings, part_headings
from ragrelay.report.display.outputs import Figure, Table, available
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import facts_of
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.lead_answers import answers
from ragrelay.report.lead_figure import lead_figure
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.page import render_page
from ragrelay.report.study import ReportedStudy
from ragrelay.report.table_files import write_tables
from ragrelay.scoring.scorer import SCORER_KINDS

from tests.support.approved import approve
from tests.support.degenerate_study import PATTERNS, Shape, degenerate, shape
from tests.support.measured_study import section_of
from tests.unit.report.test_every_sentence import APPROVED, page_says

pytestmark = [pytest.mark.page, pytest.mark.filterwarnings("error")]

SHAPES: dict[Shape, str] = {shape(kind): kind for kind in reversed(SCORER_KINDS.names())}
"""A kind of scorer for each shape that kinds have."""
SIZES = (1, 2, 3, 5, 16)
# Every kind with every pattern, and every pattern with every number of queries.
CASES = [
    pytest.param(of, pattern, SIZES[(row + column) % len(SIZES)], id=f"{kind}-{pattern}-{SIZES[(row + column) % 5]}")
    for row, (of, kind) in enumerate(SHAPES.items())
    for column, pattern in enumerate(PATTERNS)
]


def checked_tables(section: Section) -> None:
    """Numbers are finite, and an interval has two ends, a width, and more than one query."""
    for name, table in section.tables.items():
        for column in (column for column in table.columns if table[column].dtype.is_float()):
            assert table[column].drop_nulls().is_finite().all(), (name, column)
        for low in (column for column in table.columns if column.endswith("low")):
            high = low.removesuffix("low") + "high"
            if high in table.columns:
                assert (table[low].is_null() == table[high].is_null()).all(), (name, low)
                between = table.drop_nulls(low)
                assert (between[high] - between[low] > 1e-9 * between[high].abs()).all(), (name, low)
                assert "n" not in table.columns or between.filter(pl.col("n") < 2).is_empty(), (name, low)


def checked_sentences(section: Section, judged: bool, n: int) -> list[str]:
    said = page_says(section, judged)
    for sentence in said:
        assert not re.search(r"\b(nan|inf|None|null)\b", sentence), sentence
        assert n > 1 or not re.search(r"\[−?\d", sentence), sentence
        assert n >= 5 or not re.search(r"differ for 0 of|differ \(0\)|constant$|study has one", sentence), sentence
        assert n >= 12 or not re.search(r"beats? zero-shot|better with passages|shows? which", sentence), sentence
    return said


@pytest.mark.parametrize(("of", "pattern", "n"), CASES)
def test_scores_of_every_kind_run_through(of: Shape, pattern: str, n: int, tmp_path: Path) -> None:
    measured = degenerate(of, pattern, n)
    section = section_of(measured, tmp_path, resamples=30)
    checked_tables(section)
    said = checked_sentences(section, measured.judged, n)
    why = {"stage": "generation", "dataset": section.dataset, "what": MISSING, "count": 1200}
    told = [{**why, "detail": {"generator": each, "finish_reason": "refusal"}} for each in (section.generator, "other")]
    study = ReportedStudy("degenerate", section.grid, (section,), left_out=told)
    lost = measured.answers["answer"].null_count() > 0
    assert bool(study.missing) == lost == any("are missing" in sentence for sentence in said)
    assert all("are missing (refusal: 1,200), which is " in sentence for sentence in study.missing)
    shown = [text for _, text, _ in lead_warnings.warnings(facts_of(section), told) if "are missing" in text]
    assert all(" are missing (refusal: 1,200); they" in text for text in shown) and (not lost or shown)
    with_passages = measured.scores.filter(pl.col("k") > 0, pl.col("ordering") != "none")
    assert bool(lead_figure(facts_of(section), 1, explored=False)) == bool(with_passages.height)
    write_tables(study, [output for output in OUTPUTS if isinstance(output, Table)], tmp_path)


def test_every_kind_of_scorer_is_tried() -> None:
    assert {shape(kind) for kind in SCORER_KINDS.names()} == set(SHAPES)
    assert {of.mode for of in SHAPES} == {"relative", "absolute"}
    assert {case.values[2] for case in CASES} == set(SIZES)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_page_is_drawn_and_approved(pattern: str, tmp_path: Path) -> None:
    of = shape("length" if pattern in ("all equal, between both", "two values") else "exact_match")
    section = section_of(degenerate(of, pattern, 16), tmp_path, resamples=30)
    approve(APPROVED / f"degenerate-{re.sub('[ ,]+', '-', pattern)}.txt", page_says(section, of.mode == "absolute"))
    study = ReportedStudy("degenerate", section.grid, (section,))
    page = render_page(study)
    shown = page.partition('<main id="main">')[2].partition('class="lead"')[0]
    assert all(sentence in shown for sentence in study.missing)
    assert ('class="warning' in shown) == ("missing" in pattern)


@pytest.mark.parametrize(("pattern", "n"), [("all the lowest", 1), ("missing with one retriever", 16)])
def test_the_figures_are_drawn(pattern: str, n: int, tmp_path: Path) -> None:
    """Also those in which nothing is left to draw."""
    section = section_of(degenerate(shape("exact_match"), pattern, n), tmp_path, resamples=30)
    known = [output for output in available(OUTPUTS, section.tables) if output.of == "section"]
    figures = [output for output in known if isinstance(output, Figure) and output.endings]
    assert "differences_by_query" in {figure.name for figure in figures}
    draw_figures(section, figures, tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) >= len(figures)


def test_a_scale_of_any_length_has_its_ticks(tmp_path: Path) -> None:
    """As of a scorer that counts words, or a user's own function."""
    for kind in ("length", "python"):
        section = section_of(degenerate(shape(kind), "two values", 16), tmp_path / kind, resamples=30)
        values = [mean.value for line in facts_of(section).means.values() for mean in line]
        for drawn in lead_figure(facts_of(section), 1, explored=False):
            ticks = [float(text.replace(",", "").replace("−", "-")) for _, text in drawn["ticks"]]
            assert 2 <= len(ticks) <= 8
            assert ticks[0] <= min(values) and ticks[-1] >= max(values)
            assert len({text for _, text in drawn["ticks"]}) == len(ticks)
            assert drawn["size"].left >= 7 * max(len(text) for _, text in drawn["ticks"])


def conclusions(section: Section) -> list[str]:
    return [answer.sentence for answer in answers(facts_of(section))]


def test_a_retriever_without_answers_is_not_one_that_is_not_there(tmp_path: Path) -> None:
    section = section_of(degenerate(shape("token_f1"), "missing with one retriever", 16), tmp_path, resamples=30)
    assert conclusions(section)[0] == "We cannot tell: no query has scores for both dense and bm25."
    alone = replace(section, primary=None)
    assert conclusions(alone)[0] == "This question needs two retrievers, but the study has only one."
    nothing = section_of(degenerate(shape("token_f1"), "everything missing", 16), tmp_path / "all", resamples=30)
    assert conclusions(nothing)[1] == "We cannot tell: no query has scores for two different rankings."
    assert conclusions(nothing)[0] == "We cannot tell: no query has scores for both dense and bm25."


def test_differences_that_do_not_vary_are_not_counted_as_no_gain(tmp_path: Path) -> None:
    """P is 1 for every query with passages: no test has a variance, so the page neither denies nor affirms a gain."""
    section = section_of(degenerate(shape("rouge"), "one query does not differ", 16), tmp_path, resamples=30)
    page = [lead_table.table(facts_of(section))["title"], part_headings.headings(facts_of(section))["gain"]]
    assert page == ["1 of 2 retrievers beats zero-shot at k = 2; 1 cannot be compared",
                    "Answers are better with passages in 2 of 4 combinations of retriever and k; "
                    "2 cannot be compared"]  # fmt: skip
    equal = section_of(degenerate(shape("rouge"), "all equal, between both", 16), tmp_path / "equal", resamples=30)
    assert lead_table.table(facts_of(equal))["title"] == "Retrievers at k = 2"
    assert (
        part_headings.headings(facts_of(equal))["gain"]
        == "No cell can be compared with zero-shot (all differences are equal)"
    )
    apart = section_of(degenerate(shape("rouge"), "one retriever the highest, others the lowest", 16),
                       tmp_path / "apart", resamples=30)  # fmt: skip
    assert conclusions(apart)[0].endswith("(difference 1.00, 16 queries; all differences are equal).")
