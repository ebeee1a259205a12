"""What is refused of the key, each in one line that names it, and what a study without it has of it."""

from typing import Any

import pytest
import yaml
from ragrelay.annexes.interventions.annex import Interventions
from ragrelay.annexes.interventions.rules import Interventions as OfStudy
from ragrelay.base.errors import InputError
from ragrelay.config.study import Study
from ragrelay.execution.study.study import StudyOfRules

from tests.support.sandbox import ROOT

CONFIG = (ROOT / "config/config.yaml").read_text(encoding="utf-8")


def study(*, of: type[Study] = Study, grid: dict[str, Any] | None = None, **keys: Any) -> Any:
    config = yaml.safe_load(CONFIG)
    config["grid"] |= grid or {}
    return of({**config, **keys}, ROOT, [ROOT / "config/prompts"])


def swap(**keys: Any) -> dict[str, Any]:
    return {"swap": {"kind": "swap", "retrievers": ["bm25"], **keys}}


def test_a_study_without_the_key_has_nothing_of_it() -> None:
    made = study(of=StudyOfRules)
    assert "interventions" not in made.config and "interventions" not in made.selected()
    annex = Interventions()
    assert not annex.generation(made)[0]["needed"] and annex.left_out(made) == {} and annex.page_inputs(made) == {}
    assert annex.page_patterns(made) == {} and annex.present(made) == {"interventions": False}


def test_prompts_are_those_of_the_retrievers_whose_contexts_are_changed() -> None:
    made = study(of=StudyOfRules, interventions=swap() | {"out": {"kind": "leave_out", "retrievers": ["rel", "bm25"]}})
    (rule,) = Interventions().generation(made)
    assert rule["retrievers"] == ["bm25", "rel"], "in the grid's order"
    assert list(OfStudy(made).of_retriever("rel")) == ["out"]
    assert OfStudy(made).sections == [{"dataset": "demo", "generator": "demo-lm", "scorer": "minilm"}]


def test_defaults_are_the_grids() -> None:
    definition = study(interventions=swap()).config["interventions"]["swap"]
    assert definition == {"draws": 1, "kind": "swap", "max_label": 0, "places": "each", "retrievers": ["bm25"],
                          "seed": 0}  # fmt: skip


def test_a_measure_of_subtopics_comes_later() -> None:
    config = yaml.safe_load(CONFIG)
    config["datasets"]["demo"]["subtopics"] = "hops"
    keys = {"datasets": config["datasets"], "interventions": swap()}
    with pytest.raises(InputError, match=r"grid.measures': found 'StRecall' as the first measure, although"):
        study(grid={"measures": ["StRecall", "nDCG"]}, **keys)
    assert study(grid={"measures": ["nDCG", "StRecall"]}, **keys).config["interventions"]


def test_contexts_whose_texts_a_processor_changes_are_refused() -> None:
    config = yaml.safe_load(CONFIG)
    processed = {"kind": "processed", "of": "bm25", "processor": {"kind": "nearest_sentences", "tokens": 5}}
    shown = {"retrievers": {**config["retrievers"], "short": processed}}
    message = "interventions.swap.retrievers': found 'short', whose passages a processor changes; expected a retriever"
    with pytest.raises(InputError, match=message):
        study(grid={"retrievers": ["bm25", "short"]}, interventions=swap(retrievers=["short"]), **shown)
    assert study(grid={"retrievers": ["bm25", "short"]}, interventions=swap(), **shown).config["interventions"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (swap(retrievers=["bm52"]), "swap.retrievers': found 'bm52'; expected a retriever in grid.*'bm25'"),
        (swap(retrievers=[]), "interventions.swap.retrievers': found .*; expected at least 1"),
        (swap(k=[4]), "interventions.swap.k': found 4; expected a k in grid.k: one of 1, 2, 5"),
        (swap(ordering="random"), "interventions.swap.ordering': found 'random'; expected an ordering in grid"),
        (swap(max_label=2), "interventions.swap.max_label': found 2; expected less than 2, the label of the lowest"),
        (swap(places="middle"), "interventions.swap.places': found 'middle'; expected one of each, ends, first, last"),
        (swap(draws=0), "interventions.swap.draws': found 0; expected"),
        ({"swap": {"kind": "swop", "retrievers": ["bm25"]}}, "interventions.swap.kind': found 'swop'; expected one of"),
        ({"swap": {"kind": "leave_out", "retrievers": ["bm25"], "draws": 2}}, "interventions.swap': found unknown key"),
        ({}, "interventions': found .*; expected at least 1"),
        (None, "interventions': found None; expected"),
    ],
)
def test_what_cannot_work_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        study(interventions=given)
