"""Write docs/reference/results.md and the captions of Snakemake's report from declarations in the code: `make docs`."""

import sys
import textwrap
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAPTIONS = ROOT / "workflow" / "report" / "captions"
PAGE = ROOT / "docs" / "reference" / "results.md"
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.base.annex import annexes  # noqa: E402
from ragrelay.base.vocabulary.columns import STUDY_PART, Column  # noqa: E402
from ragrelay.base.vocabulary.study_file import StudyFile  # noqa: E402
from ragrelay.execution.study.files import result_files  # noqa: E402
from ragrelay.report import outputs as core  # noqa: E402
from ragrelay.report.display.outputs import resolve  # noqa: E402
from ragrelay.report.registry import OUTPUTS, RESULT_TABLES  # noqa: E402

HEAD = """# Results: every file and column

Files are below `results/<study>/`; names in braces are wildcards, and `{a|b}` is either. Tables of one dataset,
generator and scorer have these as their first columns, so that the tables of several concatenate in one line of Python:
`pl.concat(map(pl.read_csv, Path("results/my-study").glob("*/analysis/*/*/gain.csv")))`.

In a CSV file an empty field is a missing value. In those of `report/` and `compare/`, a text that begins with `=`, `+`,
`-`, `@` or a tab and is no number has an apostrophe before it, or a spreadsheet would take it for a formula; Parquet
files have it as it is. A column without a unit is a name, a text, a truth value or a plain number; “the scorer's” means
the unit of the scorer's P: a score from 0 to 1 for the scorers that come with ragrelay. What the numbers mean:
[methods.md](../methods.md).

A file's columns stand in order; those without a line below their file have one here. “Shown in” names the figures and
tables of the report that a file is read for;
[Architecture](../architecture.md#where-a-column-comes-from-and-who-reads-it) says how to find who else reads a file.

<!-- Written from the declarations in the code by `make docs`. -->

## Columns of several files

"""
TABLE = "| column | unit | what it is |\n|---|---|---|\n"


def columns_of(file: StudyFile) -> dict[str, Column]:
    """Columns of a table by name, in order; none where it is no table."""
    declared = resolve(file.columns) if file.columns else {}
    return {**STUDY_PART, **declared} if file.part else declared


def rows_of(columns: dict[str, Column]) -> dict[str, str]:
    """Return a line of the table for each column."""
    return {name: f"| `{name}` | {column.unit} | {column.about} |\n" for name, column in columns.items()}


def common_rows() -> dict[str, str]:
    """Return lines that three or more tables share, by column name, if most tables with that column mean the same."""
    declared = {file.columns: columns_of(file) for file in result_files()}
    rows = Counter(row for columns in declared.values() for row in rows_of(columns).items())
    names = Counter(name for columns in declared.values() for name in columns)
    return {name: row for (name, row), count in rows.items() if count > max(2, names[name] / 2)}


def page() -> str:
    """Return the whole of docs/reference/results.md."""
    common = common_rows()
    parts: list[str] = [HEAD + TABLE + "".join(sorted(common.values()))]
    shown: dict[str, str] = {}
    shown_by = {table.path: name for name, table in RESULT_TABLES.items()}
    for file in result_files():
        about = f"{file.about[0].upper()}{file.about[1:]}. Made by `{file.rule}`."
        if outputs := [f"`{output.name}`" for output in OUTPUTS if shown_by.get(file.path) in output.needs]:
            about += f" Shown in {', '.join(dict.fromkeys(outputs))}."
        parts.append(f"## `{file.path}`\n\n{about}\n")
        columns = columns_of(file)
        if file.columns in shown:
            declared = resolve(file.columns)
            added = [f"`{name}`" for name in columns if name not in declared]
            before = f"{', '.join(added)}, then " if added else ""
            parts.append(f"Columns: {before}those of `{shown[file.columns]}`.\n")
        elif columns:
            shown[file.columns] = file.path
            own = {name: row for name, row in rows_of(columns).items() if common.get(name) != row}
            parts.append(f"Columns: {', '.join(f'`{name}`' for name in columns)}.\n")
            parts += [TABLE + "".join(own.values())] if own else []
    return "\n".join(parts)


def captions() -> dict[Path, str]:
    """Return captions as reStructuredText, by their file. Outputs of one kind and name share one."""
    of_annexes = {annex.folder / "captions": annex.outputs for annex in annexes()}
    texts: dict[Path, list[str]] = {}
    for folder, outputs in {CAPTIONS: core.OUTPUTS, **of_annexes}.items():
        for output in outputs:
            if output.endings:
                path = folder / f"{output.kind}_{output.name}.rst"
                texts.setdefault(path, []).append(textwrap.fill(output.caption, 120))
    return {path: "\n\n".join(found) + "\n" for path, found in texts.items()}


def present_captions() -> list[Path]:
    """Return the files of captions that there are."""
    folders = [CAPTIONS, *(annex.folder / "captions" for annex in annexes())]
    return [path for folder in folders for kind in ("figure", "table") for path in folder.glob(f"{kind}_*.rst")]


def main() -> None:
    made = captions()
    for path in present_captions():
        if path not in made:
            path.unlink()
    for path, text in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
