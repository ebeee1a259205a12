"""Print the figures of benchmarks/results/*.json that are worse by a tenth than before (`make bench-compare`).

Each record is compared with the last one of its history that has the same processor, instruction set and setting.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.performance import RESULTS

LOST = 0.1
COSTS = {"s", "ms", "B", "MiB", "GiB"}
"""Units of which less is better. Of a rate more is better. Another figure is compared only if its goal tells."""


def lost(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each figure of a benchmark's ``record`` that lost a tenth or more."""
    before = next((past for past in reversed(record.get("history", [])) if _like(past, record)), None)
    for label, figure in record["figures"].items() if before else ():
        then, now, sign = before["values"].get(label), figure["value"], _better(figure)
        if not (sign and then and now):
            continue
        worse = now / then - 1 if sign < 0 else then / now - 1
        if worse >= LOST:
            unit = f" {figure['unit']}" if "unit" in figure else ""
            since = " ".join(filter(None, (before.get("date"), before.get("commit"))))
            yield f"{record['name']}: {label}: {then} → {now}{unit}, {worse:.0%} worse than on {since}"


def _like(past: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Return whether a past record is of the same processor and setting; older ones do not have the instruction set."""
    ours, theirs = record["machine"], past["machine"]
    keys = ("cpu", "cores", *(["instructions"] if "instructions" in theirs else []))
    return past.get("setting") == record.get("setting") and all(ours.get(key) == theirs.get(key) for key in keys)


def _better(figure: Mapping[str, Any]) -> int:
    """Return 1 if more is better, -1 if less is, 0 if nothing tells."""
    if goal := figure.get("goal", ""):
        return 1 if goal.startswith(">") else -1
    unit = figure.get("unit", "")
    return -1 if unit in COSTS else 1 if unit.endswith("/s") else 0


def main(folder: Path = RESULTS) -> None:
    """Print the lines of all records."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    lines = [line for record in records if "figures" in record for line in lost(record)]
    print("\n".join(lines) or "No figure is worse by a tenth than the last record of the same processor and setting.")


if __name__ == "__main__":
    main()
