"""Write docs/reproduce-the-papers.md from resources/published/rows.csv: `make docs`."""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "resources" / "published" / "rows.csv"
PAGE = ROOT / "docs" / "reproduce-the-papers.md"
STATES = ("as printed", "differs", "out of reach")
HEAD = """# Reproduce the papers

<!-- Written from resources/published/rows.csv by `make docs`. -->

Every table and figure of four papers: how to get it, what it needs, and how it differs.

- *as printed*: the same quantities of the same data by the same method;
- *differs*: the same quantities, but something that moves their values is another;
- *out of reach*: not made here.

Nothing below has been run at full size for this page, so no GPU-hours are known in advance. The target `plan` in the
place of a command's own counts its prompts and tokens, and estimates its hours from your own earlier jobs. Files are
below `results/<study>/`. The target `reproduce` sets a study's values next to the printed ones, where
[resources/published](../resources/published/README.md) has these.

How each set-up differs line by line: [Tian et al. 2025](reproduce-the-paper.md),
[Salemi and Zamani 2024](erag.md#the-papers-study), [Hagström et al. 2025](acu.md#the-papers-study),
[Tian et al. 2026](predict.md#tian-et-al-2026-and-this-study). The rows of the last were written from its public code
and its figures for k = 2, those of the appendices of Hagström et al. from what the body of the paper says of them.
"""


def read(path: Path = ROWS) -> list[dict[str, str]]:
    """A row per table or figure: paper, item, about, command, needs, state, because, place."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def page(rows: list[dict[str, str]]) -> str:
    """The page: a table per paper, and its commands below."""
    parts = [HEAD]
    for paper in dict.fromkeys(row["paper"] for row in rows):
        own = [row for row in rows if row["paper"] == paper]
        commands = list(dict.fromkeys(row["command"] for row in own if row["command"]))
        parts.append(f"## {paper}\n\n| | what | command | needs | state | where |\n|---|---|---|---|---|---|")
        for row in own:
            number = f"({commands.index(row['command']) + 1})" if row["command"] else ""
            state = f"{row['state']}, because: {row['because']}" if row["because"] else row["state"]
            places = "; ".join(map(_code, row["place"].split("; "))) if row["place"] else ""
            cells = (row["item"], row["about"], number, row["needs"], state, places)
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
        parts += [f"({place}) `{command}`\n" for place, command in enumerate(commands, 1)]
    return "\n".join(parts)


def _code(place: str) -> str:
    path, _, rest = place.partition(" ")
    return f"`{path}` {rest}".strip() if "/" in path else place


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")
