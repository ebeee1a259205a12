"""Write docs/results.md, and the captions of Snakemake's report, from the declarations in the code: `make docs`."""

import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAPTIONS = ROOT / "workflow" / "report" / "captions"
PAGE = ROOT / "docs" / "results.md"
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.display.outputs import resolve  # noqa: E402
from ragrelay.report.outputs import OUTPUTS  # noqa: E402
from ragrelay.study.files import result_files  # noqa: E402
from ragrelay.vocabulary.columns import STUDY_PART  # noqa: E402

HEAD = """# Results: every file and column

<!-- Written from the declarations in the code by `make docs`. -->

Files are below `results/<study>/`; names in braces are wildcards, and `{a|b}` is either. Tables of one dataset,
generator and scorer have these as their first columns, so that the tables of several concatenate in one line of Python:
`pl.concat(map(pl.read_csv, Path("results/my-study").glob("*/analysis/*/*/gain.csv")))`.

In a CSV file an empty field is a missing value. In those of `report/` and `compare/`, a text that begins with `=`, `+`,
`-`, `@` or a tab and is no number has an apostrophe before it, or a spreadsheet would take it for a formula; Parquet
files have it as it is. A column without a unit is a name, a text, a truth value or a plain number; “the scorer's” means
the unit of the scorer's P: a score from 0 to 1 for the scorers that come with ragrelay. What the numbers mean:
[statistics.md](statistics.md).
"""


def page() -> str:
    """The whole of docs/results.md."""
    parts: list[str] = [HEAD]
    shown: dict[str, str] = {}
    for file in result_files():
        about = f"{file.about[0].upper()}{file.about[1:]}. Made by `{file.rule}`."
        parts.append(f"## `{file.path}`\n\n{about}\n")
        declared = resolve(file.columns) if file.columns else {}
        columns = {**STUDY_PART, **declared} if file.part else declared
        if file.columns in shown:
            added = [f"`{name}`" for name in columns if name not in declared]
            before = f"{', '.join(added)}, then " if added else ""
            parts.append(f"Columns: {before}those of `{shown[file.columns]}`.\n")
        elif columns:
            shown[file.columns] = file.path
            rows = [f"| `{name}` | {column.unit} | {column.about} |" for name, column in columns.items()]
            parts.append("\n".join(["| column | unit | what it is |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


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
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
