"""Three studies side by side: rows, corrections, messages, and the page in a real browser."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lxml import html
from ragrelay.analysis import relay
from ragrelay.analysis.gain import gains
from ragrelay.annexes.compare.several import COLUMNS, compare_several
from ragrelay.annexes.compare.side_by_side import _word
from ragrelay.annexes.compare.studies import check_finished
from ragrelay.annexes.compare.write import compare_studies
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import read_table, schema_of
from statsmodels.stats.multitest import multipletests

from tests.annexes.compare import test_compare
from tests.annexes.compare.test_compare import HOSTILE, write_finished
from tests.annexes.compare.test_sentences_of_a_comparison import APPROVED
from tests.support.approved import approve, not_approved
from tests.support.report_browser import needs_browser, opened, steer, violations
from tests.unit.report.second_way import PACKAGE, agree, chance

pytestmark = pytest.mark.page


def write_analysed(folder: Path, name: str, retrievers: tuple[str, ...] = ("bm25", "dense"), **given: Any) -> Path:
    """A finished study with its tables of gain and relay."""
    study = write_finished(folder, name, retrievers, **given)
    analysis = study / "demo/analysis/s/lm"
    analysis.mkdir(parents=True)
    part = {"dataset": pl.lit("demo"), "generator": pl.lit("lm"), "scorer": pl.lit("s")}
    utility = pl.read_parquet(study / "demo/utility/s/lm.parquet")
    gains(utility, 10, 0).with_columns(**part).write_csv(analysis / "gain.csv")
    slopes = [
        {"retrievers": relay.ALL_RANKINGS, "ordering": ordering, "k": k, "references": "lenient", "measure": "nDCG",
         "adjusted": adjusted, "n": 20, "slope": 0.2, "low": 0.1, "high": 0.3, "verdict": "above zero"}
        for ordering in ("descending", "ascending") for k in (1, 3) for adjusted in (False, True)
    ]  # fmt: skip
    pl.DataFrame(slopes, schema=schema_of(relay.TABLE)).with_columns(**part).write_csv(analysis / "relay.csv")
    return study


def set_side_by_side(out: Path, before: Path, *others: Path, pairs: Any = None) -> pl.DataFrame:
    """Make the comparisons of each two, then that of all; return studies.csv."""
    links = [f"{before.name}-to-{study.name}" for study in others]
    for study, link in zip(others, links, strict=True):
        paths = (out / link / name for name in ("index.html", "tests.csv", "queries.csv"))
        compare_studies(before, study, pairs or {}, *paths, several=True)
    tests, queries = ([out / link / name for link in links] for name in ("tests.csv", "queries.csv"))
    page, table = out / "all/studies.html", out / "all/studies.csv"
    compare_several(before, others, pairs or {}, tests, queries, page, table)
    return read_table(out / "all/studies.csv", COLUMNS)


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
        write_analysed(folder, name, gain=gain) for name, gain in (("one", 0.0), ("two", 0.2), ("tri", 0.004))
    )
    provenance_of(two, config__retrievers__bm25__k1=1.2, config__grid__seeds=[1, 2])
    provenance_of(tri, versions__torch="3", commit=HOSTILE)
    return folder / "out", set_side_by_side(folder / "out", one, two, tri)


def test_each_study_is_a_row_of_the_table_per_cell_and_quantity(three: tuple[Path, pl.DataFrame]) -> None:
    _, rows = three
    assert rows.columns == list(COLUMNS)
    shown = rows.filter(k=3, ordering="descending", references="lenient", retriever="bm25")
    p = {row["study"]: row["value"] for row in shown.filter(quantity="p").to_dicts()}
    change = {row["study"]: row for row in shown.filter(quantity="change").to_dicts()}
    assert set(p) == {"one", "two", "tri"} and set(change) == {"two", "tri"}
    assert change["two"]["value"] == pytest.approx(0.1) == pytest.approx(p["two"] - p["one"])
    assert change["two"]["verdict"] == "better"
    assert shown.filter(quantity="gain")["study"].to_list() == ["one", "two", "tri"]
    of_relay = rows.filter(k=3, ordering="descending", references="lenient", retriever=relay.ALL_RANKINGS)
    assert of_relay["quantity"].to_list() == ["relay", "relay adjusted"] * 3
    assert set(of_relay["verdict"]) == {"it is"}


def test_both_pages_name_the_retrievers_that_were_compared(tmp_path: Path) -> None:
    """Two new retrievers have no counterpart, so only bm25's answers were compared."""
    one, two = write_analysed(tmp_path, "one", ("bm25",)), write_analysed(tmp_path, "two", ("bm25", "new", "newer"))
    set_side_by_side(tmp_path / "out", one, two)
    expected = (
        "No answer’s P changed with bm25 alone, 1 of 3 retrievers "
        "To compare new and newer too, name counterparts under compare.pairs."
    )
    for page in ("one-to-two/index.html", "all/studies.html"):
        said = html.fromstring((tmp_path / "out" / page).read_text(encoding="utf-8")).xpath("//p[@class='said']")
        assert [" ".join(line.text_content().split()) for line in said] == [expected], page


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
    with opened(browser, three[0] / "all/studies.html", width, listed=listed) as tab:
        outside = """(all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth
          || one.scrollWidth > one.clientWidth && one.clientWidth).map((one) => one.outerHTML)"""
        assert tab.eval_on_selector_all(".bar, .bar nav, .bar li, .bar button", outside) == []
        assert tab.locator(".bar nav").first.locator("a").all_text_contents()[:4] == titles[:4]


