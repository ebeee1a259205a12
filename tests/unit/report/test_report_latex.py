"""The LaTeX tables: their numbers, their escapes, and that an engine sets them."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from ragrelay.report.display.numbers import number
from ragrelay.report.display.outputs import available
from ragrelay.report.display.sections import Section
from ragrelay.report.latex import escape, in_latex, table1_latex
from ragrelay.report.latex_long import correlation_latex, significance_latex
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_study
from ragrelay.report.study import ReportedStudy
from ragrelay.report.table1 import table1
from ragrelay.report.table_files import write_tables

from tests.support.report_study import write_study

pytestmark = pytest.mark.process

ENGINES = ("pdflatex", "lualatex", "xelatex", "tectonic")
AWKWARD = r"d_l-19 & 100% {x} #1 ^~<>|$" + '"\\'
PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[a4paper,landscape,margin=1cm]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\begin{document}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ReportedStudy:
    return read_study(**write_study(tmp_path_factory.mktemp("study"), datasets=("dl19", "dl20")))


@pytest.fixture(scope="module")
def section(study: ReportedStudy) -> Section:
    return study.sections[0]


def test_table1_has_the_datasets_below_each_other_and_every_value_in_its_column(study: ReportedStudy):
    blocks = [(section.dataset, table1(section)) for section in study.sections]
    text = table1_latex(study.sections, "p")
    assert text.count(r"\begin{tabular}") == 1
    assert r"\cmidrule(lr){3-5} \cmidrule(lr){6-8}" in text
    parts = text.split(r"\bottomrule")[0].split(r"\midrule")[1:]
    assert len(parts) == 2
    for part, (name, table) in zip(parts, blocks, strict=True):
        title, zero, *rows = part.strip().splitlines()
        assert rf"\textit{{{name}}}" in title
        assert zero.startswith("0-shot & $P_0$")
        assert re.findall(r"\{c\}\{([\d.]+)\}", zero) == [number(value) for value in table.zero_shot]
        assert len(rows) == len(table.rows)
        for line, row in zip(rows, table.rows, strict=True):
            cells = line.removesuffix(r" \\").split(" & ")
            assert cells[:2] == [row.retriever, row.ordering]
            for cell, value in zip(cells[2:], row.cells["p"], strict=True):
                shown = cell.split(r"\rlap")[0].replace("$-$", "-")
                assert shown.startswith(r"\textbf{") == value.best
                assert float(shown.removeprefix(r"\textbf{").strip("}")) == pytest.approx(value.value, abs=0.00051)
                assert (r"\dagger" in cell, r"\ddagger" in cell) == ("†" in value.marks, "‡" in value.marks)


def test_many_k_put_the_grades_below_each_other(section: Section):
    many = tuple(range(1, 16))
    text = table1_latex([replace(section, grid=replace(section.grid, k=many))])
    assert text.count(r"\begin{tabular}") == 1
    assert [name for name in ("dl19, lenient", "dl19, strict") if rf"\textit{{{name}}}" in text] != []
    assert r"\begin{tabular}{ll" + "r" * 15 + "}" in text
    assert all(len(line.split(" & ")) == 17 for line in text.splitlines() if line.startswith("bm25"))


def test_datasets_of_other_grades_get_a_table_of_their_own(section: Section):
    text = table1_latex([section, replace(section, dataset="dev", grades=section.grades[:1])], "p")
    assert text.count(r"\begin{table}") == text.count(r"\begin{tabular}") == 2


def test_unseen_says_that_reference_sets_differ(section: Section):
    for unseen in (False, True):
        text = table1_latex([section], "p", unseen)
        assert ("has its own reference set" in text) == unseen
        assert ("0-shot" in text) == (not unseen)
        assert ("has its own reference set" in significance_latex(section, unseen)) == unseen


def test_long_tables_have_a_row_per_cell_and_the_reason_where_there_is_no_number(section: Section):
    for unseen in (False, True):
        text = correlation_latex(section, unseen)
        rows = [line for line in text.splitlines() if line.split(" & ")[0] in section.grid.retrievers]
        assert len(rows) == 4 * 2 * 3 * 2
        assert all(
            rows[place].count("nDCG is constant") == rows[place].startswith("nrel") for place in range(len(rows))
        )
        assert all(("-unseen" in row) == unseen for row in rows)
    first = section.rows("significance").row(0, named=True)
    row = next(
        line for line in significance_latex(section, False).splitlines() if line.startswith(in_latex(first["mark"]))
    )
    assert in_latex(number(first["mean_difference"], 3)) in row
    assert in_latex(number(first["d_z"], 2)) in row


def test_latex_escapes_all_special_characters():
    name = r"\{}$&#%_~^<>|" + '"'
    escaped = escape(name)
    # Undo every escape, the longest first: what is left over must be nothing.
    commands = ["textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"]
    rest = re.sub(rf"\\(?:{'|'.join(commands)}|textquotedbl){{}}|\\[{{}}$&#%_]", "", escaped)
    assert rest == ""
    assert escape("a_b & 5%") == r"a\_b \& 5\%"


def balanced(text: str) -> bool:
    """What can be said without an engine: braces, dollars and environments close, rows have as many cells."""
    bare = re.sub(r"\\[\\{}$&%#_]", "", text)
    opened = re.findall(r"\\begin{(\w+)}", text)
    return (
        bare.count("{") == bare.count("}")
        and bare.count("$") % 2 == 0
        and sorted(opened) == sorted(re.findall(r"\\end{(\w+)}", text))
    )


@pytest.fixture(scope="module")
def texts(study: ReportedStudy, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All LaTeX tables of a study whose dataset has a name that LaTeX would choke on."""
    folder = tmp_path_factory.mktemp("tables")
    sections = tuple(replace(section, dataset=section.dataset + AWKWARD) for section in study.sections)
    tables = [table for table in OUTPUTS if table.kind == "table" and table.of in ("section", "group")]
    write_tables(replace(study, sections=sections), available(tables, sections[0].tables), folder)
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.tex"))}


def test_tables_are_balanced(texts: dict[str, str]):
    assert len(texts) == 2 * 4 + 4
    for name, text in texts.items():
        assert balanced(text), name


def test_an_engine_sets_all_tables(texts: dict[str, str], tmp_path: Path):
    engine = next((name for name in ENGINES if shutil.which(name)), None)
    if engine is None:
        missing = f"no LaTeX engine here ({', '.join(ENGINES)}); the tables are checked for balance alone"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    document = tmp_path / "tables.tex"
    document.write_text(PREAMBLE + "\n\\clearpage\n".join(texts.values()) + "\\end{document}\n", encoding="utf-8")
    options = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run(
        [engine, *options, document.name], cwd=tmp_path, capture_output=True, text=True, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert document.with_suffix(".pdf").stat().st_size > 10_000
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0.0) < 5, done.stdout[-3000:]
