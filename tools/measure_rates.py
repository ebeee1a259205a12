"""Write the tables of measures in docs/error-rates.md from benchmarks/results/measure_errors.json: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from benchmarks.measure_errors import TABLES, table  # noqa: E402
from tools.blocks import replaced  # noqa: E402

PAGE = ROOT / "docs" / "error-rates.md"
RECORD = ROOT / "benchmarks" / "results" / "measure_errors.json"


def page(text: str) -> str:
    """Replace the tables in ``text``, docs/error-rates.md."""
    for name, part in TABLES.items():
        text = replaced(text, f"<!-- {name}, by tools/measure_rates.py -->", table(RECORD, part))
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
