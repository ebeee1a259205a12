"""Write Table 1 as a LaTeX table (with booktabs) for several datasets."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby

from ragrelay.report.display.numbers import MINUS, MISSING, number
from ragrelay.report.display.sections import Section
from ragrelay.report.table1 import DIGITS, QUANTITIES, Row, Table1, Value, table1

ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    '"': r"\textquotedbl{}", "|": r"\textbar{}", "\n": " ", "\r": " ", "\t": " ",
}  # fmt: skip
SYMBOLS = {MINUS: "$-$", MISSING: "--", "†": r"$\dagger$", "‡": r"$\ddagger$", "<": "$<$"}
NAMES = {"utility": "utility", "p": "$P$"}
# The maximum columns of numbers that fit side by side; with more, the grades are stacked.
MOST_COLUMNS = 12
Block = tuple[str, Table1]


def escape(text: str) -> str:
    """Escape ``text`` so that LaTeX prints it unchanged (in a document with the T1 font encoding)."""
    return "".join(ESCAPES.get(character, character) for character in text)


def in_latex(number: str) -> str:
    """Convert a mark, or a number formatted by ``display.numbers``, to LaTeX."""
    return "".join(SYMBOLS.get(character, character) for character in number)


def line(cells: Iterable[str]) -> str:
    """Join ``cells`` into a row of a LaTeX table."""
    return " & ".join(cells) + r" \\"


def table1_latex(sections: Sequence[Section], quantity: str = "utility", unseen: bool = False) -> str:
    """Write Table 1 (Tian et al., ECIR 2025) for one generator and scorer, as LaTeX to include with \\input.

    Each dataset is a block of rows: zero-shot P, then a row per retriever and ordering, with a column per grade and k.
    Cells show ``quantity`` (``utility`` or ``p``) and significance marks; each column's best value is bold. Datasets
    with different grades are in separate ``table`` environments. ``unseen``: whether to use unseen references.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity {quantity!r}; expected {' or '.join(QUANTITIES)}")
    blocks = [(section.dataset, table1(section, unseen)) for section in sections]
    title = f"{sections[0].generator}, {sections[0].scorer}"
    stacked = any(len(table.columns) > MOST_COLUMNS for _, table in blocks)
    if stacked:
        blocks = [part for block in blocks for part in _by_grade(*block)]
    marks = [f"{raised(mark)} {escape(meaning)}" for mark, meaning in blocks[0][1].legend]
    caption = f"Mean {NAMES[quantity]} by retriever, ordering and $k$ ({escape(title)}); bold: best of its column." + (
        f" {'; '.join([*marks, 'paired $t$-test, uncorrected $p<0.05$.'])}" if marks else ""
    )
    parts = ["% Needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}."]
    groups = [blocks] if stacked else [list(group) for _, group in groupby(blocks, lambda block: block[1].grades)]
    for group in groups:
        parts += _table(group, quantity, caption, stacked)
    return "\n".join([*parts, ""])


p_latex = partial(table1_latex, quantity="p")
unseen_table1_latex = partial(table1_latex, unseen=True)
unseen_p_latex = partial(table1_latex, quantity="p", unseen=True)


def _table(blocks: Sequence[Block], quantity: str, caption: str, stacked: bool) -> list[str]:
    """Write one environment; all blocks have the same k and, unless they are ``stacked``, the same grades."""
    first = blocks[0][1]
    width, columns = len(first.k), len(first.columns)
    spans = [
        (grade, 3 + place * width, 2 + (place + 1) * width)  # the grade's first and last column, counting from 1
        for place, grade in enumerate(first.grades)
    ]
    grades = [] if stacked else [
        line(["", "", *(rf"\multicolumn{{{width}}}{{c}}{{{escape(grade)}}}" for grade, _, _ in spans)]),
        " ".join(rf"\cmidrule(lr){{{start}-{end}}}" for _, start, end in spans),
    ]  # fmt: skip
    body = []
    for name, table in blocks:
        body += [r"\midrule", rf"\multicolumn{{{2 + columns}}}{{l}}{{\textit{{{escape(name)}}}}} \\"]
        if table.zero_shot:
            values = [rf"\multicolumn{{{width}}}{{c}}{{{_cell(Value(value))}}}" for value in table.zero_shot]
            body.append(line(["0-shot", "$P_0$", *values]))
        body += [_row(row, quantity) for row in table.rows]
    return [
        r"\begin{table}",
        r"\centering",
        *([r"\scriptsize", r"\setlength{\tabcolsep}{2.5pt}"] if columns > MOST_COLUMNS // 2 else []),
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{ll{'r' * columns}}}",
        r"\toprule",
        *grades,
        line(["retriever", "ordering", *(f"$k={k}$" for _, k in first.columns)]),
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _row(row: Row, quantity: str) -> str:
    return line([escape(row.retriever), escape(row.ordering), *(_cell(value) for value in row.cells[quantity])])


def _by_grade(name: str, table: Table1) -> list[Block]:
    """Split a table into one block per grade."""
    width, parts = len(table.k), []
    for place, grade in enumerate(table.grades):
        here = slice(place * width, (place + 1) * width)
        rows = tuple(
            Row(row.retriever, row.ordering, {quantity: cells[here] for quantity, cells in row.cells.items()})
            for row in table.rows
        )
        zero_shot = table.zero_shot[place : place + 1]
        parts.append((f"{name}, {grade}", Table1((grade,), table.k, zero_shot, rows, table.legend)))
    return parts


def _cell(value: Value) -> str:
    text = in_latex(number(value.value, DIGITS))
    text = rf"\textbf{{{text}}}" if value.best else text
    marks = "".join(raised(mark) for mark in value.marks)
    return rf"{text}\rlap{{{marks}}}" if marks else text  # marks of zero width keep the digits aligned


def raised(mark: str) -> str:
    """Return a mark (such as †) as a LaTeX superscript."""
    return f"$^{{{SYMBOLS[mark].strip('$')}}}$"
