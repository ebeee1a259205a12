"""The recorded error rates of slopes at search steps: goals, the measure's ideal, and recorded searches."""

import json

import numpy as np

from benchmarks.round_errors import FOUND_SIZES, ONE_STATE, RECORDED, REMAINING, STEPS, WORLDS, Studies, World
from tests.support.recorded_errors import goals_missed
from tools.round_rates import PAGE, RECORD, page

VALUES = {title: one["value"] for title, one in json.loads(RECORD.read_text(encoding="utf-8"))["figures"].items()}


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run `python tools/round_rates.py`"


def test_no_goal_is_missed() -> None:
    assert goals_missed("round_errors") == []
    assert {title.split(" questions, ")[1] for title in VALUES if title.startswith("it is, false word")} == {*WORLDS}


def test_recorded_searches_show_an_effect_where_there_is_none() -> None:
    read = {name: VALUES[f"recorded, slope: 300 questions, {name}, slope 0.0"] for name in RECORDED}
    assert read["P on nDCG"] > 0.15 and abs(read[ONE_STATE]) < 0.01
    assert min(VALUES[f"recorded, false word: {n} questions, P on nDCG"] for n in FOUND_SIZES) > 0.8
    within = [
        VALUES[f"within a question, false word: {n} questions, good answers help one list more"] for n in (100, 300)
    ]
    assert min(within) > 0.1


def test_slopes_of_the_steps_are_alike_with_the_fixed_ideal() -> None:
    for per in ("fixed", "gain"):
        first, *others = (
            [
                VALUES[f"ideal, slope of step {step + 1}: effect per {per}, {ideal} ideal"]
                for ideal in ("fixed", REMAINING)
            ]
            for step in range(STEPS)
        )
        assert first[0] == first[1]
        for fixed, remaining in others:
            assert abs(fixed - first[0]) < 0.02 and remaining < 0.9 * first[0]


def test_drawn_searches_start_from_one_state() -> None:
    """All seeds have the first step's lists; equal lists have equal answers, and a passage counts once."""
    studies = Studies.of(World(lists=3, seeds=2, equal=0.5), 20, 3)
    for draw in range(3):
        cells = studies.cells(draw)
        assert [len(cells[step]) for step in (1, 2, 3)] == [1, 2, 2]
        for of_step in cells.values():
            for cell in of_step:
                equal = cell.context[1:] == cell.context[0]
                assert equal.any() and not equal.all()
                assert (cell.p[1:] == cell.p[0])[equal].all() and (cell.x[1:] == cell.x[0])[equal].all()
    steps = studies.seeds[1]
    assert np.array_equal(steps[0].context, studies.seeds[0][0].context)
    repeated = [float((step.shown - step.x["fixed"]).mean()) for step in steps]
    assert repeated[0] == 0 < repeated[1] < repeated[2]
    assert np.array_equal(steps[1].before, steps[0].p[0])
