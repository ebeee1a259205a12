"""Write the table of thoughts in docs/error-rates.md from benchmarks/results/thought_errors.json: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from benchmarks.thought_errors import table  # noqa: E402
from tools.blocks import replaced  # noqa: E402

PAGE = ROOT / "docs" / "error-rates.md"
RECORD = ROOT / "benchmarks" / "results" / "thought_errors.json"


def page(text: str) -> str:
    """Replace the table in ``text``, docs/error-rates.md."""
    return replaced(text, "<!-- error rates of thoughts, by tools/thought_rates.py -->", table(RECORD))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
