"""Write the captions of Snakemake's report from the registry of figures and tables."""

import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAPTIONS = ROOT / "workflow" / "report" / "captions"
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.report.outputs import OUTPUTS  # noqa: E402


def captions() -> dict[str, str]:
    """Captions as reStructuredText, by the name of their file; outputs of one kind and name share theirs."""
    texts: dict[str, list[str]] = {}
    for output in OUTPUTS:
        if output.endings:
            texts.setdefault(f"{output.kind}_{output.name}.rst", []).append(textwrap.fill(output.caption, 120))
    return {name: "\n\n".join(found) + "\n" for name, found in texts.items()}


def main() -> None:
    CAPTIONS.mkdir(exist_ok=True)
    made = captions()
    for path in CAPTIONS.glob("*.rst"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (CAPTIONS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
