"""Two studies compared: pairing, tests against scipy by hand, messages, and the page in a real browser."""

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from lxml import html
from ragrelay.analysis.gain import gains
from ragrelay.analysis.mean_tests import Means
from ragrelay.annexes.compare import paired, studies
from ragrelay.annexes.compare.compared import SideStudy
from ragrelay.annexes.compare.differences import differences
from ragrelay.annexes.compare.paired import paired_tests
from ragrelay.annexes.compare.studies import Finished, open_study
from ragrelay.annexes.compare.write import compare_studies
from ragrelay.base.errors import InputError
from ragrelay.report.data_hashes import data_hashes
from ragrelay.report.signature import signature
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.support.report_browser import needs_browser, opened, steer, violations
from tests.support.report_study import GRID, per_query
from tests.unit.report.second_way import undone

pytestmark = pytest.mark.page

HOSTILE = "</script><script>window.hacked=1</script>"
GAINS = (("one", 0.0), ("two", 0.2))
SCORER = {"kind": "bertscore", "model": "m", "layer": 6, "utility": "relative"}


def write_finished(
    folder: Path,
    name: str,
    retrievers: tuple[str, ...],
    generator: str = "lm",
    gain: float = 0.0,
    n: int = 20,
    **scorer: Any,
) -> Path:
    """The files of a finished study that a comparison reads; ``gain`` is added to the P of every second query."""
    grid = GRID | {"retrievers": list(retrievers), "k": [1, 3]}
    queries, ranked = per_query(grid | {"retrievers": ["bm25", "dense"][: len(retrievers)]}, n, seed=3)
    names = dict(zip(["bm25", "dense"], retrievers, strict=False))
    odd = pl.col("qid").cast(pl.Int64) % 2 == 1
    queries = queries.with_columns(
        pl.col("retriever").replace(names), pl.col("p") + pl.when(odd).then(gain).otherwise(0)
    )
    queries = queries.with_columns(utility=(pl.col("p") - pl.col("p0")) / pl.col("p0"))
    data = folder / name / "demo"
    for part in ("collection", "utility/s", "retrieval"):
        (data / part).mkdir(parents=True)
    queries.write_parquet(data / f"utility/s/{generator}.parquet")
    for old, new in names.items():
        ranked.filter(pl.col("retriever") == old).drop("retriever").write_parquet(data / f"retrieval/{new}.parquet")
    qids = queries["qid"].unique(maintain_order=True)
    pl.DataFrame({"qid": qids, "query": [f"{HOSTILE} {qid}" for qid in qids]}).write_parquet(
        data / "collection/queries.parquet"
    )
    pl.DataFrame({"qid": qids, "docno": ["d1"] * len(qids), "label": [3] * len(qids)}).write_parquet(
        data / "collection/qrels.parquet"
    )
    config = {
        "study": name,
        "grid": {**grid, "datasets": ["demo"], "generators": [generator], "scorers": ["s"]},
        "datasets": {"demo": {"references": {"lenient": 2, "strict": 3}}},
        "generators": {generator: {"model": f"{HOSTILE} of {name}"}},
        "scorers": {"s": SCORER | scorer},
        "retrievers": {retriever: {"kind": "bm25"} for retriever in retrievers},
    }
    provenance = {"config": config, "commit": "abc", "versions": {"torch": "2"}, "generators": {generator: {}}}
    (folder / name / "report").mkdir()
    (folder / name / "report/provenance.json").write_text(json.dumps(provenance))
    return folder / name


