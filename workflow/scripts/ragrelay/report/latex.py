"""Table 1 as LaTeX, set with booktabs."""

from collections.abc import Sequence

from ragrelay.report.numbers import MINUS, MISSING
from ragrelay.report.table1 import QUANTITIES, Table1, Value, legend

ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    '"': r"\textquotedbl{}", "|": r"\textbar{}", "\n": " ", "\r": " ", "\t": " ",
}  # fmt: skip
SYMBOLS = {MINUS: "$-$", MISSING: "--", "†": r"\dagger", "‡": r"\ddagger"}
NAMES = {"utility": "utility", "p": "$P$"}


def escape(text: str) -> str:
    """``text`` so that LaTeX prints it as it is (in a document with the T1 font encoding)."""
    return "".join(ESCAPES.get(character, character) for character in text)


def table1_latex(
    table: Table1, quantity: str, reference_retriever: str | None, title: str, orderings: Sequence[str]
) -> str:
    """A ``table`` environment of ``quantity`` (utility or p), to be \\input in a document that loads booktabs."""
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity {quantity!r}; expected {' or '.join(QUANTITIES)}")
    width = len(table.k)
    spans = [
        (grade, 3 + place * width, 2 + (place + 1) * width)  # the grade's first and last column, counted from 1
        for place, grade in enumerate(table.grades)
    ]
    body = [
        _line([escape(row.retriever), escape(row.ordering), *(_cell(value) for value in row.cells[quantity])])
        for row in table.rows
    ]
    zero_shot = []
    if table.zero_shot:
        values = [rf"\multicolumn{{{width}}}{{c}}{{{_cell(Value(value))}}}" for value in table.zero_shot]
        zero_shot = [_line(["0-shot", "$P_0$", *values]), r"\midrule"]
    return "\n".join(
        [
            "% Needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}.",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{Mean {NAMES[quantity]} by retriever, ordering and $k$ ({escape(title)}).",
            _legend(reference_retriever, orderings) + "}",
            rf"\begin{{tabular}}{{ll{'r' * (width * len(table.grades))}}}",
            r"\toprule",
            _line(["", "", *(rf"\multicolumn{{{width}}}{{c}}{{{escape(grade)}}}" for grade, _, _ in spans)]),
            " ".join(rf"\cmidrule(lr){{{first}-{last}}}" for _, first, last in spans),
            _line(["retriever", "ordering", *(f"$k={k}$" for _, k in table.columns)]),
            r"\midrule",
            *zero_shot,
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _legend(reference_retriever: str | None, orderings: Sequence[str]) -> str:
    marks = [f"$^{SYMBOLS[mark]}$ {escape(meaning)}" for mark, meaning in legend(reference_retriever, orderings)]
    return "; ".join([*marks, r"paired $t$-test, uncorrected $p<0.05$."]) if marks else ""


def _cell(value: Value) -> str:
    text = "".join(SYMBOLS.get(character, character) for character in str(Value(value.value)))
    marks = "".join(SYMBOLS[mark] for mark in value.marks)
    return rf"{text}\rlap{{$^{{{marks}}}$}}" if marks else text  # without width, so that the digits stay in line


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
