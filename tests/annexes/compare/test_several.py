"""Three studies compared: rows, corrections, messages, and the page in a real browser."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lxml import html
from ragrelay.annexes.compare.page import _said
from ragrelay.annexes.compare.studies import check_finished
from ragrelay.annexes.compare.write import compare_studies
from ragrelay.base.errors import InputError
from statsmodels.stats.multitest import multipletests

from tests.annexes.compare import test_compare
from tests.annexes.compare.test_compare import HOSTILE, write_finished
from tests.annexes.compare.test_sentences_of_a_comparison import APPROVED
from tests.support.approved import approve, not_approved
from tests.support.report_browser import needs_browser, opened, steer, violations
from tests.unit.report.second_way import PACKAGE

pytestmark = pytest.mark.page


def compared(out: Path, before: Path, *after: Path, pairs: Any = None) -> pl.DataFrame:
    """Compare the studies; return tests.csv."""
    compare_studies(before, after, pairs or {}, out / "index.html", out / "tests.csv", out / "queries.csv")
    return pl.read_csv(out / "tests.csv", infer_schema_length=None)


def provenance_of(study: Path, **changes: Any) -> None:
    """Change values of a study's provenance, by dotted keys with __ for the dots."""
    path = study / "report/provenance.json"
    whole = json.loads(path.read_text())
    for key, value in changes.items():
        *steps, last = key.split("__")
        inside = whole
        for step in steps:
            inside = inside[step]
        inside[last] = value
    path.write_text(json.dumps(whole))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pl.DataFrame]:
    """The baseline, one with larger P and another k1, one with as good answers and another version of torch."""
    folder = tmp_path_factory.mktemp("three")
    one, two, tri = (
        write_finished(folder, name, ("bm25", "dense"), gain=gain)
        for name, gain in (("one", 0.0), ("two", 0.2), ("tri", 0.004))
    )
    provenance_of(two, config__retrievers__bm25__k1=1.2, config__grid__seeds=[1, 2])
    provenance_of(tri, versions__torch="3", commit=HOSTILE)
    return folder / "out", compared(folder / "out", one, two, tri)


