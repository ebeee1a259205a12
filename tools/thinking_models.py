"""Write the table of marks of thought in docs/add-a-model.md: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from ragrelay.generation.thought_marks import FAMILIES, Family  # noqa: E402

from tools.blocks import replaced  # noqa: E402

PAGE = ROOT / "docs" / "add-a-model.md"
START = "<!-- marks of thought from their families, by tools/thinking_models.py -->"
REWORDED = {
    "Hy 3 and 4 with a suffix of the checkpoint": "Hy 3 and 4, whose tags have a suffix that depends on the checkpoint",
    "channels of a message each, the answer's is the final one": "each message has a channel; the answer is in `final`",
    "Inkling: blocks of a message each": "Inkling: one block per message",
    "messages to itself, then to the user": "messages to itself come before the message to the user",
    ": plain words": ", whose marks are ordinary text",
    "the parser of Apertus in a later vLLM": "Apertus's parser in a later vLLM version",
}
"""Parts of the families' texts, and what the page says instead; in the package, rewording them would rerun jobs."""


def table() -> str:
    """Markdown: a row per family."""
    rows = ["| marks | models | source |", "|---|---|---|"]
    for family in FAMILIES:
        cells = " | ".join(cell.replace("|", "\\|") for cell in (_marks(family), family.models, family.source))
        for old, new in REWORDED.items():
            cells = cells.replace(old, new)
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
