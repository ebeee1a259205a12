"""Write the tables of people's scores in docs from benchmarks/results/people_errors.json: `make docs`."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from benchmarks.people_errors import ALIKE  # noqa: E402
from tools.blocks import replaced  # noqa: E402

RECORD = ROOT / "benchmarks" / "results" / "people_errors.json"
WIDTHS = "<!-- widths and coverage of estimates, by tools/people_rates.py -->"
TESTS = "<!-- coverage and power of agreement, by tools/people_rates.py -->"
PAGES = {ROOT / "docs" / "people.md": WIDTHS, ROOT / "docs" / "error-rates.md": TESTS}
"""The pages, each with the mark before its table."""
ESTIMATES = {"mean": "mean", "gain": "gain or difference", "slope": "slope"}
# By the row's name: the coefficient and a pattern for the labels in the record, from the least number with a verdict.
SIZES = {
    "ρ, 40 answers": ("rho", r"40 answers"),
    "τ, 16 systems": ("tau", r"16 (systems|families)"),
    "τ, 30 systems": ("tau", r"30 systems"),
    "τ_AP, 16 systems": ("tau_AP", r"16 (systems|families)"),
    "τ_AP, 30 systems": ("tau_AP", r"30 systems"),
}
ONE_BY_ONE = "one by one"


def page(text: str, mark: str) -> str:
    """Replace the table below ``mark`` in ``text``."""
    figures = json.loads(RECORD.read_text(encoding="utf-8"))["figures"]
    values = {label: one["value"] for label, one in figures.items() if ONE_BY_ONE not in label}
    return replaced(text, mark, _estimates(values) if mark == WIDTHS else _agreement(values))


def _estimates(values: Mapping[str, float]) -> str:
    rows = [["estimate", "interval coverage", *(f"relative width, r = {r}" for r in ALIKE[1:])]]
    for name, words in ESTIMATES.items():
        covered = _from_to(values, rf"coverage of a {name}(?! by people)", _percent)
        widths = [_from_to(values, rf"width over .*, {name}: .*, r {r}$", "{:.2f}".format) for r in ALIKE[1:]]
        rows.append([words, covered, *widths])
    return _table(rows)


def _agreement(values: Mapping[str, float]) -> str:
    rows = [["agreement", "interval coverage", "difference found: equal scorers", "difference found: r = .8 and .5"]]
    for words, (name, size) in SIZES.items():
        found = [rf"{what}, .*, {name} of two scorers: .*{size}" for what in ("false", "found, 0.8 and 0.5")]
        patterns = [rf"coverage of {name}: .*{size}", *(one.replace(", .*, ", ", (.*, )?") for one in found)]
        rows.append([words, *(_from_to(values, pattern, _percent) for pattern in patterns)])
    for words, name in {"length bias": "a bias by length", "α between two people": "alpha of two assessors"}.items():
        rows.append([words, _from_to(values, rf"coverage of {name}:", _percent), "", ""])
    return _table(rows)


def _from_to(values: Mapping[str, float], pattern: str, shown: Callable[[float], str]) -> str:
    found = [value for label, value in values.items() if re.match(pattern, label)]
    ends = list(dict.fromkeys(shown(end) for end in (min(found), max(found))))
    return " to ".join(ends)


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _table(rows: list[list[str]]) -> str:
    header, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rest])


if __name__ == "__main__":
    for path, mark in PAGES.items():
        path.write_text(page(path.read_text(encoding="utf-8"), mark), encoding="utf-8")