def compare(
    tmp_path: Path, before: Path, after: Path, pairs: dict[str, dict[str, str]] | None = None
) -> list[dict[str, str]]:
    out = tmp_path / "out"
    compare_studies(before, [after], pairs or {}, out / "index.html", out / "tests.csv", out / "queries.csv")
    with (out / "tests.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def frame(before: list[float | None], after: list[float | None], quantity: str = "p") -> pl.DataFrame:
    both = pl.DataFrame({"before": before, "after": after}, schema={"before": pl.Float64, "after": pl.Float64})
    return both.select(
        pl.lit("bm25").alias("retriever"), pl.lit("descending").alias("ordering"), pl.lit(1, pl.Int64).alias("k"),
        pl.lit("lenient").alias("references"), pl.lit(quantity).alias("quantity"),
        pl.int_range(pl.len()).cast(pl.String).alias("qid"), "before", "after",
        (pl.col("after") - pl.col("before")).alias("difference"),
    )  # fmt: skip


def test_tests_equal_scipy_on_the_same_numbers():
    random = np.random.default_rng(1)
    one, other = random.normal(0, 1, 12), random.normal(0.4, 1, 12)
    row = paired_tests(frame([*one, None], [*other, 1.0])).row(0, named=True)
    difference = other - one
    assert (row["n"], row["n_unpaired"], row["up"]) == (12, 1, int((difference > 0).sum()))
    assert row["p_t"] == pytest.approx(stats.ttest_1samp(difference, 0).pvalue)
    assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(other, one).pvalue)
    # All 2^12 exchanges of before and after, by hand.
    signs = 1 - 2 * (np.arange(4096)[:, None] >> np.arange(12) & 1)
    means = (signs * difference).mean(axis=1)
    exact = (np.abs(means) >= abs(difference.mean()) - 1e-12).mean()
    assert row["p_permutation"] == pytest.approx(exact)


def test_what_can_not_be_tested_says_why():
    values = [0.1, 0.2, 0.4]
    still = paired_tests(frame(values, values)).row(0, named=True)
    assert (still["reason"], still["same"], still["p_t"]) == ("no query moved", 3, None)
    few = paired_tests(frame([0.1, 0.1, 0.2, 0.1], [0.2, 0.3, 0.5, 0.9])).row(0, named=True)
    assert (few["reason"], few["verdict"], few["low"]) == ("fewer than 5 queries", "too few queries", None)


def test_a_change_has_the_verdict_that_a_gain_of_the_same_values_has():
    """Test, interval and words are those of a study's page, with P before in the place of P_0."""
    random = np.random.default_rng(2)
    before = random.uniform(0.3, 0.6, 20)
    for shift, word in ((0.3, "better"), (-0.2, "worse"), (0.005, "undecided")):
        after = before + shift + 0.1 * random.exponential(size=20) - 0.1
        row = paired_tests(frame(list(before), list(after))).row(0, named=True)
        keys = {"retriever": "bm25", "ordering": "descending", "k": 1, "references": "lenient"}
        utility = pl.DataFrame({"qid": list(map(str, range(20))), "p": after, "p0": before, "utility": after - before})
        gain = gains(utility.with_columns(pl.lit(value).alias(name) for name, value in keys.items()), 10, 0)
        same = ["mean_difference", "low", "high", "p_verdict"]
        assert [row[name] for name in same] == pytest.approx(gain.select(same).row(0))
        assert row["verdict"] == gain["verdict"][0] == word
        assert row["stands"] is gain["stands"][0] is (None if word == "undecided" else not undone(after - before, word))
        of_utility = paired_tests(frame(list(before), list(after), "utility")).row(0, named=True)
        assert (of_utility["verdict"], of_utility["stands"]) == (None, None)


@pytest.mark.parametrize("quantity", ["p", "nDCG@k", "utility"])
@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_intervals_of_a_change_end_where_the_scale_does(quantity: str, factor: float):
    """Of scores and measures from 0 to 1. Utility is relative: it has no scale, also where all values are below 1."""
    before, after = np.array([0.0, 0.1, 0.0, 0.05, 0.9]), np.array([0.9, 1.0, 0.95, 0.98, 0.1])
    row = paired_tests(frame([*(factor * before)], [*(factor * after)], quantity)).row(0, named=True)
    (low,), (high,) = Means.cautious((factor * (after - before))[:, None]).interval()
    assert high > factor
    ends = (low, high) if factor > 1 or quantity == "utility" else (max(low, -1.0), 1.0)
    assert (row["low"], row["high"]) == pytest.approx(ends)


