"""Write the table of marks of thought in docs/add-a-model.md: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from ragrelay.generation.thought_marks import FAMILIES, Family  # noqa: E402

from tools.blocks import replaced  # noqa: E402

PAGE = ROOT / "docs" / "add-a-model.md"
START = "<!-- marks of thought from their families, by tools/thinking_models.py -->"


def table() -> str:
    """Markdown: a row per family."""
    rows = ["| marks | models | source |", "|---|---|---|"]
    for family in FAMILIES:
        cells = " | ".join(cell.replace("|", "\\|") for cell in (_marks(family), family.models, family.source))
        rows.append(f"| {cells} |")
    return "\n".join(rows)


def _marks(family: Family) -> str:
    """Return the cell with a family's marks."""
    return f"`{family.start}` … `{family.end}`"


def page(text: str) -> str:
    """Replace the table in ``text``, docs/add-a-model.md."""
    return replaced(text, START, table())


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
