"""What the page says of a panel's judges."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.panel import AGREEMENT_COLUMNS, COLUMNS
from ragrelay.analysis.panel_verdicts import DEPENDS
from ragrelay.analysis.systems import PRIMARY
from ragrelay.analysis.verdicts import ABOVE, BETTER, TOO_FEW, UNDECIDED
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Slope
from ragrelay.report.lead_answers import relay_conclusion
from ragrelay.report.page import TEMPLATE, page_and_facts, render_page
from ragrelay.report.panel_page import agreement_table, panel_finding, panel_table, panel_warning
from ragrelay.report.reading import read_study
from ragrelay.report.study import ReportedStudy

from tests.support.report_study import changed, write_study

pytestmark = pytest.mark.page

ROWS: list[dict[str, Any]] = [
    {"question": "systems", "without": None, "n": 36, "estimate": 0.1, "low": 0.02, "high": 0.18, "verdict": BETTER},
    {"question": "systems", "without": "a", "n": 36, "estimate": 0.15, "low": 0.1, "high": 0.2, "verdict": BETTER,
     "alone": 0.05},
    {"question": "systems", "without": "b", "n": 36, "estimate": -0.0004, "low": -0.1, "high": 0.1,
     "verdict": UNDECIDED, "alone": 0.2},
    {"question": "relay", "adjusted": True, "without": "a", "n": 30, "estimate": 0.5, "low": -1.0, "high": 2.0,
     "verdict": UNDECIDED},
]  # fmt: skip
AGREEMENT = {"judge": "a", "other_judge": "b", "references": "lenient", "n": 252, "n_queries": 36, "kappa": 0.4,
             "low": 0.2, "high": 0.6, "rho": 0.5, "mean": 0.41, "other_mean": 0.62}  # fmt: skip


def filled(columns: Any, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=schema_of(columns))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ReportedStudy:
    return read_study(**write_study(tmp_path_factory.mktemp("panel") / "study"))


def with_panel(section: Section, verdict: str, remark: str | None) -> Section:
    """A panel of a and b with this verdict on the primary pair."""
    own = pl.col("role") == PRIMARY
    systems = section["systems"].with_columns(
        verdict=pl.when(own).then(pl.lit(verdict)).otherwise("verdict"),
        remark=pl.when(own).then(pl.lit(remark, pl.String)).otherwise("remark"),
        stands=pl.lit(None, pl.Boolean),
    )
    tables = {"panel": filled(COLUMNS, ROWS), "panel_agreement": filled(AGREEMENT_COLUMNS, [AGREEMENT])}
    return changed(section, systems=systems, **tables)


def test_a_verdict_that_one_judge_decides_is_undecided_everywhere(study: ReportedStudy) -> None:
    section = with_panel(study.sections[0], UNDECIDED, DEPENDS.format(verdict=BETTER, judges="b"))
    pair = section["systems"].filter(role=PRIMARY).row(0, named=True)
    names = pair["retriever"], pair["against_retriever"]
    between = f"leaving out one judge gives a difference in P ({names[0]} − {names[1]}) of 0.000 to 0.150"
    assert panel_finding(section) == f"It does: the result is “better” with all judges, but not without b; {between}"
    page, facts = page_and_facts(replace(study, sections=(section,)), TEMPLATE, Path("index.html"))
    assert "It depends on a judge: the result is “better” with all judges, but not without b." in page
    assert "We do not know whether" in str(facts)
    assert 'id="s1-panel-table"' in page and 'id="s1-panel_agreement-table"' in page


def test_a_verdict_without_each_judge_and_one_that_nobody_has(study: ReportedStudy) -> None:
    held = panel_finding(with_panel(study.sections[0], BETTER, None))
    assert held.startswith("It does not: better with all judges and with any judge left out; leaving out one judge ")
    for verdict, remark in ((UNDECIDED, None), (UNDECIDED, "the differences are skewed"), (TOO_FEW, "3 queries")):
        said = panel_finding(with_panel(study.sections[0], verdict, remark))
        assert said.startswith("Undecided with all judges; ")
    none = study.sections[0]
    assert panel_finding(none) == "" and panel_warning(none) == []
    assert "Panel of judges" not in (page := render_page(study)) and "s1-panel" not in page


def test_the_first_screen_has_the_judges_and_the_range(study: ReportedStudy) -> None:
    [warned] = panel_warning(with_panel(study.sections[0], BETTER, None))
    assert (warned.head, warned.text) == (
        "Panel of judges",
        "P is the mean over the judges a and b. Leaving out one judge gives a difference in P of 0.000 to 0.150.",
    )
    record = warned.facts[0].record({})
    assert record["file"] == "demo/analysis/minilm/demo-lm/panel.csv" and record["row"]["without"] == "a"
    assert record["values"]["estimate"] == 0.15


def test_the_tables(study: ReportedStudy) -> None:
    section = with_panel(study.sections[0], BETTER, None)
    rows = panel_table(section).rows
    assert rows[0][:6] == ["systems", "", "none", BETTER, "0.100 [0.020, 0.180]", "–"]
    assert rows[1][2:6] == ["a", BETTER, "0.150 [0.100, 0.200]", "0.050"]
    assert rows[3][:5] == ["relay", "yes", "a", UNDECIDED, "0.050 [−0.100, 0.200]"], "per 0.1 of the measure"
    assert agreement_table(section).rows[0][:6] == ["a", "b", "0.40 [0.20, 0.60]", "0.50", "0.41", "0.62"]


def test_the_answer_on_relay_names_the_judge() -> None:
    row = dict.fromkeys(Slope.__dataclass_fields__) | {"n": 30, "slope": 0.4, "low": 0.1, "high": 0.7, "p_value": 0.02}
    why = DEPENDS.format(verdict=ABOVE, judges="c")
    slopes = [Slope.of({**row, "adjusted": a, "verdict": UNDECIDED, "reason": why}) for a in (False, True)]
    said = relay_conclusion(relay.NOT_KNOWN, slopes, "nDCG@3")
    assert said.strong == "We do not know"
    assert said.remark == "It depends on a judge: the result is “above zero” with all judges, but not without c."
    above = [Slope.of({**row, "adjusted": a, "verdict": ABOVE}) for a in (False, True)]
    assert relay_conclusion(relay.IT_IS, above, "nDCG@3").remark == ""
