"""Published tables beside the study with everything optional."""

import polars as pl
import pytest

from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.study, pytest.mark.gate]


def test_the_study_is_compared_with_published_tables(optional: Sandbox) -> None:
    folder = optional.results / "reproduction"
    cells = pl.read_csv(folder / "cells.csv").filter(quantity="utility", scorer="minilm")
    means = pl.read_csv(optional.results / "small/analysis/minilm/demo-lm/utility.csv")
    published = [("bm25", "descending", 0.1), ("bm25", "ascending", 0.2), ("rel", "descending", 0.3)]
    assert cells.select("retriever", "ordering", "published").rows() == published, "k = 15 is none of this study's"
    for row in cells.iter_rows(named=True):
        mine = means.filter(retriever=row["retriever"], ordering=row["ordering"], k=2, references="lenient")
        assert row["value"] == mine["mean_utility"].item()
        assert row["difference"] == pytest.approx(row["value"] - row["published"])
        assert row["inside"] == (mine["low"].item() <= row["published"] <= mine["high"].item())
    tests = pl.read_csv(optional.results / "small/analysis/minilm/demo-lm/significance.csv").filter(
        retriever="bm25", k=2, references="lenient", quantity="utility"
    )
    daggers = dict(tests.filter(mark="†").select("ordering", "significant").iter_rows())
    found = dict(cells.filter(retriever="bm25").select("ordering", "differs_from_rel").iter_rows())
    assert found == daggers
    assert cells.filter(ordering="ascending")["differs_from_reversed"].item() == (
        tests.filter(mark="‡")["significant"].item()
    )
    summary = pl.read_csv(folder / "summary.csv").filter(scorer="minilm").row(0, named=True)
    assert (summary["n"], summary["n_published"]) == (3, 4)
    labels = pl.read_csv(folder / "labels.csv").filter(scorer="minilm", references="lenient")
    assert labels.select("source", "coefficient", "published").rows() == [
        ("erag", "kendall", 0.5), ("erag", "spearman", 0.6),
    ]  # fmt: skip
    cost = pl.read_csv(folder / "label_cost.csv")
    assert cost["published"].to_list() == [100.0, 50.0, 2.0] and cost["value"].is_not_null().all()
    rows = pl.read_csv(folder / "rows.csv")
    assert rows.is_empty(), "its published tables are of none of the papers"
    (claims,) = pl.read_csv(folder / "claims.csv").to_dicts()
    usage = pl.read_csv(optional.results / "acu/tables/usage.csv").filter(stance="all stances")
    assert (claims["generator"], claims["published"]) == ("demo-lm", 0.25)
    assert claims["value"] == usage["mean_acu"].item()
    assert r"\begin{longtable}" in (optional.results / "report/tables/reproduction.tex").read_text(encoding="utf-8")
    pages = [(optional.results / f"report/{name}.html").read_text(encoding="utf-8") for name in ("index", "acu")]
    assert all(
        "Comparison with published tables" in page and "Mean ACU compared with the published means" in page
        for page in pages
    )
    assert "The paper’s findings, tested on this study" in pages[0] and "The paper’s findings" not in pages[1]
