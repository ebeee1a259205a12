"""The page's part on interventions, and its figure, from made-up scores."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from ragrelay.annexes.interventions import page_part
from ragrelay.annexes.interventions.annex import Interventions
from ragrelay.annexes.interventions.figures import draw_interventions, effects_by_place
from ragrelay.annexes.interventions.page_tables import effect_table
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.page import TEMPLATE, page_and_facts, render_page
from ragrelay.report.reading import read_study as read_whole
from ragrelay.report.study import AnnexPart

from tests.annexes.interventions.made_effects import ASKED, DEFINITIONS, effects_of, made, study_of
from tests.support.report_study import write_study

pytestmark = pytest.mark.page
HOSTILE = "<img src=x>"


def read(folder: Path, *studies: EffectStudy) -> list[EffectStudy]:
    """What the page's part reads from the files of ``studies``."""
    paths = []
    for shown in studies:
        paths.append(folder / shown.keys["dataset"] / "effects.csv")
        write_csv(shown.effects, paths[-1])
    files = {"intervention_effects": KeyedFiles("{dataset}/effects.csv", tuple(paths))}
    read_again = page_part.read(files, None, ASKED)
    return [replace(each, keys=shown.keys) for each, shown in zip(read_again, studies, strict=True)]


def test_the_part_is_on_the_page_with_its_figure_and_table(tmp_path: Path) -> None:
    shown = read(tmp_path, study_of(effects_of(made())), study_of(effects_of(made()), dataset="b", generator=HOSTILE))
    part = AnnexPart(shown, Interventions().page_part, Interventions.template, Interventions.link)
    whole = replace(read_whole(**write_study(tmp_path / "study")), parts=[part])
    page, facts = page_and_facts(whole, TEMPLATE, tmp_path / "page.html")
    told = [answer for answer in facts["annexes"] if answer["annex"] == "interventions"]
    assert [answer["where"] for answer in told] == [each.title for each in shown]
    for answer, each in zip(told, shown, strict=True):
        rows = [each.effects.filter(*(pl.col(name).eq_missing(value) for name, value in fact["row"].items()))
                for fact in answer["facts"]]  # fmt: skip
        assert rows and {row.height for row in rows} == {1}
        assert [row["effect"][0] for row in rows] == [fact["values"]["effect"] for fact in answer["facts"]]
    assert '<a href="#interventions">One passage</a>' in page
    assert "What does one relevant passage do?" in page
    names = ("-intervention_places-figure", "-intervention_effects-table")
    assert [f'id="interventions{place}{name}"' in page for place in (1, 2) for name in names] == [True] * 4
    assert "&lt;img src=x&gt;" in page and HOSTILE not in page


def test_a_study_without_interventions_has_no_part() -> None:
    assert page_part.read({}, None, None) == []


def test_a_study_in_which_nothing_could_be_changed_says_so(tmp_path: Path) -> None:
    (shown,) = read(tmp_path, study_of(effects_of(made(n=0))))
    part = AnnexPart([shown], Interventions().page_part, Interventions.template, Interventions.link)
    page = render_page(replace(read_whole(**write_study(tmp_path / "study")), parts=[part]))
    assert "No context could be changed" in page
    assert "Intervention “swap” on bm25, k = 3: nothing to compare" in page
    draw_interventions(shown, tmp_path)
    assert (tmp_path / "intervention_places_demo_demo-lm_minilm.svg").stat().st_size > 0


def test_the_figure_draws_places_and_the_single_place_of_one_passage() -> None:
    effects = effects_of(made(), definitions={"swap": DEFINITIONS["swap"]})
    rows = effects_by_place(study_of(effects), "paper")["data"]["values"]
    drawn = {(row["retriever"], row["place"]): row["value"] for row in rows}
    assert sorted(drawn) == [("k = 1", 1), ("k = 3", 1), ("k = 3", 2), ("k = 3", 3)]
    of_one = effects.filter(part="overall", k=1, references="lenient")["effect"][0]
    assert drawn["k = 1", 1] == pytest.approx(of_one, abs=1e-5)
    assert {row["references"] for row in effects_by_place(study_of(effects), "page")["data"]["values"]} == {
        "lenient", "lenient-unseen",
    }  # fmt: skip


def test_the_legend_names_only_a_k_with_points() -> None:
    effects = effects_of(made(), definitions={"swap": DEFINITIONS["swap"]})
    without = effects.with_columns(effect=pl.when(pl.col("k") == 3).then("effect"))
    for given, named in ((effects, ["k = 1", "k = 3"]), (without, ["k = 3"])):
        spec = json.dumps(effects_by_place(study_of(given), "paper"))
        assert [name for name in ("k = 1", "k = 3") if f'"{name}"' in spec] == named


def test_the_table_shows_slopes_in_one_unit() -> None:
    effects = effects_of(made(), definitions={"swap": DEFINITIONS["swap"]})
    table = effect_table(study_of(effects))
    titles = [column.title for column in table.columns]
    row = dict(zip(titles, table.rows[0], strict=True))
    first = effects.to_dicts()[0]
    assert row["per 0.1 nDCG"].startswith(f"{first['slope'] / 10:.3f}")
    assert row["relay, per 0.1 nDCG"] == "0.020 [0.010, 0.030]"
    assert row["position"] == "overall" and len(table.rows) == effects.height
    few = effects.with_columns(relay_reason=pl.lit("6 of 24 queries have contexts that differ, but 20 are needed"))
    remark = effect_table(study_of(few)).rows[0][titles.index("remark")]
    assert remark.endswith("relay: 6 of 24 queries have contexts that differ, but 20 are needed")


def test_the_page_knows_which_contexts_are_changed() -> None:
    """Also those of which no context could be: at the k of the configuration, or of the grid where it has none."""
    definitions = {**DEFINITIONS, "swap": {**DEFINITIONS["swap"], "k": [3]}}
    rules, grid = SimpleNamespace(definitions=definitions), SimpleNamespace(k=[1, 3], orderings=["descending"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Interventions, "of_rules", lambda self, study: rules)
        asked = Interventions().page_params(SimpleNamespace(grid=grid))
    assert asked == {**ASKED, "swap": {**ASKED["swap"], "k": [3]}}


def test_what_is_read_has_the_columns_that_are_written(tmp_path: Path) -> None:
    shown = study_of(effects_of(made()))
    write_csv(shown.effects, tmp_path / "effects.csv")
    again = EffectStudy.read({"intervention_effects": tmp_path / "effects.csv"}, shown.keys)
    assert again.effects.schema == shown.effects.schema
    assert again.effects.filter(pl.col("part") == "place")["place"].unique().sort().to_list() == [1, 2, 3]
