"""Write the tables of docs/error-rates.md from their records: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "error-rates.md"
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from benchmarks import cluster_errors, panel_errors, rho_errors  # noqa: E402
from benchmarks.shared import model_columns  # noqa: E402
from benchmarks.word_errors import PARTS, part_of, read, table  # noqa: E402
from tools.blocks import replaced  # noqa: E402


def page(text: str) -> str:
    """Replace the tables in ``text``, docs/error-rates.md: of words, remarks, relay, clusters, panels and rho."""
    rates = read(ROOT / "benchmarks" / "results" / "word_errors.json")
    for part in PARTS:
        made = table([one for one in rates if part_of(one) == part])
        text = replaced(text, f"<!-- error rates of {part}, by tools/error_rates.py -->", made)
    columns = "<!-- a language model's answers, by tools/error_rates.py -->"
    text = replaced(text, columns, model_columns.table())
    clustered = cluster_errors.table(ROOT / "benchmarks" / "results" / "cluster_errors.json")
    text = replaced(text, "<!-- error rates by cluster, by tools/error_rates.py -->", clustered)
    panels = panel_errors.table(ROOT / "benchmarks" / "results" / "panel_errors.json")
    text = replaced(text, "<!-- error rates of panels, by tools/error_rates.py -->", panels)
    few = rho_errors.table(ROOT / "benchmarks" / "results" / "rho_errors.json")
    return replaced(text, "<!-- error rates of rho, by tools/error_rates.py -->", few)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
