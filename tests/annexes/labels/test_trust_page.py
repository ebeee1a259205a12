"""What the page says of bias by length of a judge of passages."""

from dataclasses import replace

import polars as pl
import pytest
from ragrelay.analysis.judge_checks import PASSAGE_COLUMNS
from ragrelay.annexes.labels.trust_page import checks_page_table, trust_sentences
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.judge_checks import PADDING_WORDS

from tests.annexes.labels.test_annotations_page import study as annotation_study
from tests.annexes.labels.test_annotations_page import table
from tests.unit.report.test_judge_checks_page import ROWS

pytestmark = pytest.mark.page


def test_sentences_and_table_of_judges_of_passages() -> None:
    """Each sentence and row names its dataset, source and judge; a study without checks has none."""
    shown = annotation_study(table())
    assert checks_page_table(shown).rows == []
    keys = {"dataset": "demo", "source": "grades", "judge": "lm"}
    rows = [{name: {**keys, **row}.get(name) for name in PASSAGE_COLUMNS} for row in ROWS[1:]]
    checked = replace(shown, checks=pl.DataFrame(rows, schema=schema_of(PASSAGE_COLUMNS)))
    padded, length = (one for one in trust_sentences(checked) if one.startswith("demo · grades · lm: "))
    assert f"Padding a passage with {PADDING_WORDS} words changes the judge’s score by 0.123" in padded
    assert "(100 passages of 36 queries, p < 0.001" in padded and "words of the passage is 0.500" in length
    found = checks_page_table(checked)
    assert [column.title for column in found.columns][:5] == ["dataset", "source", "judge", "check", "passages"]
    assert found.rows[0][:5] == ["demo", "grades", "lm", f"padded with {PADDING_WORDS} words", "100"]