@needs_browser
def test_a_chart_without_any_interval_writes_nothing_to_the_console(tmp_path: Path, browser: Any) -> None:
    one, two = (write_analysed(tmp_path, name) for name in ("one", "two"))
    set_side_by_side(tmp_path / "out", one, two)
    with opened(browser, tmp_path / "out/one-to-two/index.html") as tab:
        assert tab.locator(".chart svg").count() == 2


def test_p_values_are_corrected_over_all_studies(three: tuple[Path, pl.DataFrame]) -> None:
    """Orderings with the same prompts count once: at k = 1 both, so 3 cells of 2 retrievers and 2 studies."""
    family = three[1].filter(quantity="change", references="lenient")
    own = family.filter(~((pl.col("ordering") == "ascending") & (pl.col("k") == 1)))
    assert set(family["family_size"]) == {12} == {own.height}
    for method, column in (("holm", "p_holm"), ("fdr_bh", "p_bh")):
        assert own[column].to_list() == pytest.approx(list(multipletests(own["p_verdict"], method=method)[1]))
    alone = pl.read_csv(three[0] / "one-to-two/tests.csv").filter(quantity="p", references="lenient")
    assert set(alone["family_size"]) == {6}


def test_the_overview_says_what_the_tests_say_and_is_approved(three: tuple[Path, pl.DataFrame]) -> None:
    """Its counts are of each study's own tests, orderings of one prompt once; Holm's correction over all of them."""
    folder, _ = three
    page = html.fromstring((folder / "all/studies.html").read_text(encoding="utf-8"))

    def texts(path: str) -> list[str]:
        return [" ".join(one.text_content().split()).replace(" :", ":") for one in page.xpath(path)]

    tests = pl.concat(
        pl.read_csv(folder / f"one-to-{name}/tests.csv").filter(
            ~((pl.col("ordering") == "ascending") & (pl.col("k") == 1)),
            ~pl.col("references").str.ends_with("-unseen"),
            quantity="p",
        )
        for name in ("two", "tri")
    )
    words, kept = tests["verdict"].to_list(), []
    for of_grade in tests.partition_by("references"):
        keeps = multipletests(of_grade["p_verdict"].to_list(), method="holm")[0]
        kept += [word for word, one in zip(of_grade["verdict"], keeps, strict=True) if one]
    counts = [f"{some.count('better')} worse {some.count('worse')}" for some in (words, kept)]
    limits = texts("//section[@id='limits']//li")
    agree(limits[1:2], [f"{len(words)} better {counts[0]} better {counts[1]} {chance(len(words))}"])
    rows = page.xpath("//table[@id='s1-did']//tr")
    cells = [" | ".join(" ".join(one.text_content().split()) for one in row) for row in rows]
    heads = texts("//h1|//h2|//caption|//table[@id='differing']//th")
    assert "Data, by number and hash of their rows" not in heads, "the same data"
    approve(APPROVED / "several.txt", [*heads, *texts("//*[@class='said']"), *cells, *limits])


def test_a_word_that_the_correction_undoes_says_so() -> None:
    row = {"reason": None, "verdict": "better", "p_holm": 0.06, "stands": True}
    assert _word(row) == "better, undecided after Holm’s correction over all studies"
    assert _word(row | {"p_holm": 0.04}) == "better"


