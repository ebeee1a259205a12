"""What the page says over several generators and datasets."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from lxml import html
from ragrelay.analysis.pooled import ALL_DATASETS, RELAY, SYSTEMS, Sample, pool_samples
from ragrelay.report.display.templates import FOLDER, environment
from ragrelay.report.lead_answers import BY_SYSTEM
from ragrelay.report.over_all import over_all
from ragrelay.report.page import TEMPLATE, page_and_facts, render_page
from ragrelay.report.reading import read_study

from tests.support.approved import approve, not_approved
from tests.support.measured_study import MARGIN, demo, section_of
from tests.support.report_study import GRID, PRIMARY, write_study
from tests.unit.analysis.test_pooled import KINDS, sample
from tests.unit.report.second_way import PACKAGE, agree, short
from tests.unit.report.test_every_sentence import APPROVED, Again, relay_claim

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return {
        "generators": pool_samples([sample(1)], KINDS, {"minilm": 0.02}),
        "datasets": pool_samples([sample(seed, ["a"]) for seed in (1, 2)], KINDS, {"minilm": 0.02}),
        "pool": pool_samples([sample(seed, ["a"]) for seed in range(5)], KINDS, {"minilm": 0.02}),
    }


def texts(pooled: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Each row in one text, and the notes."""
    rows, notes = over_all(pooled)
    told = [" ".join(f"{answer.question} {answer.sentence}" for answer in row.answers) for row in rows]
    return [f"{row.dataset} {row.where}: {text}" for row, text in zip(rows, told, strict=True)], notes


def test_the_sentences_have_the_words_and_numbers_of_the_rows(tables: dict[str, pl.DataFrame]) -> None:
    (first,), average = texts(tables["generators"])
    systems, slopes = (tables["generators"].filter(question=question) for question in (SYSTEMS, RELAY))
    assert first.startswith("d1 minilm, over 3 generators (a, b, c), descending order, k = 2: ")
    assert (
        systems["verdict"].item() == "not worse"
        and BY_SYSTEM["not worse"].format(one="dense", other="bm25", margin="0.02", n="30") in first
    )
    assert f": the difference is {systems['estimate'].item():.2f} [" in first
    assert slopes["verdict"].to_list() == ["above zero", "undecided"] and "] per 0.1 of nDCG@2 (" in first
    assert "improves more? We do not know: when adjusted for difficulty, P changes by" in first
    assert f"adjusted for difficulty, P changes by {slopes['estimate'][1] / 10:.4f} [" in first
    assert "averaged over the generators" in average[0]
    # With one generator, a dataset's own sentences say it.
    assert over_all(tables["datasets"]) == ([], ["2 datasets are too few to pool; 5 are needed."])
    (pool,), none = texts(tables["pool"])
    assert none == [] and pool.startswith(f"{ALL_DATASETS} (5 datasets) minilm, a, descending order")


def test_an_answer_stands_under_its_question(tables: dict[str, pl.DataFrame]) -> None:
    """Over all datasets some questions may not be asked."""
    (whole,), _ = over_all(tables["generators"])
    without = whole._replace(dataset="all", answers=whole.answers[1:])
    for rows in ([whole, without], [without, whole]):
        made = environment(FOLDER).get_template("macros.html.j2").module.over_all_table(rows, {})  # type: ignore[attr-defined]
        table = html.fromstring(str(made))
        topics = [f"{head.text_content().split('.')[0]}. " for head in table.xpath(".//th[@scope='col']")]
        assert sorted(topics) == ["Relay. ", "Systems. "]
        of_rows = {row.xpath("th")[0].text_content(): row.xpath("td") for row in table.xpath(".//tbody/tr")}
        assert all([cell.get("data-topic") for cell in cells] == topics for cells in of_rows.values())
        filled = {name: [bool(cell.text_content()) for cell in cells] for name, cells in of_rows.items()}
        assert filled == {"d1": [True, True], "all": [topic == "Relay. " for topic in topics]}


def test_a_word_over_generators_that_does_not_stand_has_a_remark(tables: dict[str, pl.DataFrame]) -> None:
    remark = "A single further query with a difference of 0.25 in the other direction would overturn this verdict."
    for stands in (True, False, None):
        of_pair = pl.when(question=SYSTEMS).then(pl.lit(stands, pl.Boolean))
        (whole,), _ = over_all(tables["generators"].with_columns(stands=of_pair))
        assert [answer.sentence.endswith(remark) for answer in whole.answers] == [stands is False, False]
        made = environment(FOLDER).get_template("macros.html.j2").module.over_all_table([whole], {})  # type: ignore[attr-defined]
        assert (remark in html.fromstring(str(made)).text_content()) is (stands is False)


def test_relay_over_all_needs_both_rows(tables: dict[str, pl.DataFrame]) -> None:
    (said,), _ = texts(tables["generators"].filter(pl.col("adjusted").fill_null(False).not_()))
    assert "improves more? We do not know:" in said


def test_the_page_shows_them_where_there_are_several(tables: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    files = write_study(tmp_path / "study", n=8)
    assert 'id="over-all"' not in render_page(read_study(**files))
    tables["pool"].write_csv(tmp_path / "pooled.csv")
    study = read_study(**files, pooled=tmp_path / "pooled.csv")
    page, facts = page_and_facts(study, TEMPLATE, tmp_path / "page.html")
    assert page.startswith("<!DOCTYPE html>")
    told = [fact for row in facts["over_all"] for answer in row["answers"] for fact in answer["facts"]]
    rows = [
        tables["pool"].filter(*(pl.col(name).eq_missing(value) for name, value in fact["row"].items())) for fact in told
    ]
    assert {fact["file"] for fact in told} == {"pooled.csv"} and {row.height for row in rows} == {1}
    assert 'id="over-all-pooled-table"' in page and "all datasets (5 datasets)</th>" in page
    assert page.index("all datasets (5 datasets)") < page.index('id="terms"')


def test_over_generators_what_the_scores_say_is_approved(tmp_path: Path) -> None:
    """The demo's seeds as if each were a generator: averaged, they are the demo, computed as by test_every_sentence."""
    measured = demo()
    utilities = {}
    for name, seed in (("a", 1), ("b", 2), ("c", 3)):
        one = section_of(replace(measured, scores=measured.scores.filter(seed=seed)), tmp_path / name, resamples=50)
        utilities[name] = one["per_query"].filter(pl.col("retriever") != "zeroshot")
    sample_of = Sample("demo", "minilm", PRIMARY, utilities, measured.retrieval, measured.contexts)
    said, notes = texts(pool_samples([sample_of], GRID["kinds"], {"minilm": MARGIN}))
    again = Again(measured, section_of(measured, tmp_path / "all", resamples=50))
    values, found, word = again.primary
    assert word == "better by more than the margin" and again.relayed[0] == "not known"
    systems = f"better dense bm25 by more than the margin 0.02 {short(values.mean(), found, 0.02)}"
    claim = f"demo minilm 3 descending 5 better better {systems} {relay_claim(again, *again.relayed)}"
    agree(said, [claim], again.names)
    approve(APPROVED / "several-generators.txt", [*said, *notes])


def test_texts_over_all_are_approved() -> None:
    assert not_approved(PACKAGE / "report/over_all.py", APPROVED, Path(__file__)) == []
