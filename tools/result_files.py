"""Write docs/reference/results*.md and the captions of Snakemake's report from the code's declarations: `make docs`."""

import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAPTIONS = ROOT / "workflow" / "report" / "captions"
FOLDER = ROOT / "docs" / "reference"
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.base.annex import annexes  # noqa: E402
from ragrelay.base.vocabulary.columns import STUDY_PART, Column  # noqa: E402
from ragrelay.base.vocabulary.study_file import StudyFile  # noqa: E402
from ragrelay.execution.study.files import result_files  # noqa: E402
from ragrelay.report import outputs as core  # noqa: E402
from ragrelay.report.display.outputs import resolve  # noqa: E402
from ragrelay.report.registry import OUTPUTS, RESULT_TABLES  # noqa: E402

HEAD = """# Results: every file and column

Paths are relative to `results/<study>/`. Names in braces are wildcards; `{a|b}` means `a` or `b`.
[Methods](../methods.md) explains the numbers.

**Columns.** The first columns of each analysis table name the table's dataset, generator and scorer, so you can
concatenate several tables with one line of Python:
`pl.concat(map(pl.read_csv, Path("results/my-study").glob("*/analysis/*/*/gain.csv")))`. A column without a unit
contains names, texts, booleans or plain numbers. Values in the unit “the scorer's” are on the scale of the scorer's
P, which is 0 to 1 for all scorers that come with ragrelay except `length`. Columns are listed in file order. Some
columns that appear in several files are described only in [the table at the end](#columns-in-several-files).

**CSV files.** An empty field is a missing value. In CSV files below `report/` and `compare/`, a text that begins with
`=`, `+`, `-`, `@` or a tab and isn't a number gets a leading apostrophe, because a spreadsheet program would otherwise
treat the text as a formula. Parquet files contain the unchanged text.

“Shown in” names the figures and tables in the report that use the file. To find the code that reads the file, see
[Architecture](../architecture.md#where-a-column-comes-from-and-who-reads-it).

<!-- Written from the declarations in the code by `make docs`. -->

"""
MARK = "<!-- Written from the declarations in the code by `make docs`. -->"
PAGES = {
    "passages": (
        "Queries, passages and prompts",
        r"\{dataset\}/(collection|runs|contexts|retrieval|prompts)/|indexes/",
    ),
    "answers": (
        "Answers and scores",
        r"\{dataset\}/(generated|answers|references|scored|judged|scores|nuggets|context_use|utility|described|"
        r"asked/(judge_answers|write_nuggets|check_judge|score_context_use))/|fetched/|converted/",
    ),
    "analysis": ("Analysis", r"\{dataset\}/analysis/(?!.*/prediction_|.*/intervention)|pooled"),
    "report": ("Report, plan and measurements", "report/|plan|benchmarks/"),
    "labels": ("Passage labels", ".*annotation|.*/asked/(judge|check)_passages"),
    "predictions": ("Predictions", ".*prediction"),
    "claims": ("Claims", "acu/"),
    "people": ("Interventions and human scores", ".*intervention|.*/people/|to_score/"),
    "others": ("Other targets and annexes", ""),
}
"""Page → its title, and a pattern of its files; each file is on the first that fits."""
TABLE = "| column | unit | meaning |\n|---|---|---|\n"


def columns_of(file: StudyFile) -> dict[str, Column]:
    """Columns of a table by name, in order; none where it is no table."""
    declared = resolve(file.columns) if file.columns else {}
    return {**STUDY_PART, **declared} if file.part else declared


def rows_of(columns: dict[str, Column]) -> dict[str, str]:
    """Return a line of the table for each column."""
    bar = "\\|"
    return {
        name: f"| `{name}` | {column.unit} | {column.about.replace('|', bar)} |\n" for name, column in columns.items()
    }


def common_rows() -> dict[str, str]:
    """Return lines that three or more tables share, by column name, if most tables with that column mean the same."""
    declared = {file.columns: columns_of(file) for file in result_files()}
    rows = Counter(row for columns in declared.values() for row in rows_of(columns).items())
    names = Counter(name for columns in declared.values() for name in columns)
    return {name: row for (name, row), count in rows.items() if count > max(2, names[name] / 2)}


def page_of(path: str) -> str:
    """Return the name of the page with the file at ``path``."""
    return next(name for name, (_, pattern) in PAGES.items() if re.match(pattern, path))


def pages() -> dict[Path, str]:
    """Return the index with the columns in several files, and the pages, by their files."""
    common = common_rows()
    shown: dict[str, str] = {}
    shown_by = {table.path: name for name, table in RESULT_TABLES.items()}
    parts = {name: [f"# Results: {title[0].lower()}{title[1:]}\n\n{MARK}\n"] for name, (title, _) in PAGES.items()}
    listed: dict[str, list[str]] = {name: [] for name in PAGES}
    for file in result_files():
        page = page_of(file.path)
        *others, last = [name if " " in name else f"`{name}`" for name in file.rule.split(", ")]
        rules = f"{', '.join(others)} or {last}" if others else last
        made = "Not written by a rule" if file.rule == "no rule" else f"Written by {rules}"
        words = file.about
        first = words[0] if words.startswith("eRAG") else words[0].upper()
        about = f"{first}{words[1:]}. {made}."
        if outputs := [f"`{output.name}`" for output in OUTPUTS if shown_by.get(file.path) in output.needs]:
            about += f" Shown in {', '.join(dict.fromkeys(outputs))}."
        parts[page].append(f"## `{file.path}`\n\n{about}\n")
        listed[page].append(file.path)
        columns = columns_of(file)
        if file.columns in shown:
            declared = resolve(file.columns)
            added = [f"`{name}`" for name in columns if name not in declared]
            before = f"{', '.join(added)}, then " if added else ""
            there = shown[file.columns]
            same = (
                f"`{there}`" if page_of(there) == page else f"[`{there}`](results-{page_of(there)}.md#{_anchor(there)})"
            )
            parts[page].append(f"Columns: {before}the same as in {same}.\n")
        elif columns:
            shown[file.columns] = file.path
            own = {name: row for name, row in rows_of(columns).items() if common.get(name) != row}
            parts[page].append(f"Columns: {', '.join(f'`{name}`' for name in columns)}.\n")
            parts[page] += [TABLE + "".join(own.values())] if own else []
    rows = [
        f"| [{title}](results-{name}.md) | {', '.join(dict.fromkeys(f'`{_folder(path)}`' for path in listed[name]))} |"
        for name, (title, _) in PAGES.items()
    ]
    index = [HEAD + "| page | files |\n|---|---|", *rows, "", "## Columns in several files", ""]
    written = {FOLDER / "results.md": "\n".join(index) + "\n" + TABLE + "".join(sorted(common.values()))}
    return written | {FOLDER / f"results-{name}.md": "\n".join(text) for name, text in parts.items()}


def _folder(path: str) -> str:
    """Return the path's first two folders, or the file."""
    first, _, rest = path.removeprefix("{dataset}/").partition("/")
    below = "{dataset}/" if path.startswith("{dataset}/") else ""
    return f"{below}{first}/" if rest else f"{below}{first}"


def _anchor(path: str) -> str:
    return re.sub(r"[^\w -]", "", path.lower())


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
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
