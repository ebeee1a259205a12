"""Write the table of predictors in docs/predictors.md from their classes: `make docs`."""

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from ragrelay.annexes.prediction.predictor import Predictor, predictors  # noqa: E402

from tools.blocks import replaced  # noqa: E402

PAGE = ROOT / "docs" / "predictors.md"
START = "<!-- predictors from their classes, by tools/predictors.py -->"


def table() -> str:
    """Markdown: a row per class, with the names that it stands for."""
    found: dict[tuple[str, type[Predictor]], list[Predictor]] = {}
    for one in predictors({"scorers": ["<scorer>"]}):
        found.setdefault((one.stage, type(one)), []).append(one)
    rows = ["| available | predictor | formula | source | higher is better | depends on |", "|---|---|---|---|---|---|"]
    for (stage, kind), several in found.items():
        formula, _, source = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")
        per = "; ".join(dict.fromkeys(_per(one) for one in several))
        rising = ", ".join(dict.fromkeys("yes" if one.rising else "no" for one in several))
        names = ", ".join(f"`{one.name}`" for one in several)
        cells = [stage, names, " ".join(formula.split()), " ".join(source.split()), rising, per]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _per(one: Predictor) -> str:
    """Return what a predictor's value depends on."""
    return "query, k, ordering" if one.of_ordering else "query, k" if one.of_k else "query"


def page(text: str) -> str:
    """Replace the table in ``text``, docs/predictors.md."""
    return replaced(text, START, table())


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