def test_each_study_is_tested_as_alone_but_corrected_over_all(three: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    """Orderings with the same prompts count once: at k = 1 both, so 3 cells of 2 retrievers and 2 studies."""
    folder, rows = three
    alone = compared(tmp_path, folder.parent / "one", folder.parent / "tri")
    over_all = ["p_holm", "p_bh", "family_size"]
    assert rows.filter(study="tri").drop(over_all).equals(alone.drop(over_all))
    family = rows.filter(quantity="p", references="lenient")
    own = family.filter(~((pl.col("ordering") == "ascending") & (pl.col("k") == 1)))
    assert set(family["family_size"]) == {12} == {own.height}
    for method, column in (("holm", "p_holm"), ("fdr_bh", "p_bh")):
        assert own[column].to_list() == pytest.approx(list(multipletests(own["p_verdict"], method=method)[1]))


def test_the_page_names_the_retrievers_that_were_compared(tmp_path: Path) -> None:
    """Two new retrievers have no counterpart, so only bm25's answers were compared."""
    one, two = write_finished(tmp_path, "one", ("bm25",)), write_finished(tmp_path, "two", ("bm25", "new", "newer"))
    compared(tmp_path / "out", one, two)
    said = html.fromstring((tmp_path / "out/index.html").read_text(encoding="utf-8")).xpath("//p[@class='said']")
    assert [" ".join(line.text_content().split()) for line in said] == [
        "No answer’s P changed with bm25, the only one of 3 retrievers that has a counterpart "
        "To compare new and newer too, name their counterparts in compare.pairs."
    ]


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_the_header_shows_every_link_and_the_tools(three: tuple[Path, pl.DataFrame], browser: Any, width: int) -> None:
    titles = [
        "Report",
        "Queries",
        "Human scores",
        "Labels",
        "one → two, three",
        *(f"one → study-{n}" for n in range(6)),
    ]
    listed = [(title, f"page{place}.html#main") for place, title in enumerate(titles)]
    with opened(browser, three[0] / "index.html", width, listed=listed) as tab:
        outside = """(all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth
          || one.scrollWidth > one.clientWidth && one.clientWidth).map((one) => one.outerHTML)"""
        assert tab.eval_on_selector_all(".bar, .bar nav, .bar li, .bar button", outside) == []
        assert tab.locator(".bar nav").first.locator("a").all_text_contents()[:4] == titles[:4]


@needs_browser
def test_a_chart_without_any_interval_writes_nothing_to_the_console(tmp_path: Path, browser: Any) -> None:
    one, two = (write_finished(tmp_path, name, ("bm25", "dense")) for name in ("one", "two"))
    compared(tmp_path / "out", one, two)
    with opened(browser, tmp_path / "out/index.html") as tab:
        assert tab.locator(".chart svg").count() == 2


def test_the_page_says_what_each_changed_and_is_approved(three: tuple[Path, pl.DataFrame]) -> None:
    folder, rows = three
    page = html.fromstring((folder / "index.html").read_text(encoding="utf-8"))

    def texts(path: str) -> list[str]:
        return [" ".join(one.text_content().split()).replace(" :", ":") for one in page.xpath(path)]

    assert texts("//header/*[@class='name']|//header/nav[@aria-label='Pages']//a") == ["ragrelay", "one → two, tri"]
    here = rows.filter(quantity="p", k=3, ordering="descending", references="lenient", retriever="bm25")
    mean = {row["study"]: f"{row['mean_difference']:.3f} [{row['low']:.3f}, " for row in here.iter_rows(named=True)}
    cells = [[" ".join(one.text_content().split()) for one in row] for row in page.xpath("//table[@id='changed']//tr")]
    [of_bm25] = [row for row in cells if row[0] == "bm25"]
    assert of_bm25[1] == "–" and [cell.startswith(mean[name]) for name, cell in zip(mean, of_bm25[2:], strict=True)]
    heads = texts("//h1|//h2|//table[@id='differing']//th")
    assert "Data (number of rows and their hash)" not in heads, "the same data"
    shown = [*heads, *map(" | ".join, cells), *texts("//*[@class='said']"), *texts("//section[@id='changes']/p")]
    approve(APPROVED / "several.txt", shown)


def test_a_word_that_the_correction_undoes_says_so() -> None:
    row = {"mean_difference": 0.1, "low": 0.01, "high": 0.2, "verdict": "better", "p_holm": 0.06, "reason": None}
    assert _said(row) == "0.100 [0.010, 0.200]: better, undecided after Holm’s correction over all studies"
    assert _said(row | {"p_holm": 0.04}) == "0.100 [0.010, 0.200]: better"


def test_a_retriever_whose_queries_all_stayed_has_not_too_few() -> None:
    row = {"mean_difference": 0.0, "low": None, "high": None, "verdict": "too few queries", "reason": "no query moved"}
    assert _said(row) == "no query moved"


def test_a_text_of_the_page_is_approved() -> None:
    places = (APPROVED, Path(__file__), Path(test_compare.__file__))
    for module in ("differences", "page"):
        assert not_approved(PACKAGE / f"annexes/compare/{module}.py", *places) == []


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_three_studies_in_a_browser(browser: Any, three: tuple[Path, pl.DataFrame], width: int) -> None:
    """Columns are studies; first what each changed, then what differs between them."""
    with opened(browser, three[0] / "index.html", width) as tab:
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.locator("h1").inner_text() == "What changed from one to two and tri?"
        for table in ("#differing", "#changed"):
            columns = tab.locator(f"{table} thead th").all_inner_texts()
            assert [name.split() for name in columns] == [["one", "baseline"], ["two"], ["tri"]]
        texts = "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
        differing = {name: cells for name, *cells in tab.eval_on_selector_all("#differing tbody tr", texts) if cells}
        assert differing["retrievers.bm25.k1"] == ["–", "1.2", "–"]
        assert differing["grid.seeds"][1] == "1, 2" and differing["torch"] == ["2", "2", "3"]
        assert differing["commit of ragrelay"] == ["abc", "abc", HOSTILE]
        assert not {"grid.k", "retrievers.bm25.kind", "study"} & set(differing)
        steer(tab, "hide=bm25&rename=dense&to=E5")
        rows = [row for row in tab.locator("#changed tr[data-of]").all() if row.is_visible()]
        assert [row.locator("th").inner_text() for row in rows] == ["E5"]
        cells = [cell.bounding_box() for row in rows for cell in row.locator("td").all()]
        assert len(cells) == 3 and all(cell["x"] + cell["width"] <= width for cell in cells), "no column is cut"
        label = "(cell) => getComputedStyle(cell, '::before').content"
        named = rows[0].locator("td").last.evaluate(label)
        assert named == ("none" if width == 1400 else '"tri: "'), "a phone shows cells below each other, with names"
        assert tab.evaluate("window.hacked") is None


def test_a_study_may_lack_a_name_of_the_pairs(tmp_path: Path) -> None:
    one, two = (write_finished(tmp_path, name, ("bm25", "dense")) for name in ("one", "two"))
    tri = write_finished(tmp_path, "tri", ("bm25", "monot5"))
    assert set(compared(tmp_path / "out", one, two, tri).filter(study="tri")["retriever"]) == {"bm25"}
    rows = compared(tmp_path / "out", one, two, tri, pairs={"retrievers": {"dense": "monot5"}})
    assert set(rows.filter(study="tri")["retriever"]) == {"bm25", "dense → monot5"}
    assert set(rows.filter(study="two")["retriever"]) == {"bm25", "dense"}
    with pytest.raises(InputError, match=r"config key 'compare.pairs.retrievers': found 'none'; expected a name in a"):
        compared(tmp_path / "out", one, two, tri, pairs={"retrievers": {"dense": "none"}})


def test_a_study_at_which_a_run_is_at_work_is_refused(tmp_path: Path) -> None:
    study = write_finished(tmp_path / "results", "one", ("bm25",))
    (study / "report/index.html").write_text("")
    check_finished("key", "one", study)
    lock = tmp_path / ".snakemake/locks/3.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/other/report/index.html\n")
    check_finished("key", "one", study)
    lock.write_text("results/other/a\nresults/one/report/provenance.json\n")
    with pytest.raises(
        InputError, match="key: found 'one', where a run of Snakemake is in progress or was killed; exp"
    ):
        check_finished("key", "one", study)


def test_studies_of_one_name_have_their_folders_in_the_labels(tmp_path: Path) -> None:
    one, two = (write_finished(tmp_path / side, "one", ("bm25",)) for side in ("left", "right"))
    rows = compared(tmp_path / "out", write_finished(tmp_path, "tri", ("bm25",)), one, two)
    assert set(rows["study"]) == {f"one ({one})", f"one ({two})"}