def test_a_text_of_the_overview_is_approved() -> None:
    places = (APPROVED, Path(__file__), Path(test_compare.__file__))
    for module in ("side_by_side", "differences", "page"):
        assert not_approved(PACKAGE / f"annexes/compare/{module}.py", *places) == []


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_three_studies_in_a_browser(browser: Any, three: tuple[Path, pl.DataFrame], width: int) -> None:
    """Columns are studies; first what differs between them, then what each did."""
    with opened(browser, three[0] / "all/studies.html", width) as tab:
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.locator("h1").inner_text() == "What do two and tri change against one?"
        headings = tab.locator("main h2").all_inner_texts()
        assert headings[:2] == ["What differs between the studies", "What each did: demo · lm · s"]
        for table in ("#differing", "#s1-did"):
            columns = tab.locator(f"{table} thead th").all_inner_texts()
            assert [name.split() for name in columns] == [["one", "baseline"], ["two"], ["tri"]]
        differing = {
            row[0]: row[1:]
            for row in (line.split("\t") for line in tab.locator("#differing").inner_text().splitlines())
            if len(row) == 4
        }
        assert differing["retrievers.bm25.k1"] == ["–", "1.2", "–"]
        assert differing["grid.seeds"][1] == "1, 2" and differing["torch"] == ["2", "2", "3"]
        assert differing["commit of ragrelay"] == ["abc", "abc", HOSTILE]
        assert not {"grid.k", "retrievers.bm25.kind", "study"} & set(differing)
        did = tab.locator("#s1-did").inner_text()
        order = ["P; 20 queries", "P less that of one", "Are the answers better than those of one?",
                 "Gain over zero-shot", "Relay"]  # fmt: skip
        places = [did.index(text) for text in order]
        assert places == sorted(places)
        assert "0.020 [0.010, 0.030], 20 queries" in did and "they do" in did
        steer(tab, "hide=bm25&rename=dense&to=E5")
        of_retrievers = tab.locator("#s1-did tr[data-of]")
        shown = [row for row in of_retrievers.all() if row.is_visible()]
        assert len(shown) * 2 == of_retrievers.count() and {row.inner_text()[:3] for row in shown} == {"E5\t"}
        steer(tab, "")
        links = tab.eval_on_selector_all("main > .note a", "(all) => all.map((one) => one.href)")
        assert links == [(three[0] / f"one-to-{name}/index.html").as_uri() for name in ("two", "tri")]
        assert tab.evaluate("window.hacked") is None


def test_a_study_that_lacks_a_retriever_has_no_value_there(tmp_path: Path) -> None:
    one, two = (write_analysed(tmp_path, name) for name in ("one", "two"))
    tri = write_analysed(tmp_path, "tri", ("bm25", "monot5"))
    rows = set_side_by_side(tmp_path / "out", one, two, tri)
    assert set(rows.filter(study="tri", quantity="p")["retriever"]) == {"bm25"}
    page = (tmp_path / "out/all/studies.html").read_text(encoding="utf-8")
    assert "retrievers.monot5" in page.replace("<wbr>", "")
    rows = set_side_by_side(tmp_path / "out", one, two, tri, pairs={"retrievers": {"dense": "monot5"}})
    assert set(rows.filter(study="tri", quantity="p")["retriever"]) == {"bm25", "dense"}
    assert "monot5: " in (tmp_path / "out/all/studies.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"config key 'compare.pairs.retrievers': found 'none'; expected one of"):
        set_side_by_side(tmp_path / "out", one, two, tri, pairs={"retrievers": {"dense": "none"}})


@pytest.mark.parametrize("name", ["report/provenance.json", "demo/utility/s/lm.parquet", "demo/analysis/s/lm/gain.csv"])
def test_a_study_that_is_not_whole_is_named_in_one_line(tmp_path: Path, name: str) -> None:
    all_three = [write_analysed(tmp_path, study) for study in ("one", "two", "tri")]
    set_side_by_side(tmp_path / "out", *all_three)
    path = all_three[2] / name
    tests, queries = (
        [tmp_path / f"out/one-to-{study}/{kind}.csv" for study in ("two", "tri")] for kind in ("tests", "queries")
    )
    out = tmp_path / "again"
    path.unlink()
    with pytest.raises(InputError) as told:
        page, table = out / "studies.html", out / "studies.csv"
        compare_several(all_three[0], all_three[1:], {}, tests, queries, page, table)
    assert str(told.value).startswith(f"{path}: found no such file; expected ") and "\n" not in str(told.value)
    assert not out.exists()


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
        InputError, match="key: found 'one', at which a run of Snakemake is at work, or was killed; exp"
    ):
        check_finished("key", "one", study)


def test_studies_of_one_name_have_their_folders_in_the_labels(tmp_path: Path) -> None:
    one, two = (write_analysed(tmp_path / side, "one") for side in ("left", "right"))
    tri = write_analysed(tmp_path, "tri")
    rows = set_side_by_side(tmp_path / "out", tri, one, two.rename(tmp_path / "right/two"))
    assert set(rows["study"]) == {"tri", f"one ({one})", f"one ({tmp_path / 'right/two'})"}
