"""Cells beside published ones and measures of reproduction, on drawn and hand-made numbers whose truth is known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.reproduction.cells import cells
from ragrelay.annexes.reproduction.latex import cells_latex
from ragrelay.annexes.reproduction.measures import ALL, cell_summary, effects
from ragrelay.annexes.reproduction.page import reproduction_section
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.report.display.page import Page
from scipy import stats

from tests.support.report_study import complete

PART = {"generator": "lm", "scorer": "bert"}
RETRIEVERS = ("bm25", "monot5", "ideal")
P0: dict[str, Any] = {"dl19": [0.3, 0.5, 0.6, None, 0.8], "dl20": [0.7, 0.71, 0.72]}
Made = tuple[list[dict[str, Any]], list[Path], list[Path], pl.DataFrame]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Made]:
    """A function that draws a study of two datasets and a published table that is off by known amounts."""

    def made(off: float, seed: int = 3) -> Made:
        random = np.random.default_rng(seed)
        published, files = [], ([], [])  # type: ignore[var-annotated]
        for dataset in ("dl19", "dl20"):
            means, tests = [], []
            for retriever in RETRIEVERS:
                for ordering in ("descending", "ascending"):
                    for k in (2, 5):
                        cell = {"retriever": retriever, "ordering": ordering, "k": k, "references": "strict"}
                        value = float(random.normal(0.1, 0.05))
                        means.append({**cell, "n": 40, "mean_p": 0.6, "mean_p0": 0.55, "mean_utility": value,
                                      "low": value - 0.02, "high": value + 0.02})  # fmt: skip
                        tests.append({**cell, "mark": "†", "against_retriever": "ideal", "quantity": "utility",
                                      "significant": retriever == "bm25"})  # fmt: skip
                        if ordering == "descending":
                            tests.append({**cell, "mark": "‡", "against_retriever": retriever, "quantity": "utility",
                                          "against_ordering": "ascending", "significant": k == 5})  # fmt: skip
                        marked = {"differs_from_rel": retriever == "bm25" and k == 2,
                                  "differs_from_reversed": ordering == "ascending" and k == 5}  # fmt: skip
                        row = {"dataset": dataset, **cell, "mean_utility": value + off * (-1) ** len(published)}
                        published.append(row | marked | {"mean_p0": 0.5})
            for place, (name, rows) in enumerate((("utility", means), ("significance", tests))):
                path = tmp_path / f"{dataset}_{name}.csv"
                complete(name, pl.DataFrame(rows, infer_schema_length=None), {"dataset": dataset, **PART}).write_csv(
                    path
                )
                files[place].append(path)
        cell = {"retriever": "zeroshot", "ordering": "none", "k": 0, "references": "strict"}
        zeroshot = pl.DataFrame(
            [{"dataset": dataset, **PART, **cell, "p": p} for dataset, ps in P0.items() for p in ps],
            schema_overrides={"k": pl.Int64},
        )
        return published, *files, zeroshot

    return made


def test_every_common_cell_with_its_difference_and_interval(write: Callable[..., Made]) -> None:
    published, *files = write(0.01)
    found = cells(published, *files, rel="ideal")
    utility = found.filter(quantity="utility")
    assert utility.height == 2 * 3 * 2 * 2
    assert utility["published"].to_list() == [row["mean_utility"] for row in published]
    assert utility["difference"].abs().to_list() == pytest.approx([0.01] * 24)
    assert utility["inside"].all()
    assert not cells(write(0.03)[0], *files, rel="ideal").filter(quantity="utility")["inside"].any()


def test_p0_has_the_interval_of_its_queries(write: Callable[..., Made]) -> None:
    published, *files = write(0.01)
    for row in cells(published, *files, rel="ideal").filter(quantity="p0").iter_rows(named=True):
        ps = [p for p in P0[row["dataset"]] if p is not None]
        low, high = stats.t.interval(0.95, len(ps) - 1, np.mean(ps), stats.sem(ps))
        assert (row["value"], row["low"], row["high"]) == pytest.approx((np.mean(ps), low, high))
        assert (row["published"], row["inside"]) == (0.5, row["dataset"] == "dl19")
    *paths, zeroshot = files
    alone = cells(published, *paths, zeroshot=zeroshot.filter(pl.col("p") > 0.75), rel="ideal").filter(quantity="p0")  # type: ignore[attr-defined]
    assert alone.select("value", "low", "high", "inside").rows() == [(0.8, None, None, None)]


def test_marks_are_compared_where_the_paper_has_them(write: Callable[..., Made]) -> None:
    published, *files = write(0.01)
    found = cells(published, *files, rel="ideal").filter(quantity="utility")
    # † is published at k = 2 alone, ours at both; ‡ agrees, and only ascending cells have one.
    for row in found.iter_rows(named=True):
        dagger = row["retriever"] == "bm25"
        assert row["differs_from_rel"] == dagger
        assert row["differs_from_reversed"] == (row["k"] == 5 if row["ordering"] == "ascending" else None)
        assert row["marks_agree"] == (not (dagger and row["k"] == 5))
    other = cells(published, *files, rel="rel").filter(quantity="utility")
    assert other["differs_from_rel"].is_null().all(), "our † is against another retriever than theirs"


def test_a_study_of_part_of_the_grid_compares_that_part(write: Callable[..., Made]) -> None:
    published, *files = write(0.01)
    wider = [*published, *({**row, "k": 15} for row in published), {**published[0], "dataset": "other"}]
    sizes = {"dl19": 24, "dl20": 24, "other": 1}
    found = cells(wider, *files, rel="ideal")
    assert found.equals(cells(published, *files, rel="ideal"))
    rows = cell_summary(found, sizes)
    assert rows.select("dataset", "n", "n_published").rows() == [("dl19", 12, 24), ("dl20", 12, 24), (ALL, 24, 48)]


def test_measures_over_the_cells_are_those_of_their_formulas(write: Callable[..., Made]) -> None:
    published, *files = write(0.01)
    found = cells(published, *files, rel="ideal")
    row = cell_summary(found, {"dl19": 12, "dl20": 12}).row(2, named=True)
    ours, theirs = (found.filter(quantity="utility")[name].to_numpy() for name in ("value", "published"))
    assert row["rmse"] == pytest.approx(0.01) and row["mean_difference"] == pytest.approx(0.0, abs=1e-12)
    assert (row["n_inside"], row["n_with_interval"]) == (24, 24)
    assert row["kendall"] == pytest.approx(stats.kendalltau(ours, theirs).statistic)
    assert (row["n_dagger"], row["n_dagger_agree"]) == (24, 20)
    assert (row["n_double_dagger"], row["n_double_dagger_agree"]) == (12, 12)
    same = cells(write(0.0)[0], *files, rel="ideal")
    perfect = cell_summary(same, {"dl19": 12, "dl20": 12}).row(2, named=True)
    assert (perfect["rmse"], perfect["kendall"], perfect["spearman"]) == pytest.approx((0.0, 1.0, 1.0))


def test_effect_ratio_and_relative_improvement() -> None:
    """Both follow Breuer et al. (2020): two cells improve by .02 and .04 where .02 and .06 were published."""
    rows = [
        ("bm25", 2, 0.10, 0.10), ("bm25", 5, 0.20, 0.30), ("monot5", 2, 0.12, 0.12), ("monot5", 5, 0.24, 0.36),
    ]  # fmt: skip
    frame = pl.DataFrame(
        [{"dataset": "d", **PART, "quantity": "utility", "references": "strict", "ordering": "descending",
          "retriever": name, "k": k, "value": ours, "published": theirs} for name, k, ours, theirs in rows]
    )  # fmt: skip
    (row,) = effects(frame).to_dicts()
    assert (row["baseline"], row["retriever"], row["n"]) == ("bm25", "monot5", 2)
    assert row["effect_ratio"] == pytest.approx(0.03 / 0.04)
    assert row["delta_relative_improvement"] == pytest.approx(0.04 / 0.20 - 0.03 / 0.15)
    flat = frame.with_columns(
        pl.when(pl.col("retriever") == "monot5").then("value").otherwise("value").alias("published")
    )
    (perfect,) = effects(flat).to_dicts()
    assert (perfect["effect_ratio"], perfect["delta_relative_improvement"]) == pytest.approx((1.0, 0.0))
    (undefined,) = effects(frame.with_columns(published=pl.lit(0.1))).to_dicts()
    assert undefined["effect_ratio"] is None and undefined["reason"] == "a baseline or an improvement of 0"


def test_page_and_latex_show_the_cells(write: Callable[..., Made]) -> None:
    published, *files = write(0.01)
    found = cells(published, *files, rel="ideal")
    shown = Reproduction(
        {"reproduced_cells": found, "reproduced_summary": cell_summary(found, {"dl19": 12, "dl20": 12})}
    )
    filled = reproduction_section(shown, Page("mine", "", [], {}))
    assert (
        f"{ALL} · lm · bert: this study covers 24 of the 24 published cells. The published value lies in our "
        in " ".join(filled["sentences"])
    )
    (part,) = filled["parts"]
    table = next(item["table"] for item in part["items"] if item["title"].startswith("Each cell compared"))
    assert len(table.rows) == found.height
    text = cells_latex(shown)
    assert text.count(r"\textbf") == 24 + 1 and text.count(r"\ddagger") >= 2 * 3 * 2
