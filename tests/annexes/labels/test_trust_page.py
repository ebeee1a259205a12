"""What the page says a judge of passages is worth: by its agreement with people, and of its bias by length."""

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest
from ragrelay.analysis.judge_checks import PASSAGE_COLUMNS
from ragrelay.annexes.labels.agreement import Scale, agreement_tables
from ragrelay.annexes.labels.study import AnnotationStudy, JudgeTrust
from ragrelay.annexes.labels.trust_page import (
    agreement_sentences,
    agreement_table,
    checks_page_table,
    trust_sentences,
    trust_warnings,
)
from ragrelay.annexes.labels.values import SCHEMA as VALUES
from ragrelay.base.vocabulary.columns import named, schema_of
from ragrelay.base.vocabulary.judge_checks import PADDING_WORDS
from ragrelay.report.display.numbers import number
from sklearn.metrics import cohen_kappa_score

from tests.annexes.labels.test_annotations_page import study as annotation_study
from tests.annexes.labels.test_annotations_page import table
from tests.unit.report.test_judge_checks_page import ROWS
from tools import judge_worth
from tools.blocks import replaced

pytestmark = pytest.mark.page

DOUBT = "demo: results based on labels from grades depend on a judge whose agreement with human labels (people) is "
PAIRS = [(f"q{query:02d}", f"d{passage}") for query in range(20) for passage in range(6)]
Labels = Callable[[int], float | None]
"""The label of a pair by its place in PAIRS; none where it has none."""


def half(place: int) -> float:
    return 3.0 * (place % 2)


def wrong(every: int) -> Labels:
    return lambda place: 3.0 - half(place) if place % every == 0 else half(place)


def judged(judge: Labels, people: Labels) -> AnnotationStudy:
    """A study of one judge's labels beside people's, with a threshold of 0.4."""
    rows = [
        {"source": source, "references": "lenient", "qid": qid, "docno": docno, "label": label}
        for source, labels in (("people", people), ("grades", judge))
        for place, (qid, docno) in enumerate(PAIRS)
        if (label := labels(place)) is not None
    ]
    scales = {"people": Scale(2, True, False), "grades": Scale(2, True, True)}
    agreement, _ = agreement_tables(pl.DataFrame(rows), {}, pl.DataFrame(schema=VALUES), "people", scales)
    shown = annotation_study(
        table(), annotation_agreement=named(agreement, {"dataset": "demo", "generator": "lm", "scorer": "s"})
    )
    return replace(shown, trust=JudgeTrust(0.4))


@pytest.mark.parametrize("judge", [wrong(13), wrong(3), lambda _: 3.0], ids=["high", "low", "none"])
def test_a_judge_is_worth_its_kappa(judge: Labels) -> None:
    """The page says it, with the interval if there is one, and doubts what rests on a judge below the threshold."""
    shown = judged(judge, half)
    both = [(half(place) >= 2, (judge(place) or 0) >= 2) for place in range(len(PAIRS))]
    kappa = cohen_kappa_score(*zip(*both, strict=True))
    (row,) = shown.tables["annotation_agreement"].filter(quantity="kappa").to_dicts()
    assert row["value"] == pytest.approx(kappa) and (row["low"] is None) == (kappa == 0)
    told = f"{kappa:.2f}" + (f" [{row['low']:.2f}, {row['high']:.2f}]" if kappa else "")
    said = f"demo: agreement with human labels (people), measured by Cohen’s κ, is {told} for grades."
    assert agreement_sentences(shown)[0] == said
    doubted = f"{DOUBT}κ = {told}, below the threshold of 0.40 (agreement.least_kappa)."
    assert trust_warnings(shown) == ([doubted] if kappa < 0.4 else [])


@pytest.mark.parametrize(
    ("judge", "people", "reason"),
    [
        (lambda _: 3.0, lambda _: 3.0, "people and the source give every pair the same label"),
        (lambda place: None if place % 2 else 3.0, lambda place: 3.0 if place % 2 else None, "no passage has both"),
    ],
    ids=["one label", "other passages"],
)
def test_a_judge_of_unknown_worth_is_doubted(judge: Labels, people: Labels, reason: str) -> None:
    shown = judged(judge, people)
    (warned,) = trust_warnings(shown)
    assert warned.startswith(f"{DOUBT}unknown: κ cannot be computed ({reason}")
    (said,) = agreement_sentences(shown)
    assert said == "demo: agreement with human labels (people), measured by Cohen’s κ, is unknown for grades."
    assert reason in agreement_table(shown).rows[0][-1]


def test_the_docs_have_what_the_page_says_of_the_demos_judge() -> None:
    page = judge_worth.PAGE.read_text(encoding="utf-8")
    assert page == replaced(page, judge_worth.MARK, judge_worth.text()), "run make docs"
    people, judge = judge_worth.people(), judge_worth.judged()
    for source, relevant in (("grades", 2), ("llm", 0.5)):
        both = judge.filter(source=source).join(people, on=["qid", "docno"], suffix="_people")
        kappa = cohen_kappa_score(both["label_people"] >= 2, both["label"] >= relevant)
        said = f"{DOUBT}κ = {number(kappa, 2)}".replace("from grades", f"from {source}")
        assert said in page and kappa < 0.4


def test_sentences_and_table_of_judges_of_passages() -> None:
    """Each sentence and row names its dataset, source and judge; a study without checks has none."""
    shown = annotation_study(table())
    assert checks_page_table(shown).rows == []
    keys = {"dataset": "demo", "source": "grades", "judge": "lm"}
    rows = [{name: {**keys, **row}.get(name) for name in PASSAGE_COLUMNS} for row in ROWS[1:]]
    checked = replace(shown, checks=pl.DataFrame(rows, schema=schema_of(PASSAGE_COLUMNS)))
    padded, length = (one for one in trust_sentences(checked) if one.startswith("demo · grades · lm: "))
    assert f"Padding a passage with {PADDING_WORDS} words changes the judge’s score by 0.123" in padded
    assert "(100 passages of 36 queries, p < 0.001" in padded and "words in the passage is 0.500" in length
    found = checks_page_table(checked)
    assert [column.title for column in found.columns][:5] == ["dataset", "source", "judge", "check", "passages"]
    assert found.rows[0][:5] == ["demo", "grades", "lm", f"padded with {PADDING_WORDS} words", "100"]
