"""The page's part on thoughts, and its figure: of made-up thoughts, and of a real model's."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.thoughts import page_part
from ragrelay.annexes.thoughts.annex import Thoughts
from ragrelay.annexes.thoughts.figures import draw_thoughts, thoughts_by_k
from ragrelay.annexes.thoughts.page_tables import difference_table, thought_table
from ragrelay.annexes.thoughts.study import ThoughtStudy
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.study import AnnexPart

from tests.annexes.thoughts.made_thoughts import made, study_of
from tests.e2e.test_real_model import receipt, thinker
from tests.support.real_study import GRID as REAL_GRID
from tests.support.report_study import GRID, PRIMARY, write_study
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.page
HOSTILE = "<img src=x>"


def read(folder: Path, *studies: ThoughtStudy) -> list[ThoughtStudy]:
    """What the page's part reads from the files of ``studies``."""
    for shown in studies:
        for name, table in shown.tables.items():
            write_csv(table, folder / shown.keys["dataset"] / f"{name}.csv")
    files = {
        name: KeyedFiles(f"{{dataset}}/{name}.csv", tuple(folder / s.keys["dataset"] / f"{name}.csv" for s in studies))
        for name in ThoughtStudy.COLUMNS
    }
    given = {"grid": GRID, "primary": {s.keys["dataset"]: PRIMARY._asdict() for s in studies}}
    return [
        replace(each, keys=shown.keys) for each, shown in zip(page_part.read(files, None, given), studies, strict=True)
    ]


def render(folder: Path, *studies: ThoughtStudy) -> str:
    part = AnnexPart(read(folder, *studies), Thoughts().page_part, Thoughts.template, Thoughts.link)
    return render_page(replace(read_study(**write_study(folder / "study")), parts=[part]))


def test_the_part_is_on_the_page_with_its_figure_tables_and_warning(tmp_path: Path) -> None:
    page = render(tmp_path, study_of(made(budget=250)), study_of(made(), dataset="other", generator=HOSTILE))
    assert '<a href="#thoughts">Thoughts</a>' in page
    assert "Does the model think longer with a worse context?" in page and "2604.01161" in page
    warning = "On demo, 29% (605) of demo-lm’s 2,117 thoughts were cut off at the budget or left unfinished"
    assert page.count(warning) == 1 and page.index(warning) < page.index('id="thoughts"'), "above all answers"
    anchors = [
        f"thoughts{place}{name}"
        for place in (1, 2)
        for name in ("-thought_differences-table", "-thoughts-table", "-thoughts")
    ]
    assert [f'id="{anchor}"' in page for anchor in anchors] == [True] * 6
    assert "&lt;img src=x&gt;" in page and HOSTILE not in page


def test_a_study_in_which_no_generator_thinks_has_no_part() -> None:
    assert not page_part.read({}, None, None)


def test_the_figure_has_a_line_per_retriever_and_the_level_without_context() -> None:
    study = study_of(made(budget=250))
    rows = thoughts_by_k(study, "page")["data"]["values"]
    means = {
        tuple(row[:3]): row[3] for row in study["thoughts"].select("retriever", "ordering", "k", "mean_tokens").rows()
    }
    assert len(rows) == len(means) - 1 + 2, "a level in each panel"
    for row in rows:
        ordering = "none" if row["retriever"] == "zeroshot" else row["panel"]
        assert row["value"] == pytest.approx(means[row["retriever"], ordering, row["k"]], abs=1e-4)
        assert row["low"] < row["value"] < row["high"] and 0 < row["censored"] < 1
    assert {row["panel"] for row in rows if row["retriever"] == "zeroshot"} == {"descending", "ascending"}
    written = json.dumps(thoughts_by_k(study, "paper"))
    assert "datum.retriever === 'zeroshot'" in written and "!(datum.retriever === 'zeroshot')" in written


def test_the_figure_is_written_in_every_format(tmp_path: Path) -> None:
    draw_thoughts(study_of(made()), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"thoughts_demo_demo-lm.{end}" for end in ("svg", "png", "pdf")
    }


