"""Check a study's budget before a run's first job, based on the study's past use and its last `snakemake plan`."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.json_values import FAULTS
from ragrelay.generation.engine_use import UNITS

PLAN_FIRST = "a plan; run `snakemake plan` first"


def needs(total: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the GPU-hours and tokens from a plan's total row, keyed as in a budget. Unknown totals are None.

    Tokens are prompt tokens, including those served from the prefix cache, plus answer tokens.
    """
    return {"gpu_hours": total["gpu_hours"], "tokens": total["prompt_tokens"] + total["answer_tokens"]}


def plan_receipt(
    total: Mapping[str, Any],
    of: str,
    shards: Mapping[str, Mapping[str, int]],
    used: Mapping[str, float],
    missing: Mapping[str, int],
) -> dict[str, Any]:
    """Return the record of a plan, against which later runs are checked. ``total``: the plan's total row.

    ``of``: the hash of the planned work. ``shards``: the chosen numbers of shards, by dataset and generator. ``used``:
    the GPU-hours and tokens used so far. ``missing``: each job's number of missing keys, by count file.
    """
    planned = datetime.now(UTC).isoformat(timespec="seconds")
    return {"planned": planned, "of": of, "needs": needs(total), "used": used, "shards": shards, "missing": missing}


def shards_of_plan(receipt: Path) -> dict[str, dict[str, int]]:
    """Return the numbers of shards in a plan's ``receipt``, or an empty mapping if there is no plan."""
    if not receipt.exists():
        return {}
    try:
        shards: dict[str, dict[str, int]] = json.loads(receipt.read_text(encoding="utf-8")).get("shards", {})
    except (*FAULTS, AttributeError):
        raise InputError(
            receipt, "a damaged plan", "an intact plan; delete this file, then run `snakemake plan`"
        ) from None
    return shards


def budget_lines(budget: Mapping[str, float], receipt: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    """Return a line for each limit in ``budget``, with the past use and the estimated need from ``receipt``."""
    lines = []
    for key, limit in budget.items():
        need, used = receipt["needs"][key], receipt["used"][key] or 0
        before = f"{used:,.6g} are used and " if used else ""
        if need is None:
            lines.append(f"Budget: {limit:,g} {UNITS[key]}; the amount needed is unknown, so no run will start.")
        elif used + need > limit:
            less = f"of which {before}~{need:,.6g} more needed" if used else f"less than the ~{need:,.6g} needed"
            lines.append(f"Budget: {limit:,g} {UNITS[key]}, {less}, so no run will start.")
        else:
            lines.append(f"Budget: {limit:,g} {UNITS[key]}, of which {before}~{need:,.6g} are needed.")
    return lines


def check_budget(
    budget: Mapping[str, float],
    receipt: Path,
    of: str,
    files: Collection[Path],
    to_be_made: Iterable[Path],
    used: Mapping[str, float],
) -> None:
    """Raise InputError if a run would exceed ``budget``, or if the plan is missing or outdated.

    ``receipt``: the plan's record (plan_receipt). ``of``: the hash of the study's current work. ``files``: the plan's
    input files. The plan is outdated if one of these files is newer than the plan or is among the run's outputs
    (``to_be_made``). ``used``: the resources used so far. Resources used since the plan was made count towards the
    plan's estimate. If they exceed the estimate, the budget must still have room for the full estimate.
    """
    if not receipt.exists():
        raise InputError("config key 'budget'", "no plan for this study", PLAN_FIRST)
    try:
        plan = json.loads(receipt.read_text(encoding="utf-8"))
        needed = {key: plan["needs"][key] for key in budget}
        before = {key: plan.get("used", {}).get(key, 0) for key in budget}
        planned, of_plan = str(plan["planned"]), plan["of"]
    except (*FAULTS, KeyError, TypeError, AttributeError):
        raise InputError(receipt, "a damaged plan", "an intact plan; run `snakemake plan` again") from None
    if of_plan != of or _outdated(receipt, files, to_be_made):
        found = f"a plan from {planned}, which is older than the study's latest changes"
        raise InputError("config key 'budget'", found, "an up-to-date plan; run `snakemake plan` again")
    for key, limit in budget.items():
        need = needed[key]
        if need is None:
            expected = "key tokens_per_second for each generator, or key budget.tokens instead"
            raise InputError(
                f"config key 'budget.{key}'",
                "a plan without GPU-hours, because a generator's speed is unknown",
                expected,
            )
        if before[key] + need > limit:
            after = f" in addition to {before[key]:,.6g} already used" if before[key] else ""
            expected = f"at most {limit:,g}; `snakemake plan` shows what each job needs"
            found = f"a run that needs about {need:,.6g} {UNITS[key]}{after}"
            raise InputError(f"config key 'budget.{key}'", found, expected)
        if before[key] + need < used[key] and used[key] + need > limit:
            found = f"{used[key]:,.6g} {UNITS[key]} used, more than the plan from {planned} estimated"
            raise InputError(f"config key 'budget.{key}'", found, "a new plan; run `snakemake plan` again")


def _outdated(receipt: Path, files: Collection[Path], to_be_made: Iterable[Path]) -> bool:
    made = receipt.stat().st_mtime
    newer = any(not path.exists() or path.stat().st_mtime > made for path in files)
    return newer or not set(files).isdisjoint(to_be_made)


def missing_by_plan(
    receipt: Path, of: str, files: Collection[Path], to_be_made: Iterable[Path]
) -> tuple[dict[str, int], str]:
    """Look up each job's number of missing keys in the plan. Return the numbers, by count file, and the plan's date.

    Both values are empty if there is no plan or if the plan is outdated. For the arguments, see check_budget.
    """
    try:
        plan = json.loads(receipt.read_text(encoding="utf-8"))
        if plan["of"] == of and not _outdated(receipt, files, to_be_made):
            return plan["missing"], plan["planned"]
    except (OSError, *FAULTS, KeyError, TypeError):
        pass
    return {}, ""
