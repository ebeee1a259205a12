"""Write the tables of docs/reference/performance.md from benchmarks/results/*.json (`make bench`)."""

import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "reference" / "performance.md"
START = "<!-- Below: written from benchmarks/results/ by `make bench`. -->"
GOALS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
SIGNS = {">=": "≥", "<=": "≤"}
# What a result says about itself; everything else that it holds are figures, where it has no "figures".
ABOUT = ("name", "setting", "machine", "versions", "command", "seconds", "date", "commit", "history")

Row = tuple[str, str, str]


def tables(results: Iterable[Mapping[str, Any]]) -> str:
    """Markdown: a section per benchmark, with its setting, a table of its figures, and how to run it again."""
    sections = []
    for result in results:
        lines = [f"### {_words(result['name'])}", ""]
        if "setting" in result:
            lines += [f"{result['setting'][:1].upper()}{result['setting'][1:]}.", ""]
        lines += [*_table(_figures(result)), "", _provenance(result)]
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)


def page(text: str, results: Iterable[Mapping[str, Any]]) -> str:
    """Replace the tables in ``text``, docs/reference/performance.md."""
    introduction, mark, _ = text.partition(START)
    if not mark:
        raise ValueError(f"{PAGE}: found no line {START!r}; expected it above the tables")
    return f"{introduction}{START}\n\n{tables(results)}"


def read_results(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the benchmarks' results, by file name; one without a name takes its file's; some have other pages."""
    found = [
        {"name": path.stem, **json.loads(path.read_text(encoding="utf-8"))} for path in sorted(folder.glob("*.json"))
    ]
    return [one for one in found if "page" not in one]


def _figures(result: Mapping[str, Any]) -> Mapping[str, Any] | list[Mapping[str, Any]]:
    return result.get("figures", {key: value for key, value in result.items() if key not in ABOUT})


def _table(figures: Mapping[str, Any] | list[Mapping[str, Any]]) -> list[str]:
    """Return a row per figure; a list of records makes a row per record, with their keys above."""
    if isinstance(figures, list):
        header = [_words(key) for key in figures[0]]
        rows: Iterable[Iterable[str]] = [map(_number, record.values()) for record in figures]
    else:
        header, rows = ["figure", "measured", "goal"], _rows(figures)
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _words(key: str) -> str:
    return key.replace("_", " ")


def _rows(figures: Mapping[str, Any], above: str = "") -> Iterator[Row]:
    """A row per figure: a number, text or list, or a mapping with ``value``; other mappings hold figures themselves."""
    for label, figure in figures.items():
        name = above + _words(label)
        if isinstance(figure, Mapping) and "value" not in figure:
            yield from _rows(figure, f"{name}, ")
        elif isinstance(figure, Mapping):
            yield name, _measured(figure), _goal(figure)
        else:
            yield name, _number(figure), ""


def _measured(figure: Mapping[str, Any]) -> str:
    unit = "" if not figure.get("unit") else "×" if figure["unit"] == "x" else f" {figure['unit']}"
    spread = f" ({_number(figure['from'])} to {_number(figure['to'])})" if "from" in figure else ""
    return f"{_number(figure['value'])}{unit}{spread}"


def _goal(figure: Mapping[str, Any]) -> str:
    """Return the goal, and whether it was reached."""
    if not figure.get("goal"):
        return ""
    sign, bound = figure["goal"].split()
    reached = GOALS[sign](figure["value"], float(bound))
    return f"{SIGNS.get(sign, sign)} {bound}: {'reached' if reached else '**missed**'}"


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(map(_number, value)) if isinstance(value, list | tuple) else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.1e}" if value and abs(value) < 1e-3 else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _provenance(result: Mapping[str, Any]) -> str:
    machine, versions = result.get("machine", {}), result.get("versions", {})
    said = []
    if machine:
        widest = f" with {machine['instructions']}" if machine.get("instructions") else ""
        said.append(f"{machine['cpu']}{widest}, {machine['cores']} cores, {machine['memory_gib']} GiB")
    if versions:
        said.append(", ".join(f"{package} {version}" for package, version in versions.items()))
    if result.get("date"):
        said.append(f"{result['date']}, commit {result['commit']}")
    if "seconds" in result:
        said.append(f"{result['seconds']} s in total")
    command = f"`{result['command']}`" if "command" in result else ""
    return ". ".join([command, *said] if command else said) + "."


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), read_results()), encoding="utf-8")
