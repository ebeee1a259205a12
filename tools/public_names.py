"""Write the list of public names into docs/reference/public.md.

python tools/public_names.py
"""

import importlib
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "workflow/scripts"), str(ROOT)]

from ragrelay.base.public_names import public_names  # noqa: E402

from tools.blocks import replaced  # noqa: E402

PAGE = ROOT / "docs/reference/public.md"
START = "<!-- the names, by tools/public_names.py -->"


def listed() -> str:
    """Return a table of the names of ``ragrelay.extend``, each with the first sentence about it."""
    rows = ["| name | what it is |", "|---|---|"]
    for name, module in sorted(public_names().items(), key=lambda item: item[0].lower()):
        rows.append(f"| `{name}` | {about(name, module)} |")
    return "\n".join(rows)


def about(name: str, module: str) -> str:
    """Return the first sentence of a docstring; of a constant or a type, the text below it in its module."""
    loaded = importlib.import_module(module)
    value, source = getattr(loaded, name), inspect.getsource(loaded)
    text = inspect.getdoc(value) if inspect.isclass(value) or inspect.isfunction(value) else ""
    if not text:
        text = source.partition(f"\n{name} = ")[2].partition('\n"""')[2].partition('"""')[0]
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".").replace("|", "\\|").replace("``", "`") + "."


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), START, listed()), encoding="utf-8")
