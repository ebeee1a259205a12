"""Write the tables of docs/reproduce-*.md, a page per paper, from resources/published/rows.csv: `make docs`."""

import csv
import string
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from tools.blocks import replaced  # noqa: E402

ROWS = ROOT / "resources" / "published" / "rows.csv"
PAGES = {
    "Tian et al. 2025": "reproduce-tian-2025.md",
    "Tian et al. 2026": "reproduce-tian-2026.md",
    "Salemi and Zamani 2024": "reproduce-salemi-2024.md",
    "Hagström et al. 2025": "reproduce-hagstrom-2025.md",
}
STATES = ("as printed", "differs", "out of reach")
MARK = "<!-- tables and figures, by tools/papers.py -->"


def read(path: Path = ROWS) -> list[dict[str, str]]:
    """A row per table or figure: paper, item, about, command, needs, gpu_hours, state, because, place, printed."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(rows: list[dict[str, str]]) -> str:
    """Return a paper's table; below it the commands, what they need, and the reasons for differences."""
    ways = list(dict.fromkeys((row["command"], row["needs"]) for row in rows if row["command"]))
    reasons = list(dict.fromkeys(row["because"] for row in rows if row["because"]))
    lines = ["| item | content | command | GPU-hours | state | files |", "|---|---|---|---|---|---|"]
    for row in rows:
        way = f"({ways.index((row['command'], row['needs'])) + 1})" if row["command"] else ""
        letter = f" ({string.ascii_lowercase[reasons.index(row['because'])]})" if row["because"] else ""
        places = "; ".join(map(_code, row["place"].split("; "))) if row["place"] else ""
        cells = (row["item"], row["about"], way, row["gpu_hours"], row["state"] + letter, places)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    for number, (command, needs) in enumerate(ways, 1):
        lines.append(f"\n({number}) `{command}`" + (f" needs {needs}." if needs else ""))
    lines += [f"\n({letter}) {reason}." for letter, reason in zip(string.ascii_lowercase, reasons, strict=False)]
    return "\n".join(lines)


def page(paper: str, text: str) -> str:
    """Replace the table in ``text``, the page of ``paper``."""
    return replaced(text, MARK, table([row for row in read() if row["paper"] == paper]))


def _code(place: str) -> str:
    path, _, rest = place.partition(" ")
    return f"`{path}` {rest}".strip() if "/" in path else place


if __name__ == "__main__":
    for paper, name in PAGES.items():
        file = ROOT / "docs" / name
        if file.is_file():
            file.write_text(page(paper, file.read_text(encoding="utf-8")), encoding="utf-8")
