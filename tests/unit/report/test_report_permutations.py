"""Permutations in the report: every one a row of the tables, with its own k alone; figures leave them to those."""

import json
from pathlib import Path

import pytest
from ragrelay.base.vocabulary.orderings import named_orderings
from ragrelay.report.display.outputs import available, resolve
from ragrelay.report.figures_by_k import utility_by_k
from ragrelay.report.findings import findings, summary
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_study
from ragrelay.report.study import ReportedStudy
from ragrelay.report.table1 import table1

from tests.support.report_study import write_study

pytestmark = pytest.mark.page


def study_of(folder: Path, orderings: list[str]) -> ReportedStudy:
    grid = {
        "retrievers": ["bm25", "rel"], "k": [1, 2, 3], "seeds": [1], "measures": ["nDCG"],
        "orderings": named_orderings(orderings, [1, 2, 3]),
    }  # fmt: skip
    return read_study(**write_study(folder, grid=grid))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ReportedStudy:
    return study_of(tmp_path_factory.mktemp("study"), ["descending", "permutations"])


def test_each_is_a_row_with_its_own_k(study: ReportedStudy) -> None:
    table = table1(study.sections[0])
    rows = {row.ordering: row for row in table.rows if row.retriever == "bm25"}
    assert len(rows) == 1 + 6 + 2 + 1
    filled = [cell.value is not None for cell in rows["permutation_21"].cells["utility"]]
    assert filled == [k == 2 for _, k in table.columns]
    assert all(cell.value is not None for cell in rows["descending"].cells["utility"])


def test_summary_counts_the_cells_there_are(study: ReportedStudy) -> None:
    text = " ".join(summary(study))
    assert "24 cells" in text, "2 retrievers × (3 descending + 6 + 2 + 1)"


@pytest.mark.parametrize("theme", ["page", "paper"])
def test_figures_show_the_other_orderings(study: ReportedStudy, theme: str) -> None:
    section = study.sections[0]
    for figure in available(OUTPUTS, section.tables):
        if figure.kind == "figure":
            text = json.dumps(resolve(figure.draw)(section, theme))
            assert "permutation" not in text, figure.name
            assert "descending" in text or figure.name not in ("utility", "scatter", "correlation"), figure.name


def test_permutations_alone(tmp_path: Path) -> None:
    """Then the figures have nothing else to show, and the findings speak of the ranking itself at the largest k."""
    study = study_of(tmp_path, ["permutations"])
    section = study.sections[0]
    assert findings(section).where.startswith("k = 3, permutation_123 order")
    assert "permutation_123" in json.dumps(utility_by_k(section, "paper"))
