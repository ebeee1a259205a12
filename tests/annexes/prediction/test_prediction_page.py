"""The page of predictions: what it says of studies in which predictors know, and do not."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.prediction.accuracy import accuracies, predictor_comparisons
from ragrelay.annexes.prediction.best import best_predictors
from ragrelay.annexes.prediction.cells import PredictedCell
from ragrelay.annexes.prediction.correlations import GIVEN_P0, WITHIN, predictor_correlations
from ragrelay.annexes.prediction.decisions import curves, policies
from ragrelay.annexes.prediction.ensembles import ensembles
from ragrelay.annexes.prediction.outputs import RESULT_TABLES
from ragrelay.annexes.prediction.page import report_predictions
from ragrelay.annexes.prediction.sentences import prediction_sentences
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.annexes.prediction.transfer import transfers
from ragrelay.base.vocabulary.columns import named, schema_of
from ragrelay.report.display.numbers import number
from ragrelay.report.display.outputs import resolve

from benchmarks.shared.predicted_cells import cell, exchangeable_cells
from tests.support.report_browser import becomes, needs_browser, opened, steer, violations

pytestmark = pytest.mark.page

NO_WIDTH = """const measure = Element.prototype.getBoundingClientRect;
Element.prototype.getBoundingClientRect = function () {
  return this.closest("details:not([open])") ? new DOMRect() : measure.call(this);
};"""
KEYS = {"dataset": "<set>", "generator": "lm", "scorer": "minilm"}


def study_of(cells: Sequence[PredictedCell], several: bool = False) -> PredictedStudy:
    empty: Mapping[str, pl.DataFrame] = {
        f"prediction_{name}": pl.DataFrame(schema=schema_of(columns))
        for name, columns in (("given_p0", GIVEN_P0), ("within", WITHIN))
    }
    made = {
        "prediction_best": best_predictors(cells, ["bm25"], 199, 0),
        "prediction_correlation": predictor_correlations(cells, 100, 0),
        "prediction_accuracy": accuracies(cells),
        "prediction_comparison": predictor_comparisons(cells, "nDCG"),
        "prediction_ensembles": ensembles(cells, 0),
        "prediction_transfer": transfers({"other": cells} if several else {}, cells, 0),
        "prediction_curve": curves(cells, 0),
        "prediction_policies": policies(cells, 0),
    }
    tables = {name: named(table, KEYS) for name, table in made.items()} | empty
    for table in RESULT_TABLES:
        assert tables[table.name].columns == list(resolve(table.columns)), table.name
    return PredictedStudy(KEYS, tables, ["bm25"])


def test_what_is_worth_using_is_named_next_to_chance(tmp_path: Path) -> None:
    study = study_of([cell(50, {"nqc": 0.8}, 1, 3)])
    said = " ".join(prediction_sentences(study).sentences)
    row = study["prediction_best"].filter(target="p").to_dicts()[0]
    assert (
        "For the only combination of retriever and k, the best predictor of answer quality (P) is worth using: nqc"
        in said
    )
    by_chance = f"{row['chance']:.2f} on average by chance"
    assert f"ρ = {row['rho']:.2f}; the best of 4 predictors would reach {by_chance}" in said
    page = tmp_path / "predict.html"
    report_predictions("mine <script>", [study], page, notices=["A <notice>"])
    text = page.read_text(encoding="utf-8")
    assert 'data-chart="p1-prediction_curve"' in text and 'id="p1-prediction_policies-table"' in text
    assert "trained on another dataset" not in text.lower()
    assert "mine &lt;script&gt;" in text and "A &lt;notice&gt;" in text and "&lt;set&gt;" in text


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_page_in_a_browser(browser: Any, tmp_path: Path, width: int) -> None:
    """No rule of axe-core is broken, the answers come first, and nothing is cut."""
    page = tmp_path / "predict.html"
    report_predictions("mine", [study_of([cell(50, {"nqc": 0.8}, 1, 3)], several=True)], page)
    with opened(browser, page, width) as tab:
        assert violations(tab) == []
        assert "is worth using in the only cell" in tab.inner_text("main")[:600]
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        first = tab.locator("main table").first.bounding_box()
        answer = tab.get_by_text("is worth using in the only cell").first.bounding_box()
        assert answer["y"] < first["y"] and answer["y"] < 900
        steer(tab, "rename=bm25&to=Okapi")
        assert "Okapi" in tab.locator("#p1-prediction_best-table").inner_text()


@needs_browser
@pytest.mark.parametrize("unknown", [False, True], ids=["", "as where closed folds have no width"])
def test_a_chart_of_a_closed_fold_is_as_wide_as_the_fold(browser: Any, tmp_path: Path, unknown: bool) -> None:
    page = tmp_path / "predict.html"
    report_predictions("mine", [study_of([cell(50, {"nqc": 0.8}, 1, 3)], several=True)], page)
    tab = browser.new_page()
    tab.set_viewport_size({"width": 1400, "height": 900})
    if unknown:
        tab.add_init_script(NO_WIDTH)
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-charts=drawn]")
    assert tab.locator("details:not([open]) [data-chart]").count() == 1
    width = "Number(document.querySelector('[data-chart] svg').getAttribute('width'))"
    drawn = tab.evaluate(width)
    tab.eval_on_selector_all("details.fold", "(folds) => folds.forEach((one) => { one.open = true; })")
    of_fold = tab.evaluate("document.querySelector('[data-chart]').clientWidth")
    assert unknown == (drawn > of_fold)
    becomes(tab, f"{width} <= {of_fold}")
    tab.close()


def test_another_dataset_is_shown_where_there_is_one(tmp_path: Path) -> None:
    study = study_of([cell(50, {"nqc": 0.8}, 1, 3)], several=True)
    row = (
        study["prediction_transfer"].filter(target="gain", known="before generation", model="ridge").row(0, named=True)
    )
    said = [one for one in prediction_sentences(study).sentences if "the same regression" in one]
    assert len(said) == 1 and f"{row['rho']:.2f}" in said[0] and "with bm25 (trained on other). By chance" in said[0]
    page = tmp_path / "predict.html"
    report_predictions("mine", [study], page)
    assert "Regressions trained on another dataset" in page.read_text(encoding="utf-8")


def test_noise_is_not_worth_using() -> None:
    said = prediction_sentences(study_of([cell(30, {"nqc": 0.0}, 2, 3)])).sentences
    none = "No predictor of answer quality (P) is shown to be worth using for the only combination of retriever and k."
    assert said[1].startswith(none)
    few = prediction_sentences(study_of([cell(8, {"nqc": 0.9}, 2)])).sentences
    assert few == [
        "No predictor of the gain from the context (P − P₀) could be tested (fewer than 10 queries).",
        "No predictor of answer quality (P) could be tested (fewer than 10 queries).",
    ]


def test_what_follows_the_gain_through_p0_is_said_to() -> None:
    study = study_of(exchangeable_cells(100, 0.9, 1, 1))
    row = study["prediction_best"].filter(target="gain").to_dicts()[0]
    assert row["verdict"] == "not beyond P₀"
    gain = prediction_sentences(study).sentences[0]
    assert gain.startswith("No predictor of the gain from the context (P − P₀) is shown to be worth using for the ")
    added = "In the only cell, the best predictor correlates with the gain but is not shown to add anything to what P₀"
    assert added in gain
    correlates = f"{row['predictor']} with bm25 at k = 1 correlates with the gain at ρ = {row['rho']:.2f}, and with P"
    assert f"For example, {correlates} given P₀ at ρ = " in gain


def test_a_regression_that_follows_p0_alone_is_said_to() -> None:
    study = study_of(exchangeable_cells(100, 0.9, 1, 1))
    row = study["prediction_ensembles"].filter(target="gain", known="before generation", model="ridge").to_dicts()[0]
    assert row["p_value"] < 0.05 < row["p_given_p0"] and row["verdict"] == "not beyond P₀"
    said = next(one for one in prediction_sentences(study).sentences if "A ridge regression" in one)
    assert f"With bm25 (ρ = {number(row['given_p0'], 2)} with P given P₀" in said
    assert "any improvement may come only from noise in P₀" in said