def test_a_gain_is_found_where_it_was_put(tmp_path: Path):
    before = write_finished(tmp_path, "one", ("bm25", "dense"))
    after = write_finished(tmp_path, "two", ("bm25", "dense"), gain=0.2)
    rows = compare(tmp_path, before, after)
    assert len(rows) == 2 * 2 * 2 * 4 * 3  # retrievers, orderings, k, reference sets; p, utility, nDCG@k
    for row in rows:
        if row["quantity"] == "p":
            assert float(row["mean_difference"]) == pytest.approx(0.1)
            assert (row["up"], row["down"], row["same"]) == ("10", "0", "10")
        if row["quantity"] == "nDCG@k":
            assert row["reason"] == "no query moved"
    family = [row for row in rows if row["family"] == "p lenient"]
    # Both orderings give the same prompts at k = 1: one test of the family, with its p in both rows.
    own = [row for row in family if (row["ordering"], row["k"]) != ("ascending", "1")]
    assert {row["family_size"] for row in family} == {str(len(own))} == {"6"}
    holm = multipletests([float(row["p_verdict"]) for row in own], method="holm")[1]
    assert [float(row["p_holm"]) for row in own] == pytest.approx(list(holm))
    assert len({row["p_holm"] for row in family if row["k"] == "1" and row["retriever"] == "bm25"}) == 1
    queries = pl.read_csv(tmp_path / "out/queries.csv")
    assert queries.columns == list(studies.COLUMNS)
    assert pl.read_csv(tmp_path / "out/tests.csv").columns == list(paired.COLUMNS)
    assert queries.height == len(rows) * 20


