"""A budget counts what was used, and what the plan says is still needed."""

from pathlib import Path

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_json
from ragrelay.execution.plan.budget import budget_lines, check_budget, plan_receipt

TOTAL = {"gpu_hours": 100.0, "prompt_tokens": 1000, "answer_tokens": 200}
LIMIT = "found a run that needs about 100 GPU-hours in addition to 60 already used; expected at most 150"
OVER = r"found 161 GPU-hours used, more than the plan from \S+ estimated; expected a new plan; run `snakemake plan`"


def check(folder: Path, limit: float, before: float, now: float) -> None:
    receipt = folder / "plan.json"
    write_json(plan_receipt(TOTAL, "hash", {}, {"gpu_hours": before, "tokens": 0}, {}), receipt)
    check_budget({"gpu_hours": limit}, receipt, "hash", [], [], {"gpu_hours": now, "tokens": 0})


@pytest.mark.parametrize(
    ("limit", "before", "now"),
    [(100, 0, 0), (160, 60, 60), (160, 60, 160), (300, 60, 170)],
    ids=["all of it", "some before", "the plan's need is used", "more than planned, and room for all of it again"],
)
def test_what_was_used_since_the_plan_is_part_of_its_need(
    tmp_path: Path, limit: float, before: float, now: float
) -> None:
    check(tmp_path, limit, before, now)


@pytest.mark.parametrize(("limit", "before", "now", "message"), [(150, 60, 60, LIMIT), (200, 60, 161, OVER)])
def test_a_run_beyond_what_is_left_is_refused(
    tmp_path: Path, limit: float, before: float, now: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check(tmp_path, limit, before, now)


def test_a_plan_without_earlier_use_counts_from_nothing(tmp_path: Path) -> None:
    receipt = tmp_path / "plan.json"
    write_json({"planned": "then", "of": "hash", "needs": {"gpu_hours": 100.0}}, receipt)
    check_budget({"gpu_hours": 100}, receipt, "hash", [], [], {"gpu_hours": 0.0})


@pytest.mark.parametrize(
    ("limit", "used", "line"),
    [
        (100, 0, "of which ~100 are needed."),
        (150, 50, "of which 50 are used and ~100 are needed."),
        (99, 0, "less than the ~100 needed, so no run will start."),
        (149, 50, "of which 50 are used and ~100 more needed, so no run will start."),
    ],
)
def test_the_plan_says_what_is_used_and_needed(limit: float, used: float, line: str) -> None:
    receipt = plan_receipt(TOTAL, "hash", {}, {"gpu_hours": used, "tokens": 0}, {})
    assert budget_lines({"gpu_hours": limit}, receipt) == [f"Budget: {limit} GPU-hours, {line}"]
