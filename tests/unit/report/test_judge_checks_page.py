"""What the page says of a judge's bias by position and length."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.analysis.judge_checks import COLUMNS
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.judge_checks import LENGTH, PADDED, PADDING, PADDING_WORDS, REVERSED
from ragrelay.report.display.judge_checks import judge_checks_table, judge_sentences
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study, with_files
from ragrelay.report.table_files import write_tables

from tests.support.report_study import write_study

pytestmark = pytest.mark.page

COUNTS = {"n": 100, "n_queries": 36, "mean_score": 0.41, "mean_words": 50.0, "judgements": 1}
ROWS: list[dict[str, Any]] = [
    {"check": REVERSED, "value": -0.0004, "low": -0.01, "high": 0.009, "p_value": 0.5, "p_holm": 0.5,
     "share_other_word": 0.0, **COUNTS},
    {"check": PADDED, "value": 0.123, "low": 0.05, "high": 0.2, "p_value": 0.0001, "p_holm": 0.0002,
     "share_other_word": 0.25, **COUNTS, "judgements": 1200},
    {"check": LENGTH, "value": 0.5, "low": None, "high": None, "reason": "fewer than 5 queries", **COUNTS, "n": 1,
     "n_queries": 1},
]  # fmt: skip


def test_sentences_and_table(tmp_path: Path) -> None:
    study = read_study(**write_study(tmp_path / "study", n=8))
    section = study.sections[0]
    assert judge_sentences(section) == [] and "Checks of the judge" not in render_page(study)
    frame = pl.DataFrame([{name: row.get(name) for name in COLUMNS} for row in ROWS], schema=schema_of(COLUMNS))
    checked = replace(section, tables={**section.tables, "judge_checks": frame})
    padded, length = judge_sentences(checked)[1:]
    assert padded == (
        f"Padding an answer with {PADDING_WORDS} words changes the judge’s score by 0.123 [0.050, 0.200] on average "
        "(100 answers to 36 queries, p < 0.001 after Holm’s correction) and changes the likeliest word in 25% of "
        "1,200 judgements."
    )
    assert "is 0.500 (1 answer to 1 query)" in length and "longer answers may be better" in length
    assert judge_sentences(checked)[0].endswith("p = 0.500 after Holm’s correction) and changes the likeliest word in "
                                                "0% of 1 judgement.")  # fmt: skip
    shown = judge_checks_table(checked).rows
    assert shown[1][:5] == [f"padded with {PADDING_WORDS} words", "100", "36", "0.410", "0.123 [0.050, 0.200]"]
    page = render_page(replace(study, sections=(checked, *study.sections[1:])))
    assert 'id="s1-judge_checks-table"' in page and "Padding an answer with" in page


def test_only_scorers_with_checks_have_their_table(tmp_path: Path) -> None:
    """Of two sections, the one without is read without it, and no file is written of it."""
    given = write_study(tmp_path / "study", datasets=("a", "b"), n=8)
    path = tmp_path / "b/analysis/checked/demo-lm/judge_checks.csv"
    path.parent.mkdir(parents=True)
    pl.DataFrame(schema=schema_of(COLUMNS)).write_csv(path)
    scorers = {"a": "minilm", "b": "checked"}
    sections = [{"dataset": name, "generator": "demo-lm", "scorer": scorer} for name, scorer in scorers.items()]
    pattern = "<results>/{dataset}/analysis/{scorer}/{generator}/judge_checks.csv"
    none = KeyedFiles("<results>/{dataset}/{retriever}", ())
    files = {"judge_checks": KeyedFiles(pattern, (path,)), "retrieval": none}
    found = [section["files"] for section in with_files(sections, files)]
    assert found == [{}, {"judge_checks": path}]
    for section, own in zip(given["sections"], found, strict=True):
        section |= {"files": {**section["files"], **own}, "scorer": scorers[section["dataset"]]}
    tables = [output for output in OUTPUTS if output.kind == "table" and output.name in ("judge_checks", "cost")]
    write_tables(read_study(**given), tables, tmp_path)
    assert {path.name for path in tmp_path.glob("*_demo-lm_*.csv")} == {
        "judge_checks_b_demo-lm_checked.csv", "cost_a_demo-lm_minilm.csv", "cost_b_demo-lm_checked.csv"
    }  # fmt: skip


def test_the_padding_is_counted() -> None:
    assert len(PADDING.split()) == PADDING_WORDS == 38