def test_whole_clusters_change(tmp_path: Path):
    """A gain of every second query is one of all clusters of two, and of half the clusters of queries alike."""
    before, after = (
        write_finished(tmp_path, name, ("bm25",), gain=gain) for name, gain in (("one", 0.0), ("two", 0.2))
    )
    qids = pl.read_parquet(before / "demo/collection/queries.parquet")["qid"].to_list()
    found = {}
    for kind, names in {
        "none": None, "alone": qids, "both": [str(place // 2) for place in range(20)],
        "alike": [str(place % 2 * 10 + place // 4) for place in range(20)],
    }.items():  # fmt: skip
        if names:
            table = pl.DataFrame({"qid": qids, "cluster": names})
            table.write_parquet(after / "demo/collection/clusters.parquet")
            for key in (None, "turns.tsv"):
                provenance = json.loads((after / "report/provenance.json").read_text())
                provenance["config"]["datasets"]["demo"]["clusters"] = key
                (after / "report/provenance.json").write_text(json.dumps(provenance))
                kept = [row for row in compare(tmp_path, before, after) if row["quantity"] == "p"]
                assert key or kept == found["none"], "another configuration left the file"
        found[kind] = [row for row in compare(tmp_path, before, after) if row["quantity"] == "p"]
        page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
        assert ("The queries form 10 clusters" in page) == (kind in ("both", "alike"))
        assert ("clusters of demo" in page) == bool(names), "data that one study alone has"
    assert found["none"] == found["alone"] and found["none"][0]["p_t"] and found["none"][0]["verdict"] == "better"
    for none, both, alike in zip(found["none"], found["both"], found["alike"], strict=True):
        assert none["mean_difference"] == both["mean_difference"] == alike["mean_difference"]
        assert both["reason"] == "all clusters have the same mean" and both["verdict"] == "too few queries"
        width = float(none["high"]) - float(none["low"])
        assert float(alike["high"]) - float(alike["low"]) > 1.4 * width
        assert (alike["verdict"], alike["p_t"], alike["d_z"]) == ("too few queries", "", ""), "10 clusters"


@pytest.mark.parametrize("sizes", [(20, 12), (12, 20)])
@pytest.mark.parametrize("clustered", [("before",), ("after",), ("before", "after")])
def test_clusters_of_studies_with_other_queries(tmp_path: Path, sizes: tuple[int, int], clustered: tuple[str, ...]):
    """Queries that one study lacks have no cluster there; the common ones alone count."""
    sides = {
        side: write_finished(tmp_path, side, ("bm25",), gain=gain, n=n)
        for side, gain, n in zip(("before", "after"), (0.0, 0.2), sizes, strict=True)
    }
    for side in clustered:
        qids = pl.read_parquet(sides[side] / "demo/collection/queries.parquet")["qid"]
        names = pl.DataFrame({"qid": qids, "cluster": [str(int(qid) // 3) for qid in qids]})
        names.write_parquet(sides[side] / "demo/collection/clusters.parquet")
        provenance = json.loads((sides[side] / "report/provenance.json").read_text())
        provenance["config"]["datasets"]["demo"]["clusters"] = "turns.tsv"
        (sides[side] / "report/provenance.json").write_text(json.dumps(provenance))
    rows = [row for row in compare(tmp_path, sides["before"], sides["after"]) if row["quantity"] == "p"]
    assert rows and {(row["n"], row["n_unpaired"]) for row in rows} == {("12", "8")}
    qids = pl.read_parquet(sides["before" if sizes[0] == 12 else "after"] / "demo/collection/queries.parquet")["qid"]
    common = len({int(qid) // 3 for qid in qids})
    assert f"The queries form {common} clusters" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_scores_of_people_in_files_of_other_names(tmp_path: Path):
    """A file's path says nothing about the meaning of its scores; its scale and measure do."""
    of_file = {"kind": "file", "model": None, "layer": None, "references": "judged", "scale": [0.0, 1.0]}
    before, after, other = (
        write_finished(tmp_path, name, ("bm25",), **{**of_file, "path": f"{name}.csv", "measure": measure})
        for name, measure in (("one", "good"), ("two", "good"), ("three", "bad"))
    )
    assert compare(tmp_path, before, after)
    with pytest.raises(InputError, match="measure: good and bad; expected equal values, so that P is comparable"):
        compare(tmp_path, before, other)


def test_data_of_annexes_that_differ_are_listed(tmp_path: Path):
    """Labels of a source that only one study has, or that changed."""
    before, after = (write_finished(tmp_path, name, ("bm25",)) for name in ("one", "two"))
    for study, label in ((before, 1), (after, 2)):
        (study / "demo/annotations/labels/s/lm").mkdir(parents=True)
        labels = pl.DataFrame({"source": ["llm"], "qid": ["1"], "docno": ["d1"], "label": [label]})
        labels.write_parquet(study / "demo/annotations/labels/s/lm/labels.parquet")
    compare(tmp_path, before, after)
    assert "labels llm, s, lm of demo" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_no_text_is_a_formula_to_a_spreadsheet(tmp_path: Path):
    """Texts that look like formulas get a quote in front; texts of negative numbers stay as they are."""
    studies = [write_finished(tmp_path, name, ("bm25",)) for name in ("one", "two")]
    texts = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "plain = 1", "-2", "+.5e3", "-0.1"]
    for study in studies:
        path = study / "demo/collection/queries.parquet"
        queries = pl.read_parquet(path)
        queries.with_columns(query=pl.Series([texts[n % len(texts)] for n in range(len(queries))])).write_parquet(path)
    compare(tmp_path, *studies)
    rows = pl.read_csv(tmp_path / "out/queries.csv", schema_overrides={"query": pl.String})
    escaped = {f"'{text}" for text in texts[:5]}
    assert set(rows["query"]) == escaped | set(texts[5:])
    assert rows["difference"].dtype == pl.Float64


def test_names_that_differ_are_paired_as_told(tmp_path: Path):
    before = write_finished(tmp_path, "one", ("bm25", "dense"), generator="small")
    after = write_finished(tmp_path, "two", ("bm25", "monot5"), generator="large")
    rows = compare(tmp_path, before, after)
    assert {row["retriever"] for row in rows} == {"bm25"}  # and the only two generators belong together
    assert {(row["generator_before"], row["generator_after"]) for row in rows} == {("small", "large")}
    assert "dense (before) and monot5 (after)" in (tmp_path / "out/index.html").read_text(encoding="utf-8")
    rows = compare(tmp_path, before, after, {"retrievers": {"dense": "monot5"}})
    assert {row["retriever"] for row in rows} == {"bm25", "dense → monot5"}
    with pytest.raises(InputError, match=r"'compare.pairs.retrievers': found 'nope'; expected a name in one"):
        compare(tmp_path, before, after, {"retrievers": {"nope": "bm25"}})


def test_gold_answers_are_one_reference_set(tmp_path: Path):
    folders = [write_finished(tmp_path, name, ("bm25",), gain=gain, references="gold") for name, gain in GAINS]
    for folder in folders:
        path = folder / "demo/utility/s/lm.parquet"
        frame = pl.read_parquet(path).filter(references="lenient").with_columns(references=pl.lit("gold"))
        frame.write_parquet(path)
    rows = compare(tmp_path, *folders)
    assert {row["references"] for row in rows} == {"gold"} and "gold references" in (
        tmp_path / "out/index.html"
    ).read_text(encoding="utf-8")


def test_what_can_not_be_compared_is_named(tmp_path: Path):
    before = write_finished(tmp_path, "one", ("bm25",))
    other = write_finished(tmp_path, "two", ("bm25",), layer=9)
    with pytest.raises(InputError, match=r"scorers s of one and s of two: found layer: 6 and 9"):
        compare(tmp_path, before, other)
    with pytest.raises(InputError, match=r"found aggregate: None and mean"):
        compare(tmp_path, before, write_finished(tmp_path, "mean", ("bm25",), aggregate="mean"))
    compare(tmp_path, before, write_finished(tmp_path, "faster", ("bm25",), device="cuda"))
    with pytest.raises(InputError, match=r"provenance.json: found no such file"):
        compare(tmp_path, before, tmp_path / "nowhere")
    stranger = write_finished(tmp_path, "three", ("x",))
    rows = compare(tmp_path, before, stranger)  # the only retrievers of both
    assert {row["retriever"] for row in rows} == {"bm25 → x"}


@pytest.mark.parametrize(
    "name",
    [
        "report/provenance.json",
        "demo/collection/queries.parquet",
        "demo/utility/s/lm.parquet",
        "demo/retrieval/bm25.parquet",
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_damaged_file_of_either_study_is_named(tmp_path: Path, name: str, side: int):
    """One line names the file and the study whose command makes it again; nothing is written."""
    studies = [write_finished(tmp_path, study, ("bm25",)) for study in ("one", "two")]
    path = studies[side] / name
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError) as told:
        compare(tmp_path, *studies)
    said, study = str(told.value), studies[side].name
    mend = f"expected a complete file; run the command of study {study} again, after rm {path}"
    assert re.fullmatch(rf"{re.escape(str(path))}: found a damaged file \([^\n]+\); {re.escape(mend)}", said)
    path.unlink()
    with pytest.raises(InputError, match=rf"{re.escape(str(path))}: found no such file; expected [^\n]+$"):
        compare(tmp_path, *studies)
    assert not (tmp_path / "out").exists()


def test_differences_of_configurations():
    grids = ({"a": {"b": 1, "c": [1, 2]}}, {"a": {"b": 2, "c": [1, 2]}, "d": None})
    sides = [SideStudy(Finished("one", Path(), {"config": config}), "one", []) for config in grids]
    [found] = differences(sides)
    assert (found.heading, found.rows) == ("Configuration", [("a.b", ["1", "2"]), ("d", ["–", "None"])])


def test_a_study_does_not_differ_from_itself(tmp_path: Path):
    """Its origin is shown all the same."""
    study = write_finished(tmp_path, "one", ("bm25",))
    compare(tmp_path, study, study)
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    for said in (
        "<p>The configurations are identical.</p>",
        "<p>Queries, judgements, gold answers, runs, labels and corpus are identical.</p>",
        "<p>Software and answer fingerprints are identical.</p>",
        f'<th scope="row">results</th><td data-title="one">{study}</td><td data-title="one">{study}</td>',
        '<th scope="row">commit of ragrelay</th><td data-title="one">abc</td><td data-title="one">abc</td>',
    ):
        assert said in page
    assert 'id="differing"' not in page


@needs_browser
def test_other_seeds_are_told_above_the_answer(tmp_path: Path):
    """A query's P is a mean over the seeds, so that equal answers to the common seeds may have another P."""
    sides = [write_finished(tmp_path, name, ("bm25", "dense")) for name in ("one", "two")]
    compare(tmp_path, *sides)
    assert "P is a mean" not in (tmp_path / "out/index.html").read_text(encoding="utf-8")
    path = sides[0] / "report/provenance.json"
    provenance = json.loads(path.read_text(encoding="utf-8"))
    provenance["config"]["grid"]["seeds"] = [3, 1]
    path.write_text(json.dumps(provenance), encoding="utf-8")
    compare(tmp_path, *sides)
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "P is a mean over 3 seeds (1, 2 and 3) in two but over 2 seeds (1 and 3) in one. " in page
    assert "Answers are sampled, so this difference alone changes P." in page


def test_each_study_s_own_answers_are_on_the_page(tmp_path: Path):
    """A page made before there was facts.json has none."""
    sides = [write_finished(tmp_path, name, ("bm25", "dense")) for name in ("one", "two")]
    compare(tmp_path, *sides)
    assert 'id="told"' not in (tmp_path / "out/index.html").read_text(encoding="utf-8")
    names = {"dataset": "demo", "generator": "lm", "scorer": "s"}
    for side, words in zip(sides, ("bm25 is better", HOSTILE), strict=True):
        own = {**names, "answers": [{"topic": "Systems", "sentence": f"{words}."}]}
        other = {**names, "scorer": "rouge", "answers": [{"topic": "Systems", "sentence": "of another scorer"}]}
        (side / "report/facts.json").write_text(json.dumps({"version": 1, "sections": [other, own]}), encoding="utf-8")
    compare(tmp_path, *sides)
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    (row,) = html.fromstring(page).xpath('//table[@id="answers-told"]//tr[th="Systems"]')
    assert [cell.text_content() for cell in row.xpath("td")] == ["bm25 is better.", f"{HOSTILE}."]
    assert "of another scorer" not in page


def test_page_of_a_comparison(browser: Any, tmp_path: Path):
    before = write_finished(tmp_path, "one", ("bm25", "dense"))
    compare(tmp_path, before, write_finished(tmp_path, "two", ("bm25", "dense"), gain=0.2))
    with opened(browser, tmp_path / "out/index.html") as tab:
        assert violations(tab) == []
        assert tab.locator("h1").inner_text() == "What changed from one to two?"
        assert "Above zero, two is better" in tab.locator("#s1-change-figure").inner_text()
        assert tab.locator('[data-chart="s1-queries"] svg .mark-symbol.role-mark path').count() == 2 * 20
        assert tab.locator('[data-chart="s1-change"] svg .mark-symbol.role-mark path').count() == 2 * 2 * 2
        button = tab.locator("#s1-tests-table thead button").nth(6)  # mean change
        button.focus()
        tab.keyboard.press("Enter")
        assert tab.locator("#s1-tests-table th[aria-sort=ascending]").count() == 1
        assert HOSTILE in tab.locator("#s1-moved-table").inner_text()
        assert f"{HOSTILE} of two" in tab.locator("body").inner_text()
        assert tab.evaluate("window.hacked") is None
        assert tab.locator(".said").all_inner_texts() == [
            "P changed for 10 of 20 queries with at least one retriever; answers in “two” are better with bm25 and "
            "dense\n:\n"
            "mean P changed by 0.100 [0.052, 0.148] with bm25 (k = 3, descending order, lenient references)."
        ]
        title = (
            "P changed for 10 of 20 queries with at least one retriever; answers in “two” are better with bm25 and "
            "dense"
        )
        assert tab.title().startswith(f"{title} – ")
        rows = tab.locator("#s1-moved-table tbody tr")
        assert rows.count() == 10 and "\t16\t16\t" in rows.first.inner_text(), "cells of every grade"
        summary = tab.locator("#s1-how").inner_text()
        assert "up for 10 of 20 queries, down for 0" in summary
        # Two retrievers, k = 1 and 3, of whose orderings k = 1 has one: 3 cells each, at 2 grades.
        assert "After the change, P is better in 12 of 12 cells and worse in 0; 0 are undecided" in summary
        names = tab.locator("#s1-tests-table tbody tr:not([data-gone]) td:first-child")
        assert set(names.all_inner_texts()) == {"bm25", "dense"}
        steer(tab, "hide=bm25&rename=dense&to=E5")
        assert set(names.all_inner_texts()) == {"E5"}
        assert tab.locator('[data-chart="s1-queries"] svg .mark-symbol.role-mark path').count() == 20
        assert "1 retriever hidden (bm25)" in tab.locator(".steered").inner_text()


@pytest.mark.parametrize("content", ["{}", "[]", '{"config": {}}', '{"config": {"study": "a", "grid": 1}}'])
def test_provenance_without_a_configuration(tmp_path: Path, content: str) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report/provenance.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"provenance\.json: found no configuration"):
        open_study(tmp_path)


def test_queries_whose_text_or_judgements_changed_are_not_tested(tmp_path: Path):
    """The page says what differs, although the two configurations are equal; the order of rows does not count."""
    before = write_finished(tmp_path, "one", ("bm25", "dense"))
    after = write_finished(tmp_path, "two", ("bm25", "dense"), gain=0.2)
    queries, qrels = (after / f"demo/collection/{name}.parquet" for name in ("queries", "qrels"))
    pl.read_parquet(queries).reverse().write_parquet(queries)
    rows = compare(tmp_path, before, after)
    assert {(row["n"], row["n_unpaired"]) for row in rows if row["quantity"] == "p"} == {("20", "0")}
    assert "labels and corpus are identical" in (tmp_path / "out/index.html").read_text(encoding="utf-8")
    qids = pl.read_parquet(queries)["qid"].sort().to_list()
    changed = pl.col("qid") == qids[0]
    pl.read_parquet(queries).with_columns(
        pl.when(changed).then(pl.lit("other")).otherwise(pl.col("query")).alias("query")
    ).write_parquet(queries)
    judged = pl.when(pl.col("qid").is_in(qids[1:3])).then(2).otherwise(pl.col("label")).alias("label")
    pl.read_parquet(qrels).with_columns(judged).write_parquet(qrels)
    rows = compare(tmp_path, before, after)
    assert {(row["n"], row["n_unpaired"]) for row in rows if row["quantity"] == "p"} == {("17", "0")}
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "The studies differ in the text of 1 query and the judgements of 2 queries" in page
    assert "judgements of demo" in page and "queries of demo" in page
    told = pl.read_csv(tmp_path / "out/queries.csv", schema_overrides={"qid": pl.String})
    assert not {*told["qid"]} & {*qids[:3]}
    pl.read_parquet(qrels).with_columns(label=1).write_parquet(qrels)
    with pytest.raises(InputError, match="judgements of 20 changed"):
        compare(tmp_path, before, after)
    qrels.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="a damaged file"):
        compare(tmp_path, before, after)


def test_hashes_of_data_follow_its_content_alone(tmp_path: Path):
    study = write_finished(tmp_path, "one", ("bm25",))
    (study / "demo/runs").mkdir()
    run, receipt = study / "demo/runs/bm25.run.gz", study / "indexes/demo/pisa-1.json"
    receipt.parent.mkdir(parents=True)
    receipt.write_text(json.dumps({"corpus": "passages:12"}))
    run.write_bytes(gzip.compress(b"# a header\nq Q0 d1 1 2.0 bm25\nq Q0 d2 2 1.0 bm25\n"))
    config = {"grid": {"retrievers": ["bm25"]}, "datasets": {"demo": {}}}
    found = data_hashes(study, "demo", config)
    assert (found["queries"]["count"], found["judgements"]["count"], found["run bm25"]["count"]) == (20, 20, 2)
    assert found["corpus demo"] == {"hash": "passages:12"}, "as receipts of earlier versions have it"
    receipt.write_text(json.dumps({"corpus": "passages:12", "passages": 3}))
    found = data_hashes(study, "demo", config)
    assert found["corpus demo"] == {"count": 3, "hash": "passages:12"}
    run.write_bytes(gzip.compress(b"q Q0 d1 1 2.0 bm25\nq Q0 d2 2 1.0 bm25\n"))
    assert data_hashes(study, "demo", config) == found
    run.write_bytes(gzip.compress(b"q Q0 d1 1 2.0 other\nq Q0 d2 2 1.0 other\n"))
    assert data_hashes(study, "demo", config) == found
    run.write_bytes(gzip.compress(b"q Q0 d1 1 2.0 bm25\nq Q0 d2 2 1.5 bm25\n"))
    again = data_hashes(study, "demo", config)
    assert {name for name in found if found[name] != again[name]} == {"run bm25"}


def test_equal_rankings_of_paired_retrievers_do_not_differ(tmp_path: Path):
    sides = [write_finished(tmp_path, "one", ("bm25",)), write_finished(tmp_path, "two", ("mine", "bm25"), gain=0.2)]
    pairs = {"retrievers": {"bm25": "mine"}}
    for side, name, tag in ((0, "bm25", "bm25"), (1, "mine", "mine"), (1, "bm25", "bm25")):
        run = sides[side] / f"demo/runs/{name}.run.gz"
        run.parent.mkdir(exist_ok=True)
        run.write_bytes(gzip.compress(f"q Q0 d1 1 2.0 {tag}\n".encode()))
    compare(tmp_path, sides[0], sides[1], pairs)
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "run bm25 (no counterpart) of demo" in page and "run bm25 of demo" not in page and "run mine" not in page
    (sides[1] / "demo/runs/mine.run.gz").write_bytes(gzip.compress(b"q Q0 d2 1 2.0 mine\n"))
    compare(tmp_path, sides[0], sides[1], pairs)
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "run bm25 of demo" in page
    headings = [cell.text_content().strip() for cell in html.fromstring(page).xpath("//table//th")]
    assert "p, verdict" in headings and "The verdict follows from “p, verdict”" in page


def test_passages_that_a_retriever_brings_are_data(tmp_path: Path):
    study = write_finished(tmp_path, "one", ("bm25",))
    contexts = study / "demo/contexts/bm25.parquet"
    contexts.parent.mkdir()
    config = {"grid": {"retrievers": ["bm25"]}, "datasets": {"demo": {}}, "retrievers": {"bm25": {"kind": "bm25"}}}
    without = data_hashes(study, "demo", config)
    config["retrievers"]["bm25"]["passages"] = "poison.jsonl"
    hashes = []
    for texts in (["a", "b", "b"], ["b", "b", "a"], ["a", "c", "c"]):
        rows = pl.DataFrame({"qid": ["1", "1", "2"], "docno": texts, "text": texts})
        rows.write_parquet(contexts)
        found = data_hashes(study, "demo", config)
        assert found.keys() - without.keys() == {"passages of bm25"} and found["passages of bm25"]["count"] == 2
        hashes.append(found["passages of bm25"]["hash"])
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_processor_is_data_and_in_the_signature(tmp_path: Path):
    study = write_finished(tmp_path, "one", ("bm25", "cut"))
    for folder in ("runs", "contexts"):
        (study / "demo" / folder).mkdir()
    for name in ("bm25", "cut"):
        (study / f"demo/runs/{name}.run.gz").write_bytes(gzip.compress(f"q Q0 d1 1 2.0 {name}\n".encode()))
    provenance = json.loads((study / "report/provenance.json").read_text())
    config, lines = provenance["config"], []
    config["retrievers"]["cut"] = {"kind": "processed", "of": "bm25", "processor": {"kind": "python"}}
    provenance["generators"]["lm"]["fingerprint"] = "f" * 16
    for fingerprint in ("a" * 16, "b" * 16):
        receipt = study / "demo/contexts/cut.processed.json"
        receipt.write_text(json.dumps({"fingerprint": fingerprint}))
        found = data_hashes(study, "demo", config)
        assert found["processor of cut"] == {"hash": fingerprint} and "processor of bm25" not in found
        lines.append(signature(provenance | {"data": {"demo": found}}, "demo", "lm", "s"))
        run = found["run cut"]["hash"][:8]
        assert (
            found["run bm25"] == found["run cut"] and f"retrievers:bm25:{run},cut:{run}:{fingerprint[:8]}|" in lines[-1]
        )
    assert lines[0] != lines[1]
