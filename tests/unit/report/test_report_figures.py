"""The figures: same looks everywhere, fits and labels that agree with the analysis, files that come out the same."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.display.chart_files import draw
from ragrelay.display.charts import Spec
from ragrelay.display.outputs import Figure, available, resolve
from ragrelay.display.packing import packed
from ragrelay.display.palette import looks
from ragrelay.display.sections import Section
from ragrelay.errors import InputError
from ragrelay.report import scatter
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.figures_by_k import utility_by_k
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_study

from tests.support.report_study import write_study


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    return read_study(**write_study(tmp_path_factory.mktemp("study"))).sections[0]


def figures(section: Section) -> list[Figure]:
    return [output for output in available(OUTPUTS, section.tables) if output.kind == "figure"]


def specs(section: Section, theme: str) -> list[Spec]:
    return [resolve(figure.draw)(section, theme) for figure in figures(section)]


@pytest.mark.parametrize("theme", ["page", "paper"])
def test_a_retriever_looks_the_same_in_every_figure(section: Section, theme: str):
    expected = looks(section.grid.retrievers)
    channels = {"color": "colour", "stroke": "colour", "shape": "shape", "strokeDash": "dash"}
    met = set()
    for spec in specs(section, theme):
        for layer in spec["spec"]["layer"]:
            for channel, attribute in channels.items():
                if scale := layer["encoding"].get(channel, {}).get("scale"):
                    met.add(channel)
                    drawn = dict(zip(scale["domain"], scale["range"], strict=True))
                    wanted = {name: getattr(look, attribute) for name, look in expected.items()}
                    assert {name: tuple(v) if isinstance(v, list) else v for name, v in drawn.items()} == wanted
    assert met == set(channels)


def test_fit_is_the_least_squares_line(section: Section):
    queries = scatter.queries_of(section)
    fits = scatter.fits_of(queries)
    assert set(fits["retriever"]) == {"bm25", "dense", "rel"}  # nrel's nDCG is 0 everywhere: no line
    for key, ends in fits.group_by(scatter.CONTEXT):
        here = queries.filter(*(pl.col(name) == value for name, value in zip(scatter.CONTEXT, key, strict=True)))
        slope, level = np.polyfit(here["measured"], here["utility"], 1)
        assert ends["utility"].to_numpy() == pytest.approx(level + slope * ends["measured"].to_numpy())
        assert sorted(ends["measured"]) == [here["measured"].min(), here["measured"].max()]


def test_labels_say_r_as_the_file_has_it_or_why_not(section: Section):
    labels = scatter.labels_of(section)
    assert labels.height == 4 * 2 * 3 * 2
    row = section["correlation"].row(
        by_predicate=(pl.col("retriever") == "bm25") & (pl.col("ordering") == "ascending") & (pl.col("k") == 2)
        & (pl.col("references") == "strict") & (pl.col("coefficient") == "pearson") & (pl.col("subset") == "all"),
        named=True,
    )  # fmt: skip
    label = labels.row(
        by_predicate=(pl.col("retriever") == "bm25") & (pl.col("ordering") == "ascending") & (pl.col("k") == 2)
        & (pl.col("references") == "strict"), named=True,
    )["label"]  # fmt: skip
    assert label == f"r = {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}], n = 36".replace("-", "−")
    assert set(labels.filter(pl.col("retriever") == "nrel")["label"]) == {"no r: nDCG is constant"}


def test_utility_figure_draws_the_means_and_intervals(section: Section):
    drawn = utility_by_k(section, "paper")["data"]["values"]
    expected = section["utility"].filter(pl.col("references").is_in(section.grades), pl.col("k") > 0)
    assert len(drawn) == expected.height
    found = {(row["panel"], row["retriever"], row["k"]): row for row in drawn}
    for row in expected.iter_rows(named=True):
        mark = found[(f"{row['ordering']} · {row['references']}", row["retriever"], row["k"])]
        ends = (row["mean_utility"], row["low"], row["high"])
        assert (mark["value"], mark["low"], mark["high"]) == pytest.approx(ends, abs=1e-5)
        assert abs(mark["x"] - row["k"]) < 0.2


def test_many_points_are_thinned_by_query(section: Section):
    queries = scatter.queries_of(section)
    thin = scatter.thinned(queries, 600)
    assert 300 < thin.height <= 600
    kept = set(thin["qid"])
    assert thin.equals(queries.filter(pl.col("qid").is_in(list(kept))))  # all rows of the queries that are kept
    assert scatter.thinned(queries, queries.height) is queries


def test_packing_loses_nothing(section: Section):
    spec = specs(section, "page")[1]
    rows = spec["data"]["values"]
    columns = packed(spec)["data"]["columns"]
    unpacked = {
        name: column["values"] if "values" in column else [column["words"][place] for place in column["places"]]
        for name, column in columns.items()
    }
    assert [dict(zip(unpacked, row, strict=True)) for row in zip(*unpacked.values(), strict=True)] == rows
    assert "places" in columns["retriever"]


def test_files_come_out_the_same_and_hold_every_retriever(section: Section, tmp_path: Path):
    for name in ("one", "two"):
        draw_figures(section, figures(section)[:1], tmp_path / name)
    one, two = ([path.read_bytes() for path in sorted((tmp_path / name).iterdir())] for name in ("one", "two"))
    assert one == two
    pdf, png, svg = one
    assert pdf.startswith(b"%PDF")
    assert png.startswith(b"\x89PNG")
    for look in looks(section.grid.retrievers).values():
        assert svg.decode().count(f'stroke="{look.colour}"') >= 3 * 4  # an interval for each k and panel
    assert not re.search(rb"https?://(?!www\.w3\.org)", svg)


def test_unknown_suffix_is_named(section: Section, tmp_path: Path):
    with pytest.raises(InputError, match=r"utility\.gif: found suffix '\.gif'"):
        draw(specs(section, "paper")[0], tmp_path / "utility.gif")
