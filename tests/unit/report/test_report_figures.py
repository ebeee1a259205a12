"""The figures: same looks everywhere, fits and labels that agree with the analysis, files that come out the same."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.report import figures_by_k, paper_figures, scatter
from ragrelay.report.display.chart_files import draw
from ragrelay.report.display.charts import Spec
from ragrelay.report.display.outputs import SIZES, Figure, available, resolve
from ragrelay.report.display.page import packed
from ragrelay.report.display.palette import looks
from ragrelay.report.display.sections import Dose, Section
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.figures_by_k import utility_by_k
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_study

from tests.support.report_study import write_study
from tests.support.scripts import named, run_script

pytestmark = pytest.mark.page
JUDGED = Dose(0, "judged non-relevant")


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    return read_study(**write_study(tmp_path_factory.mktemp("study"))).sections[0]


def figures(section: Section) -> list[Figure]:
    return [output for output in available(OUTPUTS, section.tables) if output.kind == "figure"]


def specs(section: Section, theme: str) -> list[Spec]:
    return [resolve(figure.draw)(section, theme) for figure in figures(section)]


@pytest.mark.parametrize("theme", ["page", "paper"])
def test_a_retriever_looks_the_same_in_every_figure(section: Section, theme: str):
    groups = section["within"]["retrievers"].unique(maintain_order=True).to_list()
    lines = {"within": groups, "doses": [f"k = {k}" for k in section.grid.k]}
    channels = {"color": "colour", "stroke": "colour", "shape": "shape", "strokeDash": "dash"}
    met = set()
    for figure, spec in zip(figures(section), specs(section, theme), strict=True):
        # Within queries a line is a group of retrievers, of doses a k.
        expected = looks(lines.get(figure.name, section.grid.retrievers))
        for layer in spec["spec"]["layer"]:
            for channel, attribute in channels.items():
                if scale := layer["encoding"].get(channel, {}).get("scale"):
                    met.add(channel)
                    drawn = dict(zip(scale["domain"], scale["range"], strict=True))
                    wanted = {name: getattr(look, attribute) for name, look in expected.items()}
                    assert {name: tuple(v) if isinstance(v, list) else v for name, v in drawn.items()} == wanted
    assert met == set(channels)


def test_correlation_within_queries_is_the_tables_at_the_grade_that_is_chosen(section: Section):
    table = section["within"].filter(pl.col("ordering") != "all", measure="nDCG").drop_nulls("r")
    for theme, sets in (("page", {"lenient", "lenient-unseen", "strict", "strict-unseen"}), ("paper", {"lenient"})):
        spec = figures_by_k.within_by_k(section, theme)
        drawn = {(row["panel"], row["retriever"], row["references"], row["k"]): row for row in spec["data"]["values"]}
        rows = table.filter(pl.col("references").is_in(list(sets)))
        assert set(rows["references"]) == sets and len(drawn) == rows.height
        for row in rows.iter_rows(named=True):
            found = drawn[row["ordering"], row["retrievers"], row["references"], row["k"]]
            expected = (row["r"], row["low"], row["high"], row["n_queries"])
            assert tuple(found[name] for name in ("value", "low", "high", "n")) == pytest.approx(expected, abs=1e-5)


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


def test_the_paper_s_figure_4_is_drawn_at_a_k_that_is_asked_for(tmp_path: Path):
    files = write_study(tmp_path / "study")
    [section] = files["sections"]
    for retriever, path in section["retrieval"].items():
        path.rename(path.with_name(f"demo-{retriever}.parquet"))
    retrieval = [str(path) for path in sorted((tmp_path / "study").glob("*/demo-*.parquet"))]
    patterns = {
        **{name: path.name for name, path in section["files"].items()},
        "retrieval": "{dataset}-{retriever}.parquet",
    }
    output = tmp_path / "figures" / "scatter_demo_demo-lm_minilm_k2.svg"
    keys = {**{name: section[name] for name in ("dataset", "generator", "scorer")}, "depth": "k2"}
    run_script(
        "report/draw_figures.py",
        input=named(**{name: str(path) for name, path in section["files"].items()}, retrieval=retrieval),
        params=SimpleNamespace(section=section, grid={**files["grid"], "k": [2]}, of="depth", patterns=patterns),
        output=[str(output)],
        wildcards=keys,
        log=[str(tmp_path / "log")],
    )
    assert {path.name for path in output.parent.iterdir()} == {f"{output.stem}.{end}" for end in ("svg", "png", "pdf")}
    assert "nDCG@2" in output.read_text(encoding="utf-8")


def test_files_come_out_the_same_and_hold_every_retriever(section: Section, tmp_path: Path):
    for name in ("one", "two"):
        draw_figures(section, [figure for figure in figures(section) if figure.name == "utility"], tmp_path / name)
    one, two = ([path.read_bytes() for path in sorted((tmp_path / name).iterdir())] for name in ("one", "two"))
    assert one == two
    pdf, png, svg = one
    assert pdf.startswith(b"%PDF")
    assert png.startswith(b"\x89PNG")
    for look in looks(section.grid.retrievers).values():
        assert svg.decode().count(f'stroke="{look.colour}"') >= 3 * 4  # an interval for each k and panel
    assert not re.search(rb"https?://(?!www\.w3\.org)", svg)


def test_a_paper_s_figure_is_as_wide_as_its_columns_and_has_its_font(section: Section, tmp_path: Path):
    one, other = (paper_figures.mean_quality(section, "paper", points) for points in SIZES.values())
    for spec, name in ((one, "one.pdf"), (other, "other.pdf"), (one, "one.svg")):
        draw(spec, tmp_path / name)
    for name, width in (("one", 241), ("other", 506)):
        pdf = (tmp_path / f"{name}.pdf").read_bytes()
        assert re.search(rb"MediaBox \[0 0 (\d+)", pdf)[1] == str(width).encode()
        assert set(re.findall(rb"BaseFont ?/\w+\+(\w+)", pdf)) == {b"FigureSans"}
    assert "src: url(data:font/ttf;base64," in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_a_point_is_a_query_s_differences_and_the_line_has_relay_s_slope(section: Section):
    drawn = paper_figures.differences_by_query(section, "paper")["data"]["values"]
    where = {"ordering": section.lead["ordering"], "k": section.lead["k"]}
    p, measure = (
        {tuple(row[:2]): row[2] for row in frame.select("retriever", "qid", value).iter_rows()}
        for frame, value in (
            (section["per_query"].filter(**where, references=section.lead["references"]), "p"),
            (section["retrieval"].filter(measure="nDCG", k=where["k"]), "value"),
        )
    )
    one, other = section.primary[:2]
    points = {row["qid"]: (row["measured"], row["utility"]) for row in drawn if row["kind"] == "query"}
    assert len(points) > 20
    for qid, found in points.items():
        assert found == pytest.approx([of[one, qid] - of[other, qid] for of in (measure, p)], abs=1e-4)
    left, right = ((row["measured"], row["utility"]) for row in drawn if row["kind"] == "fit")
    row = section["relay"].filter(
        pl.col("retrievers").str.contains(","), **where, references=section.lead["references"], measure="nDCG",
        adjusted=False,
    ).row(0, named=True)  # fmt: skip
    assert (right[1] - left[1]) / (right[0] - left[0]) == pytest.approx(row["slope"], rel=1e-2)


def test_a_dose_is_the_mean_of_its_contexts(section: Section):
    dosed = replace(section, grid=replace(section.grid, doses={"nrel": JUDGED, "rel": JUDGED._replace(relevant=2)}))
    drawn = {
        (row["panel"], row["retriever"], row["place"]): row
        for row in paper_figures.doses(dosed, "paper")["data"]["values"]
    }
    for name, k, dose in (("nrel", 5, 0), ("rel", 5, 2), ("rel", 1, 1)):
        means = section["utility"].filter(
            retriever=name, k=k, ordering="descending", references=section.lead["references"]
        )
        assert drawn["descending", f"k = {k}", dose]["value"] == pytest.approx(means["mean_p"][0], abs=1e-5)
    assert not paper_figures.doses(section, "page")["data"]["values"]


def test_all_points_and_the_zero_shot_level_of_a_panel_are_of_the_same_queries(section: Section):
    table = section["per_query"]
    lost = table["qid"].min()
    gone = (pl.col("retriever") == "rel") & (pl.col("k") == 5) & (pl.col("qid") == lost)
    tables = {**section.tables, "per_query": table.with_columns(p=pl.when(gone).then(None).otherwise("p"))}
    dosed = replace(section.grid, doses={"nrel": JUDGED, "rel": JUDGED._replace(relevant=2)})
    values = paper_figures.doses(replace(section, tables=tables, grid=dosed), "paper")["data"]["values"]
    points = [row for row in values if row.get("retriever")]
    assert {row["n"] for row in points} == {table["qid"].n_unique() - 1} and {row["k"] for row in points} == {1, 2, 5}
    (level,) = {row["value"] for row in values if row.get("name") == "zero-shot"}
    kept = table.filter(pl.col("qid") != lost, references=section.lead["references"], retriever="rel", k=1)
    assert level == pytest.approx(kept["p0"].mean(), abs=1e-5)


def test_sorts_of_other_passages_are_lines_over_the_same_queries(section: Section):
    names = {"nrel": JUDGED, "rel": JUDGED._replace(relevant=2), "bm25": Dose(0, "random"), "dense": Dose(2, "random")}
    table = section["per_query"]
    lost = table["qid"].min()
    gone = (pl.col("retriever") == "bm25") & (pl.col("k") == 5) & (pl.col("qid") == lost)
    table = table.with_columns(p=pl.when(gone).then(None).otherwise("p"))
    twice = table.filter(retriever="rel").with_columns(retriever=pl.lit("again"), p=pl.col("p") + 0.1)
    tables = {**section.tables, "per_query": pl.concat([table, twice])}
    names["again"] = names["rel"]
    dosed = replace(section, tables=tables, grid=replace(section.grid, doses=names))
    drawn = {
        (row["panel"], row["retriever"], row["place"]): row
        for row in paper_figures.doses(dosed, "paper")["data"]["values"]
        if row.get("retriever")
    }
    assert {(panel, others) for panel, others, _ in drawn if panel == "descending, k = 5"} == {
        ("descending, k = 5", "judged non-relevant"), ("descending, k = 5", "random"),
    }  # fmt: skip
    for k, without in ((5, {lost}), (2, set())):
        for name, more in (("nrel", 0.0), ("rel", 0.05), ("bm25", 0.0), ("dense", 0.0)):
            of_cell = table.filter(
                ~pl.col("qid").is_in(without), retriever=name, k=k, ordering="descending",
                references=section.lead["references"],
            )  # fmt: skip
            point = drawn[f"descending, k = {k}", names[name].others, names[name].relevant]
            assert (point["value"], point["n"]) == (pytest.approx(of_cell["p"].mean() + more, abs=1e-5), len(of_cell))


def test_unknown_suffix_is_named(section: Section, tmp_path: Path):
    with pytest.raises(InputError, match=r"utility\.gif: found suffix '\.gif'"):
        draw(specs(section, "paper")[0], tmp_path / "utility.gif")