def test_tables_have_the_share_that_was_cut_beside_the_tokens() -> None:
    study = study_of(made(budget=250))
    table = thought_table(study)
    titles = [column.title for column in table.columns]
    place = titles.index("cut or unfinished")
    assert titles[place - 1] == "mean tokens" and len(table.rows) == study["thoughts"].height
    shares: dict[tuple[Any, ...], str] = {}
    for row, shown in zip(study["thoughts"].to_dicts(), table.rows, strict=True):
        cut = row["budget"] + row["unfinished"]
        shares[row["retriever"], row["ordering"], row["k"]] = shown[place]
        assert shown[place] == f"{cut / (cut + row['mark']):.0%}"
        assert shown[titles.index("no thought")] == f"{row['none'] / row['n']:.0%}"
    table = difference_table(study)
    titles = [column.title for column in table.columns]
    assert "p, verdict" in titles and "p" not in titles
    for row, shown in zip(study["thought_differences"].to_dicts(), table.rows, strict=True):
        against = row["against_retriever"]
        other = ("zeroshot", "none", 0) if against == "zeroshot" else (against, row["ordering"], row["k"])
        own = shares[row["retriever"], row["ordering"], row["k"]]
        assert shown[titles.index("cut or unfinished")] == f"{own} / {shares[other]}"


@pytest.mark.full
def test_thoughts_from_the_model_to_the_page(real: Sandbox, tmp_path: Path) -> None:
    """Thoughts have a budget of their own, a table and a part of the page; a study without them has none of it."""
    study = real.copied_to(tmp_path / "study")
    page, described = study.results / "report/index.html", study.results / "small/described/thoughts/smollm2"
    assert not described.exists() and 'id="thoughts"' not in page.read_text(encoding="utf-8")
    shutil.rmtree(study.results)  # the other k
    study.config["generators"]["smollm2"] = thinker(study, 24)
    study.config["grid"] = {**REAL_GRID, "k": [1]}
    study.write_config()
    study.snakemake()
    files = "small/answers/smollm2/{}/descending/k1/seed1.parquet"
    rows = pl.read_parquet([study.results / files.format(name) for name in ("bm25", "rel")])
    assert rows.height == 6 * 2 and rows["thought"].str.starts_with("<think>").all()
    assert rows["thought_tokens"].max() <= 24 and rows["answer_tokens"].max() <= 8
    assert not rows["answer"].str.contains("think>", literal=True).any()
    cells = {row["retriever"]: row for row in pl.read_csv(described / "thoughts.csv").to_dicts()}
    assert set(cells) == {"bm25", "rel", "zeroshot"}
    for name in ("bm25", "rel"):
        own = pl.read_parquet(study.results / files.format(name))
        assert cells[name]["mean_tokens"] == pytest.approx(own["thought_tokens"].mean())
        assert cells[name]["budget"] == (own["thought_end"] == "budget").sum()
    compared = pl.read_csv(described / "thought_differences.csv").select("retriever", "against_retriever").rows()
    assert compared == [("bm25", "zeroshot"), ("rel", "zeroshot"), ("bm25", "rel")]
    assert "Does the model think longer with a worse context?" in page.read_text(encoding="utf-8")
    assert (study.results / "report/figures/thoughts_small_smollm2.svg").is_file()
    explored = (study.results / "report/explorer/small_smollm2_minilm").glob("*.js")
    assert all('"thoughts":[' in path.read_text(encoding="utf-8") for path in explored)
    before = study.tables()
    shutil.rmtree(study.results)
    study.snakemake()
    assert receipt(study)["made"] == 0 and study.tables() == before, "the store serves thoughts too"
    study.config["generators"]["smollm2"] = thinker(study, 12)
    study.write_config()
    planned = study.planned()
    assert {"generate_answers", "describe_thoughts", "write_page"} <= set(planned)
    assert not {"build_run", "build_contexts", "build_prompts", "measure_retrieval", "convert_model"} & set(planned)
    study.snakemake("all_answers")
    assert receipt(study)["made"] == receipt(study)["asked"] > 6 * 2
    assert pl.read_parquet(study.results / files.format("rel"))["thought_tokens"].max() <= 12
